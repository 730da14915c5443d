"""`thalweg`, and `python -m thalweg`."""

import os
import sys

from thalweg import ROOT

# Processes that this program starts find its packages, too.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))

from app.cli.main import program as main

if __name__ == "__main__":
    sys.exit(main())
