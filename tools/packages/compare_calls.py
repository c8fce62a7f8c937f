"""Calls of real tokenizers, equal to those of the libraries that their files were made for: every array, every string.

A `tokenizer.json` is compared with `transformers.PreTrainedTokenizerFast` (ids, masks, types, offsets; one
text, pairs, cut, windows, padded, both sides; strings of random ids), ranks with tiktoken (``FILE=PATTERN``),
a `.model` with sentencepiece. Prints a row for each file, with the first difference.

    python tools/packages/compare_calls.py --docs 400 folder/tokenizer.json ranks.tiktoken=cl100k spiece.model
"""

from __future__ import annotations

import argparse
import importlib
import json
import pathlib
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tests", "tools", "")]

from wild_texts import mixed, with_words

import ubpe_numba

_ARRAYS = [
    "input_ids",
    "token_type_ids",
    "attention_mask",
    "special_tokens_mask",
    "offset_mapping",
    "overflow_to_sample_mapping",
]
_THEIRS = {
    f"return_{name}": True
    for name in ("token_type_ids", "attention_mask", "special_tokens_mask", "offsets_mapping")
}
_OURS = {
    f"return_{name}": True for name in ("token_type_ids", "attention_mask", "special_tokens_mask", "offsets")
}
_WAYS: dict[str, dict[str, Any]] = {
    "single": {},
    "bare": {"add_special_tokens": False},
    "truncated": {"truncation": True, "max_length": 12},
    "windows": {"truncation": True, "max_length": 96, "stride": 16, "return_overflowing_tokens": True},
    "padded": {"padding": True, "pad_to_multiple_of": 8},
    "filled": {"padding": "max_length", "truncation": True, "max_length": 24},
}


