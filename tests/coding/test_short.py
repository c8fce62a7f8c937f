"""Short documents go another way than others: equal results, equal errors, any number of calls at once, and no memory lost."""

import base64
import codecs
import contextlib
import copy
import functools
import gc
import inspect
import json
import os
import pickle
import random
import signal
import sys
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from processes import python
from tables import refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, export
from ubpe_numba.coding.plan import FIRST
from ubpe_numba.coding.short import LONGEST
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, UnknownTokenError
from ubpe_numba.runtime import border
from ubpe_numba.tokenizers.decoding import Decoding
from ubpe_numba.tokenizers.encoding import Encoding

TEXT = "the cat sat on the mat, the <|end|> 中日本 🙂🙂 éé hello hello  world\n\n 12345 don't"
PARTS = [
    "a", "B", " ", "  ", "\n", "\r\n", "'s", "'LL", "1", "2345", "é", "ß", "中", "日本", "Ω", "🙂", "\ud800", "\u0301", "<", "<|",
    "\u017f",    "<|end|>", "<end>", "\x00", "_", "!!", "\u3000", "hello", " the cat", "x" * 300,
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {"unknown": 0}, {"unknown": "skip"}, {"unknown": 1.5}, {"return_offsets": 1}, {"sample": 0.0}, {"allowed_special": "all"},
    {"allowed_special": {"<end>"}}, {"allowed_special": 5}, {"disallowed_special": "none"}, {"disallowed_special": {"x"}},
]  # fmt: skip
NO_INTEGERS = [
    True,
    1.0,
    "a",
    None,
    np.bool_(True),
    np.float64(1),
    np.array(1),
    2**31,
    2**32 + 1,
    2**63,
    -1,
    -(2**63),
    2**70,
]


class Text(str):
    """Not quite a `str`."""


class Items(list):  # type: ignore[type-arg]
    """Not quite a list."""


