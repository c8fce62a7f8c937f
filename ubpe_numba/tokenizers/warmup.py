"""Compiling everything beforehand: for container images, and before a process forks."""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.plan import FIRST
from ubpe_numba.documents.counts import count_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.fitting.dense import merge_dense
from ubpe_numba.fitting.fit import Settings, fit, loop_of
from ubpe_numba.fitting.substrings import Substrings
from ubpe_numba.formats import tiktoken
from ubpe_numba.formats.protobuf import field
from ubpe_numba.text.cut import PATTERNS
from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
from ubpe_numba.tokenizers.saving import load
from ubpe_numba.tokenizers.skyline import skyline
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def warmup() -> None:
    """Compile every kernel of tokenizers, or read it from the cache, so that no later call waits.

    Fits with mirrors, `ubpe_numba.bounds`, `compare`, signals and clusters compile their own kernels on first use.

    It takes a minute or two without a cache, a second with one. Call it before forking, so that children find
    kernels loaded. A fork waits for a kernel that another thread is compiling.

    Examples
    --------
    >>> warmup()
    """
    rng = np.random.default_rng(0)
    # few symbols, and more of them than are counted in a dense table
    for docs in ([rng.integers(0, 4, 200) for _ in range(4)], [rng.integers(0, 1200, 500) for _ in range(4)]):
        size = 4 if int(docs[0].max()) < 4 else 1200
        for rules in (FitRules(), FitRules(order="idf", encode="batch")):
            tokenizer = UBPEClassic(size + 20, alphabet=size, rules=rules).fit(docs, progress=False)
            tokenizer.decode_batch(tokenizer.encode_batch(docs))
        ranked = BPE(size + 20, alphabet=size).fit(docs, progress=False)
        skyline(ranked, ranked.encode(docs[0]))
        ranked.followers(0)
        for _ in range(FIRST):  # the last time as a short document
            ranked.decode(ranked.encode(docs[0]))
        list(ranked.stream().over([np.tile(docs[0], 5)]))
        universal = UBPE(size + 20, alphabet=size)
        with warnings.catch_warnings():  # documents may happen to hold the same pairs
            warnings.simplefilter("ignore", UserWarning)
            universal.fit(docs, progress=False)
        universal.decode(universal.encode(docs[0]))
        universal.encode_nbest([docs[0][:20]], 2)
        likely = universal.refine(docs, objective="likelihood", progress=False)
        likely.encode(docs[0], sample=1.0)
        likely.index(likely.encode_batch(docs))
        likely.set_params(objective="sentencepiece").encode(docs[0])
        universal.set_params(objective="additive").encode_nbest([docs[0][:20]], 2)
        # weights that do not fit the packed costs of a long document
        heavy = np.full(len(universal._model.vocabulary), 1e6)
        universal.set_params(objective=heavy).encode(np.tile(docs[0], 100))
    # fits with 1 candidate and with many, by any rule of ties, on 1 thread and on many, of weighted
    # documents, and on counts
    counts = count_documents([rng.integers(0, 4, 300) for _ in range(4)], sample_weight=[1, 2, 3, 4])
    plain = Settings(30, 1, FitRules(), 2, n_shards=2)
    for corpus in (as_corpus(counts.documents), as_corpus(counts)):
        for candidates, ties, n in itertools.product((1, 2), ("smallest", "first_seen"), (1, 2)):
            rules = FitRules(ties=ties)
            fit(
                corpus,
                Alphabet.dense(4),
                plain._replace(n_candidates=candidates, rules=rules, n_shards=n),
                None,
            )
    wide = [rng.integers(0, 1200, 2000)] * 2
    BPE(1210, alphabet=1200).fit(wide, sample_weight=[1, 2], progress=False)
    # candidates of a search, and further merges
    few = Substrings(
        np.array([0, 1] * 3, np.int32), np.array([0, 6]), np.ones(1, np.int64), 2, 2, 2, 100, 100
    )
    few.extended(Ragged.from_lists([[0, 1, 0]]))
    # words that are kept whole
    BPE(10, alphabet=4, preprocessing=Preprocessing(known_words=[[1, 2], [3]])).fit(
        [[0, 1, 2, 3, 0, 0]], progress=False
    )
    # only for large or uneven data: sweeps, narrow cells, a text that is laid out again
    few_symbols = as_corpus(rng.integers(0, 4, (4, 300)))
    for size in (4, 1200):
        merge_dense(few_symbols, Alphabet.dense(size), None, size + 20, 2**62, 2, 1, None)
        for n in (1, 2):
            settings = plain._replace(n_tokens=size + 20, n_threads=n, n_shards=n)
            for of_segments in (None, np.zeros(4, np.int32)):  # as break tokens leave them
                several = few_symbols._replace(document_of=of_segments)
                loop_of(several, Alphabet.dense(size), settings, cell=np.int16).run(None)
    # files of other libraries
    load(({"a": 0, "aa": 1, "aaa": 2}, "a a\na aa\naa a\n"), kind="str")
    WordPiece(["[UNK]", "a"]).encode(["a"])
    # the last is found as a whole word only
    tokens = [*(bytes([byte]) for byte in range(256)), b"aa", b"aaa", b"aaaaaa"]
    whole = load(tiktoken.write({token: i for i, token in enumerate(tokens)}), pretokenizer="gpt2")
    for _ in range(FIRST):
        whole.encode("aaaaaa")
    rows = (b"u", 0.0, 2), (b"a", 0.0, 1), (b"aa", -1.0, 1), (b"aaa", 0.0, 1)
    pieces = b"".join(
        field(1, field(1, piece) + field(2, score) + field(3, kind)) for piece, score, kind in rows
    )
    load(pieces + field(2, field(3, 2))).encode("aa")
    # text, and so many words that their table grows
    from ubpe_numba.text.count_words import count_words

    text = np.frombuffer(b" ".join(b"%d" % i for i in range(10_000)), np.uint8)
    for pattern in PATTERNS:
        count_words(text, np.array([0, text.size]), pattern)
    both = Vocabulary.from_merges(2, [[0, 0], [1, 1]])
    PairEncoder(both, batch=False, mirror=np.array([1, 0, 3, 2], np.int32)).encode(
        Ragged.from_lists([[0]]), None
    )
    # what compiled functions of users call, and short calls
    from ubpe_numba.coding.headers import compile_all

    compile_all()
