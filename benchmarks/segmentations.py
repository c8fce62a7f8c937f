"""Which segmentation for what: tokens per 1000 symbols, and bits per symbol of models over the tokens, of documents not seen.

Every second document is held out. A tokenizer of each kind is fitted on the others, which it encodes for
n-grams; the bits are those that unigrams, and n-grams of the best order, need for the held-out documents, as
`ubpe_numba.compare` has them. The symbols themselves, raw, are a way too. sentencepiece's Unigram takes part
if it is installed, on lines of 90 symbols, each symbol a character. Prints a Markdown table; with `--speed`
also the rates of encoding, sampling and training beside sentencepiece's, on one thread, the sides alternated,
medians, and for text the training on words, ours of GPT-2's pattern, sentencepiece's of its own rule, with
the tokens and bits per byte of documents not seen.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import corpora
import numpy as np
from suite import common

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged
from ubpe_numba.views.comparison import figures
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.vocabulary import Vocabulary

WAYS = ("raw", "rank", "tfidf", "shortest", "refine", "refine, reweight", "reweight", "refine likelihood")
CORPORA = ("text", "Python", "Chinese", "dna", "ecg", "wav")
_LINE = 90  # symbols of a line: sentencepiece finds few seeds in longer ones
_FIRST_CHARACTER = 0x100  # of the characters that stand for symbols: none is a space or a control character


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--corpora",
        default=",".join(CORPORA),
        help="some of %(default)s, Japanese, Russian, German, and paths",
    )
    parser.add_argument("--sizes", default="1024,4096,16384", help="of vocabularies: %(default)s")
    parser.add_argument("--ways", default=";".join(WAYS), help="some of %(default)r")
    parser.add_argument("--symbols", type=int, default=600_000, help="of each half, at most: %(default)s")
    parser.add_argument("--speed", action="store_true", help="compare speed with sentencepiece's")
    options = parser.parse_args()
    peer = importlib.util.find_spec("sentencepiece") is not None
    ways = options.ways.split(";") + ["sentencepiece"] * peer
    print("tokens per 1000 symbols / bits per symbol, unigrams / n-grams of the best order\n")
    print("| corpus, size | " + " | ".join(ways) + " |\n|" + " --- |" * (len(ways) + 1), flush=True)
    notes = []
    for name in options.corpora.split(","):
        seen, held, n_alphabet = halves(name, options.symbols)
        for size in map(int, options.sizes.split(",")):
            cells = []
            encoders = tokenizers(seen, n_alphabet, size, ways)
            for way in ways:
                print(f"{name} {size} {way}", file=sys.stderr, flush=True)
                encode, n_ids = next(encoders)
                tokens, one, _, best, *_ = figures([seen, held], [encode(seen), encode(held)], n_ids, None)
                cells.append(f"{tokens:.1f} / {one:.3f} / {best:.3f}")
            print(f"| {pathlib.Path(name).stem} {size} | " + " | ".join(cells) + " |", flush=True)
            if options.speed and peer:
                found = [speed(seen, held, n_alphabet, size)]
                if (text := text_of(name, 4 * options.symbols)) is not None:
                    found.append(speed_of_words(text, size))
                notes.append(f"- {pathlib.Path(name).stem} {size}: {'; '.join(found)}")
                print(notes[-1], file=sys.stderr, flush=True)
    print("\n" + "\n".join(notes))


def halves(name: str, n_symbols: int) -> tuple[Ragged, Ragged, int]:
    """The even and the odd documents of a corpus, as alphabet ids, and the size of the alphabet."""
    text = text_of(name, 4 * n_symbols)
    corpus = common.load(name) if text is None else common.lines(text, name)
    if corpus.offsets.size < 20:
        corpus = corpus.cut(2000)
    documents = Ragged(corpus.values.astype(np.int32), np.asarray(corpus.offsets, np.int64))
    parts = []
    for half in (documents[i::2] for i in (0, 1)):
        last = max(1, int(np.searchsorted(np.cumsum(half.lengths), n_symbols, side="right")))
        parts.append(half[:last].compact())
    return parts[0], parts[1], corpus.alphabet_size


def text_of(name: str, n_bytes: int) -> bytes | None:
    """The first bytes of a corpus that is text: a name or a path."""
    if pathlib.Path(name).is_file():
        return pathlib.Path(name).read_bytes()[:n_bytes]
    name = {"text": "English"}.get(name, name)
    return corpora.text(name, n_bytes)[0].encode()[:n_bytes] if name in corpora.TEXTS else None


def tokenizers(seen: Ragged, n_alphabet: int, size: int, ways: list[str]) -> Any:
    """For each way a function that encodes documents, and the number of ids; what several ways need is made once."""
    options: dict[str, Any] = {"alphabet": n_alphabet, "n_threads": 1}
    plain = UBPE(size, 1, objective="shortest", **options).fit(seen, progress=False)
    made: dict[str, UBPE] = {}
    for way in ways:
        if way == "sentencepiece":
            yield sentencepiece_encoder(sentencepiece_model(seen, size), n_alphabet)
            continue
        if "refine" in way and "refine" not in made and "likelihood" not in way:
            made["refine"] = plain.refine(seen, progress=False)
        tok = {
            "raw": lambda: BPE.from_merges(np.zeros((0, 2), np.int64), **options),
            "rank": lambda: BPE(size, **options).fit(seen, progress=False),
            "tfidf": lambda: UBPE(size, 1, **options).fit(seen, progress=False),
            "shortest": lambda: plain,
            "refine": lambda: made["refine"],
            "refine, reweight": lambda: made["refine"].reweight(seen),
            "reweight": lambda: plain.reweight(seen),
            "refine likelihood": lambda: plain.refine(seen, objective="likelihood", progress=False),
        }[way]()
        yield tok.encode_batch, len(tok.vocabulary)


def characters(documents: Ragged) -> list[str]:
    """A text for each document, a character for each symbol."""
    whole = "".join(map(chr, (documents.values.astype(np.int64) + _FIRST_CHARACTER).tolist()))
    return [
        whole[a:b]
        for a, b in zip(documents.offsets[:-1].tolist(), documents.offsets[1:].tolist(), strict=True)
    ]


def sequences(texts: Iterable[str]) -> Ragged:
    """The symbols that the characters of texts stand for."""
    return Ragged.from_lists([[ord(c) - _FIRST_CHARACTER for c in text] for text in texts])


def cut_in_lines(documents: Ragged) -> Ragged:
    """Documents of at most 90 symbols, for packages that take sentences or words."""
    ends = documents.offsets[1:].tolist()
    starts = [
        i for a, b in zip(documents.offsets[:-1].tolist(), ends, strict=True) for i in range(a, b, _LINE)
    ]
    return Ragged(documents.values, np.array([*starts, documents.offsets[-1]], np.int64))


def sentencepiece_model(seen: Ragged, size: int, counts: np.ndarray | None = None) -> Any:
    """Sentencepiece's Unigram of `size` pieces and its three special ones, of lines of documents, or of words with `counts`."""
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        if counts is None:
            lines = characters(cut_in_lines(seen))
        else:
            lines = [f"{word}\t{n}" for word, n in zip(characters(seen), counts.tolist(), strict=True)]
        pathlib.Path(folder, "text").write_text("\n".join(lines) + "\n")
        sentencepiece.SentencePieceTrainer.train(
            input=f"{folder}/text", model_prefix=f"{folder}/model", vocab_size=size + 3, model_type="unigram",
            character_coverage=1.0, normalization_rule_name="identity", add_dummy_prefix=False, num_threads=1,
            remove_extra_whitespaces=False, split_by_unicode_script=False, split_by_whitespace=False, split_by_number=False,
            max_sentence_length=10**9, max_sentencepiece_length=32, hard_vocab_limit=False, minloglevel=2,
            input_format="text" if counts is None else "tsv",
        )  # fmt: skip
        return sentencepiece.SentencePieceProcessor(model_file=f"{folder}/model.model")


