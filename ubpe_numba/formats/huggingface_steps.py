"""What the kinds of `tokenizer.json` have in common, whatever the model: normalizer, pre-tokenizer, added tokens, decoder.

They are read here from the objects of a file, and `file_of` writes a whole file but for the large parts of its model.
"""

from __future__ import annotations

import warnings
from typing import Any

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.pair_table import Table
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.patterns import NAMED, name_of, published_steps
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.reserved import FLAGS, NORMALIZED
from ubpe_numba.vocabulary.segmenter import Decoding

_OWN = {"normalizer": ("SentencePiece", "StandIns"), "pre_tokenizer": ("Marks",)}  # steps that the original library has not
_INSIDE = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}
_AS_BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def steps_of(normalizer: Any, pre_tokenizer: Any) -> tuple[Normalizer | None, Splitter | None]:
    """What changes text and what cuts it; None for nothing. ByteLevel among the former is moved to the latter."""
    for name, step in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer)):
        if step is not None and not isinstance(step, dict):
            raise ModelFormatError(f"{name}: expected an object")
        if (own := _own_step(step, _INSIDE[name], _OWN[name])) is not None:
            raise ModelFormatError(
                f"{name}: {own}: a tokenizer.json has no such step, and the package tokenizers refuses it; "
                "only model files of this library hold it, which `save` writes"
            )
    changer = Normalizer([]) if normalizer is None else Normalizer.from_state(normalizer)
    splitter = None if pre_tokenizer is None else Splitter.from_state(pre_tokenizer)
    if splitter is not None and splitter.asks_for_start:  # whether text is the first of a document depends on details there
        kinds = [step["type"] for step in changer.steps]
        replaced = [step["pattern"].get("String", "") for step in changer.steps if step["type"] == "Replace"]
        is_first = splitter.steps[0].get("prepend_scheme") == "first" and "Prepend" not in kinds
        if any(len(old) != 1 for old in replaced) or (kinds and not is_first):
            raise ModelFormatError("pre_tokenizer: Metaspace: the prepend_scheme first is not supported with this normalizer")
    if changer.steps and changer.steps[-1]["type"] == "ByteLevel":
        changer = Normalizer(changer.steps[:-1])
        splitter = Splitter.from_state([_AS_BYTES, *(() if splitter is None else splitter.steps)])
    return Normalizer.of(changer) if changer.steps else None, splitter if splitter is not None and splitter.steps else None


def _own_step(step: Any, inside: str, own: tuple[str, ...]) -> str | None:
    """The type of a step that only this library has, in an object of a file and its sequences; None if there is none."""
    waiting = [step]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if part.get("type") == "Sequence":
                waiting.append(part.get(inside))
            elif part.get("type") in own:
                return str(part["type"])
        elif part in own:
            return str(part)
    return None


def cut_of(splitter: Splitter | None) -> tuple[str | None, Splitter | None]:
    """A pattern in place of steps that cut at matches of one pattern, or of a published one in several steps."""
    if splitter is None or splitter.cutters is None:
        return None, splitter
    patterns = [cutter.pattern for cutter in splitter.cutters]
    if len(patterns) < 2:
        return next(iter(patterns), None), None
    found = name_of(*patterns)
    return (None, splitter) if found is None else (NAMED[found], None)


def added_of(tokens: Any, vocab: dict[str, int], is_normalized: bool) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The ids of added tokens: of those that are special, and of the others (known words here); and flags of both."""
    found: tuple[dict[str, int], dict[str, int]] = {}, {}
    flags: dict[str, int] = {}
    free, others = len(vocab), list[str]()
    if not isinstance(tokens, list) and tokens is not None:
        raise ModelFormatError("added_tokens: expected a list")
    for i, token in enumerate(tokens or []):
        if not isinstance(token, dict) or not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
            raise ModelFormatError(f"added_tokens[{i}]: expected an object with content and id")
        word = token["content"]
        if not word or word in found[0] or word in found[1]:
            continue  # as there: the first counts
        if (token_id := vocab.get(word, -1)) < 0:  # the id that tokenizers gives it, whatever the file says
            token_id, free = free, free + 1
        if token_id != token["id"]:
            there = f"has the id {quoted(token['id'])} in the file, but {token_id} here and in tokenizers"
            others.append(f"added_tokens[{i}]: {quoted(word)} {there}")
        found[not token.get("special")][word] = token_id
        flags[word] = sum(bit for name, bit in FLAGS.items() if token.get(name) is True)
    if others:
        more = f" ({len(others)} like this)" if len(others) > 1 else ""
        warnings.warn(others[0] + more, UserWarning, stacklevel=2)
    if not is_normalized and len({mask & NORMALIZED for mask in flags.values()}) < 2:  # all of them are looked for in one go
        flags = {word: mask & ~NORMALIZED for word, mask in flags.items()}
    return *found, {word: mask for word, mask in flags.items() if mask}


def _flags_of(mask: int) -> dict[str, bool]:
    return {name: bool(mask & bit) for name, bit in FLAGS.items()}


def decoding_of(decoder: Any) -> Decoding | None:
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


def _decoder(made: Decoding, by_bytes: bool) -> dict[str, Any]:
    """The decoder of a model that is not one of bytes."""
    steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": old}, "content": new} for old, new in made.replace]
    steps += [{"type": "ByteFallback"}] if by_bytes else []
    steps.append({"type": "Fuse"})
    steps += [{"type": "Strip", "content": made.strip, "start": made.n, "stop": 0}] if made.n else []
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": steps}


def file_of(
    table: Table,
    special: dict[str, int],
    known: dict[str, int],
    model: dict[str, Any],
    post_processor: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The content of a tokenizer.json with this model: how text is treated as `table` says, special tokens, known words.

    `post_processor` puts special tokens around a document (post_processor.py). Of `table` the tokens are not used.
    """
    level = {**_AS_BYTES}
    steps: list[dict[str, Any]] = [] if table.splitter is None else table.splitter.state()
    bytewise = table.kind == "bytes" and table.unknown is None
    decoding, by_bytes = table.decoding or Decoding(), model.get("byte_fallback") is True
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
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": i, "content": word, **_flags_of(table.flags.get(word, 0)), "special": is_special}
            for i, word, is_special in words
        ],
        "normalizer": None if not changes else changes[0] if len(changes) == 1 else {"type": "Sequence", "normalizers": changes},
        "pre_tokenizer": None if not steps else steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps},
        "post_processor": post_processor,
        "decoder": level | {"use_regex": True} if bytewise else _decoder(decoding, by_bytes),
        "model": model,
    }
