"""Learning a vocabulary, continuing it and cutting it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import NotFittedError
from ubpe_numba.fitting.history import History
from ubpe_numba.fitting.learn import learn
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.tokenizers import learning
from ubpe_numba.tokenizers.encoding import Encoding
from ubpe_numba.tokenizers.parameters import Parameters
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.vocabulary import Vocabulary


class Fits(Parameters, Encoding):
    """`fit` and the methods that make a vocabulary of another one."""

    @classmethod
    def for_text(
        cls, n_tokens: int | None = 4096, *, pretokenizer: Any = "cl100k", special_tokens: Any = None, **params: Any
    ) -> Self:
        r"""Make a tokenizer of text as language models use them: over the 256 bytes of UTF-8, so that no symbol is unknown.

        `fit` and `encode` take `str` and `bytes`, `decode` gives `str` and `decode_bytes` the bytes. Surrogates that stand alone
        in a `str` become three bytes each (``"surrogatepass"``).

        Parameters
        ----------
        n_tokens, pretokenizer, special_tokens
            As for the constructor.
        **params
            Further constructor arguments.

        Returns
        -------
        Self
            A tokenizer that is to be fitted.

        Raises
        ------
        TypeError
            For an argument that the constructor does not have; `fit` validates the others.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest, 低い 低い"])
        >>> tok.decode(tok.encode("lowly 低")), tok.decode_bytes(tok.encode(b"low\xff"))
        ('lowly 低', b'low\xff')
        """
        make: Any = cls  # the constructors differ
        params = {"pretokenizer": pretokenizer, "special_tokens": special_tokens, "encoding": "utf-8", **params}
        tokenizer: Self = make(n_tokens, alphabet=bytes(range(256)), **params)
        return tokenizer

    def fit(
        self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn a vocabulary from documents. What was fitted before is replaced, but only when all went well.

        Parameters
        ----------
        docs
            A list or iterator of documents (integer arrays, lists of ints, str or bytes, all of one kind), a 2-D integer
            array (rows are documents), a flat array with `offsets`, a `Ragged`, an Arrow list array, or a single `str`,
            `bytes` or 1-D array, which is one document. Or `Counts`. Symbols of other kinds, such as whole words, are numbered
            first: ``numpy.unique(words, return_inverse=True)``.
        y
            Ignored; scikit-learn passes it. TypeError beside a flat array, where it is offsets that were meant.
        offsets
            int64[d + 1], for a flat array: document i is ``docs[offsets[i]:offsets[i + 1]]``.
        sample_weight
            Integers of at least 0, one for each document: a document of weight w counts as w of them, in counts of pairs and in
            document frequencies. Of one of weight 0 only the symbols count, where the alphabet is learned.
        boundaries
            Positions that no token may cross, such as bars in music: for one document a 1-D sequence, otherwise one for each
            document. Position p stands between the symbols p - 1 and p.
        memory_limit
            Bytes that the fit may use beside the documents. Always enough are 42 MB, 27 bytes a symbol and 31 a document. Without
            weights of documents or segments less will do, when fewer pairs are indexed at a time and one thread is used: the same
            result, later. The logger ``ubpe_numba`` says so (INFO). Then 42 MB, 15 bytes a symbol, 19 a document and 24 an
            occurrence of the most frequent pair are enough, and 42 MB, 7 a symbol and 11 a document are needed.
        progress
            ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.

        Returns
        -------
        Self
            The tokenizer itself, with `history_`.

        Raises
        ------
        UnknownSymbolError
            For a symbol outside the given alphabet.
        TypeError, ValueError
            For documents that are not sequences of integers, an iterator that gives none (used up by an earlier pass?), or
            arguments out of range, naming them.
        MemoryError
            If the fit cannot keep to `memory_limit`, with an estimate of what it needs.

        Warns
        -----
        UserWarning
            If there are no documents; if `docs` is the name of a file, which is taken for a text; if the fit ends at less than a
            tenth of the tokens that `n_tokens` asks for, a thousand or more, since no pair is left (the logger ``ubpe_numba``
            says so of every fit that ends early, INFO); and of a `UBPE` whose objective weighs by idf, if every idf is 0, as with
            a single document.

        Notes
        -----
        Ctrl-C stops a fit within a fraction of a second and leaves the tokenizer as it was. The same documents give the same
        vocabulary, bit for bit, for any number of threads.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=4).fit([[0, 1, 2, 0, 1], [0, 1]])
        >>> tok.vocabulary.merges.tolist()
        [[0, 1]]

        Text is fitted as a list of `str`; documents may count several times, and tokens may be kept within bars:

        >>> text = BPE(8).fit(["low lower", "low"], sample_weight=[1, 10])
        >>> [text.id_to_token(i) for i in text.encode("low lower").tolist()]
        ['low', ' ', 'low', 'e', 'r']
        >>> melody = np.array([60, 62, 64, 60, 62, 64, 60, 62])
        >>> bars = BPE(5, alphabet=[60, 62, 64]).fit(melody, boundaries=[3, 6])
        >>> list(bars.get_vocab())[3:]
        [(60, 62), (60, 62, 64)]
        """
        settings, bar = self._settings(memory_limit), Progress(progress)
        corpus = learning.corpus_of_fit(self, docs, y, offsets, sample_weight, boundaries)
        return self._fit_corpus(corpus, self._alphabet_of(corpus.given), settings, bar)

    def _fit_corpus(self, corpus: Corpus, alphabet: Alphabet, settings: Settings, bar: Progress) -> Self:
        """Learn from a corpus that has been read."""

        def learned() -> tuple[Vocabulary, History]:
            return learn(corpus, alphabet, settings, bar)

        return self._learned(alphabet, settings, learned, lambda made: self._weighed(corpus, alphabet, made, bar))

    def _learned(
        self,
        alphabet: Alphabet,
        settings: Settings,
        learn: Callable[[], tuple[Vocabulary, History]],
        weigh: Callable[[Vocabulary], Vocabulary],
    ) -> Self:
        """Become what a fit makes: `learn` what it is made of, and `weigh` its vocabulary."""
        learning.become_learned(self, alphabet, settings, learn, weigh)
        return self

    def fit_more(
        self,
        docs: Any,
        n_tokens: int,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Go on from the present vocabulary until it has `n_tokens` ids; ids that exist keep their meaning and their weight.

        On the corpus of the fit this gives what one longer fit would have given. On another one new merges are learned on that,
        encoded with the present vocabulary. `n_tokens` of the tokenizer becomes the new size. A tokenizer without `history_`
        goes on with a new round even if its last one was cut short. The probabilities of `UBPE` are estimated anew, on `docs`.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, memory_limit, progress
            As for `fit`.
        n_tokens
            The new size of the vocabulary, alphabet included.

        Returns
        -------
        Self
            The tokenizer itself.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If the vocabulary does not know pairs, is not in order of creation, or has more than `n_tokens` ids already.
        UnknownSymbolError, TypeError, MemoryError
            As `fit`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> docs = [[0, 1, 2, 0, 1], [0, 1, 2]]
        >>> BPE(n_tokens=4).fit(docs).fit_more(docs, 5).vocabulary.merges.tolist()
        [[0, 1], [3, 2]]
        """
        learning.fit_more(self, docs, n_tokens, offsets, sample_weight, boundaries, memory_limit, progress)
        return self

    def fit_transform(self, docs: Any, y: None = None, *, offsets: Any = None) -> Ragged:
        """`fit`, then `encode_batch` of the same documents.

        Parameters
        ----------
        docs, y, offsets
            As for `fit`.

        Returns
        -------
        ids
            A `Ragged` of int32.

        Raises
        ------
        UnknownSymbolError, SpecialTokenError, TypeError, ValueError, MemoryError
            As `fit` and `encode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE(n_tokens=4).fit_transform([[0, 1, 2, 0, 1], [0, 1]]).to_lists()
        [[3, 2, 3], [3]]
        """
        docs = list(docs) if hasattr(docs, "__next__") else docs
        return self.fit(docs, y, offsets=offsets).encode_batch(docs, offsets)

    def compression_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """How many symbols a token stands for at every size of the vocabulary, without another fit.

        Tokens as the fit merged them, which is how merge rank encodes, not the best paths of `UBPE`. From the alphabet alone,
        1.0, to the last merge, in order of creation.

        Returns
        -------
        sizes, symbols_per_token
            int64[m + 1] and float64[m + 1], m the number of merges.

        Raises
        ------
        NotFittedError
            If there is no record of a fit: for a tokenizer that was made from merges, refined, or comes from another library.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE(n_tokens=3, alphabet=2).fit([[0, 1, 0, 1, 1]])
        >>> tok.compression_curve()
        (array([2, 3]), array([1.        , 1.66666667]))
        """
        vocabulary = self._fitted().vocabulary
        if not hasattr(self, "history_"):
            raise NotFittedError(f"this {type(self).__name__} was not learned by fit and has no history_ of its corpus")
        return self.history_.compression(vocabulary.n_alphabet)

    def truncate(self, n_tokens: int, by: str = "creation") -> Self:
        """Make a new tokenizer with a smaller vocabulary.

        Parameters
        ----------
        n_tokens
            The size of the new vocabulary, alphabet included.
        by
            ``"creation"`` keeps the lowest ids, which is the tokenizer that a shorter fit would have given. ``"idf"`` orders by
            idf and drops the lowest, and with it all that is built on it, as in the articles; it keeps the rarest tokens, so it
            usually encodes to more of them.

        Returns
        -------
        Self
            The new tokenizer, by creation with the beginning of `history_`; this one stays as it is.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        ValueError
            If `n_tokens` is below the alphabet, or the lowest ids of a rearranged pair table are not closed.

        Notes
        -----
        Occurrences become those where tokens that left stand as their parts, if pairs are known. Probabilities stay, so they sum
        to less than 1: `UBPE.reweight` estimates them anew.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").truncate(3).vocabulary.merges.tolist()
        [[0, 1]]
        """
        return learning.truncated(self, n_tokens, by)

    def _weighed(self, corpus: Corpus, alphabet: Alphabet, vocabulary: Vocabulary, progress: Progress) -> Vocabulary:
        """A vocabulary that was learned from a corpus, with what encoding needs to know of that beside the merges."""
        return vocabulary

    @property
    def _weighs_by_text(self) -> bool:
        """Whether `_weighed` looks at the corpus."""
        return False
