"""`tokenizer.json` of Hugging Face: BPE over bytes, characters, or integers as characters.

Characters that are not in the vocabulary become their bytes (`byte_fallback`) or an unknown token; the model
is then held over the bytes of UTF-8 (character_bytes.py). `encode` does not give the tokens that a
post-processor adds around a document: its ids are those of Hugging Face with ``add_special_tokens=False``. A
call of the tokenizer adds them.
"""

from __future__ import annotations

import itertools
import json
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ubpe_numba.coding.model_inputs import FIRST, SECOND, Template
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.character_bytes import PREFIX, SUFFIX, over_bytes, with_marks, without_marks
from ubpe_numba.formats.model_file import parse_json
from ubpe_numba.formats.pair_table import (
    NamePairs,
    Pairs,
    Table,
    flat_names,
    from_names,
    read_vocab,
    symbol_index,
)
from ubpe_numba.text.characters import named_bytes, names_of
from ubpe_numba.text.dialect import portable
from ubpe_numba.text.metaspace import MARK, MarkCuts
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import NAMED, name_of, published_steps
from ubpe_numba.text.sentencepiece import BYTE_NAMES
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.text.steps import decoder_of, package_of
from ubpe_numba.vocabulary.reserved import FLAGS, NORMALIZED, ONLY_DECODED, SINGLE_WORD
from ubpe_numba.vocabulary.segmenter import Decoding
from ubpe_numba.vocabulary.unknown import Unknown

# bytes that are in no text, as they are named, and as in a `str`
_MARKS = {True: ("\xfe", "\xff"), False: ("\udcfe", "\udcff")}
NEVER = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])  # bytes that are in no text