def sentencepiece_encoder(model: Any, n_alphabet: int) -> tuple[Callable[[Ragged], Ragged], int]:
    """The encoder of a model of sentencepiece, and its number of ids."""
    return lambda documents: Ragged.from_lists(model.encode(characters(documents))), model.vocab_size()


def speed(seen: Ragged, held: Ragged, n_alphabet: int, size: int) -> str:
    """Rates on the same vocabulary, that of sentencepiece."""
    start = time.perf_counter()
    model = sentencepiece_model(seen, size)
    training = time.perf_counter() - start
    plain = UBPE(size, 1, alphabet=n_alphabet, objective="shortest", n_threads=1)
    plain.fit(seen, progress=False)
    start = time.perf_counter()
    plain.refine(seen, objective="likelihood", progress=False)
    own_training = time.perf_counter() - start
    pieces = {model.id_to_piece(i): model.get_score(i) for i in range(3, model.vocab_size())}
    symbols = [chr(_FIRST_CHARACTER + i) for i in range(n_alphabet)]
    learned = [piece for piece in pieces if len(piece) > 1]
    scores = [pieces.get(c, min(pieces.values()) - 10.0) for c in symbols] + [
        pieces[piece] for piece in learned
    ]
    names = symbols + learned
    flat = sequences(learned)
    vocabulary = Vocabulary.from_sequences(n_alphabet, flat.values, flat.lengths, log_probabilities=scores)
    tok = UBPE(len(vocabulary), alphabet=n_alphabet, objective="likelihood", n_threads=1)
    tok._adopt(Model(Alphabet.from_user(n_alphabet), vocabulary))
    exact = UBPE(len(vocabulary), alphabet=n_alphabet, objective="sentencepiece", n_threads=1)
    exact._adopt(Model(Alphabet.from_user(n_alphabet), vocabulary))
    held = held[: max(1, int(np.searchsorted(np.cumsum(held.lengths), 150_000)))].compact()
    texts = characters(held)
    few = texts[: max(1, len(texts) // 8)]  # sampling there is so slow
    part = sum(map(len, few)) / held.total

    def timed(work: Callable[[], Any]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    works: dict[str, tuple[Callable[[], Any], Callable[[], Any], float]] = {
        "encode": (lambda: tok.encode_batch(held), lambda: model.encode(texts, num_threads=1), 1.0),
        "encode by objective='sentencepiece'": (
            lambda: exact.encode_batch(held),
            lambda: model.encode(texts, num_threads=1),
            1.0,
        ),
        "sample": (
            lambda: tok.encode_batch(held, sample=0.2),
            lambda: model.encode(few, sample=0.2, enable_sampling=True, nbest_size=-1),
            part,
        ),
    }
    cells = []
    for what, (ours, theirs, share) in works.items():
        for _ in range(10):
            ours()  # tables are made when they pay
        theirs()
        rounds = [(timed(ours), timed(theirs) / share) for _ in range(5)]
        ratio = statistics.median(peer / own for own, peer in rounds)
        rate = held.total / statistics.median(own for own, _ in rounds) / 1e6
        cells.append(f"{what} {rate:.1f} M symbols/s, {ratio:.1f} times sentencepiece")
    # the others hold symbols that were not seen
    known = [i for i, text in enumerate(texts) if set(text) <= pieces.keys()]
    ids = exact.encode_batch(held).take(np.array(known)).to_lists()
    same = sum(
        [model.id_to_piece(i) for i in model.encode(texts[at])] == [names[t] for t in own]
        for at, own in zip(known, ids, strict=True)
    )
    cells.append(f"ids equal in {same} of {len(known)} documents by objective='sentencepiece'")
    return "; ".join([*cells, f"training {own_training:.1f} s, sentencepiece {training:.1f} s"])


def speed_of_words(text: bytes, size: int) -> str:
    """Training on the words of every second line, from text to a vocabulary with probabilities, and what it is worth."""
    import sentencepiece

    lines = [line for line in text.decode("utf-8", "ignore").split("\n") if line.strip()]
    seen, held = lines[::2], lines[1::2]
    alphabet = bytes(sorted(set(text)))  # sentencepiece's has no characters that are not there either

    def ours() -> tuple[Callable[[list[str]], Ragged], int]:
        tok = UBPE(
            size,
            1,
            alphabet=alphabet,
            preprocessing=Preprocessing(pretokenizer="gpt2", encoding="utf-8"),
            objective="shortest",
            n_threads=1,
        )
        tok = tok.fit(seen, progress=False).refine(seen, objective="likelihood", progress=False)
        return tok.encode_batch, len(tok.vocabulary)

    def theirs() -> tuple[Callable[[list[str]], Ragged], int]:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(seen), model_writer=model, vocab_size=size + 3, model_type="unigram", num_threads=1,
            character_coverage=1.0, normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False,
            max_sentence_length=1 << 20, allow_whitespace_only_pieces=True, hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        new = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        return lambda docs: Ragged.from_lists(new.encode(docs)), new.vocab_size()

    ours()  # compiles
    try:
        theirs()
    except RuntimeError as error:  # more characters than pieces are wanted
        return f"training on words: sentencepiece: {error}"
    rounds = []
    for _ in range(3):
        times, cells = [], []
        for train in (ours, theirs):
            start = time.perf_counter()
            encode, n_ids = train()
            times.append(time.perf_counter() - start)
            lines = [Ragged.from_lists([line.encode() for line in part]) for part in (seen, held)]
            tokens, one, *_ = figures(lines, [encode(seen), encode(held)], n_ids, None)
            cells.append(f"{tokens:.1f} tokens per 1000 bytes, {one:.3f} bits per byte")
        rounds.append(times)
    own, peer = (statistics.median(times) for times in zip(*rounds, strict=True))
    ratio = statistics.median(b / a for a, b in rounds)
    return f"training on words {own:.2f} s ({cells[0]}), {ratio:.1f} times sentencepiece: {peer:.2f} s ({cells[1]})"


if __name__ == "__main__":
    main()
