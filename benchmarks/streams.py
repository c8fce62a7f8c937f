"""Text that grows: a stream that gives certain ids, beside encoding all of it again; and ids that become text one by one.

python benchmarks/streams.py           microseconds per chunk of 5 bytes, medians of alternating rounds
python benchmarks/streams.py decode    microseconds per id: `decode_stream` and tokenizers' `DecodeStream`

`push`: into a stream that holds the text so far; `again`: `encode` of the text so far, ours and tiktoken's,
and tiktoken's `encode_with_unstable`. Also the worst text, one word without an end; a fork; and the first
change of ids. `decode`: a vocabulary of each form of file, learned by its own library; `cold` is the first
stream of a tokenizer.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
import time
from collections.abc import Iterator
from typing import Any

from corpora import text, vocabulary
from inside import medians

import ubpe_numba
from ubpe_numba.text import first_change

CHUNK, CHUNKS = 5, 200


def tiktokens(known: Any) -> Any:
    """The encoder of tiktoken with the same ranks; None where it is not installed."""
    try:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe
    except ImportError:
        return None
    ranks = load_tiktoken_bpe(os.path.abspath(known.ranks))
    return tiktoken.Encoding(known.name, pat_str=known.pattern, mergeable_ranks=ranks, special_tokens={})


def main() -> None:
    """Print the rows."""
    known = vocabulary("o200k")
    tok: Any = ubpe_numba.BPE.load(known.ranks, pretokenizer="o200k", n_threads=1)
    peer = tiktokens(known)
    whole = text("English", 400_000)[0]
    print(
        "| text so far | push | encode again | tiktoken again | tiktoken with_unstable |\n| --- | --- | --- | --- | --- |"
    )
    for size in 1_000, 10_000, 100_000:
        stream = tok.stream()
        stream.push(whole[:size])

        def ends(size: int = size) -> Iterator[str]:
            return (whole[: size + CHUNK * i] for i in range(1, 1 + (CHUNKS if size < 100_000 else 5)))

        def push(stream: Any = stream, size: int = size) -> None:
            fork = stream.copy()
            for i in range(CHUNKS):
                fork.push(whole[size + CHUNK * i : size + CHUNK * (i + 1)])

        sides: dict[str, Any] = {
            "push": push,
            "again": lambda ends=ends: [tok.encode(part) for part in ends()],
        }
        if peer is not None:
            sides["tiktoken"] = lambda ends=ends: [peer.encode_ordinary(part) for part in ends()]
            sides["unstable"] = lambda ends=ends: [peer.encode_with_unstable(part) for part in ends()]
        found = medians(sides, 5)
        counts = {name: CHUNKS if name == "push" else sum(1 for _ in ends()) for name in sides}
        print(f"| {size} |", " | ".join(f"{found[name] / counts[name] * 1e6:.1f}" for name in sides), "|")
    long = "x" * 100_000

    def word() -> None:
        stream = tok.stream()
        for a in range(0, len(long), CHUNK):
            stream.push(long[a : a + CHUNK])

    ids = tok.encode(whole)
    full = tok.stream()
    full.push(whole)
    rest = {
        "word": word,
        "fork": full.copy,
        "change": lambda: first_change(tok, ids),
        "encode": lambda: tok.encode(whole),
    }
    found = medians(rest, 5)
    print(f"one word of {len(long)} bytes: {found['word'] / len(long) * CHUNK * 1e6:.1f} us for each chunk")
    print(
        f"a fork: {found['fork'] * 1e6:.1f} us; first_change: {found['change'] / found['encode']:.1f} times encode"
    )


def forms(docs: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """A tokenizer of each form of file, by name: that of the package tokenizers, and ours."""
    import sentencepiece
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

    def learned(model: Any, trainer: Any, **parts: Any) -> Any:
        tok = tokenizers.Tokenizer(model)
        for name, part in parts.items():
            setattr(tok, name, part)
        tok.train_from_iterator(docs, trainer)
        return tok

    quiet: dict[str, Any] = {"show_progress": False, "vocab_size": 4000}
    alphabet, byte_level = (
        pre_tokenizers.ByteLevel.alphabet(),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    trainer: Any = trainers.BpeTrainer(initial_alphabet=alphabet, **quiet)
    tok = learned(models.BPE(), trainer, pre_tokenizer=byte_level, decoder=decoders.ByteLevel())
    yield "bytes", tok, ubpe_numba.load(tok)
    steps: list[Any] = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    joins: list[Any] = [
        decoders.Replace("▁", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
    special = ["<unk>", *(f"<0x{i:02X}>" for i in range(256))]
    trainer = trainers.BpeTrainer(special_tokens=special, **quiet)
    parts = {"normalizer": normalizers.Sequence(steps), "decoder": decoders.Sequence(joins)}
    file = json.loads(learned(models.BPE(), trainer, **parts).to_str())
    file["model"] |= {"byte_fallback": True, "unk_token": "<unk>"}
    file["added_tokens"] = file["added_tokens"][:1]
    fallback = tokenizers.Tokenizer.from_str(json.dumps(file))
    yield "bytes of what is unknown", fallback, ubpe_numba.load(fallback)
    trainer = trainers.UnigramTrainer(special_tokens=["<unk>"], unk_token="<unk>", **quiet)
    parts = {"pre_tokenizer": pre_tokenizers.Metaspace(), "decoder": decoders.Metaspace()}
    tok = learned(models.Unigram(), trainer, **parts)
    yield "Unigram", tok, ubpe_numba.load(tok)
    trainer = trainers.WordPieceTrainer(special_tokens=["[UNK]"], **quiet)
    parts = {"pre_tokenizer": pre_tokenizers.BertPreTokenizer(), "decoder": decoders.WordPiece()}
    tok = learned(
        models.WordPiece(unk_token="[UNK]"), trainer, normalizer=normalizers.BertNormalizer(), **parts
    )
    yield "WordPiece", tok, ubpe_numba.load(tok)
    for kind in ("bpe", "unigram"):
        model, options = io.BytesIO(), {"vocab_size": 4000, "byte_fallback": True, "minloglevel": 3}
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(docs),
            model_writer=model,
            model_type=kind,
            hard_vocab_limit=False,
            **options,
        )
        yield f"sentencepiece, {kind}", fallback, ubpe_numba.load(model.getvalue())


def decode() -> None:
    """Print the rows of ids that become text one by one."""
    from tokenizers.decoders import DecodeStream

    whole = text("English", 1_000_000)[0]
    print(
        "| form | ids | decode_stream | cold | DecodeStream | ratio |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, theirs, tok in forms(whole[:600_000].splitlines()):
        ids = tok.encode(whole[600_000:620_000] + "日本語 é ñ 𝄞 “quoted” " * 20)[:5000].tolist()

        def ours(tok: Any = tok, ids: list[int] = ids) -> str:
            stream = tok.decode_stream()
            return "".join([*map(stream.push, ids), stream.finish()])

        others = ids if tok.vocab_size == theirs.get_vocab_size() else theirs.encode(tok.decode(ids)).ids

        def stream(theirs: Any = theirs, others: list[int] = others) -> None:
            theirs_stream = DecodeStream()
            for i in others:
                theirs_stream.step(theirs, i)

        assert ours() == tok.decode(ids)
        copy = pickle.loads(pickle.dumps(tok))
        copy.decode(ids)
        begin = time.perf_counter()
        ours(copy)
        cold = time.perf_counter() - begin
        found = medians({"ours": ours, "theirs": stream}, 9)
        ours_each, theirs_each = found["ours"] / len(ids) * 1e6, found["theirs"] / len(others) * 1e6
        row = f"{ours_each:.2f} | {cold / len(ids) * 1e6:.2f} | {theirs_each:.2f} | {ours_each / theirs_each:.1f}"
        print(f"| {name} | {len(ids)} | {row} |", flush=True)


if __name__ == "__main__":
    decode() if sys.argv[1:] == ["decode"] else main()