def read(
    text: str | bytes | dict[str, Any], kind: str | None, config: Mapping[str, Any] | None = None
) -> Table:
    """Read the content of a tokenizer.json, or the object that it is.

    ModelFormatError, with the fault, for content that is not valid or not supported.

    `kind` is that of the symbols: ``"bytes"``, ``"str"`` or ``"int"``. None means bytes if there is a
    ByteLevel step, or a rule for unknown characters. Otherwise it means integers if every symbol is a
    character that names one (see `symbol_character`), else characters.
    """
    file = text if isinstance(text, dict) else parse_json(text)
    model = file.get("model") if isinstance(file, dict) else None
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        kind = quoted(model.get("type") if isinstance(model, dict) else model)
        raise ModelFormatError(f"model: expected one of the type BPE, Unigram or WordPiece, got {kind}")
    if model.get("dropout") not in (None, 0, 0.0):
        raise ModelFormatError(
            f"model: dropout={quoted(model['dropout'])} is not supported: ids would be random"
        )
    normalizer, splitter = steps_of(file)
    bytewise = splitter is not None and splitter.bytewise
    vocab = read_vocab(model.get("vocab"), "model: vocab")
    special, known, flags = added_of(file.get("added_tokens", []), vocab, normalizer)
    unknown = None if bytewise else _unknown(model, vocab)
    listed_merges = model.get("merges")
    merges = listed_merges if isinstance(listed_merges, NamePairs) else _merges(listed_merges)
    stand_in: str | bytes | None = None
    if kind in (None, "bytes") and unknown is not None and unknown.byte_ids is None:
        left, right, _ = merges.ids(vocab)
        if ((left == unknown.id) | (right == unknown.id)).any():
            stand_in, unknown = _symbol_for_unknown(model, kind), None
    kind = _kind_of(
        kind, bytewise, unknown, (name for name in vocab if name not in special and name not in known)
    )
    if (
        kind == "int"
        and unknown is not None
        and unknown.byte_ids is None
        and not unknown.fuse
        and not model.get("ignore_merges")
    ):
        stand_in = model["unk_token"]
    if kind == "int" and (splitter or normalizer):
        raise ModelFormatError("pre_tokenizer: integers are not cut")
    over_characters = kind == "bytes" and not bytewise
    by_bytes = unknown is not None and unknown.byte_ids is not None
    names = vocab
    if by_bytes:
        vocab = {
            name: i for name, i in vocab.items() if name not in BYTE_NAMES or name in special or name in known
        }
    if (
        unknown is not None
        and unknown.fuse
        and any(mask & SINGLE_WORD and mask & FLAGS["lstrip"] for mask in flags.values())
    ):
        raise ModelFormatError("added_tokens: one with lstrip and single_word: not supported with fuse_unk")
    has_affixes = bool(model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"))
    if has_affixes:
        if over_characters is bytewise or by_bytes:
            raise ModelFormatError(
                "model: a prefix or suffix of characters needs an unk_token, and no byte_fallback"
            )
        vocab, merges, step = _marked(model, vocab, merges, special | known, _MARKS[bytewise])
        splitter = Splitter.from_state([*(() if splitter is None else splitter.steps), step])
    over = "str" if over_characters else kind
    is_whole = over_characters and not has_affixes and _never_matches(splitter, normalizer)
    changes = normalizer is not None or splitter is not None  # text may become an added token
    all_letters, cut_runs = (
        kind == "bytes" or bool(flags) or changes,
        is_whole and not model.get("ignore_merges"),
    )
    whole = model.get("ignore_merges") is True
    table = from_names(
        vocab, merges, over, special, known, None, whole, all_letters, loose=True, cut_runs=cut_runs
    )
    if over_characters:
        assert unknown is not None
        is_token = unknown.id in table.token_ids and model["unk_token"] not in special | known
        if unknown.fuse and not by_bytes and is_token:
            raise ModelFormatError(
                f"model: unk_token: {quoted(model['unk_token'])} is in texts too: not supported with fuse_unk"
            )
        table = over_bytes(table, unknown)
        if has_affixes:
            table.token_ids[[0xFE, 0xFF]] = -1
    rest = table.special.keys() - special.keys()
    if whole:
        unheard = {
            i for word in rest if (i := table.special[word]) != vocab.get(model.get("unk_token") or "", -1)
        }
        unheard |= {
            vocab[word] for word, mask in flags.items() if mask & (SINGLE_WORD | NORMALIZED) and word in vocab
        }
        if unheard := unheard.difference(table.token_ids.tolist() if unheard else ()):
            _check_rest(sorted(name for name, i in vocab.items() if i in unheard), splitter)
    flags = {**flags, **dict.fromkeys(rest, ONLY_DECODED)}
    pattern = None
    if is_whole:
        splitter, pattern = None, _cuts(vocab, table.runs) if cut_runs else None
    if splitter is not None and splitter.cutters is not None:
        pattern, splitter = cut_of(splitter)
    if bytewise and not whole and not has_affixes and not NEVER | set(table.symbols) >= set(range(256)):
        stand_in = _stand_in_of_bytes(model, table)
    # a space after each word
    decoding = Decoding(((_MARKS[False][0], ""), (_MARKS[False][1], " "))) if has_affixes else None
    if kind != "int":
        decoding = decoding_of(file.get("decoder"), names, special | known, bytewise, by_bytes, decoding)
    return table._replace(
        pattern=pattern,
        splitter=splitter,
        normalizer=normalizer,
        flags=flags,
        stand_in=stand_in,
        decoding=decoding,
        file=outer(file, config or {}),
    )


def _kind_of(kind: str | None, bytewise: bool, unknown: Unknown | None, tokens: Iterable[str]) -> str:
    """The kind of the symbols of a file, as `read` says; ModelFormatError for one that it does not have."""
    if kind is None:
        kind = "bytes" if bytewise or unknown else "str"
        numbers = [symbol_index(token) for token in (() if bytewise else tokens) if len(token) == 1]
        if numbers and None not in numbers:  # every character names an integer
            is_written = unknown is not None and unknown.byte_ids is None  # by an export with an unk_token
            if kind == "str" or (is_written and set(numbers) == set(range(len(numbers)))):
                kind = "int"
    if kind not in ("bytes", "str", "int") or (bytewise and kind != "bytes"):
        raise ModelFormatError(
            f"kind: {quoted(kind)}, but the file has {'a' if bytewise else 'no'} ByteLevel step"
        )
    if kind == "bytes" and not bytewise and unknown is None:
        raise ModelFormatError(
            "kind: 'bytes', but the file has neither a ByteLevel step nor a rule for unknown characters"
        )
    return kind


def _marked(
    model: dict[str, Any],
    vocab: dict[str, int],
    merges: NamePairs,
    added: dict[str, int],
    marks: tuple[str, str],
) -> tuple[dict[str, int], NamePairs, dict[str, Any]]:
    """Names and pairs with marks for a prefix and a suffix, and the step that puts the marks.

    ModelFormatError if that is not possible.
    """
    if model.get("ignore_merges") is True:
        raise ModelFormatError("model: a prefix or suffix of characters is not supported with ignore_merges")
    plain = {name: i for name, i in vocab.items() if name not in added}
    prefix, suffix = model.get("continuing_subword_prefix") or "", model.get("end_of_word_suffix") or ""
    if prefix not in ("", PREFIX) or suffix not in ("", SUFFIX):  # which names of tokens have
        raise ModelFormatError(
            f"model: continuing_subword_prefix, end_of_word_suffix: expected {PREFIX!r}, {SUFFIX!r} or null"
        )
    marked, lists = with_marks(plain, merges.lists(), prefix, suffix, marks)
    step = {"type": "Marks", "inside": marks[0] if prefix else "", "end": marks[1] if suffix else ""}
    return {name: i for name, i in vocab.items() if name not in plain} | marked, NamePairs.of(lists), step


def _check_rest(names: list[str], splitter: Splitter | None) -> None:
    """ModelFormatError if a word may be one of the tokens that no pair makes."""
    for name in names:
        data = (
            named_bytes(name)
            if splitter is not None and splitter.bytewise
            else name.encode("utf-8", "surrogatepass")
        )
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue  # in no text
        if splitter is None or any(
            name in splitter.pieces(before + text) for before in ("", "a", "1", ".", "\n")
        ):
            raise ModelFormatError(
                f"model: vocab: no pair makes {quoted(name)}, but with ignore_merges a word may be one"
            )


def _never_matches(splitter: Splitter | None, normalizer: Normalizer | None) -> bool:
    """Whether all steps split at a text that the normalizer replaces everywhere, or none exists."""
    last = normalizer.steps[-1] if normalizer is not None else {}
    gone = (
        last["pattern"].get("String") if last.get("type") == "Replace" and len(last["content"]) == 1 else None
    )
    if splitter is None:
        return True
    return gone not in (None, last.get("content")) and all(
        step["type"] == "Split" and not step["invert"] and step["pattern"].get("String") == gone
        for step in splitter.steps
    )


def _cuts(vocab: dict[str, int], runs: dict[int, int]) -> str | None:
    """The pattern of places at which text may be split first; None for nowhere.

    No token crosses these places. Text must also be split within runs.
    """
    across = [name for name in vocab if MARK in name.lstrip(MARK)]
    safe = [
        (left, right) for left, mark, right in (name.partition(MARK) for name in across[:9]) if left and right
    ]
    at_marks = MARK in vocab and len(safe) == len(across) < 9 and not any(MARK in right for _, right in safe)
    cuts = MarkCuts(
        at_marks, tuple(safe) if at_marks else (), tuple((chr(point), n) for point, n in runs.items())
    )
    return cuts.pattern if at_marks or runs else None


def _unknown(model: dict[str, Any], vocab: dict[str, int]) -> Unknown | None:
    """The rule for unknown characters; None if the file does not say."""
    word = model.get("unk_token")
    one = vocab.get(word, -1) if isinstance(word, str) else -1
    ids = None
    if model.get("byte_fallback") is True and any(name in vocab for name in BYTE_NAMES):
        ids = np.array([vocab.get(name, one) for name in BYTE_NAMES], np.int32)
        # that of a character is not asked for, and some bytes are in no text
        for name, byte in BYTE_NAMES.items():
            if name not in vocab and (
                chr(byte) not in vocab if byte < 0x80 else one < 0 or byte not in NEVER
            ):
                raise ModelFormatError(
                    f"model: byte_fallback: the token {name} is missing; expected those of all 256 bytes"
                )
    return None if ids is None and one < 0 else Unknown(ids, one, model.get("fuse_unk") is True)


def _symbol_for_unknown(model: dict[str, Any], kind: str | None) -> str:
    """The unknown token, merged with others as a symbol of the text.

    ModelFormatError for options that are not supported then.
    """
    word = model["unk_token"]
    odd: dict[str, Any] = {"a name of several characters": len(word) > 1, "kind='bytes'": kind is not None}
    odd |= {
        name: model.get(name)
        for name in ("fuse_unk", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")
    }
    if unsupported := next((what for what, is_so in odd.items() if is_so), None):
        raise ModelFormatError(
            f"model: unk_token: {quoted(word)} is part of merges, which is not supported with {unsupported}"
        )
    return str(word)


def _stand_in_of_bytes(model: dict[str, Any], table: Table) -> str | bytes | None:
    """The token for bytes that a byte-level model does not know.

    None if there is none, or not one for each.
    """
    word = model.get("unk_token")
    if not isinstance(word, str) or model.get("fuse_unk") is True or model.get("byte_fallback") is True:
        return None
    if word in table.special:
        return word
    data = named_bytes(word)
    return data if len(data) == 1 and data[0] in table.symbols else None


def _merges(merges: Any) -> NamePairs:
    """Pairs of names from a list of ``"a b"`` or ``["a", "b"]``."""
    if not isinstance(merges, list):
        raise ModelFormatError("model: merges: expected a list")
    rows = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]
    for i, row in enumerate(rows):
        if not isinstance(row, list) or list(map(type, row)) != [str, str] or not all(row):
            raise ModelFormatError(f"model: merges[{i}]: expected two tokens, got {quoted(merges[i])}")
    return NamePairs(*flat_names(list(itertools.chain.from_iterable(rows))))


def write(
    table: Table,
    vocab: dict[str, int],
    merges: Pairs,
    special: dict[str, int],
    known: dict[str, int],
    *,
    unk_token: str | None = None,
    post_processor: dict[str, Any] | None = None,
) -> str:
    """The content of a tokenizer.json: ids of names, pairs of names by rank, special tokens, known words.

    `unk_token` is the special token for unknown symbols, unless `table` has its own rule. The tokens of
    `table` are not used. If its last step is Marks, the names have a prefix and a suffix instead
    (character_bytes.py).
    """
    unknown, words, steps = (
        table.unknown,
        special | known,
        () if table.splitter is None else table.splitter.steps,
    )
    replaced: list[tuple[str, str, str]] = []  # affix, its place, and its decoded text
    if steps and steps[-1]["type"] == "Marks":
        inside, end = steps[-1]["inside"], steps[-1]["end"]
        vocab, merges = without_marks(vocab, merges, (inside, end))
        space = " " if unknown is not None else names_of(b" ")
        replaced = [(PREFIX, "^" + PREFIX, "")] * bool(inside) + [(SUFFIX, SUFFIX + "$", space)] * bool(end)
        table = table._replace(
            splitter=Splitter.from_state(steps[:-1]) if len(steps) > 1 else None, decoding=None
        )
    affixes = [affix for affix, _, _ in replaced]
    model: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk_token
        if unknown is None
        else next((word for word, i in {**vocab, **words}.items() if i == unknown.id), None),
        "continuing_subword_prefix": PREFIX if PREFIX in affixes else None,
        "end_of_word_suffix": SUFFIX if SUFFIX in affixes else None,
        "fuse_unk": unknown is not None and unknown.fuse,
        "byte_fallback": unknown is not None and unknown.byte_ids is not None,
        "ignore_merges": table.whole,
    }
    file = file_of(table, special, known, model, post_processor)
    if replaced:
        without = [
            {"type": "Replace", "pattern": {"Regex": regex}, "content": new} for _, regex, new in replaced
        ]
        if "decoder" not in (table.file or {}):
            file["decoder"] = {"type": "Sequence", "decoders": [*without, file["decoder"]]}
    rows = sorted((i, name) for name, i in (vocab | words).items())
    # words after the vocabulary get these ids there, and are not its tokens
    if [i for i, _ in rows] == list(range(len(rows))):
        del rows[1 + max([*vocab.values(), words.get(model["unk_token"], -1)]) :]
    model |= {"vocab": {name: i for i, name in rows}, "merges": [*zip(*merges, strict=True)]}
    return json.dumps(file, ensure_ascii=False)


