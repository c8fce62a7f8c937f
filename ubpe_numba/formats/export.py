"""Models for other libraries, each export checked on samples: Hugging Face, transformers, tiktoken, GPT-2's pair of files."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from ubpe_numba.coding.plan import LIKELIHOOD, Tables, plan_by_path, plan_by_rank
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import listed, quoted, shortened
from ubpe_numba.formats import (
    export_samples,
    huggingface,
    sentencepiece,
    table,
    tiktoken,
    unigram,
    vocab_merges,
    wordpiece,
)  # fmt: skip
from ubpe_numba.formats.export_check import EncodeLists, ExportCheck, compare, encode_by_path
from ubpe_numba.formats.post_processor import PostProcessor
from ubpe_numba.formats.special_order import are_first, special_tokens_first
from ubpe_numba.formats.unknown_token import check_with_unknown, loss_of, texts_with_unknown, unk_token_of
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.lazy import require
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import SpecialChoice

_PAIRS = 100  # so many samples, and pairs of them, are tried with what a template puts around them


class HuggingFace(NamedTuple):
    """What a `tokenizer.json` is to say beside the model; the arguments of `BPE.to_huggingface`."""

    unk_token: Any = None
    template: str | Sequence[str] | None = None
    special_first: bool | None = None


NOTHING = HuggingFace()


def to_huggingface(model: Model, encode: EncodeLists, asked: HuggingFace = NOTHING) -> str:
    """The `tokenizer.json` of a model; see `BPE.to_huggingface`, which is called by a user's code two calls up the stack."""
    model, encode = _in_order(model, encode, asked.special_first)
    check = ExportCheck(model, encode)
    vocab, merges = check.named()
    special, known = check.words()
    if clash := next((word for word, i in {**special, **known}.items() if vocab.get(word, i) != i), None):
        raise ValueError(f"special_tokens: {quoted(clash)} is a token of the vocabulary too; Hugging Face allows one")
    unknown = unk_token_of(check, asked.unk_token)
    template = None if asked.template is None else PostProcessor.of(asked.template, special)
    text = huggingface.write(
        check.table(), {**check.unheard(vocab), **vocab}, merges, special, known,
        unk_token=None if unknown is None else unknown.name,
        post_processor=None if template is None else template.state(special),
    )  # fmt: skip
    kind = model.alphabet.kind
    symbols = None if kind != "int" else model.alphabet.symbols
    check.same_as_model(table.from_huggingface(text, kind, symbols).model)
    wider = None if unknown is None or loss_of(model) is None else check_with_unknown(model, unknown)
    if wider is not None:
        check.leave_out_unknown()
    if wider is not None and unknown is not None and unknown.symbol is not None:
        found = table.from_huggingface(text, None if kind == "str" else kind, symbols)
        wider.same_as_tokenizer(found.model, found.params)
    elif wider is not None and kind == "str":
        wider.same_as_model(table.from_huggingface(text, "bytes", None).model)
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        for samples in (check,) if wider is None else (check, wider):
            samples.same_as("tokenizers", lambda docs: [e.ids for e in other.encode_batch(docs, add_special_tokens=False)])
        if template is not None:
            _, ids, texts = check.texts()
            _check_template(other, template, special, texts, ids)
    if unknown is None and asked.unk_token is not False and (loss := loss_of(model)) is not None:
        warnings.warn(loss, UserWarning, stacklevel=4)
    return text


