"""A first error teaches: what a newcomer does wrong is refused by a message of the place and of the way on, which is tried."""

from __future__ import annotations

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
    Tokenizer,
    WordPiece,
    bounds,
    count_documents,
    export,
    load,
    quantize,
)
from ubpe_numba.errors import ModelFormatError, NotFittedError, SpecialTokenError, UnknownSymbolError, UnknownTokenError
from ubpe_numba.plot import CountsDisplay

DOCS = [[0, 1, 2, 0, 1, 2], [0, 1, 2]]
TEXTS = ["abab ab", "ab"]
END = "<|end|>"
FLAT, OFFSETS = np.array([0, 1, 0, 1]), np.array([0, 2, 4])
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1234\n"

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


def sparse(kind: str) -> Any:
    return getattr(pytest.importorskip("scipy.sparse"), kind)(np.eye(3, dtype=int))


def series(*values: Any, **options: Any) -> Any:
    return pytest.importorskip("pandas").Series(list(values), **options)


def without(module: str, call: Callable[[], Any]) -> Any:
    """The call as where a package is not installed."""
    with pytest.MonkeyPatch.context() as patch:  # other modules that are imported meanwhile stay
        for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
            patch.setitem(sys.modules, name, None)
        return call()


#: A name; a call, in a folder with files; the error; the argument, document and position; the way on.
Row = tuple[str, Callable[[], Any], type[BaseException] | tuple[type[BaseException], ...], str, str]
FIT: list[Row] = [
    ("name of a file", lambda: fit("corpus.txt"), UserWarning, "docs: 'corpus.txt'", "read it first"),
    ("names of files", lambda: fit(["corpus.txt"] * 2), UserWarning, "docs: 'corpus.txt'", "read it first"),
    ("path", lambda: fit(Path("corpus.txt")), TypeError, r"docs: .* got \w+Path", "read the file first"),
    ("paths", lambda: fit([Path("corpus.txt")]), TypeError, r"docs: document 0: .* got \w+Path", "read the file first"),
    ("no documents", lambda: fit(used()), ValueError, "docs: the iterator gave no document", "used up before.* A list"),
    ("str and bytes", lambda: fit(["ab", b"ab"]), TypeError, r"docs: .*\(document 0\).*\(document 1\)", "for_text takes both"),
    ("str and integers", lambda: fit(["ab", [1]]), TypeError, r"docs: .*\(document 0\).*\(document 1\)", "convert one"),
    ("mixed, of a stream", lambda: fit(iter(["ab", [1]])), TypeError, r"docs: .*\(document 1\)", "convert one"),
    ("floats", lambda: fit([[0, 0.5]]), TypeError, "docs: document 0, position 1", "round or quantise.*ubpe_numba.quantize"),
    ("array of floats", lambda: fit(np.array([0.5])), TypeError, "docs: .*float64", "round or quantise.*ubpe_numba.quantize"),
    ("array with NaN", lambda: fit(np.array([0, np.nan])), TypeError, "docs: .*float64", "drop or fill missing values"),
    ("NaN", lambda: fit([[0, float("nan")]]), TypeError, "docs: document 0, position 1", "drop or fill missing values"),
    ("None among texts", lambda: fit(["ab", None]), TypeError, "docs: document 1", "drop or fill missing values"),
    ("None among integers", lambda: fit([[1], [1, None]]), TypeError, "docs: document 1, position 1", "drop or fill missing"),
    ("three axes", lambda: fit(np.zeros((2, 2, 2), int)), ValueError, r"docs: .*shape \(2, 2, 2\)", "keeps rows apart"),
    ("lengths", lambda: fit(FLAT, offsets=[2, FLAT.size - 2]), ValueError, "offsets: expected 0 first", "numpy.cumsum"),
    ("ends", lambda: fit(FLAT, offsets=[2, FLAT.size]), ValueError, "offsets: .* got 2 and", "put 0 before ends"),
    ("starts", lambda: fit(FLAT, offsets=[0, 1]), ValueError, "offsets: .* got 0 and 1", "append .* to starts"),
    ("list of matrices", lambda: fit([np.zeros((3, 4), int)]), ValueError, "docs: document 0", r"ravel\(\)"),
    ("words", lambda: fit([["low", "lower"]]), TypeError, "docs: document 0, position 0", "number words.*numpy.unique"),
    ("array of words", lambda: fit(np.array(["a", "b"])), TypeError, "docs: .*<U1", "numbers words"),
    ("flat list", lambda: fit([0, 1, 2]), TypeError, "docs: .*flat list of integers", r"wrap it in a list \(\[docs\]\)"),
    ("mapping", lambda: fit({"a": "ab"}), TypeError, "docs: .* got dict", "a list of its values"),
    ("set", lambda: fit({"ab", "cd"}), TypeError, "docs: .* got set", "sort it to a list"),
    ("number", lambda: fit(5), TypeError, r"docs: .* got 5 \(int\)", "wrap it in a list"),
    ("size of the vocabulary", lambda: fit("abab", 258), TypeError, "y: .* got 258", "n_tokens is an argument of the con"),
    ("bytes, offsets", lambda: fit(b"abab", OFFSETS), TypeError, "y: expected the labels of 1 documents", "say offsets="),
    ("text, list of offsets", lambda: fit("abab", [0, 2, 4]), TypeError, "y: expected the labels of 1", "say offsets="),
    ("array, offsets", lambda: fit(FLAT, OFFSETS), TypeError, "y: expected the labels of 1", "say offsets="),
    ("boundaries as labels", lambda: fit(DOCS, [[1], []]), TypeError, "y: expected the labels of 2", "say .*boundaries="),
    ("used up, of usage", lambda: INTS.usage(used()), ValueError, "docs: the iterator gave no document", "A list can be read"),
    ("used up, of counts", lambda: count_documents(used()), ValueError, "docs: the iterator gave no document", "A list can"),
    ("used up, of a batch", lambda: INTS.encode_batch(used()), ValueError, "docs: the iterator gave no document", "A list can"),
    ("used up ids", lambda: INTS.decode_batch(used()), ValueError, "batch: the iterator gave no document", "A list can"),
    ("offsets of lists", lambda: fit(DOCS, offsets=[0, 1]), TypeError, "docs, position 0", "offsets= .*leave them out"),
    ("weight", lambda: fit(DOCS, sample_weight=1), TypeError, "sample_weight: .*one for each document", "leave it out"),
    ("few weights", lambda: fit(DOCS, sample_weight=[1]), ValueError, "sample_weight: .*got 1$", "2 weights, one for each"),
    ("boundaries of one", lambda: fit(DOCS, boundaries=[2]), TypeError, "boundaries: .*flat list", r"wrap it in a list"),
    ("boundary outside", lambda: fit(DOCS, boundaries=[[], [9]]), ValueError, "boundaries: document 1: position 9", r"in 0\.\.3"),
    ("little memory", lambda: fit(DOCS, memory_limit=10), MemoryError, "memory_limit: 12 symbols", r"need at least 41\.9 MB"),
    ("sparse matrix", lambda: fit(sparse("csr_matrix")), TypeError, "docs: .*csr_matrix", r"toarray\(\)"),
    ("sparse array", lambda: fit(sparse("coo_array")), TypeError, "docs: .*coo_array", r"toarray\(\)"),
    ("Series with None", lambda: fit(series("ab", None)), (TypeError, ValueError), "docs: document 1", "drop or fill"),
    ("Series with NaN", lambda: fit(series(1, None)), TypeError, "docs: .*float64", "drop or fill missing"),
    ("Series with NA", lambda: fit(series(1, None, dtype="Int64")), ValueError, "docs: position 1", "drop missing values"),
    ("odd symbol", lambda: BPE(9, alphabet="a").fit(["ab"]), UnknownSymbolError, "document 0, position 1", "alphabet="),
    ("iterator to continue", lambda: INTS.fit_more(used(), 9), ValueError, "docs: the iterator gave no document", "A list"),
    ("iterator to refine", lambda: PATHS.refine(used()), ValueError, "docs: the iterator gave no document", "A list"),
    ("iterator to reweight", lambda: PATHS.reweight(used()), ValueError, "docs: the iterator gave no document", "A list"),
]  # fmt: skip
OPTIONS: list[Row] = [
    ("load of a tokenizer", lambda: INTS.load("m.npz"), AttributeError, "leaves this one as it is", r"tok = BPE.load\("),
    ("seed", lambda: INTS.encode([1], seed=3), ValueError, "seed: nothing is drawn", "sample=0.1"),
    ("bins", lambda: quantize([1.0], bins=3), TypeError, "'bins'", "here: levels"),  # type: ignore[call-arg]
    ("rules", lambda: FitRules(min_frequency=3), TypeError, "'min_frequency'", "min_count"),  # type: ignore[call-arg]
    ("recordings", lambda: quantize([np.zeros(3)] * 2, levels=2), TypeError, "signal: .*got list", r"learn\(.*scale.apply\("),
    ("n best of text", lambda: BYTES.with_objective("shortest").encode_nbest("a", 2), ValueError, "ranks", "pretokenizer=None"),
    ("tokenizer.json", lambda: INTS.save("tokenizer.json"), ValueError, "path: tokenizer.json", r"export\(.* writes it"),
    ("suffix", lambda: INTS.save("m.model"), ValueError, "path: .*m.model", "export.* writes files of other libraries"),
    ("swapped", lambda: bounds.lower_bound(DOCS, 9), TypeError, "tok: .* got list", "as the first argument"),  # type: ignore[arg-type]
    ("no size", lambda: BPE(0).fit(DOCS), ValueError, "n_tokens: .* got 0", "at least 1"),
    ("float size", lambda: BPE(8.0).fit(DOCS), TypeError, "n_tokens: .* got 8.0", "an int"),  # type: ignore[arg-type]
    ("small size", lambda: BPE.for_text(100).fit("ab"), ValueError, "n_tokens: .* got 100", "at least the alphabet's 256"),
    ("objective", lambda: UBPE(6, objective="fewest").fit(DOCS), ValueError, "objective: .* got 'fewest'", "'shortest'"),
    ("objective of BPE", lambda: BPE(6, objective="shortest"), TypeError, "'objective'", r"UBPE\(objective="),  # type: ignore[call-arg]
    ("another library's size", lambda: BPE(vocab_size=9), TypeError, "'vocab_size'", "here: n_tokens"),  # type: ignore[call-arg]
    ("preset by name", lambda: BPE(6, rules="article").fit(DOCS), TypeError, "rules: .* got 'article'", "a FitRules"),  # type: ignore[arg-type]
    ("pattern", lambda: BPE(6, preprocessing="gpt2").fit("a"), TypeError, "preprocessing: .* got str", "for_text"),  # type: ignore[arg-type]
    ("pretokenizer", lambda: Preprocessing("gpt5"), ValueError, "pretokenizer: .*'gpt5'", "expected gpt2, cl100k"),
    ("integers cut", lambda: BPE(9, preprocessing=Preprocessing("gpt2")).fit(DOCS), ValueError, "pretokenizer:", "boundaries"),
    ("one special token", lambda: Preprocessing(special_tokens=END), TypeError, "special_tokens: .* got str", "a list of words"),
    ("unknown", lambda: BPE(8, unknown="[UNK]").fit(DOCS), ValueError, "unknown: .*UNK", r"special_tokens=\["),
    ("parameter", lambda: BPE(5).set_params(size=5), ValueError, "size: not a parameter of BPE", "there are n_tokens"),
    ("after a fit", lambda: BPE(5).fit(DOCS).set_params(alphabet=5), ValueError, "alphabet: ", r"BPE\(\*\*.*makes a new"),
    ("smaller", lambda: INTS.truncate(1), ValueError, "n_tokens: .* got 1", "at least the alphabet's 3 symbols"),
    ("fewer", lambda: INTS.fit_more(DOCS, 3), ValueError, "n_tokens: .* got 3", "at least the present 5 ids"),
    ("n best of BPE", lambda: INTS.encode_nbest(DOCS, 2), AttributeError, "'encode_nbest'", "here: with_objective"),
    ("fit of WordPiece", lambda: WordPiece(["[UNK]"]).fit(["a"]), AttributeError, "'fit'", "here: train"),  # type: ignore[attr-defined]
    ("another library's class", lambda: ubpe_numba.Unigram, AttributeError, "'Unigram'", "here: UBPE"),
]  # fmt: skip
ENCODE: list[Row] = [
    ("before a fit", lambda: BPE(5).encode([1]), NotFittedError, "this BPE has no vocabulary", "call fit or load first"),
    ("history of a table", lambda: BPE.from_merges([[0, 1]], 2).history_, NotFittedError, "has no history_", "call fit first"),
    ("text to integers", lambda: INTS.encode("ab"), TypeError, "doc: .* got str", "BPE.for_text"),
    ("texts to integers", lambda: INTS.encode_batch(["ab"]), TypeError, "docs: .* got str", "BPE.for_text"),
    ("integers to text", lambda: TEXT.encode([1, 2]), TypeError, "doc: .* got sequences of integers", "ids are for decode"),
    ("integers to bytes", lambda: BYTES.encode([1]), TypeError, "doc: .* got integers", "ids are for decode"),
    ("bytes to text", lambda: TEXT.encode(b"ab"), TypeError, "doc: .* got bytes", r"bytes\.decode\(\) gives str"),
    ("several texts", lambda: TEXT.encode(TEXTS), TypeError, "doc, position 0", "encode_batch takes several"),
    ("several lists", lambda: INTS.encode(DOCS), TypeError, "doc, position 0", "encode_batch takes several"),
    ("several arrays", lambda: INTS.encode([FLAT]), TypeError, "doc, position 0", "encode_batch takes several"),
    ("matrix", lambda: INTS.encode(np.zeros((2, 3), int)), ValueError, r"doc: .*shape \(2, 3\)", "encode_batch takes several"),
    ("Ragged", lambda: INTS.encode(Ragged.from_lists(DOCS)), TypeError, "doc: .* got Ragged", "encode_batch takes several"),
    ("iterator", lambda: INTS.encode(iter(DOCS)), TypeError, r"doc: .* got list_iterator", "encode_batch takes several"),
    ("symbol", lambda: INTS.encode(3), TypeError, r"doc: .* got 3 \(int\)", "wrap it in a list"),
    ("flat list", lambda: INTS.encode_batch([0, 1]), TypeError, "docs: .*flat list", r"\[docs\].*\(encode takes it"),
    ("counts", lambda: INTS.encode_batch(count_documents(DOCS)), TypeError, "docs: .* got Counts", r"to_lists\(\)"),
    ("text to stream", lambda: list(TEXT.encode_iter("ab")), TypeError, "docs: .* got str", r"\[docs\]"),
    ("unknown symbol", lambda: INTS.encode([0, 7]), UnknownSymbolError, "document 0, position 1: symbol 7", "unknown="),
    ("in a batch", lambda: TEXT.encode_batch(["", "az"]), UnknownSymbolError, "document 1, position 1: symbol 'z'", "unknown="),
    ("no such symbol", lambda: TEXT.encode("z", unknown="?"), ValueError, r"unknown: .* got '\?'", r"'skip' or 0\.\.2"),
    ("special token", lambda: BYTES.encode(f"a{END}"), SpecialTokenError, "document 0, position 1", "allowed_special="),
    ("no special token", lambda: BYTES.encode("a", allowed_special={"<x>"}), ValueError,
     "allowed_special: '<x>'", r"which has '<\|end\|>'"),
    ("threads", lambda: TEXT.encode_batch(["ab"], n_threads=2), TypeError, "'n_threads'", r"set_params\(n_threads="),  # type: ignore[call-overload]
    ("progress", lambda: TEXT.encode_batch(["ab"], progress=True), TypeError, "'progress'", "encode_iter"),  # type: ignore[call-overload]
    ("misspelt", lambda: TEXT.encode("ab", return_offset=True), TypeError, "'return_offset'", "mean 'return_offsets'"),  # type: ignore[call-overload]
    ("dropout", lambda: TEXT.encode("ab", sample=2), ValueError, "sample: .* got 2", r"probability in 0\.\.1"),
    ("power", lambda: PATHS.encode([0], sample=-1), ValueError, "sample: .* got -1", "from 0 to 10000"),
    ("seed", lambda: TEXT.encode("ab", sample=0.1, seed=-1), ValueError, "seed: .* got -1", r"0\.\.2\*\*64 - 1"),
    ("small buffer", lambda: INTS.encode_batch(DOCS, out=np.zeros(1, np.int32)), ValueError,
     "out: .*document 0.*position 1", "1 ids are too few.*of 2 ids"),
    ("nothing to pad with", lambda: TEXT(TEXTS, padding=True), ValueError, "pad_id: ", "expected an id or a special token"),
    ("length", lambda: TEXT(TEXTS, max_length=1), ValueError, "max_length: ", "without truncation=True"),
    ("batches", lambda: INTS.encode_batch([INTS.encode_batch(DOCS)] * 2), TypeError,  # type: ignore[list-item]
     "docs: document 0: .* got Ragged", r"Ragged\.concat joins"),
    ("spans of inputs", lambda: TEXT(TEXTS, return_offsets="spans"), TypeError, "return_offsets: .* got str", "True or False"),  # type: ignore[arg-type]
    ("template", lambda: BYTES(["a"], template="[CLS] $A"), ValueError, r"template: '\[CLS\]'", r"which has '<\|end\|>'"),
]  # fmt: skip
DECODE: list[Row] = [
    ("large id", lambda: INTS.decode([0, 99]), UnknownTokenError, r"document 0, position 1: token id 99 .*0\.\.4", "skip=99"),
    ("in a batch", lambda: INTS.decode_batch([[], [0, -1]]), UnknownTokenError, "document 1, position 1: token id -1", "skip=-1"),
    ("padded", lambda: INTS.decode_batch(INTS.encode_batch([[0], [0, 0]]).to_padded()), UnknownTokenError,
     "document 0, position 1", r"skip=-1\) leaves it out, such as padding"),
    ("lists", lambda: INTS.decode([[0, 1], [2]]), TypeError, "ids, position 0", "decode_batch takes several"),
    ("batch", lambda: INTS.decode(INTS.encode_batch(DOCS)), TypeError, "ids: .* got Ragged", "decode_batch takes several"),
    ("matrix", lambda: INTS.decode(np.zeros((2, 2), int)), ValueError, "ids: .*shape", "decode_batch takes several"),
    ("text", lambda: TEXT.decode("ab"), TypeError, "ids: .* got str", "text is for encode"),
    ("id", lambda: TEXT.decode(0), TypeError, r"ids: .* got 0 \(int\)", "wrap it in a list"),
    ("flat list", lambda: INTS.decode_batch([0, 1]), TypeError, "batch: .*flat list", r"\[batch\].*\(decode takes it"),
    ("inputs of a model", lambda: TEXT.decode_batch(TEXT(TEXTS)), TypeError, "batch: .* got ModelInputs", "its input_ids"),
    ("batches", lambda: INTS.decode_batch([INTS.encode_batch(DOCS)] * 2), TypeError,
     "batch: document 0: .* got Ragged", r"Ragged\.concat joins"),
    ("inputs of one", lambda: TEXT.decode(TEXT("ab")), TypeError, "ids: .* got ModelInputs", "its input_ids"),
    ("no errors", lambda: BYTES.decode([0], errors=None), TypeError, "errors: .* got None", "'replace', 'strict'"),
    ("odd errors", lambda: BYTES.decode_batch([[0]], errors="x"), ValueError, "errors: .* got 'x'", "'replace', 'strict'"),
    ("errors of a stream", lambda: BYTES.decode_stream(errors="x"), ValueError, "errors: .* got 'x'", "'replace', 'strict'"),
    ("bytes of integers", lambda: INTS.decode([0], as_bytes=True), TypeError, "as_bytes: ", "leave it out"),
]  # fmt: skip
FILES: list[Row] = [
    ("missing", lambda: load("missing.json"), FileNotFoundError, "'missing.json'", "No such file"),
    ("encoding", lambda: load("gpt2"), FileNotFoundError, "'gpt2'", r"load\(tiktoken.get_encoding\('gpt2'\)\)"),
    ("model", lambda: load("org/name"), FileNotFoundError, "'org/name'", "from_pretrained.*hf_hub_download"),
    ("model with a version", lambda: load("org/Name-3.1-8B"), FileNotFoundError, "'org/Name-3.1-8B'", "from_pretrained"),
    ("pointer", lambda: load("pointer.json"), ModelFormatError, "pointer.json: a pointer of Git LFS", "git lfs pull"),
    ("folder", lambda: load("empty"), ModelFormatError, "empty: a folder with none of tokenizer.json", "Give the file itself"),
    ("text", lambda: load("corpus.txt"), ModelFormatError, "corpus.txt: a file that begins with", "none of: a model of"),
    ("object", lambda: load(3), TypeError, r"source: .* got 3 \(int\)", "a path, an open file, the content of one"),
    ("class", lambda: UBPE.load("model.npz"), ModelFormatError, "model.npz: a BPE, not a UBPE", "use BPE.load, or load"),
    ("option", lambda: load("model.npz", pattern="gpt2"), TypeError, "'pattern'", "there are .*'pretokenizer'"),
    ("suffix", lambda: INTS.save("model.bin"), ValueError, "path: .* got 'model.bin'", r"ends in \.json or \.npz"),
    ("no tokenizer", lambda: export("m.json", "ubpe"), TypeError, "tok: .* got str", r"export\(tok, format, path\)"),  # type: ignore[arg-type]
    ("another name", lambda: export(TEXT, "huggingface"), ValueError, "format: .* got 'huggingface'", "here: 'tokenizer.json'"),
    ("read only", lambda: export(TEXT, "gguf"), ValueError, "format: .* got 'gguf'", "read only: 'tokenizer.json'"),
    ("own format", lambda: export(TEXT, "npz"), ValueError, "format: .* got 'npz'", r"tok\.save\(path\)"),
    ("misspelt format", lambda: export(TEXT, "tikoken"), ValueError, "format: .* got 'tikoken'", "mean 'tiktoken'"),
    ("integers as ranks", lambda: export(INTS, "tiktoken"), ValueError, "alphabet: ", "BPE.for_text; 'tokenizer.json'"),
    ("integers as pieces", lambda: export(INTS, "sentencepiece"), ValueError, "alphabet: .*not of int", "'tokenizer.json'"),
    ("paths as merges", lambda: export(PATHS, "tiktoken"), ValueError, "a UBPE has no merges", "with_objective.'rank'"),
]  # fmt: skip
OTHERS: list[Row] = [
    ("NaN", lambda: quantize(np.array([0, np.nan]), step=0.1), ValueError, "signal: position 1", "drop or fill"),
    ("no step", lambda: quantize(np.array([0.0, 1.0])), ValueError, "levels: .*step=None, levels=None", "one of step and levels"),
    ("step 0", lambda: quantize(np.array([0.0, 1.0]), step=0), ValueError, "step: .* got 0", "more than 0"),
    ("transformers", lambda: without("transformers", lambda: export(TEXT, "transformers", unk_token=False)), ImportError,
     "needs transformers", r"pip install 'ubpe-numba\[hf\]'"),
    ("tiktoken", lambda: without("tiktoken", lambda: export(BYTES, "tiktoken.Encoding", name="x")), ImportError,
     "needs tiktoken", "pip install tiktoken"),
    ("torch", lambda: without("torch", lambda: TEXT("ab", return_tensors="pt")), ImportError,
     "return_tensors='pt' needs torch", r"pip install 'ubpe-numba\[torch\]'"),
    ("pyarrow", lambda: without("pyarrow", lambda: Ragged.from_lists(DOCS).to_arrow()), ImportError,
     "to_arrow needs pyarrow", r"pip install 'ubpe-numba\[arrow\]'"),
    ("matplotlib", lambda: without("matplotlib", lambda: CountsDisplay.from_docs(INTS, DOCS)), ImportError,
     "drawing needs matplotlib", r"pip install 'ubpe-numba\[plot\]'"),
    ("regex", lambda: without("regex", lambda: BPE.for_text(300, pretokenizer=r"\p{L}+x").fit("a")), ImportError,
     "needs regex", r"pip install 'ubpe-numba\[text\]'"),
]  # fmt: skip
TABLES = {"fit": FIT, "options": OPTIONS, "encode": ENCODE, "decode": DECODE, "files": FILES, "others": OTHERS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text, a model, a pointer of Git LFS, and an empty folder."""
    path = tmp_path_factory.mktemp("ways")
    (path / "corpus.txt").write_text("low lower lowest\n" * 3)
    (path / "pointer.json").write_text(POINTER)
    (path / "empty").mkdir()
    INTS.save(path / "model.npz")
    return path


@pytest.mark.parametrize("table", TABLES)
def test_messages_have_the_place_and_the_way_on(folder: Path, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    monkeypatch.chdir(folder)
    for name, call, error, place, way in TABLES[table]:
        try:
            with pytest.raises(error, match=place) as caught:
                call()
        except pytest.skip.Exception:  # its package is not installed
            continue
        assert re.search(way, str(caught.value)), f"{name}: {caught.value}"


WAYS: list[tuple[Callable[[], Any], Any]] = [
    (lambda: BPE.for_text(256).fit(["ab", b"ab"]).decode([97]), "a"),
    (lambda: fit(np.unique([["low", "lower"]], return_inverse=True)[1].reshape(1, -1)).encode([0]).tolist(), [0]),
    (lambda: fit(quantize(np.array([0.0, 1.0]), step=1)[0]).encode([1]).tolist(), [1]),
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
    (lambda: type(INTS).load(Path("model.npz")) == INTS == Tokenizer.load("model.npz"), True),
]


def test_ways_on_lead_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for call, expected in WAYS:
        assert call() == expected


def test_labels_are_ignored_still() -> None:
    """What scikit-learn passes beside several documents."""
    for y in ([1, 0], np.array([1.0, 0.0]), ["a", "b"]):
        assert fit(DOCS, y) == fit(DOCS)
