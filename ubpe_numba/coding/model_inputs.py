"""Encoded documents in the form in which models take them: cut to a length, with tokens around them, padded to a matrix.

documents   a b c d | e       template "<s> $A", max_length 4, padding

input_ids   <s> a   b   c          attention_mask  1 1 1 1
            <s> e  pad pad                         1 1 0 0
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import has_bytes
from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of, places_of, positive
from ubpe_numba.runtime.lazy import require
from ubpe_numba.vocabulary.reserved import Reserved

_PADS = ("[PAD]", "<pad>", "<|pad|>")
_PADDING = {False: None, "do_not_pad": None, True: "longest", "longest": "longest", "max_length": "max_length"}
_LEFT = {"left": True, "right": False}
_DOCUMENT = "$A"
_TRUNCATION = {False: False, "do_not_truncate": False, True: True, "longest_first": True, "only_first": True}


#: Ids before and after those of a document: of the template ``"[CLS] $A [SEP]"`` the two special tokens.
Template = tuple[tuple[int, ...], tuple[int, ...]]


def template_of(template: Any, special: Reserved | None) -> Template:
    """Read the argument `template`: special tokens and ``$A``, divided by white space, or a sequence of them and of ids.

    TypeError for other things, ValueError for a word that is no special token, or where ``$A`` is not there once.

    >>> template_of("[CLS] $A [SEP]", Reserved.from_user(["[CLS]", "[SEP]"], None, "str", 7))
    ((7,), (8,))
    """
    if template is None:
        return (), ()
    if not isinstance(template, (str, Sequence)) or isinstance(template, (bytes, bytearray)):
        raise TypeError(f"template: expected a str such as '[CLS] $A [SEP]', or a list of words, got {describe(template)}")
    words = template.split() if isinstance(template, str) else list(template)
    ids: list[int | None] = [
        None if isinstance(word, str) and word == _DOCUMENT else id_of(word, special, "template") for word in words
    ]
    if ids.count(None) != 1:
        raise ValueError(f"template: expected {_DOCUMENT} once, for the document, got {quoted(template)}")
    at = ids.index(None)
    return tuple(i for i in ids[:at] if i is not None), tuple(i for i in ids[at:] if i is not None)


def id_of(word: Any, special: Reserved | None, name: str) -> int:
    """An id that fits int32, or that of a special token or known word; ValueError, naming the argument, for others."""
    if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
        if not -(2**31) <= word < 2**31:
            raise ValueError(f"{name}: expected an id that fits int32, got {quoted(int(word))}")
        return int(word)
    key = tuple(word) if isinstance(word, list) else word
    index = None if special is None or not isinstance(key, (str, bytes, tuple)) else special.number.get(key)
    if special is None or index is None:
        known = "none" if special is None else listed(special.words, 8)
        raise ValueError(f"{name}: {quoted(word)} is not a special token of this tokenizer, which has {known}")
    return int(special.ids[index])


class ModelInputs(dict[str, Any]):
    """Result of a call of a tokenizer: a dict, whose items are attributes too.

    `input_ids`; `attention_mask`, 1 for ids and 0 for padding; with `return_offsets` `offset_mapping`. See `Tokenizer.__call__`.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> inputs = BPE.from_merges([[0, 1]], alphabet="ab")(["ab", "bab"], padding=True, pad_id=0)
    >>> inputs
    {'input_ids': array([[2, 0],
           [1, 2]], dtype=int32), 'attention_mask': array([[1, 0],
           [1, 1]], dtype=int32)}
    >>> inputs.input_ids.shape
    (2, 2)
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{name!r}: there are {', '.join(self)}") from None

    def to(self, *args: Any, **kwargs: Any) -> ModelInputs:
        """Move its tensors (of ``return_tensors="pt"``) elsewhere, as ``inputs.to("cuda")``; in place, as Hugging Face has it.

        Parameters
        ----------
        *args, **kwargs
            As for `torch.Tensor.to`.

        Returns
        -------
        ModelInputs
            Itself.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok("ab", return_tensors="pt").to("cuda")  # doctest: +SKIP
        """
        for name, value in self.items():
            if not hasattr(value, "to") or isinstance(value, Ragged):
                raise TypeError(f"{name}: expected a tensor, got {describe(value)}; call the tokenizer with return_tensors='pt'")
            self[name] = value.to(*args, **kwargs)
        return self


