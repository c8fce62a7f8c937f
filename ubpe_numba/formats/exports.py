"""Models for other libraries, each export checked on samples: Hugging Face, transformers, tiktoken, GPT-2's pair of files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ubpe_numba.coding.coder import LIKELIHOOD, Coder, EncodeOptions
from ubpe_numba.documents.normalise import as_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.formats import (
    export_samples,
    huggingface,
    imports,
    sentencepiece,
    sentencepiece_model,
    tiktoken,
    unigram,
    vocab_merges,
    wordpiece,
)  # fmt: skip
from ubpe_numba.formats.export_check import EncodeLists, ExportCheck, compare, encode_by_path
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.extras import require
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.stretches import SpecialChoice


def to_huggingface(model: Model, encode: EncodeLists) -> str:
    """The `tokenizer.json` of a model; see `BPE.to_huggingface`."""
    check = ExportCheck(model, encode)
    vocab, merges = check.named()
    special, known = check.words()
    if clash := next((word for word, i in {**special, **known}.items() if vocab.get(word, i) != i), None):
        raise ValueError(f"special_tokens: {clash!r} is a token of the vocabulary too; Hugging Face allows one")
    text = huggingface.write(check.table(), {**check.unheard(vocab), **vocab}, merges, special, known)
    symbols = None if model.alphabet.kind != "int" else model.alphabet.symbols
    check.same_as_model(imports.from_huggingface(text, model.alphabet.kind, symbols))
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        check.same_as("tokenizers", lambda docs: [e.ids for e in other.encode_batch(docs, add_special_tokens=False)])
    return text


def to_huggingface_unigram(model: Model, encode: EncodeLists) -> str:
    """The `tokenizer.json` of a model with log-probabilities; see `UBPE.to_huggingface`."""
    check = ExportCheck(model, encode)
    if model.segmenter.whole_words:
        raise ValueError("whole_words: a Unigram model has no place for tokens that only whole words become")
    scores = model.vocabulary.log_probabilities
    assert scores is not None  # the caller has seen to that
    text = unigram.write(model, check.table(), scores, *check.words())
    again = imports.from_huggingface_unigram(text)
    check.same_as("what was written", lambda docs: encode_by_path(again, docs, "tokenizers"))
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        check.same_as("tokenizers", lambda docs: [e.ids for e in other.encode_batch(docs, add_special_tokens=False)])
    return text


def to_huggingface_words(words: Words, encode: EncodeLists, again: Callable[[str], EncodeLists]) -> str:
    """The `tokenizer.json` of a WordPiece model; `again` makes what encodes by that. See `WordPiece.to_huggingface`."""
    text = wordpiece.write(words)
    docs = export_samples.texts(list(words.vocabulary), [*words.special_tokens, *words.known_words])
    ids = encode(docs)
    compare(docs, ids, again(text)(docs), "what was written")
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        compare(docs, ids, [e.ids for e in other.encode_batch(docs, add_special_tokens=False)], "tokenizers")
    return text


def to_transformers(text: str, params: dict[str, Any]) -> Any:
    """A `transformers.PreTrainedTokenizerFast` of a `tokenizer.json`."""
    fast = require("transformers", "to_transformers", "hf").PreTrainedTokenizerFast
    tokenizer = require("tokenizers", "to_transformers", "hf").Tokenizer.from_str(text)
    return fast(tokenizer_object=tokenizer, **{"clean_up_tokenization_spaces": False, **params})


def to_tiktoken(model: Model, encode: EncodeLists) -> bytes:
    """The `.tiktoken` file of a model; see `BPE.to_tiktoken`."""
    return _ranks(ExportCheck(model, encode))[0]


def to_tiktoken_encoding(model: Model, encode: EncodeLists, name: str) -> Any:
    """A `tiktoken.Encoding` of a model; see `BPE.to_tiktoken_encoding`."""
    check = ExportCheck(model, encode)
    ranks = _ranks(check)[1]
    try:
        make = import_module("tiktoken").Encoding
    except ImportError as error:
        raise ImportError("to_tiktoken_encoding needs tiktoken: pip install tiktoken") from error
    return make(name, pat_str=tiktoken.covering(check.pattern()), mergeable_ranks=ranks, special_tokens=check.words()[0])


def _ranks(check: ExportCheck) -> tuple[bytes, dict[bytes, int]]:
    """A file for tiktoken, and its tokens and ranks, checked on samples; ValueError if tiktoken cannot encode as the model."""
    check.check_plain("tiktoken")
    check.check_order()
    alphabet, vocabulary, _ = check.model
    if alphabet.kind != "bytes" or alphabet.size < 256:
        raise ValueError("alphabet: tiktoken needs one of all 256 bytes")
    special, known = check.words()
    if known:
        raise ValueError("known_words: tiktoken has none that are found in every text")
    symbols = alphabet.to_symbols(vocabulary.arena).tobytes()
    tokens = [symbols[a:b] for a, b in itertools.pairwise(vocabulary.offsets.tolist())]
    ids = check.ids()
    if sorted(ids[256:]) != ids[256:]:
        raise ValueError("token_ids: tiktoken merges by id, and these are not in order of the merges")
    ranks = dict(zip(tokens, ids, strict=True))
    if len(ranks) < len(tokens):
        raise ValueError("vocabulary: two tokens stand for the same bytes; tiktoken allows one")
    pattern = check.pattern()
    data = tiktoken.write(ranks)
    check.same_as_model(imports.from_tiktoken(data, pattern, special))
    if _installed("tiktoken"):
        make = import_module("tiktoken").Encoding
        other = make("sample", pat_str=tiktoken.covering(pattern), mergeable_ranks=ranks, special_tokens=special)
        check.same_as("tiktoken", lambda docs: [other.encode(doc, allowed_special="all") for doc in docs])
    return data, ranks


def to_sentencepiece(model: Model, encode: EncodeLists, unigram: bool) -> bytes:
    """The `.model` file of a model; see `BPE.to_sentencepiece`. `encode` takes special tokens for ordinary text."""
    data = sentencepiece.write(model, unigram)
    check = ExportCheck(model._replace(segmenter=model.segmenter._replace(special=None)), encode)  # which are in no text
    other = Coder(sentencepiece_model.model_of(sentencepiece.read(data)))
    options = EncodeOptions(special=SpecialChoice("none", "none"))

    def encode_ids(ids: Ragged) -> Ragged:
        if unigram:
            return other.path_encoder(LIKELIHOOD).encode(ids, "sentencepiece", None)
        return other.pair_encoder().encode(ids, None)

    def again(docs: list[str]) -> list[list[int]]:
        found: list[list[int]] = other.encode(as_documents(docs), encode_ids, options, "docs")[0].to_lists()
        return found

    check.same_as("what was written", again)
    if _installed("sentencepiece"):
        try:
            peer = import_module("sentencepiece").SentencePieceProcessor(model_proto=data)
        except RuntimeError as error:  # it reads no model without pieces for text
            raise ValueError(f"export refused: sentencepiece does not read it: {error}") from error
        check.same_as("sentencepiece", peer.encode)
    return data


def to_vocab_merges(model: Model, encode: EncodeLists, end_of_word: str | None) -> tuple[str, str]:
    """The texts of `vocab.json` and `merges.txt`; see `BPE.to_vocab_merges`."""
    check = ExportCheck(model, encode)
    check.check_plain("a pair of files")
    kind = model.alphabet.kind
    if kind == "int":
        raise ValueError("alphabet: the files hold text; use to_huggingface for integers")
    vocab, merges = check.named()
    special, known = check.words()
    if known or any(word in vocab for word in special):
        raise ValueError("special_tokens: known words, or tokens that the vocabulary has too, cannot be written")
    out = vocab_merges.write({**vocab, **special}, merges, end_of_word)
    check.same_as_model(imports.from_vocab_merges(*out, kind, check.pattern(), special, end_of_word))
    if _installed("tokenizers") and end_of_word is None:
        theirs = import_module("tokenizers")
        lines = out[1].split("\n")[1:-1]
        other = theirs.Tokenizer(theirs.models.BPE(json.loads(out[0]), [tuple(line.split(" ")) for line in lines]))
        rest = huggingface.write(check.table(), {}, ([], []), {}, {})
        other.pre_tokenizer = theirs.Tokenizer.from_str(rest).pre_tokenizer  # the files do not say it
        other.add_special_tokens(list(special))
        check.same_as("tokenizers", lambda docs: [e.ids for e in other.encode_batch(docs)])
    return out


def _installed(package: str) -> bool:
    """Whether a package can be imported; a mere folder of its name on the path is none."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None
