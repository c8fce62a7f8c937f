"""Byte-pair encoding for anything that is a sequence of integers.

The names are those of `api.py`, imported when the first of them is asked for: `import ubpe_numba` itself takes some milliseconds,
numba and numpy a quarter of a second.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubpe_numba.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # `from ubpe_numba import _threads` asks here first: it means the module, and shall not import all the others
    if name == "__all__" or not (name.startswith("__") or find_spec(f"{__name__}.{name}")):
        api = import_module(f"{__name__}.api")
        globals().update({public: getattr(api, public) for public in ("__all__", *api.__all__)})
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]
