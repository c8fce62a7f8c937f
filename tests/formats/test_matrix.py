"""Every public method on a tokenizer of every format: one small file a format, and the laws that hold for all of them."""

import contextlib
import functools
import io
import itertools
import json
import pathlib
import pickle
import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foreign import END
from gguf_files import vocabulary as gguf
from sentencepiece_models import BYTE, CONTROL, NORMAL, UNKNOWN, USER
from tables import refuses

from ubpe_numba import BPE, UBPEClassic, WordPiece, export, load
from ubpe_numba.errors import SpecialTokenError
from ubpe_numba.formats import table
from ubpe_numba.formats.table import Source
from ubpe_numba.text.patterns import NAMED

tokenizers = pytest.importorskip("tokenizers")
sentencepiece = pytest.importorskip("sentencepiece")
TEXTS = [
    "low lower lowest newest wider",
    "the new low,  the newer",
    "né 東 low",
    "",
    " lower",
    "low w東é hello 東東",
]
TRAIN = [*TEXTS[:2], "hello world new low"] * 8
MARK = "▁"
BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
ALPHABET = tokenizers.pre_tokenizers.ByteLevel.alphabet()


def trained(model: Any, trainer: Any, **parts: Any) -> Any:
    made = tokenizers.Tokenizer(model)
    for name, part in parts.items():
        setattr(made, name, part)
    made.train_from_iterator(TRAIN, trainer)
    return made


def byte_level() -> str:
    """GPT-2's kind, special tokens after the vocabulary, which a post-processor puts around a text."""
    models, steps = tokenizers.models, tokenizers.pre_tokenizers
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=280, show_progress=False, initial_alphabet=ALPHABET)
    made = trained(
        models.BPE(),
        trainer,
        pre_tokenizer=steps.ByteLevel(add_prefix_space=False),
        decoder=tokenizers.decoders.ByteLevel(),
    )
    made.add_special_tokens([END, "<pad>"])
    i = made.token_to_id(END)
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{END} $A", special_tokens=[(END, i)]
    )
    return str(made.to_str())


def llama(special: bool = True) -> str:
    """Llama 2's kind: a space before the text, bytes for unknown characters."""
    vocab = {"<unk>": 0, "<s>": 1} | {name: byte + 2 for name, byte in BYTES.items()}
    for piece in [
        *"▁helowrdnsti,",
        "he",
        "ll",
        "hell",
        "hello",
        "▁w",
        "or",
        "▁wor",
        "▁hello",
        "▁l",
        "ow",
        "▁low",
        "er",
        "▁▁",
    ]:
        vocab.setdefault(piece, len(vocab))
    pairs = "h e,l l,he ll,hell o,▁ w,o r,▁w or,▁ hello,▁ l,o w,▁l ow,e r,▁ ▁"
    merges = [pair.split(" ") for pair in pairs.split(",")]
    decoder = [
        {"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]  # fmt: skip
    file = {
        "version": "1.0", "truncation": None, "padding": None, "pre_tokenizer": None, "post_processor": None,
        "added_tokens": [
            {"id": i, "content": word, "special": True, **dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)}
            for word, i in (("<unk>", 0), ("<s>", 1))
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": MARK}, {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
            ],
        },
        "decoder": {"type": "Sequence", "decoders": decoder},
        "model": {
            "type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": vocab, "merges": merges,
            "dropout": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "ignore_merges": False,
        },
    }  # fmt: skip
    return json.dumps(file)


def unigram() -> str:
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=60, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<s>", "<pad>"]
    )
    steps = tokenizers.pre_tokenizers.Metaspace(), tokenizers.decoders.Metaspace()
    return str(
        trained(tokenizers.models.Unigram(), trainer, pre_tokenizer=steps[0], decoder=steps[1]).to_str()
    )


def words() -> str:
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=80, show_progress=False, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    )
    made = trained(
        tokenizers.models.WordPiece(unk_token="[UNK]"), trainer, normalizer=tokenizers.normalizers.BertNormalizer(),
        pre_tokenizer=tokenizers.pre_tokenizers.BertPreTokenizer(), decoder=tokenizers.decoders.WordPiece(),
    )  # fmt: skip
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return str(made.to_str())


