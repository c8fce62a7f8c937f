"""The asv suite. As asv drops PYTHONPATH, the checkout serves where the package is not installed."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
