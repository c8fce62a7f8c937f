"""The tokenizer class of a small training stack, with the methods that nanochat's scripts call, over rustbpe and tiktoken."""

import gzip
import pathlib
import pickle
import tempfile
import zlib
from collections.abc import Iterable

import rustbpe
import tiktoken

SPECIAL_TOKENS = ["<|bos|>", "<|user_start|>", "<|user_end|>", "<|assistant_start|>", "<|assistant_end|>"]
SPLIT_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


class Tokenizer:
    """Trains, saves, encodes and decodes."""

    def __init__(self, enc: tiktoken.Encoding) -> None:
        self.enc = enc

    @classmethod
    def train_from_iterator(cls, texts: Iterable[str], vocab_size: int) -> "Tokenizer":
        trainer = rustbpe.Tokenizer()
        trainer.train_from_iterator(texts, vocab_size - len(SPECIAL_TOKENS), pattern=SPLIT_PATTERN)
        ranks = {bytes(token): rank for token, rank in trainer.get_mergeable_ranks()}
        special = {name: len(ranks) + i for i, name in enumerate(SPECIAL_TOKENS)}
        enc = tiktoken.Encoding(
            "rustbpe", pat_str=trainer.get_pattern(), mergeable_ranks=ranks, special_tokens=special
        )
        return cls(enc)

    @classmethod
    def from_directory(cls, folder: str) -> "Tokenizer":
        with open(f"{folder}/tokenizer.pkl", "rb") as f:
            return cls(pickle.load(f))

    def save(self, folder: str) -> None:
        with open(f"{folder}/tokenizer.pkl", "wb") as f:
            pickle.dump(self.enc, f)

    def get_vocab_size(self) -> int:
        return self.enc.n_vocab

    def get_special_tokens(self) -> set[str]:
        return self.enc.special_tokens_set

    def encode_special(self, text: str) -> int:
        return self.enc.encode_single_token(text)

    def get_bos_token_id(self) -> int:
        return self.encode_special("<|bos|>")

    def id_to_token(self, token: int) -> str:
        return self.decode([token])

    def encode(
        self, text: str | list[str], prepend: str | int | None = None, append: str | int | None = None
    ) -> list:
        prepend_id = append_id = None
        if prepend is not None:
            prepend_id = prepend if isinstance(prepend, int) else self.encode_special(prepend)
        if append is not None:
            append_id = append if isinstance(append, int) else self.encode_special(append)
        if isinstance(text, str):
            ids = self.enc.encode_ordinary(text)
            if prepend_id is not None:
                ids.insert(0, prepend_id)
            if append_id is not None:
                ids.append(append_id)
            return ids
        rows = self.enc.encode_ordinary_batch(text)
        for row in rows:
            if prepend_id is not None:
                row.insert(0, prepend_id)
            if append_id is not None:
                row.append(append_id)
        return rows

    __call__ = encode

    def decode(self, ids: list[int]) -> str:
        return self.enc.decode(ids)


if __name__ == "__main__":
    path = pathlib.Path(__file__).parents[2] / "data" / "kjv_genesis_exodus.txt.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    trained = Tokenizer.train_from_iterator(iter(lines), 2000)
    with tempfile.TemporaryDirectory() as folder:
        trained.save(folder)
        tokenizer = Tokenizer.from_directory(folder)
    rows = tokenizer(lines, prepend="<|bos|>")
    one = tokenizer.encode(lines[7], prepend=tokenizer.get_bos_token_id(), append="<|user_end|>")
    print(tokenizer.decode(one))
    print(one)
    print(
        len(rows),
        "rows,",
        sum(map(len, rows)),
        "ids of",
        tokenizer.get_vocab_size(),
        "check",
        zlib.crc32(str(rows).encode()),
    )