def to_huggingface_unigram(model: Model, encode: EncodeLists, asked: HuggingFace = NOTHING) -> str:
    """The `tokenizer.json` of a model with log-probabilities; see `UBPE.to_huggingface`."""
    model, encode = _in_order(model, encode, asked.special_first)
    check = ExportCheck(model, encode)
    if model.segmenter.whole_words:
        raise ValueError("whole_words: a Unigram model has no place for tokens that only whole words become")
    scores = model.vocabulary.log_probabilities
    assert scores is not None  # the caller has seen to that
    words = special, _ = check.words()
    unknown = unk_token_of(check, asked.unk_token)
    if unknown is not None and unknown.symbol is not None:
        raise ValueError(f"unk_token: {quoted(unknown.name)} is a symbol, which is not searched for as one by a Unigram model")
    if unknown is not None and model.alphabet.kind == "bytes":
        if loss_of(model) is not None:
            raise ValueError(
                "unk_token: a Unigram model over bytes has none unless it has all of them; give it all 256 as alphabet"
            )
        unknown = None  # nothing is unknown
    template = None if asked.template is None else PostProcessor.of(asked.template, special)
    text = unigram.write(
        model, check.table(), scores, *words,
        unk_id=None if unknown is None else unknown.id,
        post_processor=None if template is None else template.state(special),
    )  # fmt: skip
    again = table.from_huggingface_unigram(text)
    if model.segmenter.unknown is None:  # which is an error there, or the unknown token
        check.leave_out_unknown()
    check.same_as("what was written", lambda docs: encode_by_path(again, docs, "tokenizers"))
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        check.same_as("tokenizers", lambda docs: [e.ids for e in other.encode_batch(docs, add_special_tokens=False)])
        _, ids, texts = check.texts()
        if unknown is not None:
            docs = texts_with_unknown(texts)
            theirs = [e.ids for e in other.encode_batch(docs, add_special_tokens=False)]
            compare(docs, encode_by_path(again, docs, "tokenizers"), theirs, "tokenizers")
        if template is not None:
            _check_template(other, template, special, texts, ids)
    return text


def to_huggingface_words(
    words: Words, encode: EncodeLists, again: Callable[[str], EncodeLists], template: str | Sequence[str] | None = None
) -> str:
    """The `tokenizer.json` of a WordPiece model; `again` makes what encodes by that. See `WordPiece.to_huggingface`."""
    around = None if template is None else PostProcessor.of(template, words.special_tokens)
    text = wordpiece.write(words, None if around is None else around.state(words.special_tokens))
    docs = export_samples.texts(list(words.vocabulary), [*words.special_tokens, *words.known_words])
    ids = encode(docs)
    compare(docs, ids, again(text)(docs), "what was written")
    if _installed("tokenizers"):
        other = import_module("tokenizers").Tokenizer.from_str(text)
        compare(docs, ids, [e.ids for e in other.encode_batch(docs, add_special_tokens=False)], "tokenizers")
        if around is not None:
            _check_template(other, around, words.special_tokens, docs, ids)
    return text


def _in_order(model: Model, encode: EncodeLists, special_first: bool | None) -> tuple[Model, EncodeLists]:
    """A model, and what encodes as it does, with its special tokens first if that is asked for."""
    if special_first not in (None, False, True):
        raise TypeError(f"special_first: expected True, False or None, got {quoted(special_first)}")
    if special_first is False and are_first(model):
        raise ValueError("special_first: the special tokens of this tokenizer come first, and an export does not move them back")
    if not special_first or are_first(model):
        return model, encode
    if model.segmenter.special is None:
        raise ValueError("special_first: this tokenizer has no special tokens")
    model, new = special_tokens_first(model)
    return model, lambda docs: [new[ids].tolist() for ids in encode(docs)]


def _check_template(other: Any, template: PostProcessor, special: dict[str, int], texts: list[str], ids: list[list[int]]) -> None:
    """ValueError if a tokenizer of the package tokenizers puts other tokens around some samples, or pairs of them."""
    texts, ids = texts[-_PAIRS:], ids[-_PAIRS:]
    compare(texts, [template.around(special, one) for one in ids], [e.ids for e in other.encode_batch(texts)], "tokenizers")
    pairs = [*itertools.pairwise(texts)]
    expected = [template.around(special, one, two) for one, two in itertools.pairwise(ids)]
    compare(pairs, expected, [e.ids for e in other.encode_batch(pairs)], "tokenizers")


