"""Adapters like those of `peers.py`, for text that a pattern cuts: documents are str, symbols the bytes of UTF-8."""

from __future__ import annotations

import base64
import collections
import io
import itertools
import json
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from adapters import Adapter, Arrays, Job, cut, lists, ragged


def strings(values: np.ndarray, offsets: np.ndarray) -> list[str]:
    """Documents as str; the last one of a warm-up may end inside a character, which is replaced."""
    return [part.decode("utf-8", "replace") for part in cut(values.tobytes(), offsets)]


def nothing(_: Any) -> Arrays:
    """For results that are not compared."""
    return ragged([[]])


def words(values: np.ndarray, offsets: np.ndarray) -> list[list[str]]:
    """Documents as lists of words, in lower case and cut as BERT does of ASCII: at spaces, and around punctuation."""
    return [re.findall(r"[^\W_]+|[^\w\s]|_", document.lower()) for document in strings(values, offsets)]


def merges(pairs: Iterable[tuple[bytes, bytes]]) -> Arrays:
    """Merges as documents: the length of the left part, then the bytes of both."""
    return ragged([len(a), *a, *b] for a, b in pairs)


def letters() -> dict[int, str]:
    """GPT-2's printable character of every byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return dict(zip(printable, map(chr, printable), strict=True)) | {
        byte: chr(256 + i) for i, byte in enumerate(others)
    }


def ours(job: Job) -> Adapter:
    """ubpe-numba on one thread; `words`: distinct words with their counts, bytes in Hugging Face's order."""
    import regex

    import ubpe_numba

    if job["action"] == "fit":

        def fit(docs: dict[str, Any]) -> Any:
            return ubpe_numba.BPE.for_text(job["n_tokens"], pretokenizer="gpt2", n_threads=1).fit(
                **docs, progress=False
            )

        def convert(values: np.ndarray, offsets: np.ndarray) -> dict[str, Any]:
            if job["form"] == "bytes":
                return {"docs": values.tobytes(), "offsets": offsets}
            return {"docs": strings(values, offsets)}

        def text_merges(tokenizer: Any) -> Arrays:
            tokens = [tokenizer.decode([token], as_bytes=True) for token in range(len(tokenizer.vocabulary))]
            return merges((tokens[a], tokens[b]) for a, b in tokenizer.vocabulary.merges.tolist())

        return Adapter(convert, fit, text_merges)
    if job["action"] == "words":
        letter = letters()
        order = bytes(sorted(range(256), key=letter.__getitem__))

        def counted(values: np.ndarray, offsets: np.ndarray) -> Any:
            found = collections.Counter(
                itertools.chain(*(regex.findall(job["pattern"], s) for s in strings(values, offsets)))
            )
            keys, weights = [word.encode() for word in found], np.array([*found.values()])
            return ubpe_numba.count_documents(keys, sample_weight=weights)

        def learned(tokenizer: Any) -> Arrays:
            table = tokenizer._model.vocabulary
            tokens = [bytes(order[i] for i in table.sequence(token)) for token in range(len(table))]
            return merges((tokens[a], tokens[b]) for a, b in table.merges.tolist())

        return Adapter(
            counted,
            lambda counts: ubpe_numba.BPE(job["n_tokens"], alphabet=order, n_threads=1).fit(
                counts, progress=False
            ),
            learned,
        )
    if job["action"] == "pieces":
        pieces = ubpe_numba.WordPiece.load(job["model"] + ".txt", n_threads=1)
        return Adapter(words, pieces.encode_batch, lambda out: (out.values, out.offsets))
    tokenizer = ubpe_numba.BPE.load(job["model"] + ".npz", n_threads=1)
    if job["action"] == "decode" and job["form"] == "bytes":
        return Adapter(
            ubpe_numba.Ragged, lambda docs: [tokenizer.decode(ids, as_bytes=True) for ids in docs], ragged
        )
    return Adapter(ubpe_numba.Ragged, tokenizer.decode_batch, lambda out: ragged(doc.encode() for doc in out))