@functools.cache
def general(tok: Any) -> Any:
    """The same tokenizer without short ways."""
    other = copy.copy(tok)
    other._plan()._calls = FIRST
    other._made_plans["decode"] = None
    return other


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """What a call gives, all of it; or the error."""
    try:
        found = call(*args, **options)
    except Exception as error:
        return type(error), str(error), vars(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [
        (type(p), p.dtype.str, p.flags.writeable, p.tolist()) if isinstance(p, np.ndarray) else (type(p), p)
        for p in parts
    ]


def is_same(tok: Any, name: str, *args: Any, **options: Any) -> Any:
    """Hold both ways equal, the second time too; returns the outcome."""
    expected = outcome(getattr(general(tok), name), *args, **options)
    for _ in range(2):
        assert outcome(getattr(tok, name), *args, **options) == expected, (tok, name, args, options)
    return expected


def ready(tok: Any, doc: Any) -> Any:
    """A tokenizer that has its short ways."""
    for _ in range(FIRST):
        tok.decode(tok.encode(doc))
    return tok


def is_short(tok: Any) -> bool:
    """Whether a tokenizer has them."""
    return tok._made_plans["encode"].short is not None and tok._made_plans["decode"] is not None


@pytest.fixture(scope="module", params=["by C", "by numba"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both ways of short calls: functions of C where Python has them, and where an ability is off public calls of numba."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by numba":
            patch.setitem(border._off, "interface", "a test")
            patch.setattr(border, "_warned", {"interface"})
        yield request.param


@pytest.fixture(scope="module")
def texts(way: str) -> list[Any]:
    docs = [TEXT, TEXT.upper(), TEXT[::-1]]
    special = {"<|end|>": 500, "<end>": 400}
    lines = b"".join(b"%s %d\n" % (base64.b64encode(bytes([255 - i])), i) for i in range(256))
    file = json.loads(export(BPE.for_text(300, pretokenizer="gpt2").fit(docs), "tokenizer.json"))
    file["model"]["vocab"] = {
        name: len(file["model"]["vocab"]) - 1 - i for name, i in file["model"]["vocab"].items()
    }
    made = [
        BPE.for_text(300, pretokenizer="gpt2", known_words=["cat", "the"]).fit(docs), BPE.load(json.dumps(file)),
        BPE.for_text(300, pretokenizer="o200k", special_tokens={f"<{i}>": 300 + i for i in range(40)}).fit(docs),
        BPE.for_text(300, pretokenizer="cl100k", special_tokens=special).fit(docs),
        BPE.for_text(300, pretokenizer=None, special_tokens=["<end>"]).fit(docs),
        BPE.for_text(300, pretokenizer=r"\w+|\W", rules=FitRules(encode="batch")).fit(docs),
        UBPE.for_text(300, pretokenizer="gpt2").fit(docs),
        BPE(300, preprocessing=Preprocessing(pretokenizer="gpt2")).fit([TEXT.encode()]), BPE(60).fit([TEXT]),
        BPE(300).fit([TEXT.encode()]), BPE.load(lines, pretokenizer="cl100k", special_tokens={"<|end|>": 300}),
    ]  # fmt: skip
    return [
        ready(tok, "the cat" if tok._model.alphabet.kind != "bytes" or tok._prepared.encoding else b"the cat")
        for tok in made
    ]


@pytest.fixture(scope="module")
def integers(way: str) -> list[Any]:
    rng = np.random.default_rng(1)
    docs = [rng.integers(0, 8, 300) for _ in range(4)]
    doubling = [[0, 0], *([2 + i, 2 + i] for i in range(20))]  # an id that stands for a million symbols
    far = ([5, -3, 10**12, 7], [9, -3, 4], [-(2**63), -(2**63) + 1])
    made = [
        BPE(40).fit(docs), *(BPE(40, alphabet=symbols).fit([rng.choice(symbols, 500)]) for symbols in far),
        BPE(1300).fit([rng.integers(0, 1200, 3000)]),
        BPE(30, alphabet=8, preprocessing=Preprocessing(special_tokens={(1, 2): 40})).fit(docs),
        BPE(40, rules=FitRules(encode="batch")).fit(docs), BPE(40, rules=FitRules(order="idf")).fit(docs), UBPE(60).fit(docs),
        BPE.from_merges(doubling, alphabet=2), BPE(300, alphabet=bytes(range(256))).fit(docs),
    ]  # fmt: skip
    return [
        ready(tok, tok._model.alphabet.symbols[:2] if tok._model.alphabet.kind == "int" else b"ab")
        for tok in made
    ]


def forms(symbols: np.ndarray, rng: np.random.Generator) -> list[Any]:
    """The same integers, and some others, in forms that a user may give."""
    items, wide = symbols.tolist(), symbols.astype(np.int64)
    spoilt = list(items)
    if spoilt:
        spoilt[rng.integers(0, len(spoilt))] = NO_INTEGERS[rng.integers(0, len(NO_INTEGERS))]
    made: list[Any] = [
        items, tuple(items), spoilt, tuple(spoilt), Items(items), list(wide), wide, wide[::-1], np.repeat(wide, 2)[::2],
    ]  # fmt: skip
    made += [wide.astype(dtype) for dtype in ("i1", "u2", "i4", "u8", ">i4", "f8", "?", "O")]
    made += [
        np.frombuffer(wide.astype(np.int32).tobytes(), np.int32),
        wide[None],
        wide[:1][0] if items else 5,
    ]
    return [
        *made,
        wide.astype(np.uint8).tobytes(),
        bytearray(wide.astype(np.uint8)),
        "abc",
        range(len(items)),
        np.ma.array(wide),
    ]


def test_text_is_encoded_and_decoded_as_on_the_general_path(texts: list[Any]) -> None:
    rng = random.Random(5)
    docs = ["".join(rng.choice(PARTS) for _ in range(size)) for size in (2, 3, 7, 9, 60, 300)]
    docs += ["", "a", "a" * LONGEST, "a" * (LONGEST + 1), "é" * (LONGEST // 2), "🙂" * (LONGEST // 2)]
    for tok in texts:
        for doc in docs:
            data = doc.encode("utf-8", "surrogatepass")
            some = data[rng.randrange(3) : rng.choice([1, 3, 7, 50, 9999])]  # cut through characters
            for given in (
                doc,
                some,
                Text(doc),
                bytearray(some),
                memoryview(some),
                np.frombuffer(some, np.uint8),
            ):
                found = is_same(tok, "encode", given)
                is_same(tok, "encode", given, return_offsets=rng.choice([True, "spans"]))
                is_same(tok, "encode_batch", [given, given])
                if given is doc and isinstance(found, list):
                    ids = found[0][3]
                    for form in (
                        ids,
                        np.array(ids, np.int32),
                        np.array(ids, np.int64)[::-1],
                        [*ids, 10**6],
                        [*ids, True],
                    ):
                        is_same(
                            tok,
                            "decode",
                            form,
                            errors=rng.choice(["replace", "strict", "surrogatepass", "bogus", None]),
                        )
                        is_same(tok, "decode", form, as_bytes=True)
        for doc in docs[:2]:
            for options in OPTIONS:
                is_same(tok, "encode", doc, **options)
    # an array may lie where the one before it lay
    want, small = general(texts[1]), ["the c", "he ca", "eca x"]
    assert [texts[1].encode(doc).tolist() for doc in small] == [want.encode(doc).tolist() for doc in small]
    vocab, decoders = (
        {f"<0x{i:02X}>": i for i in range(256)} | {"a": 256},
        [{"type": "ByteFallback"}, {"type": "Fuse"}],
    )
    model = {"type": "BPE", "byte_fallback": True, "vocab": vocab, "merges": []}
    of_bytes = ready(
        BPE.load(json.dumps({"model": model, "decoder": {"type": "Sequence", "decoders": decoders}})), "a"
    )
    # a character or parts of some
    for ids in ([195, 169], [169, 195, 256], [240, 159], [240, 159, 153, 130, 226, 130]):
        for errors in ("replace", "strict", "ignore", None):
            is_same(of_bytes, "decode", ids, errors=errors)


def test_integers_are_encoded_and_decoded_as_on_the_general_path(integers: list[Any]) -> None:
    rng = np.random.default_rng(7)
    for tok in integers:
        symbols = tok._model.alphabet.symbols
        for size in (0, 1, 5, 24, 25, 200, LONGEST, LONGEST + 1):
            doc = symbols[rng.integers(0, min(symbols.size, 300), size)]
            for given in forms(doc, rng) if size < 200 else (doc, doc.tolist(), doc.astype(">i8")):
                is_same(tok, "encode", given)
                is_same(tok, "encode", given, return_offsets=[True, "spans"][size % 2])
                is_same(tok, "encode_batch", [given, doc])
            rows = np.abs(doc[doc == doc.astype(np.int32)]).astype(np.int32)  # some may be unknown
            for n in (0, 1, 2, 16, 17):
                is_same(tok, "encode_batch", Ragged(rows, np.linspace(0, rows.size, n + 1).astype(int)))
            ids = tok.encode(doc, disallowed_special="none")
            for given in forms(ids[:100], rng) if size < 200 else ():
                is_same(tok, "decode", given)
                is_same(tok, "decode", given, as_bytes=True)
            is_same(tok, "decode", ids, out=np.empty(2 * LONGEST, symbols.dtype))
        for given in (
            [len(tok._model.vocabulary)],
            [len(tok._model.vocabulary) - 1] * 3,
            [39, 41],
            [-1],
            [2**31],
            [2**32],
        ):
            is_same(tok, "decode", given)


def test_threads_share_tokenizers(texts: list[Any], integers: list[Any]) -> None:
    """Eight threads, two tokenizers in turn, and desks that become full."""
    rng = random.Random(3)
    docs = ["".join(rng.choice(PARTS[:25]) for _ in range(rng.randrange(200))) for _ in range(100)]
    symbols = [np.array([rng.randrange(8) for _ in range(rng.randrange(1500))]) for _ in range(100)]
    pairs = [(texts[0], docs), (texts[1], docs), (integers[0], symbols), (integers[-3], symbols)]
    expected = [
        [(general(tok).encode(d).tolist(), general(tok).decode(general(tok).encode(d))) for d in ds]
        for tok, ds in pairs
    ]

    def work(_: int) -> None:
        for i in [*range(100)] * 4:
            for (tok, ds), results in zip(pairs, expected, strict=True):
                ids = tok.encode(ds[i])
                assert ids.tolist() == results[i][0] and np.array_equal(tok.decode(ids), results[i][1])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_handler_may_encode_in_the_middle_of_a_call(texts: list[Any]) -> None:
    tok = texts[1]
    inner, outer = tok.encode(TEXT).tolist(), tok.encode(TEXT * 3).tolist()
    wrong, seen = [], []

    def handler(*_: object) -> None:
        seen.append(1)
        if tok.encode(TEXT).tolist() != inner:
            wrong.append("inner")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        while len(seen) < 50:
            if tok.encode(TEXT * 3).tolist() != outer:
                wrong.append("outer")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not wrong


def test_most_tokenizers_have_short_ways(texts: list[Any], integers: list[Any]) -> None:
    """All but those that find special tokens and have no pattern, a pattern without a kernel, and paths in segments."""
    found = [*map(is_short, [*texts, *integers])]
    assert found == [i not in (4, 5, 6, 16) for i in range(len(found))]


def test_what_is_deleted_meanwhile_and_what_is_left(texts: list[Any]) -> None:
    """A call keeps the tables that it works on; a tokenizer with short ways is freed, and its calls leave nothing."""
    tok = ready(BPE(40).fit([np.arange(300) % 7]), [0, 1])
    call, back = tok._made_plans["encode"].short, tok._made_plans["decode"]
    expected, gone = tok.encode([1, 2, 3]).tolist(), weakref.ref(tok._tables.decoder)
    plan = weakref.ref(tok._plan())
    del tok
    gc.collect()
    assert plan() is None
    assert call([1, 2, 3]).tolist() == expected and back(expected).tolist() == [1, 2, 3]
    del call, back
    gc.collect()
    assert gone() is None
    tok, data = texts[2], [1, 10**6, "x"]
    for n in (100, 100_000):
        before = sys.getallocatedblocks()
        references = sys.getrefcount(None), sys.getrefcount(data), sys.getrefcount(data[1])
        for _ in range(n):
            tok.decode(tok.encode(TEXT[:20]))
            with contextlib.suppress(TypeError):
                tok._plan().short(data)
        assert abs(sys.getallocatedblocks() - before) < 50 and abs(sys.getrefcount(None) - references[0]) < 50
        assert (sys.getrefcount(data), sys.getrefcount(data[1])) == references[1:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_fork_and_a_pickle_have_their_own(texts: list[Any]) -> None:
    text = TEXT[:20]
    other = pickle.loads(pickle.dumps(texts[2]))
    assert (
        "encode" not in other._made_plans
        and ready(other, "the").encode(text).tolist() == texts[2].encode(text).tolist()
    )
    expected = other.encode(text).tolist()
    if (child := os.fork()) == 0:
        os._exit(0 if other.encode(text).tolist() == expected and other.decode(expected) == text else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_one_switch_turns_c_off() -> None:
    script = """
from ubpe_numba import BPE
tok = BPE.from_merges([[0, 1]], alphabet=2)
ids = [tok.encode([0, 1, 0]).tolist() for _ in range(9)][-1]
print(type(tok._made_plans["short"]).__name__, ids)
"""
    assert [python(script, UBPE_PLAIN_NUMBA=plain).split()[0] for plain in "10"] == [
        "function",
        "builtin_function_or_method",
    ]


class Loud(BPE):
    """A class of a user."""

    def encode(self, doc: Any, **options: Any) -> Any:
        """Upper case."""
        return super().encode(doc.upper(), **options)


def test_methods_stay_as_they_are() -> None:
    """Methods of Python from the first call to the last: bound early or late, inherited, pickled, told wrong arguments."""
    tok, loud = BPE(9, alphabet="abAB").fit(["abABab"]), Loud(9, alphabet="abAB").fit(["abABab"])
    early, written = tok.encode, (Encoding.encode, Decoding.decode)
    ready(ready(tok, "ab"), "ab")
    late, back = tok.encode, tok.decode
    assert (vars(Encoding)["encode"], vars(Decoding)["decode"]) == written and all(
        map(inspect.isfunction, written)
    )
    parameters = ["self", "doc", "return_offsets", "options"]
    assert [*inspect.signature(BPE.encode).parameters] == parameters and [
        *inspect.signature(late).parameters
    ] == parameters[1:]
    assert inspect.signature(back).parameters["errors"].default == "replace" and late.__self__ is tok
    assert str(BPE.encode.__doc__).startswith("Encode one document.") and str(back.__doc__).startswith(
        "Decode the ids"
    )
    expected = early("abAB").tolist()
    assert (
        late(doc="abAB").tolist()
        == pickle.loads(pickle.dumps(late))("abAB").tolist()
        == BPE.encode(tok, "abAB").tolist()
    )
    assert late("abAB").tolist() == expected and back(ids=expected) == back(expected) == "abAB"
    assert ready(loud, "ab").encode("ab").tolist() == BPE.encode(loud, "AB").tolist() == early("AB").tolist()
    wrong: list[tuple[Any, Any]] = [
        ((), {}),
        (("a", "b"), {}),
        (("a",), {"doc": "a"}),
        (("a",), {"x": 1}),
        ((), {"docs": 1}),
    ]
    counts = [sys.getrefcount(x) for x in (tok, expected)]
    for args, options in wrong * 20:
        for call in (late, back):
            refuses(TypeError, "", call, *args, **options)
        refuses(UnknownSymbolError, "", late, "xyz")
        refuses(UnknownTokenError, "", back, [10**6])
    gc.collect()
    assert max(abs(sys.getrefcount(x) - n) for x, n in zip((tok, expected), counts, strict=True)) < 9
    refuses(NotFittedError, "", lambda: BPE().encode("a"))
    refuses((TypeError, AttributeError), "", BPE.encode, expected, "a")
    tok.set_params(unknown="skip")
    assert early("xabABx").tolist() == late("xabABx").tolist() == expected
    tok.fit(["ABAB"])
    assert back(late("ABab")) == "ABab" and late("AB").tolist() == early("AB").tolist() == [4]


def test_a_handler_of_errors_may_decode_and_raise() -> None:
    """While a text is decoded, Python code of the user may run: once for each error, and what it raises is raised."""
    tok, calls = ready(BPE.for_text(256).fit(["a"]), "a"), []

    def handler(error: UnicodeDecodeError) -> tuple[str, int]:
        calls.append(error.start)
        return tok.decode(list(b"inner")) + ";", error.end

    def interrupted(error: UnicodeDecodeError) -> tuple[str, int]:
        calls.append(error.start)
        raise KeyboardInterrupt

    codecs.register_error("test_short", handler)
    codecs.register_error("test_interrupted", interrupted)
    assert tok.decode([97, 255, 98, 255, 99], errors="test_short") == "ainner;binner;c" and calls == [1, 3]
    with pytest.raises(KeyboardInterrupt):
        tok.decode([97, 255, 98], errors="test_interrupted")
    assert calls == [1, 3, 1]