def to_transformers(text: str, roles: dict[str, Any], params: dict[str, Any]) -> Any:
    """A `transformers.PreTrainedTokenizerFast` of a `tokenizer.json`.

    `roles` say what special tokens are for, such as ``{"eos_token": "<end>"}``, None for those that were not given; `params` are
    further arguments, None likewise. ValueError for a role of a word that is no special token of the file.
    """
    fast = require("transformers", "to_transformers", "hf").PreTrainedTokenizerFast
    tokenizer = require("tokenizers", "to_transformers", "hf").Tokenizer.from_str(text)
    file = json.loads(text)
    special = {token["content"] for token in file["added_tokens"] if token["special"]}
    unknown = file["model"].get("unk_token")
    given = {name: value for name, value in {**roles, **params}.items() if value is not None}
    is_symbol = unknown is not None and len(unknown) == 1 and unknown not in special  # which would be taken out of every text
    if given.get("unk_token") is False or is_symbol or ("unk_token" not in given and unknown not in special):
        given.pop("unk_token", None)
    else:
        given.setdefault("unk_token", unknown)
    for name, value in given.items():
        for word in _words_of(name, value):
            if word not in special and not (name == "unk_token" and word == unknown):
                known = listed(sorted(special)) or "none"
                raise ValueError(
                    f"{name}: {quoted(word)} is not a special token of this tokenizer ({known}); "
                    "transformers would add it with an id that no model knows"
                )
    if (side := given.get("padding_side", "right")) not in ("left", "right"):
        raise ValueError(f"padding_side: expected 'left' or 'right', got {quoted(side)}")
    length = given.get("model_max_length", 1)
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise ValueError(f"model_max_length: expected a positive int, got {quoted(length)}")
    return fast(tokenizer_object=tokenizer, **{"clean_up_tokenization_spaces": False, **given})


def _words_of(name: str, value: Any) -> list[str]:
    """The words that an argument of transformers says are special tokens."""
    if name.endswith("_token"):
        return [str(value)]
    if name in ("additional_special_tokens", "extra_special_tokens"):
        return list(map(str, value.values() if isinstance(value, dict) else value))
    return []


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
    check.same_as_model(table.from_tiktoken(data, pattern, special))
    if _installed("tiktoken"):
        make = import_module("tiktoken").Encoding
        other = make("sample", pat_str=tiktoken.covering(pattern), mergeable_ranks=ranks, special_tokens=special)
        check.same_as("tiktoken", lambda docs: [other.encode(doc, allowed_special="all") for doc in docs])
    return data, ranks


def to_sentencepiece(model: Model, encode: EncodeLists, unigram: bool) -> bytes:
    """The `.model` file of a model; see `BPE.to_sentencepiece`. `encode` takes special tokens for ordinary text."""
    data = sentencepiece.write(model, unigram)
    reserved = model.segmenter.reserved
    reserved = None if reserved is None else reserved.symbols_only()  # special tokens are in no text
    check = ExportCheck(model._replace(segmenter=model.segmenter._replace(reserved=reserved)), encode)
    tables = Tables(sentencepiece.model_of(sentencepiece.read(data)))
    plan = plan_by_path(tables, LIKELIHOOD, "sentencepiece") if unigram else plan_by_rank(tables)

    def again(docs: list[str]) -> list[list[int]]:
        found, _ = plan.documents(as_documents(docs), "raise", SpecialChoice("none", "none"), "docs")
        return found.to_lists()

    check.same_as("what was written", again)
    if _installed("sentencepiece"):
        try:
            peer = import_module("sentencepiece").SentencePieceProcessor(model_proto=data)
        except RuntimeError as error:  # it reads no model without pieces for text
            raise ValueError(f"export refused: sentencepiece does not read it: {shortened(error)}") from error
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
    check.same_as_model(table.from_vocab_merges(*out, kind, check.pattern(), special, end_of_word))
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
