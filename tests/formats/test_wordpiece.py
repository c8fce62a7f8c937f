"""WordPiece: tokenizer.json and vocab.txt, as the package tokenizers reads them."""

import json
import pathlib
import pickle
from typing import Any

import pytest
from foreign import MIXED
from hypothesis import given, settings, strategies as st
from tables import refuses

from ubpe_numba import Preprocessing, WordPiece, export
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import wordpiece

pytestmark = pytest.mark.filterwarnings("ignore:added_tokens")  # of words that a normalizer changes

tokenizers = pytest.importorskip("tokenizers")

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [
    "un",
    "##aff",
    "##able",
    "able",
    "a",
    "##a",
    "b",
    "##b",
    "中",
    "!",
    ",",
    "e",
    "##e",
    "ab",
    "##ab",
    "'",
    "s",
    "[",
    "]",
]


def bert(pieces: list[str] = PIECES, lowercase: bool = True, **fields: Any) -> str:
    """The content of a tokenizer.json as those of BERT are."""
    made = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: i for i, piece in enumerate(SPECIAL + pieces)}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    made.add_special_tokens(SPECIAL)
    file = json.loads(made.to_str())
    file["model"] |= fields
    return json.dumps(file)


FLAGS = ["lstrip", "rstrip", "single_word", "normalized"]
EVERY: Any = {"allowed_special": "all"}
WORDS = ["ab", "É", "[m]", "<S>", "a ", "中", "[MASK]", "Un"]
FLAGGED = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sets(st.sampled_from(FLAGS)), st.booleans()),
    max_size=4,
    unique_by=lambda t: t[0],
)
PARTS = st.sampled_from([*WORDS, *"abBéEe中!,' \n\t\u3000[]Uune\u0301", "Ab", "[M]", "<s>", "un", "  "])
TEXTS = st.lists(st.lists(PARTS, max_size=20).map("".join), min_size=1, max_size=6)


def with_words(words: list[tuple[str, set[str], bool]], lowercase: bool) -> str:
    """BERT's, with added tokens that have flags, special or not."""
    file = json.loads(bert(lowercase=lowercase))
    vocab = file["model"]["vocab"]
    words = [(word, flags, is_special) for word, flags, is_special in words if word not in SPECIAL]
    new = [word for word, _, _ in words if word not in vocab]
    file["added_tokens"] += [
        {
            "id": vocab.get(word, len(vocab) + new.index(word) if word in new else 0),
            "content": word,
            "special": is_special,
        }
        | {flag: flag in flags for flag in FLAGS}
        for word, flags, is_special in words
    ]
    return json.dumps(file)


@settings(max_examples=25)
@given(TEXTS, FLAGGED, st.booleans())
def test_added_tokens_with_flags_are_found_as_there_and_written_again(
    docs: list[str], words: Any, lowercase: bool
) -> None:
    text = with_words(words, lowercase)
    peer, tokenizer = tokenizers.Tokenizer.from_str(text), WordPiece.load(text)
    docs += ["[CLS] unaffable [SEP]ab[MASK] ab!", "a" * 101 + " a"]
    theirs = peer.encode_batch(docs, add_special_tokens=False)
    ids, starts = tokenizer.encode_batch(docs, return_offsets=True, **EVERY)
    assert ids.to_lists() == [found.ids for found in theirs]
    assert starts.to_lists() == [[start for start, _ in found.offsets] for found in theirs]
    assert tokenizer.encode_batch(docs, **EVERY) == ids
    assert [tokenizer.encode(doc, **EVERY).tolist() for doc in docs] == ids.to_lists()
    for doc, mine in zip(docs, zip(ids, starts, strict=True), strict=True):
        assert [part.tolist() for part in tokenizer.encode(doc, return_offsets=True, **EVERY)] == [
            part.tolist() for part in mine
        ]
    written = export(tokenizer, "tokenizer.json")
    peer = tokenizers.Tokenizer.from_str(written)
    assert [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)] == ids.to_lists()
    state = json.loads(json.dumps(wordpiece.state_of(tokenizer._words())))
    kept = WordPiece._of_words(wordpiece.Words(**wordpiece.from_state(state)))
    for other in (kept, pickle.loads(pickle.dumps(tokenizer)), WordPiece.load(written)):
        assert other._words() == tokenizer._words() and other.encode_batch(docs, **EVERY) == ids