def suffixes() -> str:
    letters = sorted({*"".join(TRAIN)} - {" "})
    vocab = {
        name: i
        for i, name in enumerate(
            ["<unk>", "<pad>", *letters, *(f"{c}</w>" for c in letters), "lo", "low</w>", "er</w>"]
        )
    }
    merges = [["l", "o"], ["lo", "w</w>"], ["e", "r</w>"]]
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab, [*map(tuple, merges)], unk_token="<unk>", end_of_word_suffix="</w>")
    )
    made.pre_tokenizer, made.decoder = (
        tokenizers.pre_tokenizers.Whitespace(),
        tokenizers.decoders.BPEDecoder(),
    )
    made.add_special_tokens(["<unk>", "<pad>"])
    return str(made.to_str())


def characters() -> str:
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=50, show_progress=False, special_tokens=["<unk>", "<pad>"]
    )
    made = trained(
        tokenizers.models.BPE(unk_token="<unk>"), trainer, pre_tokenizer=tokenizers.pre_tokenizers.WhitespaceSplit(),
        decoder=tokenizers.decoders.Fuse(),
    )  # fmt: skip
    return str(made.to_str())


def pieces(kind: str, by_bytes: bool, words: bool = False) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAIN), model_writer=out, vocab_size=340 if by_bytes else 50, model_type=kind,
        byte_fallback=by_bytes, hard_vocab_limit=False, minloglevel=2, pad_id=3, user_defined_symbols=["<sep>"] * words,
    )  # fmt: skip
    return out.getvalue()


def of_text(**params: Any) -> Any:
    return BPE.for_text(280, pretokenizer="gpt2", special_tokens=[END, "<pad>"], **params).fit(
        TRAIN, progress=False
    )


def ggufs(kind: str) -> bytes:
    if kind == "gpt2":
        ids, made = json.loads(byte_level())["model"]["vocab"], json.loads(byte_level())
        merges = [" ".join(pair) for pair in made["model"]["merges"]]
        return gguf(
            "gpt2", [*ids, END], pre="gpt-2", merges=merges, token_type=[NORMAL] * len(ids) + [CONTROL]
        )
    file = json.loads(llama())["model"]
    types = {"<unk>": UNKNOWN, "<s>": CONTROL, "▁▁": USER} | dict.fromkeys(BYTES, BYTE)
    vocab = file["vocab"]
    scores = [-float(i) for i in vocab.values()]
    return gguf(kind, [*vocab], scores=scores, token_type=[types.get(name, NORMAL) for name in vocab])


def saved(suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, f"m{suffix}")
        of_text().save(path)
        return path.read_bytes()


def ranks_of_text() -> list[str]:
    return [row.split()[0].decode() for row in export(of_text(), "tiktoken").splitlines()]


def tekken() -> str:
    vocab = [{"rank": i, "token_bytes": token, "token_str": None} for i, token in enumerate(ranks_of_text())]
    sizes = {
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(vocab) + 3,
        "default_num_special_tokens": 3,
    }
    return json.dumps(
        {
            "config": {"pattern": NAMED["gpt2"], "version": "v3", **sizes},
            "vocab": vocab,
            "special_tokens": None,
        }
    )


#: The format as it is recognised, the content of a file, or of two, and the options of `load`.
FORMATS: dict[str, tuple[str, Callable[[], Any], dict[str, Any]]] = {
    "npz": ("as npz", lambda: saved(".npz"), {}), "json": ("as JSON", lambda: saved(".json"), {}),
    "tokenizer.json, bytes": ("Hugging Face", byte_level, {}), "tokenizer.json, byte fallback": ("Hugging Face", llama, {}),
    "tokenizer.json, unigram": ("Hugging Face", unigram, {}), "tokenizer.json, words": ("Hugging Face", words, {}),
    "tokenizer.json, suffixes": ("Hugging Face", suffixes, {}), "tokenizer.json, characters": ("Hugging Face", characters, {}),
    "tiktoken": ("tiktoken", lambda: export(of_text(), "tiktoken"), {"pretokenizer": "gpt2", "special_tokens": {END: 300}}),
    "tekken": ("tekken", tekken, {}),
    "vocab+merges": ("merges.txt", lambda: tuple(export(of_text(), "vocab+merges").values()), {"pretokenizer": "gpt2"}),
    "ubpe": ("ubpe", lambda: export(UBPEClassic(40).fit(TRAIN, progress=False), "ubpe"), {"kind": "str"}),
    **{
        f"sentencepiece, {of[0]}{', bytes' * of[1]}{', words' * of[2]}": ("sentencepiece", functools.partial(pieces, *of), {})
        for of in itertools.product(("bpe", "unigram"), (False, True), (False, True))
    },
    **{f"gguf, {kind}": ("gguf", functools.partial(ggufs, kind), {}) for kind in ("gpt2", "llama", "t5")},
}  # fmt: skip


