"""Fuzzing of `tokenizer.json`: random configurations, ids equal to those of the package tokenizers, or a refusal.

A configuration has any model (BPE over bytes or characters, Unigram, WordPiece) with random options, up to
three normalizers and pre-tokenizers with random fields, added tokens with random flags. Each is loaded here
and there, and random documents are encoded in a batch and alone. Stops at the first difference and prints
what reproduces it, or at ``--cases``.

    python tools/fuzz/fuzz_configurations.py --cases 1e4 --seed 1
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import pathlib
import sys
from random import Random
from typing import Any, NamedTuple

import tokenizers

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / name) for name in ("tools", "tests", "")]

from ubpe_numba import BPE, UBPE, WordPiece
from ubpe_numba.errors import ModelFormatError, SpecialTokenError
from ubpe_numba.text.characters import byte_characters

Object = dict[str, Any]

LETTERS = "abcA é▁\n1中'-"
#: Letters, marks, white space, punctuation, digits, what is made of several characters and what becomes
#: several.
TEXT = [
    *LETTERS * 3,
    *"xyzBÉ\u0301\u0323üß語かガ\uff76\uff9e😀\t\u00a0\u3000\u200b\u200d\u00ad\x85\x1c\x00\u2028\ufeff\ufffd",
]
TEXT += [
    *"ⅷ½²٣२①.,!?_$+=<>[]()«»“”—…ﬁ",
    "e\u0301",
    "\u1100\u1161\u11a8",
    "한",
    "İ",
    "Σ",
    "ς",
    "ǅ",
    "ŉ",
    "👨\u200d👩",
    "\r\n",
    "  ",
]
WORDS = ["<s>", "[m]", "a", "é", "ab", " x", "<S>", "b ", "▁", "中", "A", "1", "</s>", "\n\n", "Ġ", "cab"]
PATTERNS: list[Object] = [
    {"Regex": r"\s+"}, {"Regex": r"\d"}, {"Regex": r"\w+|[^\w\s]+"}, {"Regex": r"\s?\w+"}, {"Regex": r"\p{N}{1,3}"},
    {"Regex": r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
    {"Regex": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"},
    {"Regex": r"(?i:'s|'t)|[a-z]+"}, {"Regex": r"a|ab"}, {"Regex": r"(?<=a)b|b(?=c)"}, {"Regex": r"[一-龥ぁ-ん]+"},
    {"Regex": r" ?[^(\s|[.,!?…।،])]+"}, {"Regex": r"\p{P}"},
    {"Regex": r"."}, {"Regex": r"\n|$"}, {"Regex": r"x*"}, {"Regex": r"^a|b$"},
    {"Regex": r"[\w--\d]+"}, {"Regex": r"\h+"}, {"Regex": r"\R"}, {"Regex": r"\X"}, {"Regex": r"\b"}, {"Regex": r"[[:alpha:]]+"},
    {"String": " "}, {"String": "a"}, {"String": "▁"}, {"String": "ab"}, {"String": "\n"}, {"String": "."}, {"String": "é"},
]  # fmt: skip
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


class Case(NamedTuple):
    """The content of a tokenizer.json, and documents."""

    text: str
    docs: list[str]


def make(seed: int) -> Case:
    """The case of a seed: the same on every machine."""
    rng = Random(seed)
    kind = rng.choice(["bytes", "bytes", "BPE", "BPE", "BPE", "Unigram", "WordPiece"])
    plain = rng.random() < 0.3  # little but the model
    steps = [_cut(rng) for _ in range(rng.choice([0, 0, 1] if plain else [0, 1, 1, 2, 3]))]
    if kind == "WordPiece" and not steps:
        steps = [{"type": rng.choice(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"])}]
    if kind == "bytes":
        use = {
            "add_prefix_space": rng.random() < 0.3,
            "trim_offsets": rng.random() < 0.5,
            "use_regex": rng.random() < 0.5,
        }
        steps.insert(
            len(steps) if rng.random() < 0.8 else rng.randrange(len(steps) + 1), {"type": "ByteLevel", **use}
        )
    changes = [_change(rng) for _ in range(0 if rng.random() < 0.4 else rng.choice([1, 1, 2, 3]))]
    model = {"bytes": _pairs, "BPE": _pairs, "Unigram": _unigram, "WordPiece": _words}[kind](
        rng, kind == "bytes"
    )
    pieces = (
        model["vocab"]
        if isinstance(model["vocab"], dict)
        else {pair[0]: i for i, pair in enumerate(model["vocab"])}
    )
    file = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": _added(rng, pieces),
        "normalizer": _one(rng, changes, "normalizers"), "pre_tokenizer": _one(rng, steps, "pretokenizers"),
        "post_processor": _post_processor(rng), "decoder": None, "model": model,
    }  # fmt: skip
    return Case(json.dumps(file), [_document(rng) for _ in range(60)])


def _one(rng: Random, steps: list[Object], name: str) -> Object | None:
    if len(steps) == 1 and rng.random() < 0.7:
        return steps[0]
    return {"type": "Sequence", name: steps} if steps or rng.random() < 0.2 else None


def _change(rng: Random) -> Object:
    """A normalizer."""
    flip = [rng.random() < 0.5 for _ in range(4)]
    return rng.choice([
        *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")),
        {"type": "Strip", "strip_left": flip[0], "strip_right": flip[1]},
        {"type": "Prepend", "prepend": rng.choice(["▁", " ", "ab"])},
        {"type": "BertNormalizer", "clean_text": flip[0], "handle_chinese_chars": flip[1],
         "strip_accents": rng.choice([None, True, False]), "lowercase": flip[2]},
        *[{"type": "Replace", "pattern": rng.choice(PATTERNS), "content": rng.choice(["▁", "", " ", "a", "xy"])}] * 2,
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ])  # fmt: skip


def _cut(rng: Random) -> Object:
    """A pre-tokenizer."""
    flip = rng.random() < 0.3
    return rng.choice([
        *[{"type": "Split", "pattern": rng.choice(PATTERNS), "behavior": rng.choice(BEHAVIORS), "invert": flip}] * 4,
        {"type": "Digits", "individual_digits": rng.random() < 0.5}, {"type": "Whitespace"}, {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)}, {"type": "BertPreTokenizer"}, {"type": "UnicodeScripts"},
        {"type": "CharDelimiterSplit", "delimiter": rng.choice(" a▁\n.")}, {"type": "FixedLength", "length": rng.randrange(1, 6)},
        *[{"type": "Metaspace", "replacement": rng.choice("▁▁▁_"), "prepend_scheme": rng.choice(["always", "first", "never"]),
           "split": rng.random() < 0.6}] * 2,
    ])  # fmt: skip


def _names(rng: Random, letters: list[str], n: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Random tokens, letters first, and the pairs that make them, in any order."""
    names, merges = list(letters), []
    for _ in range(n):
        left, right = rng.choice(names), rng.choice(names)
        if len(left + right) < 9:
            names += [left + right] if left + right not in names else []
            merges += [(left, right)] if (left, right) not in merges else []
    if rng.random() < 0.4:
        merges = [
            (name[:i], name[i:])
            for name in names
            for i in range(1, len(name))
            if name[:i] in names and name[i:] in names
        ]
    if rng.random() < 0.4:
        rng.shuffle(merges)
    if merges and rng.random() < 0.25:  # tokens that nothing makes, and pairs of them
        del merges[rng.randrange(len(merges))]
    if merges and rng.random() < 0.1:
        merges.append(rng.choice(merges))
    return names, merges


