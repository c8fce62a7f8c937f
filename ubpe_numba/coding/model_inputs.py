"""Encoded documents as input of a model: truncated, with special tokens, padded to a matrix.

documents   a b c d | e       template "<s> $A", max_length 4, padding

input_ids   <s> a   b   c          attention_mask  1 1 1 1
            <s> e  pad pad                         1 1 0 0
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import has_bytes, read_documents
from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of, places_of, positive
from ubpe_numba.runtime.lazy import require
from ubpe_numba.vocabulary.reserved import LSTRIP, NORMALIZED, RSTRIP
from ubpe_numba.vocabulary.segmenter import Segmenter

_PADDING = {
    None: None,
    False: None,
    "do_not_pad": None,
    True: "longest",
    "longest": "longest",
    "max_length": "max_length",
}
_LEFT = {"left": True, "right": False}
_TRUNCATION = dict.fromkeys([None, False, "do_not_truncate"]) | dict.fromkeys(
    [True, "longest_first"], "longest_first"
)
_TRUNCATION |= {name: name for name in ("only_first", "only_second")}
_ADDS = {  # items in addition to the ids, and the arguments that request them
    "offset_mapping": "return_offsets",
    "attention_mask": "return_attention_mask",
    "token_type_ids": "return_token_type_ids",
    "special_tokens_mask": "return_special_tokens_mask",
    "overflow_to_sample_mapping": "return_overflowing_tokens",
}
_PADS = ("[PAD]", "<pad>", "<|pad|>")
FIRST, SECOND = 2**31, 2**31 + 1  # the documents of a template: beyond all ids
_DOCUMENTS = {"$A": FIRST, "$B": SECOND}
_PART = re.compile(r"(.+?)(?::([0-9]+))?", re.DOTALL)

#: The ids of special tokens, and `FIRST` and `SECOND`, each with its type id.
Parts = tuple[tuple[int, int], ...]


class Template(NamedTuple):
    """The special tokens around a document and around a pair, and the changes to offsets.

    `trims` has an item for each step that takes white space off the offsets of tokens: whether a first space
    was added. `types` are those of the documents in windows after the first, for which the package tokenizers
    does not look at the template.
    """

    single: Parts = ((FIRST, 0),)
    pair: Parts = ((FIRST, 0), (SECOND, 1))
    trims: tuple[bool, ...] = ()
    types: tuple[int, int] = (0, 1)


def template_of(template: Any, special: Mapping[Any, int]) -> Template:
    """Read the argument `template`: special tokens and ``$A``, separated by white space.

    A sequence of these and of ids is also accepted.

    Two templates are for one document and for a pair, with ``$B``. Each part may be followed by its type id,
    as in ``$B:1``. Without a template for pairs, the parts after ``$A`` also follow ``$B``, both with the
    type id 1, as in BERT. TypeError for other values. ValueError for a word other than a special token, or if
    a document does not occur exactly once.

    >>> template_of("[CLS] $A [SEP]", {"[CLS]": 7, "[SEP]": 8}).single
    ((7, 0), (2147483648, 0), (8, 0))
    """
    if not isinstance(template, (str, Sequence)) or isinstance(template, (bytes, bytearray)):
        raise TypeError(
            f"template: expected a str such as '[CLS] $A [SEP]', or a list of words, got {describe(template)}"
        )
    are_two = (
        not isinstance(template, str)
        and len(template) == 2
        and all(isinstance(one, str) and "$A" in one for one in template)
    )
    templates: list[Parts] = []
    for one, documents in zip(template if are_two else [template], (["$A"], ["$A", "$B"]), strict=False):
        parts = []
        for word in one.split() if isinstance(one, str) else one:
            match = _PART.fullmatch(word) if isinstance(word, str) and word not in special else None
            name, kind = (word, 0) if match is None else (match[1], int(match[2] or 0))
            parts.append(
                (_DOCUMENTS[name] if match and name in documents else id_of(name, special, "template"), kind)
            )
        for name in documents:
            if sum(i == _DOCUMENTS[name] for i, _ in parts) != 1:
                raise ValueError(f"template: expected {name} once, for the document, got {quoted(one)}")
        templates.append(tuple(parts))
    if not are_two:
        after = templates[0][[i for i, _ in templates[0]].index(FIRST) + 1 :]
        templates.append((*templates[0], (SECOND, 1), *((i, 1) for i, _ in after)))
    return Template(templates[0], templates[1])


def id_of(word: Any, special: Mapping[Any, int], name: str) -> int:
    """An int32 id, given as an integer, a special token or a known word.

    ValueError, with the argument's name, for others.
    """
    if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
        if not -(2**31) <= word < 2**31:
            raise ValueError(f"{name}: expected an id that fits int32, got {quoted(int(word))}")
        return int(word)
    key = tuple(word) if isinstance(word, list) else word
    if not isinstance(key, (str, bytes, tuple)) or key not in special:
        known = listed(special, 8) or "none"
        raise ValueError(
            f"{name}: {quoted(word)} is not a special token of this tokenizer, which has {known}"
        )
    return special[key]


class ModelInputs(dict[str, Any]):
    """Result of a call of a tokenizer: a dict, whose items are attributes too.

    `input_ids`; `attention_mask`, 1 for ids and 0 for padding; with `return_offsets` `offset_mapping`. See
    `Tokenizer.__call__`.

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
        """Move its tensors (of ``return_tensors="pt"``) to a device, as ``inputs.to("cuda")``.

        This happens in place, as in Hugging Face.

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
                raise TypeError(f"{name}: expected a tensor, got {describe(value)}. Use return_tensors='pt'.")
            self[name] = value.to(*args, **kwargs)
        return self


class Shape(NamedTuple):
    """The checked arguments that determine the form of the ids.

    `width` is the argument `max_length`. `pad` is the strategy, to `length` ids; None: the longest document.

    `parts` are those of the template, for a document or a pair. `adds` are the items in addition to
    `input_ids`.
    """

    width: int | None
    truncation: str | None
    stride: int
    pad: str | None
    length: int | None
    fills: dict[str, int]
    multiple: int
    left: bool
    cuts_left: bool
    parts: Parts
    trims: tuple[bool, ...]
    types: tuple[int, int]
    tensors: str | None
    adds: frozenset[str]

    @classmethod
    def of(
        cls,
        special: Mapping[Any, int],
        file: Mapping[str, Any],
        around: Template,
        paired: bool,
        given: Mapping[str, Any],
    ) -> Shape:
        """Read the arguments of a call by their names; `file` and `around` are defaults.

        TypeError or ValueError, naming one.
        """
        config, template = file.get("config", {}), given["template"]
        names, call = config.get("model_input_names"), config.get("call", {})
        settings = {name: call.get(name) if value is None else value for name, value in given.items()}
        if given["truncation"] is True:
            settings["truncation"] = call.get("truncation", True)
        padding, pad_id, max_length = (settings[name] for name in ("padding", "pad_id", "max_length"))
        strategy, pad = (
            _one_of(settings["truncation"], _TRUNCATION, "truncation"),
            _one_of(padding, _PADDING, "padding"),
        )
        left, cuts_left = (
            _one_of(config.get(key, "right") if given[name] is None else given[name], _LEFT, name)
            for name, key in (("side", "padding_side"), ("truncation_side", "truncation_side"))
        )
        width = None if max_length is None else positive(max_length, "max_length")
        length = width if given["padding"] is not None else call.get("length", width)
        if pad == "max_length" and given["padding"] is None and call.get("length"):
            pad = "at_least"  # a file's length does not limit it
        if (strategy and width is None) or (pad == "max_length" and length is None):
            width = config.get("model_max_length")
            length = width if pad == "max_length" else length
            if width is None:
                asked = f"truncation={quoted(given['truncation'])}" if strategy else f"padding={quoted(pad)}"
                raise ValueError(f"max_length: expected a length with {asked}")
        if given["max_length"] is not None and not strategy and pad != "max_length":
            raise ValueError("max_length: it does nothing without truncation=True or padding='max_length'")
        if strategy == "only_second" and not paired:
            raise ValueError("truncation: 'only_second' needs pairs")
        multiple = positive(settings["pad_to_multiple_of"] or 1, "pad_to_multiple_of")
        if (
            strategy
            and pad is not None
            and given["pad_to_multiple_of"] is not None
            and width is not None
            and width % multiple
        ):
            raise ValueError(
                f"pad_to_multiple_of: max_length={width} truncates, and is not a multiple of {multiple}"
            )
        around = around if template is None else template_of(template, special)
        parts = around.pair if paired else around.single
        parts = parts if given["add_special_tokens"] else tuple(part for part in parts if part[0] >= FIRST)
        if strategy and width is not None and (n_around := sum(i < FIRST for i, _ in parts)) > width:
            raise ValueError(f"max_length: the template alone has {n_around} ids, got {width}")
        if (tensors := given["return_tensors"]) not in (None, "np", "pt"):
            raise ValueError(f"return_tensors: expected None, 'np' or 'pt', got {quoted(tensors)}")
        if pad_id is None and pad is not None:
            pad_id = next((word for word in (config.get("pad_token"), *_PADS) if word in special), None)
            if pad_id is None:
                raise ValueError(
                    f"pad_id: expected an id or a special token: none is called {' or '.join(_PADS)}"
                )
        filler = 0 if pad_id is None else id_of(pad_id, special, "pad_id")
        fills = {"input_ids": filler, "token_type_ids": call.get("pad_type_id", 0), "special_tokens_mask": 1}
        typed = any(kind for _, kind in parts) if template is None and "post_processor" in file else paired
        defaults = (
            {"token_type_ids": typed, "attention_mask": True} if not names else dict.fromkeys(names, True)
        )
        adds = {
            name
            for name, flag in _ADDS.items()
            if (defaults.get(name) if given[flag] is None else given[flag])
        }
        stride = positive(settings["stride"], "stride") if settings["stride"] else 0
        return cls(
            width,
            strategy,
            stride,
            pad,
            None if pad == "longest" else length,
            fills,
            multiple,
            left,
            cuts_left,
            parts,
            around.trims,
            around.types,
            tensors,
            frozenset(adds),
        )

    @property
    def room(self) -> int | None:
        """The ids of documents that truncation leaves, None if it leaves all."""
        return (
            None
            if not self.truncation or self.width is None
            else self.width - sum(i < FIRST for i, _ in self.parts)
        )

    def _kept(
        self, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The remaining lengths of documents, and of second documents, as tokenizers truncates them."""
        room = self.room
        if room is None or not (over := np.maximum(a + b - room, 0)).any():
            return a, b
        if self.truncation == "longest_first" or not room:
            short = np.minimum(a, b)
            long = np.where(short > room, short, np.maximum(short, room - short))
            halved = short + long > room
            short, long = np.where(halved, room // 2, short), np.where(halved, (room + 1) // 2, long)
            return np.where(over > 0, np.where(a > b, long, short), a), np.where(
                over > 0, np.where(a > b, short, long), b
            )
        cut = (a if self.truncation == "only_first" else b) - over
        if ((cut <= 0) & (over > 0)).any():
            i = int(np.argmax((cut <= 0) & (over > 0)))
            raise ValueError(f"truncation: {quoted(self.truncation)}: nothing would be left of document {i}")
        return (cut, b) if self.truncation == "only_first" else (a, cut)

    def _windows(
        self, lengths: NDArray[np.int64], kept: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many windows of `kept` ids each document has, and their steps; one without overflow."""
        cut, step = kept < lengths, kept - self.stride
        if "overflow_to_sample_mapping" not in self.adds:
            return np.ones(lengths.size, np.int64), step
        if (cut & (kept > 0) & (step <= 0)).any():
            raise ValueError(
                f"stride: expected less than the {kept[cut].min()} ids of a window, got {self.stride}"
            )
        n = 1 - (-(lengths - kept) // np.maximum(step, 1))
        return np.where(cut, np.where(kept > 0, n, 2), 1), step

    def _rows(
        self, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], dict[int, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]]:
        """The sample of each row, and the starts, lengths and numbers of its documents' windows.

        The main row is the first.

        Further windows of the document that comes first in the template each get all of the other's, then the
        first one does.
        """
        order = [i for i, _ in self.parts if i >= FIRST] or [FIRST]
        lengths_left = dict(zip((FIRST, SECOND), self._kept(a, b), strict=True))
        lengths = {FIRST: a, SECOND: b}
        windows = {of: self._windows(lengths[of], lengths_left[of]) for of in (FIRST, SECOND)}
        one, two = (order[0], FIRST + SECOND - order[0])
        n, m = windows[one][0], windows[two][0]
        sample = np.repeat(np.arange(a.size), n * m)
        k = np.arange(sample.size) - offsets_of(n * m)[sample]
        m, inner = m[sample], ((n - 1) * m)[sample]
        later = (k > 0) & (k <= inner)
        number = {
            one: np.where(later, 1 + (k - 1) // m, 0),
            two: np.where(later, (k - 1) % m, np.maximum(k - inner, 0)),
        }
        rows = {}
        for of, j in number.items():
            n_ids, size = (
                lengths[of][sample],
                np.where(
                    (j > 0) & (lengths_left[of][sample] == 0), lengths[of][sample], lengths_left[of][sample]
                ),
            )
            passed = np.where(size < n_ids, j * windows[of][1][sample], 0)
            begin = np.maximum(n_ids - passed - size, 0) if self.cuts_left else passed
            end = n_ids - passed if self.cuts_left else np.minimum(passed + size, n_ids)
            rows[of] = begin, end - begin, j
        return sample, rows

    def inputs(
        self,
        first: tuple[Ragged, Any],
        second: tuple[Ragged, Any] | None,
        single: bool,
        docs: tuple[Any, Any],
        segmenter: Segmenter,
        name_of: Callable[[int], Any],
    ) -> ModelInputs:
        """Make this form of documents, or of pairs, from their ids and the spans of their tokens.

        `single` is for a single document.
        """
        if second is None:  # as if they were empty
            second = (
                trusted(np.zeros(0, np.int32), np.zeros(len(first[0]) + 1, np.int64)),
                np.zeros((0, 2), np.int64),
            )
        inputs_of = [(ids.compact(), spans) for ids, spans in (first, second)]
        sample, rows = self._rows(inputs_of[0][0].lengths, inputs_of[1][0].lengths)
        starts = {
            of: ids._offsets[:-1][sample] + rows[of][0]
            for of, (ids, _) in zip((FIRST, SECOND), inputs_of, strict=True)
        }
        starts[SECOND] += inputs_of[0][0].values.size
        sizes = {of: rows[of][1] for of in starts}
        values = np.concatenate([ids.values for ids, _ in inputs_of])
        spans = None if first[1] is None else np.concatenate([places for _, places in inputs_of])
        if spans is not None and self.trims:
            some = [
                _spaces(*one, text, segmenter, name_of) for one, text in zip(inputs_of, docs, strict=True)
            ]
            spans = np.concatenate([spans, np.concatenate(some)], axis=1)
        lengths = np.zeros(sample.size, np.int64)
        for i, _ in self.parts:
            lengths += sizes.get(i, 1)
        total, at = int(lengths.sum()), offsets_of(lengths)[:-1].copy()
        flat: dict[str, NDArray[Any]] = {
            name: np.zeros(total, np.int32) for name in ("input_ids", "token_type_ids")
        }
        flat |= {"attention_mask": np.ones(total, np.int32), "special_tokens_mask": np.ones(total, np.int32)}
        flat["offset_mapping"] = np.zeros((total if spans is not None else 0, 2), np.int64)
        for i, kind in self.parts:
            if i not in sizes:
                flat["input_ids"][at], flat["token_type_ids"][at] = i, kind
                at += 1
                continue
            places, source = places_of(at, sizes[i]), places_of(starts[i], sizes[i])
            flat["input_ids"][places] = values[source]
            flat["token_type_ids"][places] = np.where(rows[i][2] > 0, self.types[i - FIRST], kind).repeat(
                sizes[i]
            )
            flat["special_tokens_mask"][places] = 0
            if spans is not None:
                leads = np.isin(places, at)
                flat["offset_mapping"][places] = _trimmed(spans[source], leads, self.trims)
            at += sizes[i]
        widths = self._widths(lengths)
        names = [name for name in flat if name == "input_ids" or name in self.adds]
        single = single and "overflow_to_sample_mapping" not in self.adds
        inputs = ModelInputs(
            {
                name: self._formed(flat[name], lengths, widths, self.fills.get(name, 0), single)
                for name in names
            }
        )
        if "overflow_to_sample_mapping" in self.adds:
            inputs["overflow_to_sample_mapping"] = sample
        return inputs

    def _widths(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of columns of each row, padding included."""
        width = 0 if self.pad is None else self.length
        if self.pad == "max_length" and width is not None and (longer := lengths > width).any():
            i = int(longer.argmax())
            raise ValueError(
                f"max_length: document {i} has {lengths[i]} ids, more than {width}; truncation=True cuts it"
            )
        width = int(lengths.max(initial=0)) if width is None else width
        widths = np.maximum(lengths, -(-width // self.multiple) * self.multiple)
        if self.tensors is not None and (other := widths != widths[:1]).any():
            i = int(other.argmax())
            raise ValueError(
                f"padding: a tensor needs documents of one length, and document {i} has {widths[i]} ids, "
                f"document 0 {widths[0]}; padding=True fills them up"
            )
        return widths

    def _formed(
        self,
        flat: NDArray[Any],
        lengths: NDArray[np.int64],
        widths: NDArray[np.int64],
        fill: int,
        single: bool,
    ) -> Any:
        """One item of all documents: a matrix, a tensor, or a list of arrays."""
        if self.pad is None and self.tensors is None:
            if single:
                return flat
            return np.split(flat, offsets_of(lengths)[1:-1]) if lengths.size else []
        matrix = np.full((lengths.size, int(widths.max(initial=0)), *flat.shape[1:]), fill, flat.dtype)
        columns = np.arange(matrix.shape[1])
        matrix[columns >= columns.size - lengths[:, None] if self.left else columns < lengths[:, None]] = flat
        if self.tensors is None:
            if (widths < columns.size).any():
                return [row[-n:] if self.left else row[:n] for row, n in zip(matrix, widths, strict=True)]
            return matrix[0] if single else matrix
        matrix = matrix.astype(np.int64, copy=False)
        return (
            matrix
            if self.tensors == "np"
            else require("torch", "return_tensors='pt'", "torch").from_numpy(matrix)
        )


def _spaces(
    ids: Ragged, spans: NDArray[np.int64], docs: Any, segmenter: Segmenter, name_of: Callable[[int], Any]
) -> NDArray[np.int64]:
    """White space at the beginning and the end of each token, int64[n, 2].

    For words that include white space, it is counted in the documents.
    """
    from ubpe_numba.text.characters import WHITE_SPACE  # here only: integers need not wait for text
    from ubpe_numba.text.pretokenizer import text_in

    def spaces_of(text: str) -> tuple[int, int]:
        return len(text) - len(text.lstrip(spaces)), len(text) - len(text.rstrip(spaces))

    spaces = WHITE_SPACE + "\u0120"  # and the name of a space
    used, which = np.unique(ids.values, return_inverse=True)
    white = np.array([spaces_of(str(name_of(i))) for i in used.tolist()], np.int64).reshape(-1, 2)[which]
    shown, words, change = segmenter.shown, segmenter.special, segmenter.normalizer
    rows = [] if words is None else zip(words.ids.tolist(), words.flags.tolist(), words.words, strict=True)
    taking = {
        i: (mask, str(shown.get(i, word))) for i, mask, word in rows if mask & (LSTRIP | RSTRIP) or i in shown
    }
    at = np.flatnonzero(np.isin(ids.values, [*taking])).tolist() if taking else []
    texts = (
        read_documents([docs] if isinstance(docs, str) else docs, None, segmenter.encoding) if at else None
    )
    last, text = -1, ""
    for i in at:
        assert texts is not None  # it is read if there are words of this kind
        document = int(np.searchsorted(ids._offsets, i, side="right")) - 1
        if document != last:
            last, text = (
                document,
                text_in(texts.values[texts.offsets[document] : texts.offsets[document + 1]]),
            )
        mask, word = taking[int(ids.values[i])]
        part = text[spans[i, 0] : spans[i, 1]]
        part = change.restore(change.apply(part)) if change is not None and mask & NORMALIZED else part
        left, right = spaces if mask & LSTRIP else "", spaces if mask & RSTRIP else ""
        # else a token of the model with this id
        if part.lstrip(left).rstrip(right) == word.lstrip(left).rstrip(right):
            white[i] = spaces_of(part)
    return white


def _trimmed(
    spans: NDArray[np.int64], leads: NDArray[np.bool_], trims: tuple[bool, ...]
) -> NDArray[np.int64]:
    """The spans of tokens without white space at their ends; `leads`: which tokens are the first of a row.

    `spans` int64[n, 4]: begin, end, and the white space at both; without `trims` int64[n, 2].
    """
    if not trims:
        return spans
    begin, end, leading, trailing = spans.T.copy()
    for added in trims:
        begin = np.minimum(begin + np.where(added & (leading == 1) & (leads | (begin == 0)), 0, leading), end)
        end = np.where(end >= trailing, np.maximum(end - trailing, begin), end)
    return np.stack([begin, end], axis=1)


def is_one(docs: Any) -> bool:
    """Whether documents are a single one: `str`, bytes or what becomes bytes, or a 1-D array of integers."""
    if isinstance(docs, (str, bytes, bytearray, memoryview, array)) or has_bytes(type(docs)):
        return True
    if not hasattr(type(docs), "__array__") or getattr(docs, "ndim", None) != 1:
        return False
    values = np.asarray(docs)
    # which an empty list becomes
    return values.dtype.kind in "iu" or (values.size == 0 and values.dtype.kind == "f")


def _one_of(value: Any, choices: dict[Any, Any], name: str) -> Any:
    """The meaning of a choice; ValueError for another."""
    if isinstance(value, (str, bool, NoneType)) and value in choices:
        return choices[value]
    raise ValueError(f"{name}: expected {', '.join(map(repr, choices))}, got {quoted(value)}")