def files(content: Any, folder: pathlib.Path) -> Any:
    """The path of a file of the content, or the paths of two."""
    if isinstance(content, tuple):
        return tuple(files(part, folder / str(i)) for i, part in enumerate(content))
    folder.mkdir(exist_ok=True)
    (folder / "m").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / "m"


@functools.cache
def content_of(name: str) -> Any:
    """Made once: trainers of other libraries break ties as it comes."""
    return FORMATS[name][1]()


pytestmark = pytest.mark.filterwarnings("ignore:the piece '▁▁' at the beginning of ids")  # a word of the user


@pytest.fixture(scope="module", params=FORMATS)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Any, list[str]]:
    options = FORMATS[request.param][2]
    tok = load(files(content_of(request.param), tmp_path_factory.mktemp("case")), **options)
    # of characters, others are an error
    return request.param, tok, TEXTS[:2] if request.param == "ubpe" else TEXTS


@pytest.mark.filterwarnings("ignore::UserWarning")  # of fields that are not known
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_of_one_format_and_is_refused_when_damaged(name: str, tmp_path: pathlib.Path) -> None:
    """Damaged it may be another model, whose ids have their texts."""
    (known, _, options), content, rng = FORMATS[name], content_of(name), random.Random(name)
    parts = content if isinstance(content, tuple) else (content,)
    found = [row.name for row in table.FORMATS if row.is_it(Source(files(content, tmp_path)))]
    assert len(found) == 1 and known in found[0]
    whole = b"\0".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    for _ in range(40):
        at = rng.randrange(rng.choice([len(whole), min(len(whole), 300)]))
        end = at + rng.randrange(4) if rng.random() < 0.9 else len(whole)
        broken = whole[:at] + rng.randbytes(rng.randrange(3)) + whole[end:]
        told = ""
        try:
            tok = load(
                files(tuple(broken.partition(b"\0")[::2]) if len(parts) > 1 else broken, tmp_path), **options
            )
        except ValueError as error:
            told = str(error)
        else:
            assert all(isinstance(tok.decode([i]), str) for i in tok.get_vocab().values() if i % 7 == 0)
        # it is refused by its path, or of a format that has not these options
        assert (
            not told
            or str(tmp_path) in told
            or told.startswith(("pretokenizer: ", "kind: ", "special_tokens: "))
        ), told


def theirs(name: str, content: Any) -> Callable[[str], list[int]]:
    """What encodes a text as the library does that the file is of."""
    if name.startswith("tokenizer.json"):
        made = tokenizers.Tokenizer.from_str(content)
        return lambda text: made.encode(text, add_special_tokens=False).ids  # type: ignore[no-any-return]
    if name.startswith("sentencepiece"):
        return sentencepiece.SentencePieceProcessor(model_proto=content).encode  # type: ignore[no-any-return]
    encoding = export(of_text(), "tiktoken.Encoding")
    return lambda text: encoding.encode(text, allowed_special="all")  # type: ignore[no-any-return]


OF_OTHERS = [name for name in FORMATS if name.startswith(("tokenizer.json", "sentencepiece", "tiktoken"))]


@pytest.mark.parametrize("case", OF_OTHERS, indirect=True)
def test_ids_are_those_of_the_library(case: tuple[str, Any, list[str]]) -> None:
    name, tok, texts = case
    encode = theirs(name, content_of(name))
    for text in texts:
        assert tok.encode(text, **special(tok)).tolist() == encode(text), text


def special(tok: Any) -> dict[str, Any]:
    return {"allowed_special": "all"} if tok.vocabulary.special else {}


