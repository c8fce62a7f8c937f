"""The model: everything that a fit leaves, in one immutable value."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.runtime.schema import check_fields
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class Model(NamedTuple):
    """The alphabet, the tokens in ids of the alphabet, and the treatment of documents and ids around them.

    Fitting makes one, `formats` reads and writes it, `coding` builds encoders and a decoder from it. None of
    its parts ever changes.
    """

    alphabet: Alphabet
    vocabulary: Vocabulary
    segmenter: Segmenter = PLAIN

    def fingerprint(self, name: str, options: dict[str, Any]) -> str:
        """A hash, 32 hexadecimal digits, of all that decides encoding and decoding, and of the weights.

        `name` is the class of the tokenizer, `options` what else decides how it encodes. Equal for equal
        models on any machine.
        """
        state = self.alphabet.state()
        h = hashlib.sha256(f"{name}{state['kind']}{state['size']}{options}".encode())
        for name in ("symbols", "folded_symbols", "folded_ids"):
            if state.get(name) is not None:
                h.update(
                    json.dumps(state[name]).encode()
                    if state["kind"] == "name"
                    else state[name].astype("<i8").tobytes()
                )
        if text := self.segmenter.state():
            text |= {
                "token_ids": [] if self.segmenter.token_ids is None else self.segmenter.token_ids.tolist()
            }
            h.update(json.dumps(text, sort_keys=True).encode())
        return hashlib.sha256((h.hexdigest() + self.vocabulary.fingerprint).encode()).hexdigest()[:32]

    def state(self) -> dict[str, Any]:
        """The parts as plain data: ``alphabet`` and ``vocabulary``, and ``text`` if documents are split."""
        parts = {"alphabet": self.alphabet.state(), "vocabulary": self.vocabulary.state()}
        if text := self.segmenter.state():
            parts["text"] = text
        return parts

    @classmethod
    def from_state(cls, state: dict[str, Any], max_symbols: int) -> Model:
        """Make it again from `state()`, where arrays may have become lists.

        The alphabet may have `max_symbols` symbols, and all learned tokens together as many. ModelFormatError
        for anything that is not valid, before anything large is allocated.
        """
        folded = ("folded_symbols", "folded_ids") if "folded_symbols" in state["alphabet"] else ()
        check_fields(state["alphabet"], ("kind", "size", "symbols", *folded), "alphabet")
        alphabet = Alphabet.from_state(**state["alphabet"])
        if alphabet.size > max_symbols:
            raise ModelFormatError(f"alphabet: more than {max_symbols} symbols; pass a larger max_symbols")
        vocabulary = Vocabulary.from_state(state["vocabulary"], alphabet.size, max_symbols)
        text = state.get("text")
        segmenter = Segmenter.from_state(text, len(vocabulary), alphabet.kind) if text else PLAIN
        if segmenter.frame:
            from ubpe_numba.vocabulary.frames import Frames, frame_of  # here only: few models have frames

            frame_of(segmenter.frame, segmenter)
            Frames.over(vocabulary, segmenter.frame)  # ValueError for tokens that do not keep to them
        return cls(alphabet, vocabulary, segmenter)
