"""Thalweg: a landscape simulator. A thalweg is the line of lowest points along a valley, the way that water takes."""

from app.numba_settings import configure_numba

configure_numba()
