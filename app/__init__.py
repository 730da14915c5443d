"""Thalweg: a landscape simulator. A thalweg is the line of lowest points along a valley, the way that water takes."""

from app.kernel_cache import use_kernel_cache

use_kernel_cache()
