"""The tokenizer class of a small training stack, with the methods that nanochat's scripts call, over ubpe-numba."""

import gzip
import pathlib
import tempfile
import zlib
from collections.abc import Iterable

from ubpe_numba import BPE

SPECIAL_TOKENS = ["<|bos|>", "<|user_start|>", "<|user_end|>", "<|assistant_start|>", "<|assistant_end|>"]
SPLIT_PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


class Tokenizer:
    """Trains, saves, encodes and decodes."""

    def __init__(self, tok: BPE) -> None:
        self.tok = tok

    @classmethod
    def train_from_iterator(cls, texts: Iterable[str], vocab_size: int) -> "Tokenizer":
        n_tokens = vocab_size - len(SPECIAL_TOKENS)
        return cls(
            BPE.for_text(n_tokens, pretokenizer=SPLIT_PATTERN, special_tokens=SPECIAL_TOKENS).fit(texts)
        )

    @classmethod
    def from_directory(cls, folder: str) -> "Tokenizer":
        return cls(BPE.load(f"{folder}/tokenizer.npz"))

    def save(self, folder: str) -> None:
        self.tok.save(f"{folder}/tokenizer.npz")

    def get_vocab_size(self) -> int:
        return self.tok.vocab_size

    def get_special_tokens(self) -> set[str]:
        return set(self.tok.vocabulary.special)

    def encode_special(self, text: str) -> int:
        return self.tok.vocabulary.special[text]

    def get_bos_token_id(self) -> int:
        return self.encode_special("<|bos|>")

    def id_to_token(self, token: int) -> str:
        return self.decode([token])

    def encode(
        self, text: str | list[str], prepend: str | int | None = None, append: str | int | None = None
    ) -> list:
        around = [word for word in (prepend, "$A", append) if word is not None]
        ids = self.tok(text, template=around, disallowed_special="none").input_ids
        return ids.tolist() if isinstance(text, str) else [row.tolist() for row in ids]

    __call__ = encode

    def decode(self, ids: list[int]) -> str:
        return str(self.tok.decode(ids))


if __name__ == "__main__":
    path = pathlib.Path(__file__).parents[1] / "data" / "kjv_genesis_exodus.txt.gz"
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
