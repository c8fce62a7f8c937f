"""Model files: those of this library, and those of other libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubpe_numba.formats import model_file as model_file, table as table


def __getattr__(name: str) -> Any:
    """Modules of files, imported when one is first used: most programs need none of them."""
    if name not in ("model_file", "table"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
