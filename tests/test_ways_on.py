"""Refusals: what is wrong is told with its place and the way on, and leaves tokenizers as they were; the ways are tried."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ubpe_numba
from ubpe_numba import (
    BPE,
    UBPE,
    FitRules,
    Preprocessing,
    Ragged,
    Scale,
    WordPiece,
    bounds,
    count_documents,
    export,
    load,
)
from ubpe_numba.actions import ActionTokenizer
from ubpe_numba.errors import (
    ModelFormatError,
    NotFittedError,
    SpecialTokenError,
    UnknownSymbolError,
    UnknownTokenError,
)
from ubpe_numba.plot import TokensDisplay

DOCS = [[0, 1, 2, 0, 1, 2], [0, 1, 2]]
TEXTS = ["abab ab", "ab"]
END = "<|end|>"
FLAT, OFFSETS = np.array([0, 1, 0, 1]), np.array([0, 2, 4])
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1234\n"
LOW, HIGH = -(2**63), 2**63 - 1

INTS = BPE(5).fit(DOCS, progress=False)
TEXT = BPE(9).fit(TEXTS, progress=False)
BYTES = BPE.for_text(259, pretokenizer="gpt2", special_tokens=[END]).fit(["low low low"] * 2, progress=False)
PATHS = UBPE(6, objective="shortest").fit(DOCS, progress=False)


def used() -> Iterator[Any]:
    """An iterator of documents that was read to its end."""
    documents = iter(DOCS)
    list(documents)
    return documents


def fit(docs: Any, *args: Any, **options: Any) -> Any:
    return BPE(300).fit(docs, *args, progress=False, **options)


def made(cls: Any = UBPE, **params: Any) -> Any:
    return cls(**params).fit([*DOCS, [1, 1, 2]], progress=False)


def sparse(kind: str) -> Any:
    return getattr(pytest.importorskip("scipy.sparse"), kind)(np.eye(3, dtype=int))


def series(*values: Any, **options: Any) -> Any:
    return pytest.importorskip("pandas").Series(list(values), **options)


def without(module: str, call: Callable[[], Any], *anew: str) -> Any:
    """The call as where a package is not installed, and modules of these names are not imported yet."""
    with pytest.MonkeyPatch.context() as patch:  # other modules that are imported meanwhile stay
        for name in [name for name in sys.modules if name.startswith(anew)] if anew else []:
            patch.delitem(sys.modules, name)
        for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
            patch.setitem(sys.modules, name, None)
        return call()


#: A call, in a folder with files; the error; words of the message: argument, place, and the way on.
Row = tuple[Callable[[], Any], type[BaseException] | tuple[type[BaseException], ...], str]
#: What `tests/layouts.md` has, with its whole message, is not repeated here.
BAD_DOCS: list[tuple[Any, Any, str]] = [
    (..., TypeError, "got ellipsis"), (Path("corpus.txt"), TypeError, r"got \w+Path.*read the file first"),
    ([Path("corpus.txt")], TypeError, r"document 0: .* got \w+Path.*read the file first"),
    ((0, 1), TypeError, "got a flat tuple of integers"),
    ([[0], 1], TypeError, "document 1: expected one of integer arrays, lists of integers, str or bytes, got 1"),
    ([[0], {1}], TypeError, "document 1: .* got set"), ([Ragged.from_lists([])], TypeError, "got Ragged"),
    (["ab", None], TypeError, "document 1.*drop or fill missing values"), ([True], TypeError, "document 0: .* got True"),
    ([[1], [1, None]], TypeError, "document 1, position 1: expected an integer, got None.*drop or fill missing"),
    ([[0, 0.5]], TypeError, "document 0, position 1: .* got 0.5.*round or quantize.*ubpe_numba.Scale"),
    ([[0, float("nan")]], TypeError, "document 0, position 1.*drop or fill missing values"),
    ([[0, True], [0]], TypeError, "document 0, position 1: expected an integer, got True"),
    ([[0], [np.True_]], TypeError, "document 1, position 0"), ([[0], [1j]], TypeError, "position 0: .* got 1j"),
    ([[0, [1]]], TypeError, r"position 1: expected an integer, got \[1\]"),
    ([np.array([1]), ["a"]], TypeError, "document 1, position 0: expected an integer, got 'a'"),
    ([[0, 2**63]], ValueError, "position 1: expected an integer that fits int64, got 9223372036854775808"),
    ([[0], [LOW - 1]], ValueError, "document 1, position 0: expected an integer that fits int64, got -922"),
    ([[0], [np.uint64(2**64 - 1), 1]], ValueError, "document 1, position 0: expected an integer that fits int64"),
    (np.array([1, 2**63], np.uint64), ValueError, "position 1: expected an integer that fits int64, got 9223"),
    ([np.array([1], np.uint64), np.array([2**64 - 1], np.uint64)], ValueError, "document 1, position 0: .* 1844"),
    (np.array([[1], [2**63]], np.uint64), ValueError, "document 1, position 0: expected an integer that fits"),
    (np.array([], np.float32), TypeError, "an array of float32"), (np.array([1j]), TypeError, "an array of complex128"),
    (np.array([0, np.nan]), TypeError, "float64.*drop or fill missing values"),
    (np.array([b"a"]), TypeError, r"an array of \|S1"),
    (np.array(["2020-01-01"], "M8[D]"), TypeError, "datetime64"),
    (np.array(3), ValueError, r"expected a 1-D array .* shape \(\)"),
    ([np.array([0]), np.array([0.5])], TypeError, "document 1: documents are integers, got an array of float64"),
    (["ab", "", [1]], TypeError, r"str \(document 0\) and integers \(document 2\).*convert one"),
    ([b"a", [1]], TypeError, r"one kind, got bytes \(document 0\) and integers \(document 1\)"),
]  # fmt: skip
BAD_DOC: list[tuple[Any, Any, str]] = [
    ([0, 1.0], TypeError, "position 1: .* got 1.0"),
    (["a"], TypeError, "position 0: .* got 'a'"),
    ([FLAT], TypeError, "position 0.*encode_batch takes several"), ([0, 2**63], ValueError, "position 1: .* fits int64"),
    (np.array([0, 2**64 - 1], np.uint64), ValueError, "position 1: .* that fits int64"), (np.array(1), ValueError, "1-D integer"),
    (np.array([0], object), TypeError, "object"),
]  # fmt: skip
BAD_IDS: list[tuple[Any, Any, str]] = [
    ([0.0], TypeError, "position 0: expected an integer, got 0.0"), ([0, True], TypeError, "position 1: .* got True"),
    ([2**63], ValueError, "expected an integer that fits int64"),
    (np.array([0.0]), TypeError, "got an array of float64"), (np.array([0], object), TypeError, "got an array of object"),
    (np.array([2**63], np.uint64), ValueError, "expected an integer that fits int64"), (None, TypeError, "got None"),
    (0, TypeError, r"got 0 \(int\).*wrap it in a list"), ({0: 0}, TypeError, "got dict"),
    ([[0, 1], [2]], TypeError, "position 0.*decode_batch takes several"),
    (np.zeros((2, 2), int), ValueError, "shape.*decode_batch takes several"),
    (Ragged.from_lists(DOCS), TypeError, "got Ragged.*decode_batch takes several"),
    ("ab", TypeError, "expected integers, got str.*text is for encode"),
]  # fmt: skip
BAD_OFFSETS: list[tuple[Any, Any, str]] = [
    ([0, 7, 5, 9], ValueError, "document 1 ends before it starts: 7, then 5"), ([-1, 9], ValueError, "0 or more at the st"),
    ([0, HIGH], ValueError, f"expected at most 9, the number of values, got {HIGH}"),
    ([0, LOW, 9], ValueError, "document 0 ends before it starts"), ([0, 2**63], ValueError, "position 1: .* fits int64"),
    ([], ValueError, "expected at least one entry"), ([0.0, 9.0], TypeError, "position 0: expected an integer, got 0.0"),
    (np.array([0.0, 9.0]), TypeError, "an array of float64"), (np.array([False, True]), TypeError, "an array of bool"),
    (np.array([[0, 9]]), ValueError, r"shape \(1, 2\)"), ("09", TypeError, "expected integers, got str"), (9, TypeError, ""),
    ([2, 3, 4], ValueError, r"expected 0 first.*cumsum\(\[0, \*leng"), ([4, 3, 2], ValueError, r"cumsum\(\[0, \*lengths\]\)"),
    ([0, 2, 5], ValueError, "got 0 and 5.*append 9 to starts"), ([2, 5, 9], ValueError, "got 2 and 9.*put 0 before ends"),
    ([1, 2, 4], ValueError, r"docs\[1:4\] and offsets - 1"),
]  # fmt: skip
FIT: list[Row] = [
    *[(lambda docs=docs: fit(docs), error, f"docs.*{words}") for docs, error, words in BAD_DOCS],
    *[(lambda docs=docs, call=call: call(docs), error, f"docs.*{words}")
      for docs, error, words in BAD_DOCS[::5] for call in (INTS.encode_batch, INTS.fit)],
    *[(lambda o=o: fit(np.arange(9), offsets=o), error, f"^offsets.*{words}") for o, error, words in BAD_OFFSETS],
    (lambda: fit("corpus.txt"), UserWarning, "docs: 'corpus.txt'.*Read the file first"),
    (lambda: fit(["corpus.txt"] * 2), UserWarning, "docs: 'corpus.txt'.*Read the file first"),
    (lambda: fit(used()), ValueError, "docs: the iterator gave no document.*used up before.* A list"),
    (lambda: fit("abab", 258), TypeError, "y: .* got 258.*n_tokens is an argument of the con"),
    (lambda: fit(b"abab", OFFSETS), TypeError, "y: expected the labels of 1 documents.*say offsets="),
    (lambda: BPE(9).fit_transform(FLAT, OFFSETS), TypeError, "^y: expected the labels of 1.*say offsets="),
    (lambda: fit(DOCS, [[1], []]), TypeError, "y: expected the labels of 2.*say .*boundaries="),
    (lambda: TEXT.usage(["ab", "abz"]), UnknownSymbolError, "document 1, position 2"),
    (lambda: TEXT.usage(["ab"], sample_weight=[1, 2]), ValueError, "sample_weight: expected 1 weights"),
    (lambda: count_documents(used()), ValueError, "docs: the iterator gave no document.*A list can"),
    (lambda: INTS.encode_batch(used()), ValueError, "docs: the iterator gave no document.*A list can"),
    (lambda: fit(DOCS, offsets=[0, 1]), TypeError, r"docs, position 0: .* got \[0.*offsets= .*leave them out"),
    (lambda: fit(Ragged.from_lists([]), offsets=[0]), TypeError, "docs: expected a flat .* got a Ragged, which has its own"),
    (lambda: fit(None, offsets=[0]), TypeError, "docs: .* got None"),
    *[(lambda w=w, call=call: call(DOCS, sample_weight=w), error, f"^sample_weight.*{words}") for w, error, words in [
        (1, TypeError, "one for each document.*leave it out"), ([1], ValueError, "2 weights, one for each.*got 1$"),
        ([1, -1], ValueError, "document 1: expected 0 or more"),
        ([1.0, 2.0], TypeError, ""), (np.array([1.0, 2.0]), TypeError, ""),
        ([1, None], TypeError, ""), ([2**61, 0], ValueError, ""), ([2**60, 2**60], ValueError, ""),
        (np.array([2**63, 0], np.uint64), ValueError, ""),
    ] for call in (fit, count_documents)],
    *[(lambda docs=docs, w=w: fit(docs, sample_weight=w), ValueError, "sample_weight")
      for docs, w in (([[], []], [2**61, 2**61]), ([[], [1]], [2**62, 1]))],
    *[(lambda cuts=cuts: fit(DOCS, boundaries=cuts), error, f"^boundaries: .*{words}") for cuts, error, words in [
        ([2], TypeError, "flat list.*wrap it in a list"), ([[], [9]], ValueError, r"document 1: position 9.*in 0\.\.3"),
        (3, TypeError, ""), ([[1.5], []], TypeError, ""), ([["1"], []], TypeError, ""), ([[], np.array([0.5])], TypeError, ""),
        ([[1]], ValueError, ""), ([[], [], []], ValueError, ""), (Ragged.from_lists([[1]]), ValueError, ""),
        ([[0, 3], [1, -1]], ValueError, "document 1.* -1"),
    ]],
    (lambda: fit("abab", boundaries=[5]), ValueError, "^boundaries.*document 0.* 5"),
    (lambda: fit(DOCS, memory_limit=10), MemoryError, r"memory_limit: 12 symbols.*need at least 9.6"),
    (lambda: BPE(9).fit(DOCS, progress=2), ValueError, "progress: expected 'auto', True or False, got 2"),  # type: ignore[arg-type]
    (lambda: fit(sparse("coo_array")), TypeError, r"docs: .*coo_array.*toarray\(\)"),
    (lambda: fit(series("ab", None)), (TypeError, ValueError), "docs: document 1.*drop or fill"),
    (lambda: fit(series(1, None)), TypeError, "docs: .*float64.*drop or fill missing"),
    (lambda: BPE(9, alphabet="a").fit(["ab"]), UnknownSymbolError, "document 0, position 1.*alphabet="),
    (lambda: INTS.fit_more(used(), 9), ValueError, "docs: the iterator gave no document.*A list"),
    (lambda: PATHS.refine(used()), ValueError, "docs: the iterator gave no document.*A list"),
    (lambda: PATHS.reweight(used()), ValueError, "docs: the iterator gave no document.*A list"),
]  # fmt: skip
OPTIONS: list[Row] = [
    *[(lambda n=n: made(n_tokens=n), error, f"^n_tokens: expected {words}") for n, error, words in [
        (0, ValueError, "at least 1, got 0"), (1.5, TypeError, "an int, got 1.5"), (True, TypeError, "an int, got True"),
        ("8", TypeError, "an int, got '8'"), (2**31, ValueError, "at most 2147483645, got 2147483648"),
        (10**30, ValueError, "at most 2147483645"), (2, ValueError, "at least the alphabet's 3 symbols, got 2"),
    ]],
    (lambda: BPE().fit([[5000, 1, 5000]]), ValueError, "n_tokens: expected at least the alphabet's 5001 symbols, got 4096"),
    (lambda: BPE.for_text(100).fit("ab"), ValueError, "n_tokens: expected at least the alphabet's 256 symbols, got 100"),
    (lambda: made(n_candidates=-3), ValueError, "n_candidates: expected at least 1, got -3"),
    (lambda: made(n_candidates=None), TypeError, "n_candidates: expected an int, got None"),
    (lambda: made(n_threads=0), ValueError, "n_threads: expected at least 1, got 0"),
    (lambda: made().set_params(n_threads=True).decode([0]), TypeError, "n_threads: expected"),
    (lambda: made(n_threads=1.5), TypeError, "n_threads: expected an int or None, got 1.5"),
    (lambda: made(alphabet=2), UnknownSymbolError, "document 0, position 2: symbol 2 is not in the alphabet, 0..1"),
    (lambda: made(alphabet=[0, 2]), UnknownSymbolError, "document 0, position 1: symbol 1 is not in the alphabet of 2"),
    (lambda: made(alphabet="abc"), TypeError, "alphabet: expected integers, got characters"),
    (lambda: made(n_tokens=8, objective=[0.5]), ValueError, "objective: expected 5 numbers, one for each id, got shape"),
    (lambda: made(n_tokens=5, objective=[0.5] * 4 + [np.nan]), ValueError, "objective.4.: .* a number in -1e6..1e6, got nan"),
    (lambda: made(objective=["a"] * 8), TypeError, "objective: expected numbers, got list"),
    (lambda: made(objective=None), ValueError, "objective: expected .* got None"),
    (lambda: made().set_params(objective="fewest").encode([0]), ValueError, "objective: .*one of 'tfidf', .* got 'fewest'"),
    (lambda: BPE(n_candidates=1), TypeError, "unexpected keyword argument 'n_candidates'"),  # type: ignore[call-arg]
    (lambda: ubpe_numba.UBPEClassic(objective="rank"), TypeError, "unexpected keyword argument 'objective'"),  # type: ignore[call-arg]
    *[(lambda name=name, value=value: FitRules(**{name: value}), error, f"{name}: expected .* got {re.escape(repr(value))}")
      for name, value, error in [
          ("ties", "coin", ValueError), ("ties", [], ValueError), ("order", "", ValueError), ("trim", 1, ValueError),
          ("encode", "greedy", ValueError), ("min_count", 0, ValueError), ("min_count", True, ValueError),
          ("overshoot", None, TypeError), *(("max_token_length", n, ValueError) for n in (0, -1, 2.5, "3", True)),
      ]],
    (lambda: FitRules().replace(ties=None), ValueError, "ties: expected .* got None"),
    (lambda: INTS.load("m.npz"), AttributeError, r"leaves this one as it is.*tok = BPE.load\("),
    (lambda: INTS.encode([1], seed=3), ValueError, "seed: nothing is drawn.*sample=0.1"),
    (lambda: Scale(bins=3), TypeError, "'bins'.*here: levels"),  # type: ignore[call-arg]
    (lambda: FitRules(min_frequency=3), TypeError, "'min_frequency'.*min_count"),  # type: ignore[call-arg]
    (lambda: Scale(channels="separate").fit([np.zeros(3)] * 2), ValueError, r"signal: .*numpy.stack\(channels, axis=1"),
    (lambda: BYTES.with_objective("shortest").encode_nbest("a", 2), ValueError, "ranks.*pretokenizer=None"),
    (lambda: bounds.lower_bound(DOCS, 9), TypeError, "tok: expected a Tokenizer as the first argument, got list"),  # type: ignore[arg-type]
    (lambda: made(objective="best"), ValueError, "objective: expected one of 'tfidf', 'shortest', .* got 'best'"),
    (lambda: BPE(6, objective="shortest"), TypeError, r"'objective'.*UBPE\(objective="),  # type: ignore[call-arg]
    (lambda: BPE(vocab_size=9), TypeError, "'vocab_size'.*here: n_tokens"),  # type: ignore[call-arg]
    (lambda: BPE(6, rules="article").fit(DOCS), TypeError, "rules: expected a FitRules, such as .*, got 'article'"),  # type: ignore[arg-type]
    (lambda: BPE(6, preprocessing="gpt2").fit("a"), TypeError, "preprocessing: .* got str.*for_text"),  # type: ignore[arg-type]
    (lambda: Preprocessing("gpt5"), ValueError, "pretokenizer: .*'gpt5'.*expected gpt2, cl100k"),
    (lambda: BPE(9, preprocessing=Preprocessing("gpt2")).fit(DOCS), ValueError, "pretokenizer: it cuts text.*boundaries"),
    (lambda: Preprocessing(special_tokens=END), TypeError, "special_tokens: expected a list of words or a mapping .*, got str"),
    (lambda: BPE(8, unknown="[UNK]").fit(DOCS), ValueError, r"unknown: .*UNK.*special_tokens=\["),
    (lambda: BPE(5).set_params(size=5), ValueError, "size: not a parameter of BPE.*there are n_tokens"),
    (lambda: made(BPE).set_params(alphabet=5), ValueError, r"^alphabet: a fitted tokenizer.*BPE\(\*\*.*makes a new"),
    (lambda: INTS.truncate(1), ValueError, "n_tokens: expected at least the alphabet's 3 symbols, got 1"),
    (lambda: INTS.truncate(5.0), TypeError, "n_tokens: expected an int, got 5.0"),  # type: ignore[arg-type]
    (lambda: INTS.truncate(5, by="size"), ValueError, "by: expected 'creation' or 'idf', got 'size'"),
    (lambda: INTS.fit_more(DOCS, 3), ValueError, "n_tokens: .*at least the present 5 ids.*got 3"),
    (lambda: INTS.encode_nbest(DOCS, 2), AttributeError, "'encode_nbest'.*here: with_objective"),
    *[(lambda n=n: PATHS.encode_nbest([DOCS[0]], n), error, f"^n: .*{words}") for n, error, words in [
        (0, ValueError, "expected at least 1, got 0"), (1.0, TypeError, "expected an int, got 1.0"), (True, TypeError, "True"),
        (None, TypeError, "got None"), (2**31, ValueError, "2147483648 paths of 6 symbols need .* at most"),
        (10**30, ValueError, "10* paths"),
    ]],
    (lambda: WordPiece(["[UNK]"]).fit(["a"]), AttributeError, "'fit'.*here: train"),  # type: ignore[attr-defined]
    (lambda: ubpe_numba.Unigram, AttributeError, "'Unigram'.*here: UBPE"),
]  # fmt: skip
ENCODE: list[Row] = [
    *[(lambda doc=doc: INTS.encode(doc), error, f"^doc[:,] .*{words}") for doc, error, words in BAD_DOC],
    (lambda: BPE.from_merges([[0, 1]], 2).history_, NotFittedError, "history_ is missing.*Call fit first"),
    (lambda: INTS.encode("ab"), TypeError, "doc: the tokenizer was fitted on sequences of integers, .* got str.*BPE.for_text"),
    (lambda: INTS.encode_batch(["ab"]), TypeError, "docs: the tokenizer was fitted .* got str.*BPE.for_text"),
    (lambda: TEXT.encode([1, 2]), TypeError, "doc: .* fitted on str, .* got sequences of integers.*ids are for decode"),
    (lambda: TEXT.encode(FLAT, unknown="skip"), TypeError, "doc: .* fitted on str, .* got sequences of integers"),
    (lambda: BYTES.encode([1]), TypeError, "doc: a pretokenizer splits text: .* got integers. Ids: decode"),
    (lambda: TEXT.encode(b"ab"), TypeError, r"doc: .* got bytes.*bytes\.decode\(\) gives str"),
    (lambda: fit([b"abab"] * 2).encode("ab"), TypeError, "doc: .* fitted on bytes, expected the same, got str"),
    (lambda: TEXT.encode(TEXTS), TypeError, "doc, position 0.*encode_batch takes several"),
    (lambda: INTS.encode_batch([0, 1]), TypeError, r"docs: .*flat list.*\[docs\].*\(encode takes it"),
    (lambda: INTS.encode_batch(count_documents(DOCS)), TypeError, r"docs: .* got Counts.*to_lists\(\)"),
    (lambda: list(TEXT.encode_iter("ab")), TypeError, r"docs: .* got str.*\[docs\]"),
    (lambda: INTS.encode([0, 7]), UnknownSymbolError, "document 0, position 1: symbol 7 .*unknown="),
    (lambda: TEXT.encode_batch(["", "az"]), UnknownSymbolError, "document 1, position 1: symbol 'z'.*unknown="),
    (lambda: TEXT.encode("z", unknown="?"), ValueError, r"unknown: expected 'raise', 'skip', a character .* got '\?'"),
    (lambda: INTS.encode([0], unknown=3), ValueError, "unknown: .* an integer of the alphabet .* got 3"),
    (lambda: INTS.encode_batch([[0]], unknown=True), TypeError, "unknown: expected 'raise', 'skip', .* got True"),
    (lambda: BYTES.encode(f"a{END}"), SpecialTokenError, "document 0, position 1.*allowed_special="),
    (lambda: BYTES.encode("a", allowed_special={"<x>"}), ValueError, r"allowed_special: '<x>'.*which has '<\|end\|>'"),
    (lambda: TEXT.encode_batch(["ab"], n_threads=2), TypeError, r"'n_threads'.*set_params\(n_threads="),  # type: ignore[call-overload]
    (lambda: TEXT.encode_batch(["ab"], progress=True), TypeError, "'progress'.*encode_iter"),  # type: ignore[call-overload]
    (lambda: TEXT.encode("ab", return_offset=True), TypeError, "'return_offset'.*mean 'return_offsets'"),  # type: ignore[call-overload]
    (lambda: TEXT.encode("ab", sample=2), ValueError, r"sample: .*probability in 0\.\.1.* got 2"),
    (lambda: PATHS.encode([0], sample=-1), ValueError, "sample: .*from 0 to 10000.* got -1"),
    (lambda: PATHS.encode([0], sample=np.nan), ValueError, "sample: .*from 0"),
    (lambda: PATHS.encode([0], sample="1"), TypeError, "sample: expected a number, got '1'"),
    (lambda: PATHS.encode([0], sample=1000), ValueError, "alpha: expected weights times alpha in -66..66, got -"),
    (lambda: PATHS.encode([0], sample=1.0, seed=True), TypeError, "seed: expected an int"),
    (lambda: TEXT.encode("ab", sample=0.1, seed=-1), ValueError, r"seed: .*0\.\.2\*\*64 - 1.* got -1"),
    (lambda: INTS.encode_batch(DOCS, out=np.zeros(1, np.int32)), ValueError,
     "out: 1 ids are too few: document 0, of 2 ids, has no place from position 1 on"),
    (lambda: TEXT(TEXTS, padding=True), ValueError, "pad_id: .*expected an id or a special token"),
    (lambda: TEXT(TEXTS, max_length=1), ValueError, "max_length: .*without truncation=True"),
    (lambda: INTS.encode_batch([INTS.encode_batch(DOCS)] * 2), TypeError,  # type: ignore[list-item]
     r"docs: document 0: .* got Ragged.*Ragged\.concat joins"),
    (lambda: TEXT(TEXTS, return_offsets="spans"), TypeError, "return_offsets: .*True or False.* got str"),  # type: ignore[arg-type]
    (lambda: BYTES(["a"], template="[CLS] $A"), ValueError, r"template: '\[CLS\]'.*which has '<\|end\|>'"),
]  # fmt: skip
DECODE: list[Row] = [
    *[(lambda ids=ids: INTS.decode(ids), error, f"^ids[:,] .*{words}") for ids, error, words in BAD_IDS],
    *[(lambda ids=ids: INTS.decode_batch([ids]), error, "^batch.*(got|fits)") for ids, error, words in BAD_IDS[:8]],
    (lambda: INTS.decode_batch(FLAT, [0, 3, 2]), ValueError, "offsets: document 1 ends before it starts"),
    (lambda: INTS.decode([0, 99]), UnknownTokenError, r"document 0, position 1: token id 99 .*0\.\.4.*skip=99"),
    (lambda: INTS.decode_batch([[], [0, -1]]), UnknownTokenError, "document 1, position 1: token id -1.*skip=-1"),
    (lambda: INTS.decode_batch(INTS.encode_batch([[0], [0, 0]]).to_padded()), UnknownTokenError,
     r"document 0, position 1.*skip=-1\) leaves it out, such as padding"),
    (lambda: INTS.decode_batch([0, 1]), TypeError, r"batch: .*flat list.*\[batch\].*\(decode takes it"),
    (lambda: TEXT.decode_batch(TEXT(TEXTS)), TypeError, "batch: .* got ModelInputs.*its input_ids"),
    (lambda: INTS.decode_batch([INTS.encode_batch(DOCS)] * 2), TypeError, r"batch: document 0: .*Ragged.*Ragged\.concat joins"),
    (lambda: TEXT.decode(TEXT("ab")), TypeError, "ids: .* got ModelInputs.*its input_ids"),
    (lambda: BYTES.decode([0], errors=None), TypeError, "errors: .*'replace', 'strict'.* got None"),
    (lambda: BYTES.decode_batch([[0]], errors="x"), ValueError, "errors: .*'replace', 'strict'.* got 'x'"),
    (lambda: BYTES.decode_stream(errors="x"), ValueError, "errors: .*'replace', 'strict'.* got 'x'"),
    (lambda: INTS.decode([0], as_bytes=True), TypeError, "as_bytes: .*leave it out"),
]  # fmt: skip
FILES: list[Row] = [
    (lambda: INTS.save("tokenizer.json"), ValueError, r"path: tokenizer.json.*export\(.* writes it"),
    (lambda: INTS.save("m.model"), ValueError, "path: .*m.model.*export.* writes files of other libraries"),
    (lambda: load("missing.json"), FileNotFoundError, "No such file.*'missing.json'"),
    (lambda: load("gpt2"), FileNotFoundError, r"load\(tiktoken.get_encoding\('gpt2'\)\).*'gpt2'"),
    (lambda: load("org/name"), FileNotFoundError, "from_pretrained.*hf_hub_download.*'org/name'"),
    (lambda: load("org/Name-3.1-8B"), FileNotFoundError, "from_pretrained.*'org/Name-3.1-8B'"),
    (lambda: load("pointer.json"), ModelFormatError, "pointer.json: a pointer of Git LFS.*git lfs pull"),
    (lambda: load("empty"), ModelFormatError, "empty: a folder with none of tokenizer.json.*Give the file"),
    (lambda: load("corpus.txt"), ModelFormatError, "corpus.txt: a file that begins with.*none of: a model of"),
    (lambda: load(3), TypeError, r"source: .*a path, an open file, the content of one.* got 3 \(int\)"),
    (lambda: UBPE.load("model.npz"), ModelFormatError, "model.npz: a BPE, not a UBPE.*use BPE.load, or load"),
    (lambda: ubpe_numba.Tokenizer.load("words.json"), ModelFormatError, "a WordPiece, not a Tokenizer: use WordPiece.load"),
    (lambda: load("model.npz", pattern="gpt2"), TypeError, "'pattern'.*there are .*'pretokenizer'"),
    (lambda: INTS.save("model.bin"), ValueError, r"path: .*ends in \.json or \.npz.* got 'model.bin'"),
    (lambda: export("m.json", "ubpe"), TypeError, r"tok: .* got str.*export\(tok, format, path\)"),  # type: ignore[arg-type]
    (lambda: export(TEXT, "huggingface"), ValueError, "format: .* got 'huggingface'.*here: 'tokenizer.json'"),
    (lambda: export(TEXT, "gguf"), ValueError, "format: .* got 'gguf'.*read only: 'tokenizer.json'"),
    (lambda: export(TEXT, "npz"), ValueError, r"format: .* got 'npz'.*tok\.save\(path\)"),
    (lambda: export(TEXT, "tikoken"), ValueError, "format: .* got 'tikoken'.*mean 'tiktoken'"),
    (lambda: export(INTS, "tiktoken"), ValueError, "alphabet: .*BPE.for_text; 'tokenizer.json'"),
    (lambda: export(INTS, "sentencepiece"), ValueError, "alphabet: .*not int.*'tokenizer.json'"),
    (lambda: export(PATHS, "tiktoken"), ValueError, "a UBPE has no merges.*with_objective.'rank'"),
]  # fmt: skip
OTHERS: list[Row] = [
    (lambda: Scale().fit(np.array([0, np.nan])), ValueError, "signal: position 1.*drop or fill"),
    (lambda: Scale(step=1, levels=2).fit([0.0, 1.0]), ValueError, "levels: .*one of step and levels.*step=1, levels=2"),
    (lambda: Scale(step=0).fit([0.0, 1.0]), ValueError, "step: .*more than 0.* got 0"),
    (lambda: without("transformers", lambda: export(TEXT, "transformers", unk_token=False)), ImportError,
     r"needs transformers.*pip install 'ubpe-numba\[hf\]'"),
    (lambda: without("tiktoken", lambda: export(BYTES, "tiktoken.Encoding", name="x")), ImportError,
     "needs tiktoken.*pip install tiktoken"),
    (lambda: without("torch", lambda: TEXT("ab", return_tensors="pt")), ImportError,
     r"return_tensors='pt' needs torch.*pip install 'ubpe-numba\[torch\]'"),
    *[(lambda name=name, extra=extra: without(name, getattr(Ragged.from_lists(DOCS), f"to_{extra}")), ImportError,
       rf"to_{extra} needs {name}: pip install 'ubpe-numba\[{extra}\]'")
      for name, extra in (("pyarrow", "arrow"), ("torch", "torch"), ("awkward", "awkward"))],
    *[(lambda name=name, home=home: without(name, lambda: importlib.import_module(home), "ubpe_numba.integrations", home),
       ImportError, rf"{home} needs {package}: pip install 'ubpe-numba\[{extra}\]'")
      for name, home, package, extra in (
          ("sklearn", "ubpe_numba.sklearn", "scikit-learn", "sklearn"), ("scipy", "ubpe_numba.sklearn", "scipy", "sklearn"),
          ("miditok", "ubpe_numba.integrations.miditok", "miditok", "miditok"),
          ("dask", "ubpe_numba.distributed", "dask", "dask"),
      )],
    (lambda: without("scipy", lambda: ActionTokenizer.fit(np.zeros((2, 4, 1)))), ImportError,
     r"ActionTokenizer needs scipy: pip install 'ubpe-numba\[actions\]'"),
    (lambda: without("matplotlib", lambda: TokensDisplay.from_document(INTS, DOCS[0])), ImportError,
     r"drawing needs matplotlib.*pip install 'ubpe-numba\[plot\]'"),
    (lambda: without("regex", lambda: BPE.for_text(300, pretokenizer=r"\p{L}+x").fit("a")), ImportError,
     r"needs regex.*pip install 'ubpe-numba\[text\]'"),
]  # fmt: skip
TABLES = {
    "fit": FIT,
    "options": OPTIONS,
    "encode": ENCODE,
    "decode": DECODE,
    "files": FILES,
    "others": OTHERS,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text, a model, a pointer of Git LFS, and an empty folder."""
    path = tmp_path_factory.mktemp("ways")
    (path / "corpus.txt").write_text("low lower lowest\n" * 3)
    (path / "pointer.json").write_text(POINTER)
    (path / "empty").mkdir()
    INTS.save(path / "model.npz")
    WordPiece(["[UNK]", "un"]).save(path / "words.json")
    return path