def _pairs(rng: Random, bytewise: bool) -> Object:
    """A BPE model."""
    letters = [*"abcĠĊ1A", *"Ã©äĭ®Ń"] if bytewise else rng.sample(LETTERS, rng.randrange(4, len(LETTERS) + 1))
    names, merges = _names(rng, letters, rng.randrange(25))
    words = [*(byte_characters() if bytewise else letters), *names[len(letters) :]]
    words += rng.sample(["中", "a b", "\u200d", "Ġ中", "<t>"], 2) if rng.random() < 0.1 else []
    options: Object = {"byte_fallback": False, "unk_token": None, "fuse_unk": rng.random() < 0.5}
    options |= {"continuing_subword_prefix": None, "end_of_word_suffix": None, "dropout": None}
    affixed = rng.random() < 0.15
    if affixed:
        prefix, suffix = rng.choice([("##", ""), ("", "</w>"), ("", "e"), ("##", "</w>")])
        options |= {"continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None}
        base = byte_characters() if bytewise else letters
        inside = [prefix + c for c in base] if prefix else []
        words, merges = [*base, *inside], []
        words += [c + suffix for c in list(words)] if suffix else []
        for _ in range(rng.randrange(30)):
            left, right = rng.choice(words), rng.choice(words)
            if (suffix and left.endswith(suffix)) or (prefix and not right.startswith(prefix)):
                continue
            whole = left + right.removeprefix(prefix)
            if len(whole) < 16:
                words += [whole] if whole not in words else []
                merges += [(left, right)] if (left, right) not in merges else []
        if suffix and rng.random() < 0.5:
            options["continuing_subword_prefix"] = prefix
    if not bytewise or rng.random() < 0.1:
        if rng.random() < 0.6:
            options["unk_token"] = "<unk>"
            words.insert(0, "<unk>")
        if rng.random() < 0.4:
            options["byte_fallback"] = True
            words += [f"<0x{byte:02X}>" for byte in range(256) if rng.random() < 0.999]
    if rng.random() < 0.05:
        options["dropout"] = rng.choice([0.0, 0.1, 1.0])
    if rng.random() < 0.3:
        numbers = rng.sample(range(len(words) + rng.choice([0, 0, 9])), len(words))
        vocab = dict(zip(words, numbers, strict=True))
    else:
        vocab = {word: i for i, word in enumerate(words)}
    written: list[Any] = [" ".join(pair) for pair in merges]
    if rng.random() < 0.5 or any(" " in left + right for left, right in merges):
        written = [list(pair) for pair in merges]
    return {"type": "BPE", **options, "ignore_merges": rng.random() < 0.3, "vocab": vocab, "merges": written}


def _unigram(rng: Random, _: bool) -> Object:
    letters = rng.sample(LETTERS, rng.randrange(3, len(LETTERS) + 1))
    names, _pairs = _names(rng, letters, rng.randrange(25))
    if rng.random() < 0.2:
        rng.shuffle(names)
        names = names[len(names) // 3 :]
    scores = rng.choice(
        [[-1.0], [-1.0, -2.0, -2.5], [-rng.random() * 12 for _ in range(40)], [0.0, 1.5, -3.0]]
    )
    vocab = [[name, rng.choice(scores)] for name in names]
    by_bytes = rng.random() < 0.3
    vocab += [[f"<0x{byte:02X}>", rng.choice([0.0, 0.0, -5.0])] for byte in range(256) if by_bytes]
    unknown = None if rng.random() < 0.15 else rng.randrange(len(vocab))
    if unknown is not None:
        vocab.insert(unknown, ["<unk>", rng.choice([0.0, -20.0, -1.0])])
    return {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": by_bytes}


def _words(rng: Random, _: bool) -> Object:
    prefix = rng.choice(["##", "##", "##", "", "@"])
    names, _pairs = _names(rng, rng.sample(LETTERS, rng.randrange(4, len(LETTERS) + 1)), rng.randrange(30))
    words = dict.fromkeys(["[UNK]", *names, *(prefix + name for name in names if rng.random() < 0.7)])
    options = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": rng.choice([100, 5, 1]),
    }
    return {"type": "WordPiece", **options, "vocab": {word: i for i, word in enumerate(words)}}


def _added(rng: Random, pieces: dict[str, int]) -> list[Object]:
    """Added tokens; there are none, or one or more with flags."""
    free = len(pieces)
    out: list[Object] = []
    simple = rng.random() < 0.5
    words = ["<unk>"] if "<unk>" in pieces and rng.random() < 0.7 else []
    for word in [*words, *rng.sample(WORDS, rng.choice([0, 0, 1, 2, 4]))]:
        flags = {flag: rng.random() < 0.3 and not simple for flag in ("lstrip", "rstrip", "single_word")}
        flags |= {
            "normalized": rng.random() < 0.4,
            "special": rng.random() < 0.6 and (word not in pieces or word == "<unk>"),
        }
        out.append({"id": pieces.get(word, free), "content": word, **flags})
        free += word not in pieces
    return sorted(out, key=lambda token: token["id"])


def _post_processor(rng: Random) -> Object | None:
    """What stands around a document, or changes offsets: ids without special tokens do not depend on it."""
    trims = rng.random() < 0.5
    begin = {"SpecialToken": {"id": "x", "type_id": 0}}
    first, second = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    return rng.choice([
        None, None, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": trims, "use_regex": True},
        {"type": "TemplateProcessing", "single": [begin, first], "pair": [first, second],
         "special_tokens": {"x": {"id": "x", "ids": [0], "tokens": ["x"]}}},
        {"type": "RobertaProcessing", "sep": ["x", 0], "cls": ["y", 1], "trim_offsets": trims, "add_prefix_space": True},
        {"type": "BertProcessing", "sep": ["x", 0], "cls": ["y", 1]},
    ])  # fmt: skip


def _document(rng: Random) -> str:
    letters: Any = rng.choice([TEXT, LETTERS, rng.sample(TEXT, 3), "ab ", "a\n", "中é語", "abc", "a1'"])
    text = "".join(rng.choices(letters, k=rng.randrange(16)))
    words = rng.choices([*WORDS, "<unk>", " ", "\n", "a<s>b[m][m]"], k=rng.choice([0, 0, 1, 3]))
    return text + "".join(words) + "".join(rng.choices(letters, k=rng.randrange(6)))


def _tokens(case: Case) -> list[Object]:
    return json.loads(case.text)["added_tokens"]  # type: ignore[no-any-return]


def ours(text: str) -> Any:
    """A configuration as it is loaded here."""
    kind = json.loads(text)["model"]["type"]
    return {"BPE": BPE, "Unigram": UBPE, "WordPiece": WordPiece}[kind].load(text)


def encoded(tok: Any, docs: list[str], special: set[str]) -> list[list[list[int]]]:
    """The ids of documents in every way, where `special` tokens are found: in a batch, alone, without options, with positions."""
    if isinstance(tok, WordPiece):
        every: Any = {"allowed_special": "all"}
        ids, starts = tok.encode_batch(docs, return_offsets=True, **every)
        for doc, places in zip(docs, starts.to_lists(), strict=True):
            assert [0, *places, len(doc)] == sorted([0, *places, len(doc)]), (
                f"{doc!r}: tokens start at {places}"
            )
        assert [
            tok.encode(doc, return_offsets=True, **every)[1].tolist() for doc in docs
        ] == starts.to_lists()
        alone = [tok.encode(doc, **every).tolist() for doc in docs]
        return [tok.encode_batch(docs, **every).to_lists(), alone, ids.to_lists()]
    skips = isinstance(tok, BPE) and (tok._model.alphabet.kind == "str" or tok._model.alphabet.size < 256)
    options: Any = {
        "allowed_special": special,
        "disallowed_special": "none",
        "unknown": "skip" if skips else "raise",
    }
    out = [
        tok.encode_batch(docs, **options).to_lists(),
        [tok.encode(doc, **options).tolist() for doc in docs],
    ]
    if not skips:
        never = {*tok.vocabulary.special.values()}
        for doc, ids in zip(docs, out[0], strict=True):
            # also of text that a normalizer made, which is text without options
            if not never.isdisjoint(ids):
                continue
            with contextlib.suppress(SpecialTokenError):  # it holds one
                assert tok.encode(doc).tolist() == ids, f"{doc!r}: without options"
        both = [tok.encode(doc, **options, return_offsets=True) for doc in docs]
        for doc, (_, starts) in zip(docs, both, strict=True):
            size = len(doc.encode()) if tok._model.alphabet.kind == "bytes" else len(doc)
            found = [0, *starts.tolist(), size]
            assert found == sorted(found), f"{doc!r}: tokens start at {found[1:-1]}"
        out.append([ids.tolist() for ids, _ in both])
    return out


def check(case: Case) -> str:
    """Compare; returns what was refused, ``""`` if nothing was, and "invalid" where the other library refuses too.

    AssertionError, with the document, if ids differ.
    """
    try:
        peer = tokenizers.Tokenizer.from_str(case.text)
        changer = peer.normalizer
        words = [
            word if changer is None else changer.normalize_str(word)
            for word in (w["content"] for w in _tokens(case))
        ]
    except BaseException as error:
        if isinstance(error, Exception) or _is_panic(error):
            return "invalid"
        raise
    late = [word for word, token in zip(words, _tokens(case), strict=True) if token["normalized"]]
    if not all(words) or len(set(late)) < len(late):
        # an empty word is found there for ever; which of several that become equal is found is chance
        return "invalid"
    try:
        tok = ours(case.text)
    except ModelFormatError as error:
        return str(error)
    special = {token["content"] for token in _tokens(case) if token["special"]}
    docs, want = [], []
    for doc in case.docs:
        try:
            ids = peer.encode(doc, add_special_tokens=False).ids
        except BaseException as error:
            if isinstance(error, Exception) or _is_panic(error):
                # an unknown character of a model without an unknown token, a word within the white space of
                # another
                continue
            raise
        docs.append(doc)
        want.append(ids)
    try:
        ways = encoded(tok, docs, special)
    except ValueError as error:
        raise AssertionError(f"refused here: {error}") from error
    for i, found in enumerate(ways):
        for doc, theirs, mine in zip(docs, want, found, strict=True):
            assert theirs == mine, f"{doc!r}: there {theirs}, here, way {i}, {mine}"
    return ""


def _is_panic(error: BaseException) -> bool:
    """Whether the library met what it takes for impossible; no exception of its own can be imported."""
    return type(error).__name__ == "PanicException"


def fuzz(n_cases: float, seed: int) -> collections.Counter[str]:
    """Check so many cases; returns how often each refusal came, ``""`` for cases that were loaded.

    AssertionError with a reproducer at the first difference.
    """
    said: collections.Counter[str] = collections.Counter()
    for i in range(seed << 32, (seed << 32) + int(n_cases)):
        case = make(i)
        try:
            said[check(case)] += 1
        except AssertionError as error:
            raise AssertionError(f"{error}\n{case.text}\nmake({i})") from error
    return said


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", type=float, default=1e4, help="configurations to compare (default %(default)g)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed is another run (default %(default)s)"
    )
    options = parser.parse_args()
    try:
        said = fuzz(options.cases, options.seed)
    except AssertionError as error:
        sys.exit(str(error))
    print(f"{said.pop('', 0)} configurations, no difference; refused:")
    for message, n in said.most_common():
        print(f"{n:7} {message:.150}")


if __name__ == "__main__":
    main()