class Shape(NamedTuple):
    """The checked arguments of the form of the ids; `width` is the argument `max_length`, `pad` the strategy."""

    width: int | None
    truncates: bool
    pad: str | None
    pad_id: int
    multiple: int
    left: bool
    cuts_left: bool
    template: Template
    tensors: str | None
    masks: bool

    @classmethod
    def of(
        cls,
        special: Reserved | None,
        *,
        max_length: Any,
        truncation: Any,
        padding: Any,
        pad_id: Any,
        pad_to_multiple_of: Any,
        side: Any,
        truncation_side: Any,
        template: Any,
        return_tensors: Any,
        return_attention_mask: Any,
    ) -> Shape:
        """Read the arguments of a call. TypeError or ValueError, naming the argument."""
        truncates, pad = _one_of(truncation, _TRUNCATION, "truncation"), _one_of(padding, _PADDING, "padding")
        left, cuts_left = _one_of(side, _LEFT, "side"), _one_of(truncation_side, _LEFT, "truncation_side")
        width = None if max_length is None else positive(max_length, "max_length")
        if width is None and (truncates or pad == "max_length"):
            asked = "truncation=True" if truncates else f"padding={quoted(pad)}"
            raise ValueError(f"max_length: expected a length with {asked}")
        if width is not None and not truncates and pad != "max_length":
            raise ValueError("max_length: it does nothing without truncation=True or padding='max_length'")
        multiple = 1 if pad_to_multiple_of is None else positive(pad_to_multiple_of, "pad_to_multiple_of")
        if truncates and pad is not None and width is not None and width % multiple:
            raise ValueError(
                f"pad_to_multiple_of: documents are cut to max_length={width}, which is not a multiple of {multiple}"
            )
        around = template_of(template, special)
        if truncates and width is not None and (n_around := sum(map(len, around))) > width:
            raise ValueError(f"max_length: the template alone has {n_around} ids, got {width}")
        if return_tensors not in (None, "np", "pt"):
            raise ValueError(f"return_tensors: expected None, 'np' or 'pt', got {quoted(return_tensors)}")
        if return_tensors == "pt":
            require("torch", "return_tensors='pt'", "torch")
        if pad_id is None and pad is not None:
            pad_id = next((word for word in _PADS if special is not None and word in special.number), None)
            if pad_id is None:
                raise ValueError(f"pad_id: expected an id or a special token: none is called {' or '.join(_PADS)}")
        filler = 0 if pad_id is None else id_of(pad_id, special, "pad_id")
        return cls(width, truncates, pad, filler, multiple, left, cuts_left, around, return_tensors, bool(return_attention_mask))

    def inputs(self, ids: Ragged, spans: NDArray[np.int64] | None, single: bool) -> ModelInputs:
        """Documents of ids, and the spans of their tokens, in this form; those of one document if there is a `single` one."""
        ids = ids.compact()
        lengths, source = ids.lengths, None
        before, after = self.template
        n_around = len(before) + len(after)
        if self.truncates and self.width is not None and (lengths > (room := self.width - n_around)).any():
            kept = np.minimum(lengths, room)
            source = places_of(ids.offsets[:-1] + (lengths - kept) * self.cuts_left, kept)
            lengths = kept
        parts: dict[str, NDArray[Any]] = {"input_ids": ids.values if source is None else ids.values[source]}
        if spans is not None:
            parts["offset_mapping"] = spans if source is None else spans[source]
        if n_around:
            inner = places_of(offsets_of(lengths + n_around)[:-1] + len(before), lengths)
            lengths = lengths + n_around
            starts, ends = offsets_of(lengths)[:-1, None], offsets_of(lengths)[1:, None]
            whole = {name: np.zeros((int(lengths.sum()), *part.shape[1:]), part.dtype) for name, part in parts.items()}
            for name, part in parts.items():
                whole[name][inner] = part
            whole["input_ids"][starts + np.arange(len(before))] = before
            whole["input_ids"][ends - len(after) + np.arange(len(after))] = after
            parts = whole
        if self.masks:
            parts["attention_mask"] = np.ones(int(lengths.sum()), np.int32)
        longest = int(lengths.max(initial=0))
        width: int | None = None  # of the matrix; None where documents keep their lengths
        if self.pad is None and self.tensors is not None:
            if (lengths != longest).any():
                i = int(np.argmax(lengths != lengths[0]))
                raise ValueError(
                    f"padding: a tensor needs documents of one length, and document {i} has {lengths[i]} ids, document 0 "
                    f"{lengths[0]}; padding=True fills them up"
                )
            width = longest
        elif self.pad is not None:
            if self.pad == "max_length" and self.width is not None:
                if longest > self.width:
                    i = int(np.argmax(lengths > self.width))
                    raise ValueError(
                        f"max_length: document {i} has {lengths[i]} ids, more than {self.width}; truncation=True cuts it"
                    )
                longest = self.width
            width = -(-longest // self.multiple) * self.multiple
        order = [name for name in ("input_ids", "attention_mask", "offset_mapping") if name in parts]
        fills = {"input_ids": self.pad_id, "attention_mask": 0, "offset_mapping": 0}
        return ModelInputs({name: self._formed(parts[name], lengths, width, fills[name], single) for name in order})

    def _formed(self, flat: NDArray[Any], lengths: NDArray[np.int64], width: int | None, fill: int, single: bool) -> Any:
        """One item of all documents: a matrix, a tensor, or what keeps the lengths."""
        if width is None:
            if single:
                return flat
            offsets = offsets_of(lengths)
            if flat.ndim > 1:
                return np.split(flat, offsets[1:-1]) if lengths.size else []
            return Ragged._trusted(flat, offsets)
        matrix = np.full((lengths.size, width, *flat.shape[1:]), fill, flat.dtype)
        columns = np.arange(width)
        matrix[columns >= width - lengths[:, None] if self.left else columns < lengths[:, None]] = flat
        if self.tensors is None:
            return matrix[0] if single else matrix
        matrix = matrix.astype(np.int64, copy=False)
        return matrix if self.tensors == "np" else require("torch", "return_tensors='pt'", "torch").from_numpy(matrix)


def is_one(docs: Any) -> bool:
    """Whether documents are a single one: `str`, bytes or what becomes bytes, or a 1-D array of integers."""
    if isinstance(docs, (str, bytes, bytearray, memoryview, array)) or has_bytes(type(docs)):
        return True
    if not hasattr(type(docs), "__array__") or getattr(docs, "ndim", None) != 1:
        return False
    found = np.asarray(docs)
    return found.dtype.kind in "iu" or (found.size == 0 and found.dtype.kind == "f")  # which an empty list becomes


def _one_of(value: Any, choices: dict[Any, Any], name: str) -> Any:
    """The meaning of a choice; ValueError for another."""
    if isinstance(value, (str, bool)) and value in choices:
        return choices[value]
    raise ValueError(f"{name}: expected {', '.join(map(repr, choices))}, got {quoted(value)}")