@pytest.mark.parametrize("seed", range(12))
def test_a_call_is_cut_and_filled_as_the_file_says(seed: int) -> None:
    """Also where a document is longer than the length that documents are filled to."""
    rng = random.Random(seed)
    made = tokenizers.Tokenizer.from_str(content_of("tokenizer.json, bytes"))
    side = rng.choice(["left", "right"])
    length, multiple = rng.choice([None, 4, 9, 40]), rng.choice([None, 3])
    made.enable_padding(direction=side, pad_id=3, pad_type_id=1, length=length, pad_to_multiple_of=multiple)
    if rng.random() < 0.5:
        made.enable_truncation(rng.choice([5, 8]), stride=1, direction=rng.choice(["left", "right"]))
    call = {name: True for name in ("return_token_type_ids", "return_offsets")}
    for texts in (TEXTS, TEXTS[:1], [TEXTS[3]] * 2):
        ours, wanted = load(made)(texts, **call), made.encode_batch(texts)
        for mine, theirs in (
            ("input_ids", "ids"),
            ("attention_mask", "attention_mask"),
            ("token_type_ids", "type_ids"),
            ("offset_mapping", "offsets"),
        ):
            found = [np.array(row).tolist() for row in ours[mine]]
            assert found == [np.array(getattr(one, theirs)).tolist() for one in wanted], mine
        one = load(made)(texts[0]).input_ids
        assert one.tolist() == made.encode(texts[0]).ids


@pytest.mark.parametrize("make", [byte_level, llama, unigram, words, suffixes, characters])
def test_files_with_truncation_and_padding_are_exported(make: Callable[[], str]) -> None:
    made = tokenizers.Tokenizer.from_str(make())
    made.enable_truncation(4)
    made.enable_padding(length=6, pad_id=1)
    again = tokenizers.Tokenizer.from_str(export(load(made), "tokenizer.json"))
    assert [again.encode(text).ids for text in TEXTS] == [made.encode(text).ids for text in TEXTS]
    assert again.truncation["max_length"] == 4 and again.padding["length"] == 6


def test_the_tokens_that_texts_use_encode_them_alike(
    case: tuple[str, Any, list[str]], tmp_path: pathlib.Path
) -> None:
    """With the ids 0, 1, ... in the order of before, also in what a file puts around a text, and in our own files."""
    _, tok, texts = case
    docs = texts[:2]
    small, old = tok, tok.get_vocab()
    if not isinstance(tok, WordPiece):
        small = tok.truncate(10_000, docs=docs)
        least = tok.truncate(small._model.vocabulary.n_alphabet + 2, docs=docs)
        assert least._model.vocabulary.n_learned <= 2 and least.encode(docs[0], **special(tok)).size
    new = small.get_vocab()
    assert sorted(new.values()) == [*range(len(new))] == [*range(small.vocab_size)] and [*new] == sorted(
        new, key=new.get
    )
    before = np.array([old[word] for word in new])
    assert (np.diff(before) > 0).all() and new.keys() >= tok.vocabulary.special.keys()
    small.save(tmp_path / "m.json")
    for one in (small, load(tmp_path / "m.json")):
        assert (
            before[one.encode_batch(docs, **special(tok)).values].tolist()
            == tok.encode_batch(docs, **special(tok)).values.tolist()
        )
        assert (
            before[one(docs[0], **special(tok)).input_ids].tolist()
            == tok(docs[0], **special(tok)).input_ids.tolist()
        )
        assert one.decode(one.encode(docs[0], **special(tok))) == tok.decode(
            tok.encode(docs[0], **special(tok))
        )
        if len(texts) > 2:  # what is unknown stays so
            text = "東w 東"
            ids = one.encode(text, **special(tok))
            assert one.decode(ids) == tok.decode(tok.encode(text, **special(tok)))


def test_where_ids_that_a_model_draws_are_in_their_text(case: tuple[str, Any, list[str]]) -> None:
    """As many characters as those before give, where they give complete ones; or it is refused."""
    name, tok, texts = case
    ids, rng = [*tok.get_vocab().values()], random.Random(name)
    if isinstance(tok, WordPiece):
        return
    for _ in range(40):
        drawn = rng.choices(ids, k=rng.randrange(9)) + tok.encode(rng.choice(texts), **special(tok)).tolist()
        skip = rng.choice([None, drawn[0]]) if drawn else None
        text, starts = "", None
        with contextlib.suppress(ValueError):  # not known
            text, starts = tok.decode(drawn, skip=skip, return_offsets=True)
        if starts is None:
            continue
        assert text == tok.decode(drawn, skip=skip) and starts.dtype == np.int64 and starts.size == len(drawn)
        for i, start in enumerate(starts.tolist()):
            part = tok.decode(drawn[:i], skip=skip, errors="ignore")
            between = text[len(part) : start]  # a space after a word, which the last one has not
            assert (start >= len(part) and not between.strip()) or "\ufffd" in text
        assert (np.diff(starts) >= 0).all()
    ids = tok.encode(texts[0], **special(tok))
    with contextlib.suppress(ValueError):
        text, starts = tok.decode(ids, return_offsets=True)
        places = tok.encode(texts[0], return_offsets=True, units="characters", **special(tok))[1]
        assert text != texts[0] or starts.tolist() == places.tolist()


