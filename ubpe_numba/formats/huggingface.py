"""`tokenizer.json` of Hugging Face's tokenizers: BPE over bytes, characters, or integers written as characters.

Characters that are not in the vocabulary become their bytes (`byte_fallback`) or an unknown token; such a model is held over the
bytes of UTF-8 (character_bytes.py). Tokens that a post-processor adds around a document (such as one of its beginning) are
ignored: `encode` gives the ids that Hugging Face gives with ``add_special_tokens=False``.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.affixes import with_marks
from ubpe_numba.formats.character_bytes import over_bytes
from ubpe_numba.formats.name_pairs import NamePairs, Pairs, parse
from ubpe_numba.formats.pair_table import Table, from_names, read_vocab, symbol_index, two_parts
from ubpe_numba.text.mark_cuts import MARK, MarkCuts
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import NAMED, name_of, published_steps
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.decoding import Decoding
from ubpe_numba.vocabulary.special_tokens import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD
from ubpe_numba.vocabulary.unknown import Unknown

_quoted = json.encoder.encode_basestring  # a str as JSON, with characters beyond ASCII
_MARKS = {True: ("\xfe", "\xff"), False: ("\udcfe", "\udcff")}  # bytes that are in no text, as they are named, and as in a `str`
_FLAGS = {"lstrip": LSTRIP, "rstrip": RSTRIP, "single_word": SINGLE_WORD, "normalized": NORMALIZED}  # of an added token
_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}  # names of bytes, where characters may become them
_NEVER = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])  # in no UTF-8
_AS_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def read(text: str | bytes | dict[str, Any], kind: str | None) -> Table:
    """Read the content of a tokenizer.json, or the object that it is. ModelFormatError names what is not valid or not supported.

    `kind` is what the symbols are: ``"bytes"``, ``"str"`` or ``"int"``. None means bytes if there is a ByteLevel step, or a rule
    for unknown characters; integers if every symbol is a character that names one (see `symbol_character`); else characters.
    """
    file = text if isinstance(text, dict) else parse(text)
    model = file.get("model") if isinstance(file, dict) else None
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        raise ModelFormatError("model: expected one of type BPE")
    if model.get("dropout") not in (None, 0, 0.0):
        raise ModelFormatError(f"model: dropout={model['dropout']!r} is not supported: ids would be random")
    normalizer, splitter = _steps(file.get("normalizer"), file.get("pre_tokenizer"))
    bytewise = splitter is not None and splitter.bytewise
    vocab = read_vocab(model.get("vocab"), "model: vocab")
    special, known, flags = _added(file.get("added_tokens"), vocab, normalizer is not None)
    unknown = None if bytewise else _unknown(model, vocab)
    if kind is None:
        kind = "bytes" if bytewise or unknown else "str"
        if kind == "str" and _names_integers([*vocab.keys() - special.keys() - known.keys()]):
            kind = "int"
    if kind not in ("bytes", "str", "int") or (bytewise and kind != "bytes"):
        raise ModelFormatError(f"kind: {kind!r}, but the file has {'a' if bytewise else 'no'} ByteLevel step")
    if kind == "bytes" and not bytewise and unknown is None:
        raise ModelFormatError("kind: 'bytes', but the file has neither a ByteLevel step nor a rule for unknown characters")
    if kind == "int" and (splitter or normalizer):
        raise ModelFormatError("pre_tokenizer: integers are not cut")
    over_characters = kind == "bytes" and not bytewise
    if unknown is not None and unknown.byte_ids is not None:
        vocab = {**vocab}
        for name in _BYTES.keys() - special.keys() - known.keys():
            vocab.pop(name, None)
    given = model.get("merges")
    merges = given if isinstance(given, NamePairs) else NamePairs.of(_merges(given))
    affixes = model.get("continuing_subword_prefix") or "", model.get("end_of_word_suffix") or ""
    has_affixes = any(affixes)
    if has_affixes:
        if over_characters is bytewise or (unknown is not None and unknown.byte_ids is not None):
            raise ModelFormatError("model: a prefix or suffix of characters needs an unk_token, and no byte_fallback")
        plain = {name: i for name, i in vocab.items() if name not in special and name not in known}
        marked, lists, splitter = _marked(plain, merges.lists(), affixes, splitter, bytewise)
        merges = NamePairs.of(lists)
        vocab = {name: i for name, i in vocab.items() if name not in plain} | marked
    over = "str" if over_characters else kind
    is_whole = over_characters and not has_affixes and _never_matches(splitter, normalizer)
    all_letters, cut_runs = kind == "bytes" or bool(flags), is_whole and not model.get("ignore_merges")
    whole = model.get("ignore_merges") is True
    table = from_names(vocab, merges, over, special, known, None, whole, all_letters, shared=True, cut_runs=cut_runs)
    if over_characters:
        assert unknown is not None
        table = over_bytes(table, unknown)
        if has_affixes:
            table.token_ids[[0xFE, 0xFF]] = -1
    pattern = None
    if is_whole:
        splitter, pattern = None, _cuts(vocab, table.runs) if cut_runs else None
    if splitter is not None and splitter.cutters is not None:
        patterns = [cutter.pattern for cutter in splitter.cutters]
        if len(patterns) < 2:
            pattern, splitter = next(iter(patterns), None), None
        elif (found := name_of(*patterns)) is not None:  # a published pattern in steps
            pattern, splitter = NAMED[found], None
    return table._replace(
        pattern=pattern, splitter=splitter, normalizer=normalizer, flags=flags,
        decoding=_without_marks() if has_affixes else None if bytewise else _decoding(file.get("decoder")),
    )  # fmt: skip


def _marked(
    vocab: dict[str, int], merges: Pairs, affixes: tuple[Any, Any], splitter: Splitter | None, bytewise: bool
) -> tuple[dict[str, int], Pairs, Splitter]:
    """Names, pairs and steps with marks in place of a prefix and a suffix (affixes.py)."""
    prefix, suffix = affixes
    if not isinstance(prefix, str) or not isinstance(suffix, str):
        raise ModelFormatError("model: continuing_subword_prefix, end_of_word_suffix: expected a text or null")
    inside, end = _MARKS[bytewise]
    names, pairs = with_marks(vocab, merges, prefix, suffix, (inside, end))
    step = {"type": "Marks", "inside": inside if prefix else "", "end": end if suffix else ""}
    return names, pairs, Splitter.from_state([*(() if splitter is None else splitter.steps), step])


def _without_marks() -> Decoding:
    """How tokens with marks become a text: a space at the end of each word."""
    inside, end = _MARKS[False]
    return Decoding(((inside, ""), (end, " ")))


def _steps(normalizer: Any, pre_tokenizer: Any) -> tuple[Normalizer | None, Splitter | None]:
    """What changes text and what cuts it; None for nothing. ByteLevel among the former is moved to the latter."""
    for name, step in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer)):
        if step is not None and not isinstance(step, dict):
            raise ModelFormatError(f"{name}: expected an object")
    changer = Normalizer([]) if normalizer is None else Normalizer.from_state(normalizer)
    splitter = None if pre_tokenizer is None else Splitter.from_state(pre_tokenizer)
    if changer.steps and changer.steps[-1]["type"] == "ByteLevel":
        changer = Normalizer(changer.steps[:-1])
        splitter = Splitter.from_state([_AS_BYTES, *(() if splitter is None else splitter.steps)])
    return Normalizer.of(changer) if changer.steps else None, splitter if splitter is not None and splitter.steps else None


def _never_matches(splitter: Splitter | None, normalizer: Normalizer | None) -> bool:
    """Whether all steps cut at a text that the normalizer replaces everywhere, or there is no step."""
    last = normalizer.steps[-1] if normalizer is not None else {}
    gone = last["pattern"].get("String") if last.get("type") == "Replace" and len(last["content"]) == 1 else None
    if splitter is None:
        return True
    return gone not in (None, last.get("content")) and all(
        step["type"] == "Split" and not step["invert"] and step["pattern"].get("String") == gone for step in splitter.steps
    )


def _cuts(vocab: dict[str, int], runs: dict[int, int]) -> str | None:
    """The pattern of where text may be cut first, and must be within runs: no token goes on there; None for nowhere."""
    across = [name for name in vocab if MARK in name.lstrip(MARK)]
    kept = [(left, right) for left, mark, right in (name.partition(MARK) for name in across[:9]) if left and right]
    at_marks = MARK in vocab and len(kept) == len(across) < 9 and not any(MARK in right for _, right in kept)
    cuts = MarkCuts(at_marks, tuple(kept) if at_marks else (), tuple((chr(point), n) for point, n in runs.items()))
    return cuts.pattern if at_marks or runs else None


def _unknown(model: dict[str, Any], vocab: dict[str, int]) -> Unknown | None:
    """What becomes of unknown characters; None if the file does not say."""
    word = model.get("unk_token")
    one = vocab.get(word, -1) if isinstance(word, str) else -1
    ids = None
    if model.get("byte_fallback") is True and any(name in vocab for name in _BYTES):
        ids = np.array([vocab.get(name, one) for name in _BYTES], np.int32)
        for name, byte in _BYTES.items():  # that of a character is not asked for, and some bytes are in no text
            if name not in vocab and (chr(byte) not in vocab if byte < 0x80 else one < 0 or byte not in _NEVER):
                raise ModelFormatError(f"model: byte_fallback: the token {name} is missing; expected those of all 256 bytes")
    return None if ids is None and one < 0 else Unknown(ids, one, model.get("fuse_unk") is True)


def _decoding(decoder: Any) -> Decoding | None:
    """How texts of tokens become one, as far as it is said by replacements and what is left out at the beginning."""
    steps = decoder.get("decoders") if isinstance(decoder, dict) and decoder.get("type") == "Sequence" else [decoder]
    made = Decoding()
    for step in steps if isinstance(steps, list) else []:
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "Replace" and isinstance(step.get("pattern"), dict) and isinstance(step.get("content"), str):
            if isinstance(old := step["pattern"].get("String"), str) and old:
                made = made._replace(replace=(*made.replace, (old, step["content"])))
        elif kind == "Metaspace" and isinstance(mark := step.get("replacement"), str) and mark:
            made = made._replace(replace=(*made.replace, (mark, " ")))
            if step.get("prepend_scheme", "always") != "never" and step.get("add_prefix_space") is not False:
                made = made._replace(strip=" ", n=1)
        elif kind == "Strip" and isinstance(content := step.get("content"), str) and content:
            if type(n := step.get("start")) is int and 0 <= n <= 64:
                made = made._replace(strip=content, n=n)
    return made if made != Decoding() else None


def _names_integers(tokens: list[str]) -> bool:
    """Whether there are tokens of one character, and every such character names an integer."""
    letters = [token for token in tokens if len(token) == 1]
    return bool(letters) and all(symbol_index(letter) is not None for letter in letters)


def _merges(merges: Any) -> Pairs:
    """Pairs of names from a list of ``"a b"`` or ``["a", "b"]``."""
    if not isinstance(merges, list):
        raise ModelFormatError("model: merges: expected a list")
    types = set(map(type, merges))
    if types == {str} and (found := two_parts(merges)) is not None:
        return found
    if types == {list} and set(map(len, merges)) == {2}:
        parts = list(itertools.chain.from_iterable(merges))
        if set(map(type, parts)) == {str} and "" not in parts:
            return parts[::2], parts[1::2]
    pairs: Pairs = [], []
    for i, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise ModelFormatError(f"model: merges[{i}]: expected two tokens, got {merge!r:.60}")
        for side, part in zip(pairs, parts, strict=True):
            side.append(part)
    return pairs


def _added(tokens: Any, vocab: dict[str, int], is_normalized: bool) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The ids of added tokens: of those that are special, and of the others (known words here); and flags of both."""
    found: tuple[dict[str, int], dict[str, int]] = {}, {}
    flags: dict[str, int] = {}
    if not isinstance(tokens, list) and tokens is not None:
        raise ModelFormatError("added_tokens: expected a list")
    for i, token in enumerate(tokens or []):
        if not isinstance(token, dict) or not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
            raise ModelFormatError(f"added_tokens[{i}]: expected an object with content and id")
        word = token["content"]
        if word in found[0] or word in found[1] or vocab.get(word, token["id"]) != token["id"]:
            raise ModelFormatError(f"added_tokens[{i}]: {word!r} is there twice, or has two ids")
        found[not token.get("special")][word] = token["id"]
        flags[word] = sum(bit for name, bit in _FLAGS.items() if token.get(name) is True)
    if not is_normalized and len({mask & NORMALIZED for mask in flags.values()}) < 2:  # all of them are looked for in one go
        flags = {word: mask & ~NORMALIZED for word, mask in flags.items()}
    return *found, {word: mask for word, mask in flags.items() if mask}