@pytest.mark.parametrize("table", TABLES)
def test_messages_have_the_place_and_the_way_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.chdir(folder)
    toks = INTS, TEXT, BYTES, PATHS
    before = [tok.fingerprint for tok in toks]
    wrong = []
    for call, error, words in TABLES[table]:
        try:
            with pytest.raises(error) as caught:
                call()
        except pytest.skip.Exception:  # its package is not installed
            continue
        except BaseException as failed:
            failed.add_note(f"row: {words}")
            raise
        if not re.search(words, str(caught.value), re.DOTALL):
            wrong.append(f"{words!r}: {caught.value}")
    assert not wrong, "\n".join(wrong)
    assert [tok.fingerprint for tok in toks] == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "corpus.txt",
        "empty",
        "model.npz",
        "pointer.json",
        "words.json",
    ]


def test_what_needs_a_fit_reports_it(cls: Any, tmp_path: Path) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda tok: tok.encode([0]), lambda tok: tok.encode_batch([[0]]), lambda tok: tok.decode([0]),
        lambda tok: tok.decode_batch([[0]]), lambda tok: tok.transform([[0]]), lambda tok: tok.inverse_transform([[0]]),
        lambda tok: tok.vocabulary, lambda tok: tok.fingerprint, lambda tok: tok.truncate(5), lambda tok: tok.usage(["a"]),
        lambda tok: tok.save(tmp_path / "m.json"), lambda tok: export(tok, "ubpe"), lambda tok: tok.encode(None),
        lambda tok: tok.get_vocab(), lambda tok: tok.vocab_size, lambda tok: tok.with_objective("rank"),
        lambda tok: tok.encode_nbest([[0]], 1) if cls is UBPE else tok.encode([0]),
    ]  # fmt: skip
    for call in calls:
        for error in (NotFittedError, ValueError, AttributeError):
            with pytest.raises(
                error, match=f"this {cls.__name__} has no vocabulary yet: call fit or load first"
            ):
                call(cls())
    assert list(tmp_path.iterdir()) == []