def documents(n: int, words: list[str]) -> list[str]:
    """So many documents of at most 300 characters, of every kind, some with special tokens inside."""
    rng = Random(n)
    texts = [
        text[at : at + 300]
        for text in rng.sample(mixed(), n)
        for at in [rng.randrange(max(len(text) - 300, 1))]
    ]
    return [*texts[: n - n // 5], *with_words(words, n // 5, n), *texts][:n]


def ways(longest: int) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """Calls on documents of so many ids at most: their names, whether they are of pairs, and their options."""
    for name, options in _WAYS.items():
        for paired in (False, True):
            cuts = (
                ["longest_first", "only_first", "only_second"]
                if "truncation" in options and paired
                else [None]
            )
            for cut in cuts:
                more = (
                    {"max_length": max(longest, 96) + 24} if cut in ("only_first", "only_second") else {}
                )  # something has to be left
                yield (
                    f"{name}{', pairs' * paired}",
                    paired,
                    options | ({"truncation": cut} if cut else {}) | more,
                )


def _is_encoded(backend: Any, text: str) -> bool:
    """Whether the package encodes a text: Unigram without an unknown token fails on others."""
    try:
        return len(backend.encode(text)) >= 0
    except Exception:
        return False


def calls(path: pathlib.Path, n: int) -> tuple[int, str]:
    """How many arrays and strings of a `tokenizer.json` were compared, and the first difference, an empty text for none."""
    transformers = importlib.import_module("transformers")
    with tempfile.TemporaryDirectory() as folder:
        for name in (path.name, "tokenizer_config.json", "special_tokens_map.json"):
            if (path.parent / name).is_file():
                shutil.copy(
                    path.parent / name, pathlib.Path(folder, "tokenizer.json" if name == path.name else name)
                )
        theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
        ours = ubpe_numba.load(pathlib.Path(folder, "tokenizer.json"))
    backend = theirs.backend_tokenizer
    added = backend.get_added_tokens_decoder()
    texts = [
        text
        for text in documents(n, [token.content for token in added.values()])
        if _is_encoded(backend, text)
    ]
    if json.loads(backend.to_str())["model"].get("unk_token", "") is None:
        ours.set_params(unknown="skip")
    pad = theirs.pad_token or next(iter(ours.vocabulary.special), None)
    sides = ["right", "left"]
    count = 0
    backend.no_truncation()
    longest = max(len(backend.encode(text)) for text in texts)
    for name, paired, options in ways(longest):
        if pad is None and "padding" in options:
            continue
        for side, cut_side in zip(sides, sides if "windows" in name else sides[::-1], strict=True):
            theirs.padding_side, theirs.truncation_side = side, cut_side
            if pad is not None:
                theirs.pad_token = pad
            second = [texts[::-1]] if paired else []
            want = theirs(texts, *second, **options, **_THEIRS)
            filled = {"pad_id": pad} if "padding" in options else {}
            got = ours(
                texts,
                *second,
                **options,
                **_OURS,
                **filled,
                side=side,
                truncation_side=cut_side,
                allowed_special="all",
            )
            for array in filter(want.__contains__, _ARRAYS):
                if array == "offset_mapping" and ours.unknown == "skip":
                    continue  # theirs are moved to the left by each character that is left out
                for i, (one, two) in enumerate(zip(want[array], got[array], strict=True)):
                    count += 1
                    if np.asarray(one).tolist() != np.asarray(two).tolist():
                        where = f"{name}, {options}, {side}: {array}[{i}] of {texts[i % len(texts)]!r}"
                        return count, f"{where}: {one} there, {np.asarray(two).tolist()} here"
    rng = np.random.default_rng(n)
    known = sorted(backend.get_vocab(with_added_tokens=True).values())
    for i in range(n):
        ids = rng.choice(known, i % 40).tolist()
        for skip in (False, True):
            count += 1
            want, got = (
                backend.decode(ids, skip_special_tokens=skip),
                ours.decode(ids, skip_special_tokens=skip),
            )
            if want != got:
                return count, f"decode {ids} skip {skip}: {want!r} != {got!r}"
    return count, ""


def ids(path: pathlib.Path, pattern: str | None, n: int) -> tuple[int, str]:
    """The same for ids and strings of a file of sentencepiece, or of ranks with a pattern."""
    if pattern is None:
        theirs = importlib.import_module("sentencepiece").SentencePieceProcessor(model_file=str(path))
        ours, size = ubpe_numba.load(path), theirs.vocab_size()
        encode, decode = theirs.encode, theirs.decode
        rows = range(size)
    else:
        load = importlib.import_module("tiktoken.load").load_tiktoken_bpe
        ours = ubpe_numba.load(path, pretokenizer=pattern, special_tokens={})
        ranks = {token: rank for token, rank in load(str(path)).items() if token}
        made = importlib.import_module("tiktoken").Encoding(
            "x",
            pat_str=importlib.import_module("ubpe_numba.formats.tiktoken").covering(pattern),
            mergeable_ranks=ranks,
            special_tokens={},
        )
        encode, decode, rows = made.encode_ordinary, made.decode, [*ranks.values()]
    rng, texts = np.random.default_rng(n), documents(n, [])
    for i, text in enumerate(texts):
        if encode(text) != ours.encode(text).tolist():
            return i, f"{text!r}: {encode(text)} != {ours.encode(text).tolist()}"
        numbers = rng.choice(rows, i % 40).tolist()
        if decode(numbers) != (got := ours.decode(numbers, skip_special_tokens=True)):
            return i, f"decode {numbers}: {decode(numbers)!r} != {got!r}"
    return 2 * n, ""


def main() -> None:
    """Parse, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+")
    parser.add_argument("--docs", type=int, default=400, help="documents of each file (default %(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for given in options.files:
        name, _, pattern = given.partition("=")
        path = pathlib.Path(name)
        try:
            count, said = (
                calls(path, options.docs)
                if path.suffix == ".json"
                else ids(path, pattern or None, options.docs)
            )
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            count, said = 0, f"{type(error).__name__}: {error}"[:600]
        failed += bool(said)
        print(
            f"{'DIFFERS' if said else 'equal'}  {count:>6,}  {given}{': ' * bool(said)}{said:.2000}",
            flush=True,
        )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