def test_one_is_as_many_and_streams_are_the_whole(case: tuple[str, Any, list[str]]) -> None:
    _, tok, texts = case
    ids = tok.encode_batch(texts, **special(tok)).to_lists()
    assert [tok.encode(text, **special(tok)).tolist() for text in texts] == ids
    assert [one.tolist() for one in tok.encode_iter(iter(texts), **special(tok))] == ids
    assert tok.count(texts, **special(tok)).tolist() == [*map(len, ids)]
    whole = tok.decode_batch(ids)
    assert [tok.decode(one) for one in ids] == whole == [*tok.decode_iter(iter(ids))]


def unknown_ids(tok: Any) -> set[int]:
    """What unknown symbols become: the one special id that a text may make."""
    rule, word = tok._model.segmenter.unknown, getattr(tok, "unknown", "raise")
    named = set() if word in ("raise", "skip") or not isinstance(word, str) else {tok.token_to_id(word)}
    return named | (set() if rule is None else {rule.id})


def ways(tok: Any) -> dict[str, Callable[..., Any]]:
    """Every entry point that makes ids of one text, by name."""
    return {
        "encode": tok.encode,
        "spans": lambda text, **options: tok.spans([text], **options).ids,
        "encode_batch": lambda text, **options: tok.encode_batch([text, text], **options)[1],
        "encode_iter": lambda text, **options: next(tok.encode_iter(iter([text]), **options)),
        "out": lambda text, **options: tok.encode_batch([text], out=np.zeros(999, np.int32), **options)[0],
        "call": lambda text, **options: tok(text, add_special_tokens=False, **options).input_ids,
        "usage": lambda text, **options: np.flatnonzero(tok.usage([text], **options).counts),
        "count": lambda text, **options: tok.encode(text, **options)[: tok.count([text], **options)[0]],
    }


def test_no_text_makes_a_special_id_that_is_not_allowed(case: tuple[str, Any, list[str]]) -> None:
    _, tok, texts = case
    words = {word: i for word, i in (tok.vocabulary.special or {}).items() if isinstance(word, str)}
    never = {*words.values()} - unknown_ids(tok)
    for word, text in itertools.product(words, texts[:2]):
        for doc in (word, f"{text}{word}", f"{word} {text}{word.upper()} {word.lower()}"):
            for name, encode in ways(tok).items():
                told = ""
                try:
                    ids = encode(doc)
                except SpecialTokenError as error:
                    told = str(error)
                assert told or never.isdisjoint(ids.tolist()), (name, doc)
                assert never.isdisjoint(encode(doc, disallowed_special="none").tolist()), (name, doc)
                assert (
                    name in ("usage", "count") or words[word] in encode(doc, allowed_special="all").tolist()
                ), (name, doc)
        few = tok.encode(f"{text}{word}", allowed_special=[word], disallowed_special="none").tolist()
        assert {words[word]} >= never & {*few}


def test_every_id_has_a_name_and_bytes(case: tuple[str, Any, list[str]]) -> None:
    _, tok, _ = case
    names = {i: tok.id_to_token(i) for i in range(tok.vocab_size)}
    for i, name in names.items():
        if name is None:
            continue
        assert not any(c >= "\U00100000" for c in name), name
        assert names[tok.token_to_id(name)] == name
        data = tok.decode([i], as_bytes=True)
        assert isinstance(data, bytes)
        if name in BYTES and tok.is_lossless is False and "gpt2" not in name:
            assert data == bytes([BYTES[name]])
        shown = tok.decode([i])  # a space at the beginning of a text is left out, or put around the unknown
        assert data.decode("utf-8", "replace").strip(" ") == shown.strip(" ") or "\ufffd" in shown
        assert len(tok.vocabulary) > i
    assert tok.get_vocab().keys() == {name for name in names.values() if name is not None}


