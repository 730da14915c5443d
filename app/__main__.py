"""`python -m app` is the same as `thalweg`."""

import sys

from app.cli.main import program

sys.exit(program())