def _flags_of(mask: int) -> dict[str, bool]:
    return {name: bool(mask & bit) for name, bit in _FLAGS.items()}


def _decoder(table: Table) -> dict[str, Any]:
    """The decoder of a model that is not one of bytes."""
    made = table.decoding or Decoding()
    steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in made.replace]
    steps += [{"type": "ByteFallback"}] if table.unknown is not None and table.unknown.byte_ids is not None else []
    steps.append({"type": "Fuse"})
    steps += [{"type": "Strip", "content": made.strip, "start": made.n, "stop": 0}] if made.n else []
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": steps}


def write(table: Table, vocab: dict[str, int], merges: Pairs, special: dict[str, int], known: dict[str, int]) -> str:
    """The content of a tokenizer.json: ids of names, pairs of names by rank, special tokens, known words.

    Of `table` the tokens are not used.
    """
    level = {**_AS_BYTES}
    steps: list[dict[str, Any]] = [] if table.splitter is None else table.splitter.state()
    bytewise = table.kind == "bytes" and table.unknown is None
    for pattern in () if table.pattern is None else published_steps(table.pattern):
        if pattern == NAMED["gpt2"] and bytewise:
            level["use_regex"] = True
        elif pattern == NAMED["digits1"]:
            steps.append({"type": "Digits", "individual_digits": True})
        else:
            steps.append({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
    if bytewise and table.splitter is None:
        steps.append(level)
    words = sorted([(i, word, True) for word, i in special.items()] + [(i, word, False) for word, i in known.items()])
    changes = [] if table.normalizer is None else table.normalizer.state()
    unknown = table.unknown
    unk = None if unknown is None else next((word for i, word, _ in words if i == unknown.id), None)
    file: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": word, **_flags_of(table.flags.get(word, 0)), "special": is_special}
            for i, word, is_special in words
        ],
        "normalizer": None if not changes else changes[0] if len(changes) == 1 else {"type": "Sequence", "normalizers": changes},
        "pre_tokenizer": None if not steps else steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "decoder": level | {"use_regex": True} if bytewise else _decoder(table),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unk,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": unknown is not None and unknown.fuse,
            "byte_fallback": unknown is not None and unknown.byte_ids is not None,
            "ignore_merges": table.whole,
            "vocab": {},
            "merges": [],
        },
    }
    # json would write the two large parts by a loop in Python, since they are indented
    text, ids = json.dumps(file, ensure_ascii=False, indent=1), {**vocab, **special, **known}
    by_id = sorted(ids, key=ids.__getitem__)
    names = ",\n   ".join(map(": ".join, zip(map(_quoted, by_id), map(str, map(ids.__getitem__, by_id)), strict=True)))
    sides = zip(map(_quoted, merges[0]), map(_quoted, merges[1]), strict=True)
    pairs = "\n   ],\n   [\n    ".join(map(",\n    ".join, sides))
    parts = f"\n   {names}\n  " if ids else "", f"\n   [\n    {pairs}\n   ]\n  " if merges[0] else ""
    before, end = text.rsplit('"vocab": {},\n  "merges": []', 1)
    return f'{before}"vocab": {{{parts[0]}}},\n  "merges": [{parts[1]}]{end}'
