"""Model files, and dumps of the package ubpe."""

from __future__ import annotations

import os
from typing import Any, Self

from ubpe_numba import formats
from ubpe_numba.formats import model_file
from ubpe_numba.tokenizers import model_files
from ubpe_numba.tokenizers.parameters import Parameters
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.unknown_choice import Stand, hides_symbols


class Saving(Parameters):
    """`save`, `load` and exchange with the package ubpe."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: readable for ``.json``, flat arrays for ``.npz``. Atomic: the old file or the new one.

        Parameters
        ----------
        path
            Where; the suffix decides the format.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            For another suffix.
        OSError
            From the disk; the old file is then still there.

        Examples
        --------
        >>> import os, tempfile
        >>> from ubpe_numba import BPE
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.save(path)
        >>> BPE.load(path) == tok
        True
        >>> tok.save(path.replace(".json", ".npz"))  # of arrays, for large vocabularies
        >>> sorted(os.listdir(os.path.dirname(path)))
        ['model.json', 'model.npz']
        """
        model_files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_threads: int | None = None, max_symbols: int | None = None) -> Self:
        """Read a model that `save` wrote. `Tokenizer.load` makes a tokenizer of the class that the file says.

        Files of other libraries are read by `ubpe_numba.load`.

        Parameters
        ----------
        path
            The file.
        n_threads
            As for the constructor; a file does not hold it.
        max_symbols
            How many symbols the alphabet may have, and the tokens stand for in all. A few hundred bytes can claim gigabytes, so
            it is 2**22 and 64 more for each byte of the file unless given here; `save` warns if a model needs more.

        Returns
        -------
        Self
            The tokenizer that was saved, with its `history_`, but for `n_threads`.

        Raises
        ------
        ModelFormatError
            For a file that is not a model, saying what is wrong, or one of another class, naming it.
        OSError
            If it cannot be read.

        Warns
        -----
        UserWarning
            If the model cuts text by another version of Unicode than is installed here.

        Examples
        --------
        >>> import os, tempfile
        >>> from ubpe_numba import UBPE, Tokenizer
        >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> UBPE(6, 1, objective="shortest").fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]]).save(path)
        >>> tok = UBPE.load(path, n_threads=1)
        >>> tok.decode(tok.encode([0, 1, 2])).tolist(), Tokenizer.load(path)
        ([0, 1, 2], UBPE(n_tokens=6, n_candidates=1, objective='shortest'): 5 tokens)
        """
        return cls._loaded(os.fspath(path), *model_file.load(path), n_threads, max_symbols)

    @classmethod
    def _loaded(
        cls, where: str, state: dict[str, Any], n_bytes: int, n_threads: int | None, max_symbols: int | None = None
    ) -> Self:
        """A tokenizer from what a file of so many bytes holds."""
        return model_files.loaded(cls, where, state, n_bytes, n_threads, max_symbols)

    def _unk_token(self, given: Any, symbols: bool = True) -> Any:
        """The argument `unk_token` of an export, by default the special token or, with `symbols`, the symbol of `unknown`."""
        model, unknown = self._fitted(), self._unknown(None)
        if given is not None or unknown in ("raise", "skip"):
            return given
        if isinstance(unknown, Stand):
            assert model.segmenter.special is not None
            return unknown.word if model.segmenter.special.found[unknown.number] else None
        if not symbols or not hides_symbols(unknown, model.alphabet):
            return None
        symbol = model.alphabet.symbols[unknown]
        return (
            (int(symbol),) if model.alphabet.kind == "int" else chr(symbol) if model.alphabet.kind == "str" else bytes([symbol])
        )

    @classmethod
    def _imported(cls, model: Model, params: dict[str, Any]) -> Self:
        """A tokenizer with a model of another library; errors are those of a file that is not valid."""
        return model_files.imported(cls, model, params)

    @classmethod
    def from_published(cls, text: str, kind: str | None = None) -> Self:
        """Read the dump (`dumps()`) of the package ubpe 0.2 or 0.3: of its UBPE here for `UBPE`, of UBPEClassic otherwise.

        Known words, break and stop tokens and the regular expression of 0.3 do what they do there. Only where the expression does
        not match all of a text, which ubpe then leaves out and cannot decode, encoding is a ValueError that shows the place.

        Parameters
        ----------
        text
            The dump.
        kind
            What the symbols are, ``"int"`` or ``"str"``; None takes them for integers if all of them look like one.

        Returns
        -------
        Self
            A fitted tokenizer.

        Raises
        ------
        ModelFormatError
            For anything else, naming the field.

        Examples
        --------
        >>> from ubpe_numba import UBPEClassic
        >>> dump = '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        >>> UBPEClassic.from_published(dump).encode("aab").tolist()
        [0, 2]
        """
        n_tokens, model = formats.published_ubpe.read(text, kind, cls._needs_pairs)
        make: Any = cls  # the constructors differ
        tokenizer: Self = make(n_tokens, rules=FitRules(encode="batch"))
        model_files.take(tokenizer, model)
        return tokenizer

    def to_published(self) -> str:
        """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).

        Break and stop tokens, which 0.2 does not know, are written, as are known words and a pattern that came from a dump.

        Returns
        -------
        str
            The dump, JSON.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            For a tokenizer with another pre-tokenizer, special tokens, an encoding, or known words that have other ids than those
            behind the alphabet.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").to_published()
        '{"n_tokens": 3, "alphabet": {"a": 0, "b": 1}, "mapper": {"2": [0, 1]}, "weights": {"2": 0.0}}'
        """
        return formats.published_ubpe.write(self._fitted(), self._needs_pairs)
