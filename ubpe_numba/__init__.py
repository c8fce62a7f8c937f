"""Byte-pair encoding for anything that is a sequence of symbols.

>>> tok = BPE(300).fit([b"low lower lowest"], progress=False)
>>> tok.decode(tok.encode(b"slow"), as_bytes=True)
b'slow'

`BPE`, `UBPE` and `UBPEClassic` take text, bytes, and integers as lists or arrays. `BPE.for_text` is for text
over bytes; `Preprocessing` decides how text is split. For floats use `signals`, or a `Scale` first. `load`
and `export` read and write files of other libraries.

Modules are imported when first used, as all public names are: `errors`, `types`, `text` (normalizers,
splitters), `signals`, `bounds`, `plot` (motifs, curves). `sklearn` and `distributed` need other packages, and
an import of their own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ubpe_numba.runtime import forks as _forks  # noqa: F401  # first: forks wait for what is imported from now on

if TYPE_CHECKING:  # for type checkers; `X as X` says that the name is public
    from ubpe_numba.documents.counts import Counts as Counts, count_documents as count_documents
    from ubpe_numba.documents.ragged import Ragged as Ragged
    from ubpe_numba.documents.scale import Scale as Scale
    from ubpe_numba.tokenizers.base import Tokenizer as Tokenizer
    from ubpe_numba.tokenizers.bpe import BPE as BPE, UBPEClassic as UBPEClassic
    from ubpe_numba.tokenizers.export import export as export
    from ubpe_numba.tokenizers.saving import load as load
    from ubpe_numba.tokenizers.ubpe import UBPE as UBPE
    from ubpe_numba.tokenizers.warmup import warmup as warmup
    from ubpe_numba.tokenizers.wordpiece import WordPiece as WordPiece
    from ubpe_numba.verification.verify import verify as verify
    from ubpe_numba.views.comparison import compare as compare
    from ubpe_numba.vocabulary.preprocessing import Preprocessing as Preprocessing
    from ubpe_numba.vocabulary.rules import FitRules as FitRules

__version__ = "0.1.0"

_NAMES = {
    "documents.counts": "Counts count_documents",
    "documents.ragged": "Ragged",
    "documents.scale": "Scale",
    "tokenizers.base": "Tokenizer",
    "tokenizers.bpe": "BPE UBPEClassic",
    "tokenizers.export": "export",
    "tokenizers.saving": "load",
    "tokenizers.ubpe": "UBPE",
    "tokenizers.warmup": "warmup",
    "tokenizers.wordpiece": "WordPiece",
    "verification.verify": "verify",
    "views.comparison": "compare",
    "vocabulary.preprocessing": "Preprocessing",
    "vocabulary.rules": "FitRules",
}
#: The module of every public name.
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
#: Public modules, imported when one is first used; not those that need other packages, which `help` would
#: import.
_MODULES = ("actions", "bounds", "errors", "kernels", "plot", "signals", "text", "types")

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        told = ""
        if not name.startswith("_"):
            words = import_module(f"{__name__}.runtime.counterparts")
            told = words.hint(words.ATTRIBUTES, name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{told}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__version__"})