def rustbpe(job: Job) -> Adapter:
    """Package rustbpe."""
    import rustbpe

    def fit(docs: list[str]) -> Any:
        new = rustbpe.Tokenizer()
        new.train_from_iterator(iter(docs), job["n_tokens"], pattern=job["pattern"])
        return new

    return Adapter(
        strings,
        fit,
        lambda new: merges((b"", token) for token, rank in new.get_mergeable_ranks() if rank > 255),
    )


def tokenizers(job: Job) -> Adapter:
    """Hugging Face's byte-level BPE, with the pattern that it has built in, GPT-2's; `pieces`: its WordPiece."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    if job["action"] == "pieces":
        pieces = Tokenizer(models.WordPiece.from_file(job["model"] + ".txt", unk_token="[UNK]"))
        return Adapter(
            words,
            lambda docs: pieces.encode_batch(docs, is_pretokenized=True),
            lambda found: ragged(one.ids for one in found),
        )

    def fit(docs: list[str]) -> Any:
        new = Tokenizer(models.BPE())
        new.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        letter = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=job["n_tokens"], min_frequency=2, show_progress=False, initial_alphabet=letter
        )  # fmt: skip
        new.train_from_iterator(docs, trainer)
        return new

    def learned(tokenizer: Any) -> Arrays:
        byte = {letter: i for i, letter in letters().items()}
        pairs = json.loads(tokenizer.to_str())["model"]["merges"]
        # as older versions write it
        parts = (pair if isinstance(pair, list) else pair.split(" ") for pair in pairs)
        return merges((bytes(map(byte.__getitem__, a)), bytes(map(byte.__getitem__, b))) for a, b in parts)

    return Adapter(strings, fit, learned)


def sentencepiece(job: Job) -> Adapter:
    """Package sentencepiece, model type bpe."""
    import sentencepiece

    def fit(docs: list[str]) -> Any:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(docs), model_writer=model, model_type="bpe", vocab_size=job["n_tokens"], num_threads=1,
            character_coverage=1.0, max_sentence_length=1 << 20, hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        return model.getvalue()

    return Adapter(strings, fit, nothing)


def gigabpe(job: Job) -> Adapter:
    """Package gigabpe: it reads files, and counts the bytes of the text that it finds as its alphabet, where ours has all 256."""
    import gigabpe

    def convert(values: np.ndarray, offsets: np.ndarray) -> tuple[str, int]:
        pathlib.Path("gigabpe.txt").write_bytes(values.tobytes())
        return "gigabpe.txt", job["n_tokens"] - 256 + np.unique(values).size

    def fit(given: tuple[str, int]) -> Any:
        path, size = given
        options = {"special_tokens": [], "min_frequency": 2, "pretokenizer": "bytelevel", "threads": 1}
        return gigabpe.train_bpe([path], size, **options)[1]

    byte = {letter: i for i, letter in letters().items()}

    def learned(pairs: list[tuple[str, str]]) -> Arrays:
        return merges((bytes(map(byte.__getitem__, a)), bytes(map(byte.__getitem__, b))) for a, b in pairs)

    return Adapter(convert, fit, learned)


def tiktoken(job: Job) -> Adapter:
    """Package tiktoken with our tokens as its ranks."""
    import tiktoken

    lines = pathlib.Path(job["model"] + ".tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
    encoding = tiktoken.Encoding("ours", pat_str=job["pattern"], mergeable_ranks=ranks, special_tokens={})
    if job["action"] == "decode" and job["form"] == "bytes":
        return Adapter(lists, lambda docs: [encoding.decode_bytes(ids) for ids in docs], ragged)
    return Adapter(
        lists,
        lambda docs: [encoding.decode(ids) for ids in docs],
        lambda out: ragged(doc.encode() for doc in out),
    )


ADAPTERS = {
    "ubpe-numba": ours,
    "rustbpe": rustbpe,
    "gigabpe": gigabpe,
    "tokenizers": tokenizers,
    "sentencepiece": sentencepiece,
    "tiktoken": tiktoken,
}