def test_random_ids_are_decoded_in_parts_as_at_once(case: tuple[str, Any, list[str]]) -> None:
    _, tok, _ = case
    rng = np.random.default_rng(0)
    known = np.array([i for i in range(tok.vocab_size) if tok.id_to_token(i) is not None])
    first = [i for i in known.tolist() if tok.id_to_token(i).strip("▁Ġ ") == ""]
    of_bytes = [i for i in map(tok.token_to_id, ("<0xC3>", "▁", "<0xA9>", "<0xE4>")) if i is not None]
    for n in range(60):
        ids = rng.choice(known, n % 12).tolist()
        ids = [*rng.choice(first, n % 3).tolist(), *ids] if first else ids
        ids = [*rng.choice(of_bytes, n % 7).tolist(), *ids] if of_bytes else ids
        stream = tok.decode_stream()
        found = "".join([stream.push(ids[: n % 4]), *map(stream.push, ids[n % 4 :]), stream.finish()])
        assert found == tok.decode(ids) == tok.decode_batch([ids])[0], ids


def test_spans_are_within_the_text(case: tuple[str, Any, list[str]]) -> None:
    _, tok, texts = case
    spans = tok.spans(texts, **special(tok))
    assert spans.ids.tolist() == tok.encode_batch(texts, **special(tok)).values.tolist()
    inputs = tok(texts, return_offsets=True, **special(tok))
    for text, ids, places in zip(texts, inputs.input_ids, inputs.offset_mapping, strict=True):
        assert len(ids) == len(places) and (places >= 0).all() and (places <= len(text)).all()


def test_files_pickles_and_exports_encode_alike(
    case: tuple[str, Any, list[str]], tmp_path: pathlib.Path
) -> None:
    name, tok, texts = case
    ids = tok.encode_batch(texts, **special(tok)).to_lists()
    others = [pickle.loads(pickle.dumps(tok))]
    for suffix in (".json", ".npz"):
        tok.save(tmp_path / f"m{suffix}")
        others.append(load(tmp_path / f"m{suffix}"))
    if name.startswith(("sentencepiece", "gguf, llama", "gguf, t5")):
        others.append(load(export(tok, "sentencepiece")))
    elif name != "ubpe":
        others.append(load(export(tok, "tokenizer.json", **({} if "word" in name else {"unk_token": False}))))
    if name.startswith("sentencepiece, bpe") and "words" not in name:
        others.append(load(export(tok, "tokenizer.json")))
    for other in others:
        assert other.encode_batch(texts, **special(tok)).to_lists() == ids
        assert other.decode_batch(ids) == tok.decode_batch(ids)
        assert [*map(list, other(texts, **special(tok)).input_ids)] == [
            *map(list, tok(texts, **special(tok)).input_ids)
        ]
        assert other.get_vocab() == tok.get_vocab()


def test_more_is_learned_after_the_last_id(case: tuple[str, Any, list[str]]) -> None:
    _, tok, texts = case
    old = tok.encode_batch(texts, **special(tok)).to_lists()
    more = pickle.loads(pickle.dumps(tok))
    if not hasattr(more, "fit_more"):
        pytest.skip("words have no merges")
    size, n = tok.vocab_size, len(tok._model.vocabulary)
    counted = n if tok._model.segmenter.token_ids is None or tok._prepared.special_first else size
    docs, target = ["stine dewol stine", "dewol stine"] * 9, 2 + counted
    if tok._model.vocabulary.merges is None or not tok._model.vocabulary.in_order_of_creation:
        refuses(
            ValueError,
            "only a vocabulary of pairs in order of creation can be continued",
            more.fit_more,
            docs,
            target,
        )
        return
    more.fit_more(docs, target)
    assert (
        len(more.get_vocab()) == len(tok.get_vocab()) + 2
        and more.get_vocab().items() >= tok.get_vocab().items()
    )
    assert more.decode(more.encode(docs[0], **special(tok))) == tok.decode(
        tok.encode(docs[0], **special(tok))
    )
    assert more.truncate(n).encode_batch(texts, **special(tok)).to_lists() == old
