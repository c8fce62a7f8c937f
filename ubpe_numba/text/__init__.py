"""Text is changed by normalizers and cut into segments, and segments are counted; the kernels that do it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubpe_numba.text.normalizer import Normalizer as Normalizer
    from ubpe_numba.text.pretokenizer import Pretokenizer as Pretokenizer
    from ubpe_numba.text.splitter import Splitter as Splitter

__all__ = ["Normalizer", "Pretokenizer", "Splitter"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{name.lower()}"), name)