# ---------------------------------------------------------------------------------------------------- parts
# of all kinds

AS_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def steps_of(file: Mapping[str, Any]) -> tuple[Normalizer | None, Splitter | None]:
    """Normalizer and splitter of a file, None for none. A ByteLevel normalizer is moved to the splitter."""
    normalizer, pre_tokenizer, added = map(file.get, ("normalizer", "pre_tokenizer", "added_tokens"))
    for name, step in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer)):
        if step is not None and not isinstance(step, dict):
            raise ModelFormatError(f"{name}: expected an object")
    changer = Normalizer([]) if normalizer is None else Normalizer.from_state(normalizer)
    splitter = None if pre_tokenizer is None else Splitter.from_state(pre_tokenizer)
    for pattern in (step.get("pattern", {}).get("Regex", " ") for step in changer.steps):
        # it must match something: text from nowhere would be duplicated after later steps of tokenizers
        try:
            portable(pattern)
        except ValueError as error:
            raise ModelFormatError(f"normalizer: Replace: {quoted(pattern)}: {error}") from error
    # whether text is the first of a document depends on details there
    if splitter is not None and splitter.asks_for_start:
        kinds = [step["type"] for step in changer.steps]
        replaced = [step["pattern"].get("String", "") for step in changer.steps if step["type"] == "Replace"]
        is_first = splitter.steps[0].get("prepend_scheme") == "first" and "Prepend" not in kinds
        if any(len(old) != 1 for old in replaced) or (kinds and not is_first):
            raise ModelFormatError(
                "pre_tokenizer: Metaspace: the prepend_scheme first is not supported with this normalizer"
            )
    if changer.steps and changer.steps[-1]["type"] == "ByteLevel":
        late = [token for token in added or () if isinstance(token, dict) and token.get("normalized")]
        if any(token.get(name) for token in late for name in FLAGS if name != "normalized"):
            raise ModelFormatError(
                "added_tokens: lstrip, rstrip, single_word of one that a ByteLevel normalizer changes"
            )
        changer = Normalizer(changer.steps[:-1])
        words = [str(token.get("content")) for token in late]
        # and decoded by their names, where kernels do not do it
        shown = [changer.apply(word) for word in words]
        decoder = file.get("decoder")
        by_kernels = shown == words and isinstance(decoder, dict) and decoder.get("type") == "ByteLevel"
        if not by_kernels and any(names_of(word.encode("utf-8", "surrogatepass")) != word for word in shown):
            raise ModelFormatError(
                "added_tokens: with the normalizer ByteLevel, one beyond visible ASCII needs it as decoder"
            )
        splitter = Splitter.from_state([AS_BYTES, *(() if splitter is None else splitter.steps)])
    return Normalizer.of(
        changer
    ) if changer.steps else None, splitter if splitter is not None and splitter.steps else None