WAYS: list[tuple[Callable[[], Any], Any]] = [
    (lambda: BPE.for_text(256).fit(["ab", b"ab"]).decode([97]), "a"),
    (lambda: fit(np.unique([["low", "lower"]], return_inverse=True)[1].reshape(1, -1)).encode([0]).tolist(), [0]),
    (lambda: fit(Scale(step=1).fit_transform([0.0, 1.0])).encode([1]).tolist(), [1]),
    (lambda: fit(b"abab", offsets=OFFSETS).vocabulary.merges.tolist(), [[97, 98]]),
    (lambda: fit(sparse("csr_matrix").toarray()).encode([1]).tolist(), [1]),
    (lambda: INTS.encode([0, 7], unknown="skip").tolist(), [0]),
    (lambda: INTS.encode_batch(count_documents(DOCS).to_lists()) == INTS.encode_batch(DOCS), True),
    (lambda: INTS.decode_batch(INTS.encode_batch([[0], [0, 0]]).to_padded(), skip=-1).to_lists(), [[0], [0, 0]]),
    (lambda: TEXT.decode_batch(TEXT(TEXTS).input_ids), TEXTS),
    (lambda: len(INTS.with_objective("shortest").encode_nbest(DOCS, 2)), 2),
    (lambda: BYTES.decode(BYTES.encode(END, allowed_special="all")), END),
    (lambda: BPE(**{**INTS.get_params(), "alphabet": 5}).alphabet, 5),
    (lambda: load(export(INTS, "tokenizer.json", unk_token=False), kind="int", alphabet=range(3)).encode([0]).tolist(), [0]),
    (lambda: type(INTS).load(Path("model.npz")) == INTS == ubpe_numba.Tokenizer.load("model.npz"), True),
    # labels are ignored
    *[(lambda y=y: fit(DOCS, y) == fit(DOCS), True) for y in ([1, 0], np.array([1.0, 0.0]), ["a", "b"])],
]  # fmt: skip


def test_ways_on_lead_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for call, expected in WAYS:
        assert call() == expected
