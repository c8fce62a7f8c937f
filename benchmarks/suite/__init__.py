"""The asv suite. asv drops PYTHONPATH: where the package is not installed, the checkout is imported."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