def cut_of(splitter: Splitter | None) -> tuple[str | None, Splitter | None]:
    """A pattern for steps that split at matches of a pattern, or for a published pattern in steps."""
    if splitter is None or splitter.cutters is None:
        return None, splitter
    patterns = [cutter.pattern for cutter in splitter.cutters]
    if len(patterns) < 2:
        return next(iter(patterns), None), None
    name = name_of(*patterns)
    return (None, splitter) if name is None else (NAMED[name], None)


def added_of(
    tokens: Any, vocab: dict[str, int], normalizer: Normalizer | None
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The ids of special added tokens, and of the others (known words here); flags of both."""
    ids: tuple[dict[str, int], dict[str, int]] = {}, {}
    free, others, flags, late = len(vocab), list[str](), dict[str, int](), {"": ""}
    taken = set(vocab.values()) if max(vocab.values(), default=0) >= free else ()  # where ids have gaps
    if not isinstance(tokens, list):
        raise ModelFormatError("added_tokens: expected a list")
    for i, token in enumerate(tokens):
        if (
            not isinstance(token, dict)
            or not isinstance(token.get("content"), str)
            or type(token.get("id")) is not int
        ):
            raise ModelFormatError(f"added_tokens[{i}]: expected an object with content and id")
        if odd := token.keys() - {*FLAGS, "special", "content", "id"}:
            others.append(
                f"added_tokens[{i}]: the field {quoted(min(odd))} is not read, nor is it in tokenizers"
            )
        if not 0 <= token["id"] < 1 << 32:
            raise ModelFormatError(
                f"added_tokens[{i}]: id: expected less than 2**32, got {quoted(token['id'])}"
            )
        if not (word := token["content"]):
            continue
        token_id = vocab.get(word, ids[0].get(word, ids[1].pop(word, -1)))
        if token_id < 0:  # the id that tokenizers gives it, whatever the file says
            token_id, free = free, free + 1
            if token_id in taken:
                raise ModelFormatError(
                    f"added_tokens[{i}]: {quoted(word)} gets the id {token_id}, which a token has already"
                )
        if token_id != token["id"]:
            there = f"has the id {quoted(token['id'])} in the file, but {token_id} here and in tokenizers"
            others.append(f"added_tokens[{i}]: {quoted(word)} {there}")
        if wrong := next(
            (name for name in (*FLAGS, "special") if type(token.get(name, False)) is not bool), None
        ):
            raise ModelFormatError(
                f"added_tokens[{i}]: {wrong}: expected true or false, got {quoted(token[wrong])}"
            )
        # the last of a duplicate word counts
        ids[not (token.get("special") or word in ids[0])][word] = token_id
        before, flags[word] = (
            flags.get(word),
            sum(bit for name, bit in FLAGS.items() if token.get(name) is True),
        )
        if before is not None and (before ^ flags[word]) & NORMALIZED:
            raise ModelFormatError(
                f"added_tokens[{i}]: {quoted(word)} is there twice, once normalized: not supported"
            )
        if normalizer is not None and flags[word] & NORMALIZED:
            if late.setdefault(shown := normalizer.apply(word), word) != word:
                same = f"is {quoted(shown)} in normalised text, as another, or nothing: tokenizers takes one by chance, or fails"
                others.append(f"added_tokens[{i}]: {quoted(word)} {same}")
    if others:
        more = f" ({len(others)} like this)" if len(others) > 1 else ""
        warnings.warn(others[0] + more, UserWarning, stacklevel=2)
    # all of them are looked for in one go
    if normalizer is None and len({mask & NORMALIZED for mask in flags.values()}) < 2:
        flags = {word: mask & ~NORMALIZED for word, mask in flags.items()}
    return *ids, {word: mask for word, mask in flags.items() if mask}


def decoding_of(
    decoder: Any,
    names: Iterable[str],
    added: Iterable[str],
    bytewise: bool,
    by_bytes: bool,
    marks: Decoding | None = None,
) -> Decoding | None:
    """Rules by which kernels decode as a decoder does, or one that leaves it to the package tokenizers.

    `names` are those of tokens, `added` those of added tokens; `marks` is the rule for the decoder that
    `write` writes next to marks. ModelFormatError for a decoder that is not valid.
    """
    if decoder is None:
        return Decoding(by_names=True)
    if not isinstance(decoder, dict):
        raise ModelFormatError("decoder: expected an object")
    lost: ImportError | None = None
    try:
        decoder_of(json.dumps(decoder))
    except ImportError as error:
        lost = error
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    steps: list[Any] = [decoder]
    while (
        at := next(
            (i for i, s in enumerate(steps) if isinstance(s, dict) and s.get("type") == "Sequence"), None
        )
    ) is not None:
        inside = steps[at].get("decoders")
        steps[at : at + 1] = inside if isinstance(inside, list) else [None]
    kinds = [step.get("type") if isinstance(step, dict) else None for step in steps]
    decoding, exact = Decoding(), True
    if bytewise or marks is not None:
        exact = kinds == ["ByteLevel"]
        if marks is not None:
            exact = any(
                step.get("pattern") == {"Regex": SUFFIX + "$"} for step in steps if isinstance(step, dict)
            )
        decoding = marks or decoding
    for i, (kind, step) in enumerate(
        zip(kinds, steps, strict=True) if not bytewise and marks is None else ()
    ):
        before = kinds[:i]
        if (
            kind == "Replace"
            and not {"ByteFallback", "Fuse"} & {*before}
            and (old := step["pattern"].get("String"))
        ):
            decoding = decoding._replace(replace=(*decoding.replace, (old, step["content"])))
        elif kind == "Metaspace" and kinds == ["Metaspace"] and (mark := step.get("replacement")):
            decoding = Decoding(((mark, " "),))
            if step.get("prepend_scheme", "always") != "never" and step.get("add_prefix_space") is not False:
                decoding = Decoding(((mark, " "),), " ", 64, first=True)
            exact = not any(mark in name.lstrip(mark) or name[:1] == " " for name in (*names, *added))
        elif kinds[i - 1 :] == ["Fuse", "Strip"] and step.get("stop") == 0 and step["start"] <= 64:
            decoding = decoding._replace(strip=step["content"], n=step["start"])
        elif kind not in ("ByteFallback", "Fuse") or (kind == "ByteFallback" and "Fuse" in before):
            exact = False
    if not bytewise and ("ByteFallback" in kinds) is not by_bytes:
        exact = exact and BYTE_NAMES.keys().isdisjoint(names)
    if lost is not None and not exact:
        warnings.warn(f"decoder: {lost}", UserWarning, stacklevel=2)
    decoding = decoding if exact else decoding._replace(by_names=True)
    return decoding if decoding != Decoding() else None


def processed(processor: Any) -> Template:
    """The template of the post-processor of a `tokenizer.json`, None for none.

    ModelFormatError if it is not valid.
    """
    shape, steps = Template(), [] if processor is None else [processor]
    while steps:
        step = steps.pop(0)
        kind = step.get("type") if isinstance(step, dict) else None
        if kind not in ("Sequence", "ByteLevel", *_AROUND):
            raise ModelFormatError(f"post_processor: {quoted(kind)} is not supported")
        if kind in _AROUND and shape[:2] != Template()[:2]:
            raise ModelFormatError(
                "post_processor: two steps that put tokens around a text are not supported"
            )
        try:
            if kind == "Sequence":
                steps[:0] = step["processors"]
                continue
            single, pair, types = shape.single, shape.pair, shape.types
            if kind == "TemplateProcessing":
                ids: dict[str, list[int]] = {
                    name: [*map(int, word["ids"])] for name, word in step["special_tokens"].items()
                }
                parts = []
                for side in (step["single"], step["pair"]):
                    rows: list[tuple[int, int]] = []
                    for part in side:
                        ((what, value),) = part.items()
                        many = (
                            ids[value["id"]]
                            if what == "SpecialToken"
                            else [{"A": FIRST, "B": SECOND}[value["id"]]]
                        )
                        rows += [(i, int(value["type_id"])) for i in many]
                    parts.append(tuple(rows))
                single, pair = parts
            elif kind in _AROUND:
                cls, sep = ((int(step[name][1]), 0) for name in ("cls", "sep"))
                t = int(kind == "BertProcessing")
                single = cls, (FIRST, 0), sep
                pair = *single, *([] if t else [sep]), (SECOND, t), (sep[0], t)
                types = 0, t
            trims = kind in ("ByteLevel", "RobertaProcessing") and step.get("trim_offsets", True)
            added = [bool(step.get("add_prefix_space", True))] if trims else []
            shape = Template(single, pair, (*shape.trims, *added), types)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise ModelFormatError(f"post_processor: {quoted(kind)} is not valid: {error!r}") from error
    for around, texts in ((shape.single, [FIRST]), (shape.pair, [FIRST, SECOND])):
        if sorted(i for i, _ in around if i >= FIRST) != texts or any(t >= FIRST for _, t in around):
            raise ModelFormatError(
                "post_processor: expected every text once, and ids and type ids below 2**31"
            )
    return shape


def outer(file: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parts of a file that act after encoding, unchanged, and the defaults of a call.

    As of `config_of`; None for none.

    ModelFormatError for a part or a field that is not valid, not supported or not known; small parts are
    checked if the package tokenizers is installed.
    """
    if odd := [*itertools.filterfalse(_FIELDS.fullmatch, file)]:
        raise ModelFormatError(f"the field {quoted(min(odd))} is not known here, nor in tokenizers")
    if odd := [*itertools.filterfalse(_OF_MODELS.fullmatch, file["model"])]:
        warnings.warn(
            f"model: the field {quoted(min(odd))} is not read, nor is it in tokenizers",
            UserWarning,
            stacklevel=2,
        )
    outer_parts = {name: file.get(name) for name in _OUTER if name == "decoder" or file.get(name) is not None}
    processed(outer_parts.get("post_processor"))
    parts = {name: file.get(name) for name in ("normalizer", "pre_tokenizer", *_OUTER)} | {
        "version": file.get("version", "1.0")
    }
    options = {
        name: value for name, value in file["model"].items() if name not in ("vocab", "merges", "unk_id")
    }
    none: Any = {} if options.get("type") != "Unigram" else [["a", 0.0]]
    try:
        package_of({**parts, "model": {**options, "vocab": none, "merges": []}}, "tokenizer.json")
    except ImportError:
        pass
    except ValueError as error:
        raise ModelFormatError(str(error)) from error
    padding, truncation = file.get("padding") or {}, file.get("truncation") or {}
    own = {"pad_token": padding.get("pad_token")}
    for side, part in (("padding_side", padding), ("truncation_side", truncation)):
        own[side] = str(part.get("direction") or "").lower()
    config = {name: value for name, value in own.items() if value} | {**config}
    # which only transformers has, whose calls follow no other part of a file
    if "model_input_names" not in config:
        call = {name: truncation.get(name) for name in ("max_length", "stride")}
        call |= {name: padding.get(name) for name in ("pad_id", "pad_type_id", "pad_to_multiple_of")}
        call["truncation"] = (
            re.sub(r"\B([A-Z])", r"_\1", str(truncation.get("strategy") or "")).lower() or None
        )
        if isinstance(strategy := padding.get("strategy"), dict):
            call |= {"padding": "max_length", "length": strategy.get("Fixed")}
        elif padding:
            call["padding"] = "longest"
        if call := {name: value for name, value in call.items() if value is not None}:
            config["call"] = call
    return {**outer_parts, **({"config": config} if config else {})} or None


#: Post-processors that put special tokens around a text.
_AROUND = ("TemplateProcessing", "BertProcessing", "RobertaProcessing")
#: Fields of a `tokenizer.json`, and of its model: others are of a later version, or of nobody.
_FIELDS = re.compile(
    "version|truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model"
)
_OF_MODELS = re.compile(
    "type|dropout|unk_token|unk_id|continuing_subword_prefix|end_of_word_suffix|fuse_unk|byte_fallback|"
    "ignore_merges|max_input_chars_per_word|vocab|merges"
)
#: Parts of a file that act after encoding.
_OUTER = ("post_processor", "decoder", "padding", "truncation")


def _sequence(steps: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Steps as a file has them: None, one, or a sequence."""
    return None if not steps else steps[0] if len(steps) == 1 else {"type": "Sequence", name: steps}


def file_of(
    table: Table,
    special: dict[str, int],
    known: dict[str, int],
    model: dict[str, Any],
    post_processor: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The content of a tokenizer.json with this model: text is treated as `table` says.

    `post_processor` puts special tokens around a document, if not that of the file that `table` is from. The
    tokens of `table` are not used.
    """
    own = table.file or {}
    level = {**AS_BYTES}
    steps: list[dict[str, Any]] = [] if table.splitter is None else table.splitter.state()
    bytewise = table.kind == "bytes" and table.unknown is None
    for pattern in () if table.pattern is None else published_steps(table.pattern):
        if pattern == NAMED["gpt2"] and bytewise:
            level["use_regex"] = True
        elif pattern == NAMED["digits1"]:
            steps.append({"type": "Digits", "individual_digits": True})
        else:
            steps.append(
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
            )
    if bytewise and table.splitter is None:
        steps.append(level)
    words = sorted(
        [(i, word, True) for word, i in special.items()] + [(i, word, False) for word, i in known.items()]
    )
    changes = [] if table.normalizer is None else table.normalizer.state()
    rule = table.decoding or Decoding()
    joins: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in rule.replace
    ]
    joins += [{"type": "ByteFallback"}] if model.get("byte_fallback") is True else []
    joins.append({"type": "Fuse"})
    joins += [{"type": "Strip", "content": rule.strip, "start": rule.n, "stop": 0}] if rule.n else []
    return {
        "version": "1.0",
        **{name: own.get(name) for name in ("truncation", "padding")},
        "added_tokens": [
            {
                "id": i,
                "content": word,
                **{name: bool(table.flags.get(word, 0) & bit) for name, bit in FLAGS.items()},
                "special": is_special,
            }
            for i, word, is_special in words
        ],
        "normalizer": _sequence(changes, "normalizers"),
        "pre_tokenizer": _sequence(steps, "pretokenizers"),
        "post_processor": post_processor or own.get("post_processor"),
        "decoder": own.get(
            "decoder", level | {"use_regex": True} if bytewise else _sequence(joins, "decoders")
        ),
        "model": model,
    }
