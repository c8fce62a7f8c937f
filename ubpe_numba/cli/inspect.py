"""The facts of a model as plain data, text or JSON, for `ubpe-numba inspect`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.seam import model_of, preprocessing_of, way_of_encoding
from ubpe_numba.tokenizers.wordpiece import WordPiece

_WIDTH = 60  # characters of a token that the text shows
_MOST = 20  # special tokens that it shows


def describe_model(
    tokenizer: Tokenizer, top: int, sort: str, documents: Iterable[Any] | None = None
) -> dict[str, Any]:
    """The facts of a fitted tokenizer as plain data.

    `top`: how many of the learned tokens to list. `sort`: their order: ``"count"``, ``"length"`` or
    ``"weight"``, the largest first, or ``"id"``. `documents`: documents to encode with the vocabulary and
    with smaller ones. Returns numbers, strings, lists and dicts.

    >>> from ubpe_numba import BPE
    >>> found = describe_model(BPE.from_merges([[0, 1]], alphabet="ab"), 1, "id", ["abab", "b"])
    >>> found["tokens"][0]["token"], found["encoded"]["symbols_per_token"]
    ('ab', 1.6666666666666667)
    """
    alphabet, vocabulary, segmenter = model_of(tokenizer)
    special = tokenizer.vocabulary.special
    description: dict[str, Any] = {
        "tokenizer": type(tokenizer).__name__,
        "size": len(vocabulary),
        "alphabet": {
            "kind": str(alphabet.kind) if alphabet.names is None else "words",
            "size": vocabulary.n_alphabet,
            **({} if alphabet.is_lossless else {"folded": alphabet.folded_ids.size}),
        },
        "learned": vocabulary.n_learned,
        "longest": int(np.diff(vocabulary.offsets).max()),
        "knows_pairs": vocabulary.merges is not None,
        "encoding": segmenter.encoding,
        "pretokenizer": None
        if (cutter := segmenter.pretokenizer) is None
        else cutter.name or getattr(cutter, "pattern", repr(cutter)),
        "special_tokens": {_shown(word): number for word, number in special.items()},
        "fitted_on": {"documents": vocabulary.n_documents, "symbols": vocabulary.n_symbols},
        "fingerprint": tokenizer.fingerprint,
    }
    if segmenter.lone is not None:
        for name, symbols in zip(
            ("break_tokens", "stop_tokens"), segmenter.lone.symbol_arguments(), strict=True
        ):
            if symbols:
                description[name] = (
                    [_shown(bytes([b])) for b in symbols] if isinstance(symbols, bytes) else list(symbols)
                )
    if way_of_encoding(tokenizer) != "rank":
        description["objective"] = way_of_encoding(tokenizer)
    order = np.arange(vocabulary.n_alphabet, len(vocabulary))
    if sort != "id":  # ties by id
        keys = {
            "count": vocabulary.counts,
            "length": np.diff(vocabulary.offsets),
            "weight": vocabulary.weights,
        }
        order = order[np.argsort(-keys[sort][vocabulary.n_alphabet :], kind="stable")]
    description["tokens"] = [_token(tokenizer, i) for i in order[:top].tolist()]
    if documents is not None:
        description["encoded"] = _encoded(tokenizer, documents)
    return description


def table(found: dict[str, Any]) -> str:
    """The result of `describe_model` as text."""
    alphabet, fitted = found["alphabet"], found["fitted_on"]
    kind = {"int": "integers", "str": "characters"}.get(alphabet["kind"], alphabet["kind"])
    kind += f" ({alphabet['folded']} more with ids of these)" if "folded" in alphabet else ""
    pairs = "pairs" if found["knows_pairs"] else "flat sequences"
    parts = "documents" if found["pretokenizer"] is None else "segments of documents"
    lines = [
        (
            "tokenizer",
            found["tokenizer"] + (f", objective {found['objective']}" if "objective" in found else ""),
        ),
        (
            "tokens",
            f"{found['size']}: {alphabet['size']} {kind} and {found['learned']} {pairs}, longest "
            f"{found['longest']}",
        ),
        ("encoding", found["encoding"] or "-"),
        ("pretokenizer", found["pretokenizer"] or "-"),
        ("special tokens", _some(found["special_tokens"])),
        *(
            (name.replace("_", " "), " ".join(map(str, found[name])))
            for name in ("break_tokens", "stop_tokens")
            if name in found
        ),
        (
            "fitted on",
            f"{fitted['symbols']} symbols in {fitted['documents']} {parts}"
            if fitted["symbols"]
            else "not known",
        ),
        ("fingerprint", found["fingerprint"]),
    ]
    if encoded := found.get("encoded"):
        sizes = f"{encoded['symbols']} symbols in {encoded['documents']} documents"
        lines.append(
            (
                "encoded",
                f"{sizes}: {encoded['tokens']} tokens, {_ratio(encoded['symbols_per_token'])} symbols a "
                "token",
            )
        )
        lines += [
            (f"  at {size} tokens", f"{_ratio(ratio)} symbols a token") for size, ratio in encoded["curve"]
        ]
    text = [f"{name:16} {value}" for name, value in lines]
    if found["tokens"]:
        text += ["", f"{'id':>8} {'length':>7} {'count':>12} {'documents':>10} {'idf':>7}  token"]
    for token in found["tokens"]:
        symbols = token["token"]
        shown = repr(symbols) if isinstance(symbols, str) else " ".join(map(str, symbols))
        shown = shown if len(shown) <= _WIDTH else shown[: _WIDTH - 3] + "..."
        figures = (
            f"{token['id']:8} {token['length']:7} {token['count']:12} {token['documents']:10} "
            f"{token['weight']:7.3f}"
        )
        text.append(f"{figures}  {shown}")
    return "\n".join(text)


def describe_words(
    tokenizer: WordPiece, top: int, sort: str, documents: Iterable[str] | None = None
) -> dict[str, Any]:
    """The facts of a WordPiece as plain data; arguments as `describe_model`.

    ValueError for an order by counts or weights, which it has not, and for documents without a pretokenizer.

    >>> describe_words(WordPiece(["[UNK]", "a", "##bc"]), 1, "length")["tokens"]
    [{'id': 0, 'length': 5, 'token': '[UNK]'}]
    """
    if sort not in ("length", "id"):
        raise ValueError(f"--sort: a WordPiece has no {sort} of its pieces, expected length or id")
    key = {"length": lambda item: (-len(item[0]), item[1]), "id": lambda item: item[1]}[sort]
    pieces = sorted(tokenizer.pieces.items(), key=key)
    prepared = preprocessing_of(tokenizer)
    steps = {
        name: None if (step := getattr(prepared, name)) is None else step.state()
        for name in ("normalizer", "pretokenizer")
    }
    description: dict[str, Any] = {
        "tokenizer": "WordPiece",
        "size": len(pieces),
        "longest": max(map(len, tokenizer.pieces)),
        "unknown": tokenizer.unknown,
        "prefix": tokenizer.prefix,
        **steps,
        "special_tokens": dict(prepared.special_tokens or {}),
        "tokens": [{"id": i, "length": len(piece), "token": piece} for piece, i in pieces[:top]],
    }
    if documents is not None:
        if prepared.pretokenizer is None:
            raise ValueError(
                "--on: the file does not say how text becomes words; take the tokenizer.json of the model"
            )
        sizes = [(len(doc), tokenizer.encode(doc, disallowed_special="none").size) for doc in documents]
        symbols, tokens = sum(a for a, _ in sizes), sum(b for _, b in sizes)
        ratio = _per_token(symbols, tokens)
        description["encoded"] = {
            "documents": len(sizes),
            "symbols": symbols,
            "tokens": tokens,
            "symbols_per_token": ratio,
        }
    return description


def words_table(found: dict[str, Any]) -> str:
    """The result of `describe_words` as text."""
    lines = [
        ("tokenizer", "WordPiece"),
        ("tokens", f"{found['size']} pieces, longest {found['longest']}"),
        ("unknown", found["unknown"]),
        ("prefix", found["prefix"] or "-"),
        *(
            (name, "-" if found[name] is None else json.dumps(found[name]))
            for name in ("normalizer", "pretokenizer")
        ),
        ("special tokens", _some(found["special_tokens"])),
    ]
    if encoded := found.get("encoded"):
        sizes = f"{encoded['symbols']} characters in {encoded['documents']} documents"
        lines.append(
            (
                "encoded",
                f"{sizes}: {encoded['tokens']} tokens, {_ratio(encoded['symbols_per_token'])} characters a "
                "token",
            )
        )
    text = [f"{name:16} {value}" for name, value in lines]
    if found["tokens"]:
        text += ["", f"{'id':>8} {'length':>7}  token"]
    return "\n".join(text + [f"{t['id']:8} {t['length']:7}  {t['token']!r}" for t in found["tokens"]])


def _some(special: dict[str, int]) -> str:
    """The first special tokens with their ids."""
    shown = ", ".join(f"{word} = {i}" for word, i in list(special.items())[:_MOST])
    return shown + (f" and {len(special) - _MOST} more" if len(special) > _MOST else "") or "-"


def _ratio(value: float | None) -> str:
    return "no" if value is None else f"{value:.4g}"


def _token(tokenizer: Tokenizer, i: int) -> dict[str, Any]:
    alphabet, vocabulary, segmenter = model_of(tokenizer)
    ids = segmenter.token_ids
    symbols = alphabet.output(alphabet.to_symbols(vocabulary.sequence(i)))
    return {
        "id": i if ids is None else int(ids[i]),
        "length": int(vocabulary.offsets[i + 1] - vocabulary.offsets[i]),
        "count": int(vocabulary.counts[i]),
        "documents": int(vocabulary.document_frequencies[i]),
        "weight": float(vocabulary.weights[i]),
        "token": symbols.tolist() if isinstance(symbols, np.ndarray) else _shown(symbols),
    }


def _shown(word: Any) -> Any:
    r"""A word as text: bytes that are not UTF-8 as ``\xff``, integers as ``[1, 2]``."""
    if isinstance(word, bytes):
        return word.decode("utf-8", "backslashreplace")
    return word if isinstance(word, (str, list)) else str(list(word))


def _encoded(tokenizer: Tokenizer, documents: Iterable[Any]) -> dict[str, Any]:
    """Figures of the encoding of documents, also with truncated vocabularies.

    Their sizes are 2, 4, 8, ... times the alphabet.
    """
    held = list(documents)
    n_symbols = sum(
        len(doc.encode("utf-8", "surrogatepass"))
        if isinstance(doc, str) and model_of(tokenizer).segmenter.encoding is not None
        else len(doc)
        for doc in held
    )
    figures: list[tuple[int, int]] = []
    size, whole = 2 * tokenizer.vocabulary.n_alphabet, len(model_of(tokenizer).vocabulary)
    while not figures or figures[-1][0] < whole:
        try:
            shorter = tokenizer.truncate(size) if size < whole else tokenizer
        except ValueError:  # a token of the lowest ids is built on one of higher id
            size = whole
            continue
        figures.append(
            (min(size, whole), sum(map(len, shorter.encode_iter(held, disallowed_special="none"))))
        )
        size *= 2
    *shorter_ones, (_, total) = figures
    return {
        "documents": len(held),
        "symbols": n_symbols,
        "tokens": total,
        "symbols_per_token": _per_token(n_symbols, total),
        "curve": [(size, _per_token(n_symbols, n)) for size, n in shorter_ones],
    }


def _per_token(n_symbols: int, n_tokens: int) -> float | None:
    return n_symbols / n_tokens if n_tokens else None
