"""Mutations of a `tokenizer.json`: every field with other values; what the package tokenizers gives, or a refusal.

Each small file of the matrix of formats (tests/formats/test_matrix.py) is changed in one field at a time:
left out, null, other numbers, texts, types of steps, and values of other fields. Ids, type ids, masks and
offsets of calls, and strings of random ids must be equal, or the file refused here; one that the package
refuses has to be refused too.

    python tools/fuzz/fuzz_mutations.py --each 30 --seed 1
"""

from __future__ import annotations

import argparse
import collections
import copy
import json
import pathlib
import sys
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import tokenizers

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from formats import test_matrix

from ubpe_numba import load
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError, UnknownTokenError

Path = tuple[Any, ...]
FILES = ("byte_level", "llama", "unigram", "words", "suffixes", "characters")
_GONE = object()
_VALUES: list[Any] = [
    _GONE, None, True, False, 0, 1, 2, -1, 0.0, 0.5, 1 << 31, 1 << 40, "", "a", " ", "▁", "low", "##", "<unk>", "[UNK]", [], {},
    [1], ["a"], {"a": 1}, {"type": "NFC"}, {"type": "Lowercase"}, {"type": "Strip"}, {"type": "Whitespace"},
    {"type": "ByteLevel"}, {"type": "Digits"}, {"type": "Metaspace"}, {"type": "Fuse"}, {"type": "ByteFallback"},
    {"type": "BPEDecoder"},
    {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"String": "l"}, {"Regex": "l+"}, {"Regex": "l*"},
    {"type": "Punctuation"},
    {"type": "Split", "pattern": {"String": "o"}, "behavior": "Removed", "invert": False}, {"type": "UnicodeScripts"},
    {"type": "Split", "pattern": {"Regex": r"\w+|\s"}, "behavior": "Isolated", "invert": True}, {"type": "NoSuchStep"},
    {"type": "Replace", "pattern": {"String": "w"}, "content": "ll"},
    {"type": "CTC", "pad_token": "l", "word_delimiter_token": "|"},
    {"type": "Strip", "content": "l", "start": 1, "stop": 1}, {"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 0]},
    {"type": "RobertaProcessing", "sep": ["a", 1], "cls": ["b", 0], "trim_offsets": True, "add_prefix_space": False},
    {"direction": "Left", "max_length": 4, "strategy": "LongestFirst", "stride": 1}, "Removed", "first", "never", "Isolated",
]  # fmt: skip
_MANY = ("vocab", "merges")


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    """The places of all values of a file; of a vocabulary and its merges the first three."""
    items = list(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in items[: 3 if at and at[-1] in _MANY else None]:
        yield (*at, key)
        yield from paths(inner, (*at, key))


def mutated(file: Any, path: Path, value: Any) -> str:
    """The file with another value there."""
    made = copy.deepcopy(file)
    part = made
    for key in path[:-1]:
        part = part[key]
    if value is _GONE:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return json.dumps(made)


def tried(call: Any) -> Any:
    """What a call of the package gives; None where it fails."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            return None
        raise


def theirs(text: str, docs: list[str], rng: Random) -> tuple[list[Any], list[list[int]], list[Any]] | None:
    """Calls, ids and their strings by the package, None for each that fails there, and for a file that it refuses."""
    if (peer := tried(lambda: tokenizers.Tokenizer.from_str(text))) is None:
        return None
    peer.no_truncation()
    peer.no_padding()
    calls: list[Any] = []
    for args in (*((doc,) for doc in docs), *zip(docs, docs[::-1], strict=True)):
        e = tried(lambda args=args: peer.encode(*args))
        calls.append(None if e is None else (e.ids, e.type_ids, e.special_tokens_mask, e.offsets))
    known = sorted(peer.get_vocab().values())
    ids = [rng.choices(known, k=n) for n in range(8)] if known else []
    return (
        calls,
        ids,
        [
            tried(lambda n=n, one=one: peer.decode(one, skip_special_tokens=n % 2 == 0))
            for n, one in enumerate(ids)
        ],
    )


def check(text: str, docs: list[str], rng: Random, lenient: bool = False) -> str:
    """The refusal of a file here, "" for equal results, "both" where the package refuses it too; else AssertionError."""
    want = theirs(text, docs, rng)
    try:
        with warnings.catch_warnings(record=True) as said:
            tok = load(text)
    except ModelFormatError as error:
        return "both" if want is None else str(error)
    if want is None and lenient:
        return "left out"
    assert want is not None, "loaded here, refused there"
    model = json.loads(text)["model"]
    skips = "merges" in model and not model.get("unk_token")
    if skips:
        tok.set_params(unknown="skip")
    options: Any = {"return_offsets": True, "return_special_tokens_mask": True, "return_token_type_ids": True}
    options["allowed_special"] = "all"
    fails = None in want[0]
    for first, given in ((0, (docs,)), (len(docs), (docs, docs[::-1]))):
        try:
            got = tok(*given, **options)
        except (UnknownSymbolError, UnknownTokenError) as error:
            return str(error)
        rows = (got.input_ids, got.token_type_ids, got.special_tokens_mask, got.offset_mapping)
        for i, row in enumerate(zip(*rows, strict=True)):
            if (one := want[0][first + i]) is not None:
                two = [np.asarray(part).tolist() for part in row]
                n = 3 if skips else 4  # offsets after what is left out are moved there
                assert [list(map(list, part)) if k == 3 else part for k, part in enumerate(one)][:n] == two[
                    :n
                ], f"{docs[i]!r}"
    assert not fails or skips, "the package fails on a document"
    for n, (ids, text) in enumerate(
        zip(*want[1:], strict=True) if not any("decode" in str(w.message) for w in said) else ()
    ):
        try:
            got = tok.decode(ids, skip_special_tokens=n % 2 == 0)
        except UnknownTokenError as error:
            return str(error)
        except ValueError as error:
            got = None if text is None else error
        assert got == text or not (ids or text), f"decode {ids}: {text!r} there, {got!r} here"
    return ""


def fuzz(each: int, seed: int, names: tuple[str, ...] = FILES, stop: bool = True) -> collections.Counter[str]:
    """So many mutations of each field; how often each refusal came.

    AssertionError with the file at the first difference.
    """
    said: collections.Counter[str] = collections.Counter()
    for name in names:
        file = json.loads(getattr(test_matrix, name)())
        for path in [*paths(file)]:
            rng = Random(f"{seed}{name}{path}")
            for value in rng.sample(_VALUES, min(each, len(_VALUES))):
                text = mutated(file, path, value)
                try:
                    said[check(text, [*test_matrix.TEXTS, "low<pad> [SEP]lower"], rng, value is _GONE)] += 1
                except Exception as error:
                    what = "left out" if value is _GONE else json.dumps(value)
                    shown = f"{name} {path} = {what}: {type(error).__name__}: {error}"
                    if stop:
                        raise AssertionError(f"{shown}\n{text}") from error
                    said[f"DIFFERS {shown:.400}"] += 1
    return said


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=30, help="mutations of each field (default %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    said = fuzz(options.each, options.seed, stop=False)
    print(
        f"{said.pop('', 0):,} equal, {said.pop('both', 0):,} refused in both, {said.pop('left out', 0)} read as if they said it"
    )
    for message, n in said.most_common():
        print(f"{n:7} {message:.400}")


if __name__ == "__main__":
    main()