def test_words_and_texts_may_be_mixed_where_words_have_flags() -> None:
    tokenizer = WordPiece.load(
        with_words([("É", {"normalized", "lstrip"}, False), ("<S>", {"rstrip"}, True)], True)
    )
    docs = ["Ünb É<S> ab", ["un", "ab"], "", iter(["b", "abe"]), "<S> b"]
    ids, starts = tokenizer.encode_batch(docs, return_offsets=True, **EVERY)
    assert ids.to_lists() == [[5, 12, 24, 25, 18], [5, 18], [], [11, 18, 17], [25, 11]]
    assert starts.to_lists() == [[0, 2, 3, 5, 9], [0, 2], [], [0, 1, 3], [0, 4]]


@pytest.mark.parametrize("text, message", [
    (bert(unk_token="x"), "unk_token: expected a piece"), (bert(max_input_chars_per_word=0), "max_input_chars_per_word"),
    (bert(continuing_subword_prefix=7), "continuing_subword_prefix"), (bert(vocab={}), "vocab: expected an object"),
    (bert().replace('"pre_tokenizer": {"type": "BertPreTokenizer"}', '"pre_tokenizer": null'), "one that cuts text"),
    ("[UNK]\n\ud800\n", "line 2: not UTF-8"),
])  # fmt: skip
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        WordPiece.load(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "cut", [{"type": "BertPreTokenizer"}, [{"type": "WhitespaceSplit"}, {"type": "Digits"}]]
)
def test_own_vocabularies_are_written(cut: Any, lines: list[str], tmp_path: Any) -> None:
    words = [word for line in [*lines[:500], *MIXED] for word in line.split()]
    special = {word: 600 + i for i, word in enumerate(SPECIAL) if word != "[UNK]"}
    learned = WordPiece.train(words, 600, prefix="@@", longest=30)
    text_steps = Preprocessing(cut, special, normalizer=[{"type": "NFC"}])
    tokenizer = WordPiece(learned.pieces, longest=30, prefix="@@", preprocessing=text_steps)
    text = export(tokenizer, "tokenizer.json", tmp_path / "tokenizer.json")
    peer, again = tokenizers.Tokenizer.from_str(text), WordPiece.load(tmp_path / "tokenizer.json")
    docs = [*lines[500:900], *MIXED, "a[CLS]b [MASK] x" + "y" * 40]
    want = [found.ids for found in peer.encode_batch(docs, add_special_tokens=False)]
    assert (
        tokenizer.encode_batch(docs, **EVERY).to_lists()
        == again.encode_batch(docs, **EVERY).to_lists()
        == want
    )
    assert [peer.decode(ids, skip_special_tokens=False) for ids in want] == tokenizer.decode_batch(want)
    assert export(again, "tokenizer.json") == text


def test_lines_are_pieces(tmp_path: pathlib.Path) -> None:
    for data, pieces in (
        (b"a\r\n##b\r\n", {"a": 0, "##b": 1}), (b"a\nb\na\n", {"a": 2, "b": 1}),
        ("\u3000b\n \n\n\u2028x\u2028\x85\nc\x1f \n".encode(), {"\u3000b": 0, "": 2, "\u2028x": 3, "c\x1f": 4}),
    ):  # fmt: skip
        assert wordpiece.parse_vocab_txt(data) == pieces
    ends = [chr(i) for i in range(0x3001) if chr(i) != "\n"]
    (tmp_path / "vocab.txt").write_text(
        "".join(f"p{i}{end}\n" for i, end in enumerate(ends)), encoding="utf-8", newline="\n"
    )
    model = tokenizers.models.WordPiece.from_file(str(tmp_path / "vocab.txt"), unk_token="p0")
    assert (
        wordpiece.parse_vocab_txt((tmp_path / "vocab.txt").read_bytes())
        == tokenizers.Tokenizer(model).get_vocab()
    )
    written = {"\u2028é": 2, "": 1, " x\r y": 0, "\x85z\x1f": 3}
    assert wordpiece.parse_vocab_txt(wordpiece.vocab_txt(written).encode()) == written
    refuses(ModelFormatError, "no pieces", wordpiece.parse_vocab_txt, b"")
