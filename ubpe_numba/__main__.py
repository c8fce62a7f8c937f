"""The command line, as `python -m ubpe_numba`; see `cli/main.py`."""

from __future__ import annotations

import sys

from ubpe_numba.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
