"""The base class of tokenizers of pairs and of paths: learning a vocabulary, continuing it and cutting it."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
from collections.abc import Mapping, Sized
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus, Documents, as_corpus, as_utf8, kept, read_documents
from ubpe_numba.errors import UnknownSymbolError, quoted
from ubpe_numba.fitting.fit import Settings, learn
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import describe, positive, resolve_threads
from ubpe_numba.runtime.messages import Progress, warn
from ubpe_numba.tokenizers.decoding import Decoding
from ubpe_numba.tokenizers.fitted import DEFAULT_RULES, is_number, of_class
from ubpe_numba.tokenizers.saving import Saving, class_of
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet, alphabet_of, check_size, has_names
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: The documents of a fit that are neither changed nor numbered by a given alphabet.
_read_plain = functools.partial(read_documents, encoding=None, words=None)
UNCHANGED = "unchanged"  # no new pre-tokenizer: keep the present
_LONGEST_PATH = 4096  # longer texts are not checked for being file names
#: Arguments of `for_text` that are those of `Preprocessing`, in addition to its own.
_PARTS = [field.name for field in dataclasses.fields(Preprocessing)][2:]


class Tokenizer(Decoding, Saving):
    """Base of `BPE`, `UBPEClassic` and `UBPE`; not used by itself.

    The constructor only stores its arguments, which `fit` validates. Once there is a vocabulary, by `fit`,
    `load` or another way, the object is only read, may be shared between threads, and can be pickled.

    Attributes
    ----------
    history_
        A record of each merge of the fit, a `History` of arrays, stored in model files. Missing without a
        fit, as after `from_merges`.
    """

    @of_class
    def for_text(
        cls,
        n_tokens: int | None = 4096,
        *,
        pretokenizer: Any = "cl100k",
        special_tokens: Any = None,
        **params: Any,
    ) -> Self:
        r"""Make a tokenizer of text, to be fitted, over the 256 bytes of UTF-8, as in language models.

        No symbol is unknown. Documents are `str` and `bytes`; `decode` gives `str`, or with `as_bytes` bytes.
        An isolated surrogate in a `str` becomes three bytes (``"surrogatepass"``), a pair is its character.
        Arguments are as for `Preprocessing` and the constructor.

        Examples
        --------
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest, 低い 低い"])
        >>> tok.decode(tok.encode("lowly 低")), tok.decode(tok.encode(b"low\xff"), as_bytes=True)
        ('lowly 低', b'low\xff')
        """
        make: Any = cls  # the constructors differ
        parts = {"encoding": "utf-8"} | {name: params.pop(name) for name in _PARTS if name in params}
        preprocessing = Preprocessing(pretokenizer, special_tokens, **parts)
        tokenizer: Self = make(
            n_tokens,
            **{
                "alphabet": bytes(range(256)),
                "preprocessing": None if preprocessing.is_plain else preprocessing,
                **params,
            },
        )
        return tokenizer

    def fit(
        self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        frame: int | None = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn a vocabulary from documents.

        Parameters
        ----------
        docs
            A list or iterator of documents of a kind: integer arrays, lists of ints, str or bytes. Also a 2-D
            integer array (rows), a flat array with `offsets`, a `Ragged`, an Arrow list array, or `Counts`. A
            `str`, `bytes` or 1-D array is a single document. Symbols may be words, or other hashable objects,
            in lists. UnknownSymbolError for a symbol outside a fixed alphabet.
        y
            Labels of documents, ignored; scikit-learn passes them. TypeError for anything else.
        offsets
            int64[d + 1], for a flat array: document i is ``docs[offsets[i]:offsets[i + 1]]``.
        sample_weight
            Integers of at least 0, one per document. A document of weight w counts as w documents, in counts
            of pairs and in document frequencies. With weight 0 it only adds symbols to a learned alphabet.
        boundaries
            Positions that no token may cross, such as bars in music: a 1-D sequence for a single document,
            otherwise a sequence per document. Position p is before the symbol p. `encode` needs them as well.
        frame
            Symbols per frame, such as the channels of an instant. A token is part of a frame or spans whole
            frames, which start with the document. Stored in the model. ValueError if documents are split.
        memory_limit
            Bytes for the fit in addition to the documents: 44 MB + 200 per token + 27 per symbol + 31 per
            document suffice. A lower limit makes the fit slower, on one thread; without weights 10 MB, 200, 6
            to 8 and 11 suffice. MemoryError, with an estimate, if the fit needs more.
        progress
            ``"auto"`` shows progress on a terminal (with tqdm where installed), True always, False never.

        Returns
        -------
        Self
            Itself, with `history_`, equal for any number of threads; unchanged after an error or
            interruption.

        Warns
        -----
        UserWarning
            If all documents are empty, or `docs` is the name of a file. If pairs run out at a tenth of a
            thousand tokens or more. For a `UBPE` that uses idf: if every idf is 0, as with a single document.

        Examples
        --------
        >>> BPE(n_tokens=4).fit([[0, 1, 2, 0, 1], [0, 1]]).vocabulary.merges.tolist()
        [[0, 1]]
        >>> melody = np.array([60, 62, 64, 60, 62, 64, 60, 62])
        >>> list(BPE(5, alphabet=[60, 62, 64]).fit(melody, boundaries=[3, 6]).get_vocab())[3:]
        [(60, 62), (60, 62, 64)]
        >>> BPE(6, alphabet=4).fit([[1, 2, 1, 2, 3, 1, 1, 2, 1, 2]], frame=2).vocabulary.merges.tolist()
        [[1, 2], [4, 4]]
        """
        settings, bar = self._settings(memory_limit), None if progress is False else Progress(progress)
        arguments = docs, offsets, sample_weight, boundaries
        plain = self.preprocessing is None and not isinstance(
            self.alphabet, (list, tuple, Mapping, np.ndarray)
        )
        corpus = as_corpus(*arguments, _read_plain) if plain else self._corpus(*arguments)
        if y is not None:
            refuse_no_labels(y, corpus.given.offsets.size - 1)
        if corpus.given.offsets[-1] == corpus.given.offsets[0]:
            warn("docs: there are no documents that hold symbols, so nothing is learned")
        elif corpus.given.kind != "int":  # the first texts may be names of files
            texts = [docs] if isinstance(docs, str) else docs[:8] if isinstance(docs, (list, tuple)) else []
            with contextlib.suppress(ValueError):  # a null character
                if texts and all(
                    isinstance(doc, str) and len(doc) < _LONGEST_PATH and os.path.isfile(doc) for doc in texts
                ):
                    name = quoted(texts[0])
                    warn(f"docs: {name} is read as a text, but a file has this name. Read the file first.")
        alphabet = alphabet_of(self.alphabet, corpus.given)
        if self.preprocessing is not None or not isinstance(self.unknown, str) or self.unknown != "raise":
            segmenter = self._segmenter(alphabet.kind, None)
            self._check_symbols(alphabet, segmenter)
            if segmenter.mirror is not None:
                from ubpe_numba.vocabulary.mirror import settings_with  # here only: few fits have one

                settings = settings_with(settings, frame, segmenter, alphabet, self._weighs_by_text)
        if frame is not None:
            from ubpe_numba.vocabulary.frames import frame_of  # here only: few documents have frames

            size = frame_of(frame, self._segmenter(alphabet.kind, None), corpus, settings.rules.order)
            settings = settings._replace(frame=size)
        check_size(alphabet, settings.n_tokens, self.alphabet is None)  # before a long fit
        if self.preprocessing is not None and self._prepared.runs is not None:
            from ubpe_numba.fitting.runs import learn_with_runs  # here only, as above

            vocabulary = learn_with_runs(corpus, alphabet, settings, bar, self._prepared.runs)
        else:
            vocabulary = learn(corpus, alphabet, settings, bar)
        return self._learned(alphabet, settings, *vocabulary, corpus, bar)

    def _settings(self, memory_limit: int | None = None) -> Settings:
        """The validated arguments that decide a fit."""
        n_tokens = MAX_SIZE if self.n_tokens is None else positive(self.n_tokens, "n_tokens")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {quoted(n_tokens)}")
        rules = DEFAULT_RULES if self.rules is None else self.rules
        if not isinstance(rules, FitRules):
            raise TypeError(
                f"rules: expected a FitRules, such as FitRules(min_count=3), or None, got {quoted(rules)}"
            )
        longest = 2**62 if rules.max_token_length is None else min(rules.max_token_length, 2**62)
        n_candidates = positive(getattr(self, "n_candidates", 1), "n_candidates")
        limit = None if memory_limit is None else positive(memory_limit, "memory_limit")
        return Settings(
            n_tokens, n_candidates, rules, resolve_threads(self.n_threads, True), longest, memory_limit=limit
        )

    def _check_alphabet(self, alphabet: Alphabet, settings: Settings) -> None:
        """ValueError, before a long fit, if the arguments do not suit the alphabet."""
        self._check_symbols(alphabet, self._segmenter(alphabet.kind, None))
        check_size(alphabet, settings.n_tokens, self.alphabet is None)

    def fit_more(
        self,
        docs: Any,
        n_tokens: int,
        *,
        pretokenizer: Any = UNCHANGED,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Learn further merges up to `n_tokens` ids, alphabet included; existing ids keep their meaning.

        Documents and options are as for `fit`. Ids and weights that exist stay; new ids follow the last id in
        use. On the documents of the fit, the result equals one longer fit. New symbols of a learned alphabet
        get the next ids, before the new merges. The probabilities of `UBPE` are estimated again, on `docs`.
        `pretokenizer`, as for `Preprocessing`, splits text from now on. With None, or a coarser pattern,
        tokens may cross words, as in SuperBPE; `Counts` of segments are then a ValueError. ValueError if the
        vocabulary does not consist of pairs, or is larger.

        Examples
        --------
        >>> BPE(4).fit(docs := [[0, 1, 2, 0, 1], [0, 1, 2]]).fit_more(docs, 5).vocabulary.merges.tolist()
        [[0, 1], [3, 2]]
        >>> tok = BPE.for_text(264).fit(docs := ["by the way, by the by", "on the way"]).fit_more(docs, 267, pretokenizer=None)
        >>> [tok.id_to_token(i) for i in tok.encode("by the way").tolist()]
        ['by', 'ĠtheĠway']
        """
        now = self._now()
        alphabet, old, segmenter = model = now._fitted()
        first, last = segmenter.n_first, now.vocab_size
        ids, special = segmenter.token_ids, segmenter.special
        goes_on = ids is None or bool(first)  # whether the next ids are free
        present = len(old) if goes_on else last
        if segmenter.runs is not None:
            raise ValueError(
                "runs: a vocabulary with tokens of runs cannot grow. Fit on all documents, or without runs."
            )
        if positive(n_tokens, "n_tokens") < present:
            raise ValueError(f"n_tokens: expected at least the present {present} ids, got {n_tokens}")
        if not old.in_order_of_creation or (now.rules or DEFAULT_RULES).order != "creation":
            raise ValueError("rules: only a vocabulary of pairs in order of creation can be continued")
        if n_tokens > MAX_SIZE:
            raise ValueError(f"n_tokens: expected at most {MAX_SIZE}, got {quoted(n_tokens)}")
        if goes_on and special is not None:
            goes_on = int(special.ids[special.ids >= first].min(initial=first + n_tokens)) >= first + n_tokens
        settings = now._settings(memory_limit)._replace(
            n_tokens=len(old) + int(n_tokens - present), frame=segmenter.frame
        )
        bar = None if progress is False else Progress(progress)
        arguments = docs, offsets, sample_weight, boundaries
        prepared = now._prepared
        if not isinstance(pretokenizer, str) or pretokenizer != UNCHANGED:
            prepared = dataclasses.replace(prepared, pretokenizer=pretokenizer)
        corpus = now._corpus(*arguments, prepared)
        history: History | None = getattr(now, "history_", None)
        # of a fit by idf, which removed some of its merges
        if history is not None and history.counts.size != old.n_learned:
            history = None
        if segmenter.frame:
            from ubpe_numba.vocabulary.frames import frame_of  # here only, as above

            frame_of(segmenter.frame, segmenter._replace(pretokenizer=prepared.pretokenizer), corpus)
        # here only: first fits need not wait for it
        from ubpe_numba.fitting.learn_more import learn_more, with_new_symbols

        mirror = now._tables.mirror
        settings = settings._replace(mirror=mirror)
        own = np.arange(len(old)) + first if ids is None or first else ids  # of the tokens that there are
        # otherwise they are rejected
        if now.alphabet is None and segmenter.unknown is None and mirror is None:
            alphabet, old = with_new_symbols(alphabet, old, corpus.given)
        n, n_new = model.alphabet.size, len(old) - own.size
        if n_tokens < present + n_new:
            raise ValueError(
                f"n_tokens: expected at least {present + n_new}, for {n_new} new symbols in docs, got "
                f"{n_tokens}"
            )
        vocabulary, history = learn_more(corpus, alphabet, old, history, settings, bar)
        if now._weighs_by_text:
            vocabulary = now._weighed(corpus, alphabet, vocabulary, bar or Progress(False), segmenter.frame)
        size = len(vocabulary)
        if goes_on and not n_new:
            ids = np.arange(first, first + size) if first else None
        else:
            more = (first + own.size if goes_on else last) + np.arange(size - own.size)
            ids = np.concatenate([own[:n], more[:n_new], own[n:], more[n_new:]])
            now._refuse_parts(alphabet, vocabulary, ids, len(old))
        segmenter = segmenter.numbered(ids, size)
        params: dict[str, Any] = {"n_tokens": n_tokens}
        if prepared.pretokenizer != now._prepared.pretokenizer:
            params["preprocessing"] = None if prepared.is_plain else prepared
            segmenter = segmenter._replace(pretokenizer=prepared.pretokenizer)
        self._adopt(Model(alphabet, vocabulary, segmenter), history, **params)
        if size < settings.n_tokens != MAX_SIZE:
            self._tell_the_end(settings, size, len(old))
        return self

    def _refuse_parts(
        self, alphabet: Alphabet, vocabulary: Vocabulary, ids: NDArray[np.int64], n_old: int
    ) -> None:
        """ValueError if a new token holds a character without a token, or its replacement."""
        if self._model.segmenter.unknown is None or vocabulary.merges is None:
            return
        known = ids >= 0
        if alphabet.kind == "str":
            known[: alphabet.size] &= (alphabet.symbols < 0xE000) | (alphabet.symbols > 0xF8FF) & (
                alphabet.symbols < 0x100000
            )
        odd = np.flatnonzero(~known[vocabulary.merges[n_old - alphabet.size :]].all(axis=1))
        if odd.size:
            token = vocabulary.sequence(n_old + int(odd[0])).tolist()
            raise ValueError(
                f"docs: a new token would hold a character that is no token, in {token}: leave such text out"
            )

    def fit_transform(self, docs: Any, y: None = None, *, offsets: Any = None) -> Ragged:
        """`fit`, then `encode_batch` of the same documents; arguments as for `fit`."""
        docs = kept(docs)
        return self.fit(docs, y, offsets=offsets).encode_batch(docs, offsets)

    def truncate(self, n_tokens: int, by: str = "creation", *, docs: Any = None) -> Self:
        """Make a new tokenizer with a smaller vocabulary, by creation with the beginning of `history_`.

        Parameters
        ----------
        n_tokens
            The new size, alphabet included; of more than there are, all stay.
        by
            ``"creation"`` keeps the lowest ids, as a shorter fit. ``"idf"`` drops the tokens of lowest idf,
            and all built on them, as in the UBPE articles; it keeps rare tokens, so encodings get longer.
        docs
            Documents, instead of `by`: tokens that they do not use leave, then the least used; parts of others
            stay. Ids are 0, 1, ... again. With room for all, `docs` have the same tokens (not by tf-idf).

        Examples
        --------
        >>> BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").truncate(3).vocabulary.merges.tolist()
        [[0, 1]]
        """
        alphabet, vocabulary, segmenter = self._fitted()
        n = vocabulary.n_alphabet
        if by not in ("creation", "idf"):
            raise ValueError(f"by: expected 'creation' or 'idf', got {quoted(by)}")
        if positive(n_tokens, "n_tokens") < n:
            raise ValueError(f"n_tokens: expected at least the alphabet's {n} symbols, got {n_tokens}")
        if docs is not None and by != "creation":
            raise ValueError(f"by: expected no order with docs, whose usage decides, got {quoted(by)}")
        by = by if docs is None else "docs"
        if by != "creation":
            # here only: fits need not wait for it
            from ubpe_numba.vocabulary.weights import keep_by_weight, of_tokens, rearranged, renumber

            if segmenter.frame or self._tables.mirror is not None:
                raise ValueError(
                    f"{'by' if docs is None else 'docs'}: tokens of frames, or with mirrors, leave as they "
                    "came; use by='creation'"
                )
        if by == "docs":
            own, pairs = segmenter.ids(len(vocabulary)), vocabulary.merges
            # those without an id may be part of what is unknown
            uses = np.where(own < 0, 1, self.usage(docs, allowed_special="all").counts[own])
            if pairs is not None:
                for i in np.argsort(-np.diff(vocabulary.offsets)[n:], kind="stable").tolist():
                    uses[pairs[i]] += uses[n + i]
            most = min(n_tokens, n + int(np.count_nonzero(uses[n:])))
            stay = np.sort(keep_by_weight(uses[n:], pairs, n, most, "closed"))
            shorter = vocabulary.select(stay, None if pairs is None else renumber(pairs, n, stay)[0])
        elif by == "idf":
            shorter = rearranged(vocabulary, n_tokens, "closed", self._needs_pairs)
        else:
            stay = np.arange(min(n_tokens - n, vocabulary.n_learned))
            if (mirror := self._tables.mirror) is not None and mirror[: n + stay.size].max() >= n + stay.size:
                stay = stay[:-1]  # a token without its mirror
            merges = None if vocabulary.merges is None else vocabulary.merges[stay]
            if merges is not None and merges.size and merges.max() >= n + stay.size:
                raise ValueError("by: the ids of this vocabulary are not in order of creation; use by='idf'")
            shorter = vocabulary.select(stay, merges)
        ids, first = segmenter.token_ids, segmenter.n_first
        if ids is not None and not first and by == "idf":
            raise ValueError("by: the ids of this vocabulary are not 0, 1, ...; use by='creation'")
        other = self._now()
        other.n_tokens = n_tokens
        changed = other._segmenter(alphabet.kind, len(shorter) if ids is None or first else None)
        if by == "docs":
            changed = of_tokens(segmenter, np.append(np.arange(n), n + stay), alphabet.kind)
        # known words of a list moved
        elif first and segmenter.special is not None and changed.special is not None:
            changed = segmenter._replace(
                token_ids=changed.token_ids, reserved=segmenter.special.with_ids(changed.special.ids)
            )
        elif ids is not None:
            changed = segmenter._replace(token_ids=ids[: len(shorter)])
        changed = changed._replace(frame=segmenter.frame) if segmenter.frame else changed
        history: History | None = getattr(self, "history_", None)
        begun: History | None = None
        if history is not None and by == "creation" and history.counts.size == vocabulary.n_learned:
            begun = history.first(shorter.n_learned)
        other._adopt(Model(alphabet, shorter, changed), begun)
        return other

    def with_objective(self, objective: Any) -> Tokenizer:
        """Make a tokenizer of the same vocabulary with a different objective; the two share all arrays.

        Parameters
        ----------
        objective
            ``"rank"`` gives a tokenizer of this class (`UBPEClassic` for a `UBPE`), an objective of `UBPE`,
            such as ``"shortest"``, a `UBPE`. ValueError if the vocabulary lacks the pairs or statistics.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1], [1, 1], [0, 3]], alphabet="ab")  # ab, bb, abb
        >>> tok.encode("abb").tolist(), tok.with_objective("shortest").encode("abb").tolist()
        ([2, 1], [4])
        """
        model = self._fitted()
        by_rank = isinstance(objective, str) and objective == "rank"
        cls: Any = (
            class_of("UBPE") if not by_rank else type(self) if self._needs_pairs else class_of("UBPEClassic")
        )
        taken = cls._param_names()
        params = {name: value for name, value in self.get_params().items() if name in taken}
        if by_rank:
            params["rules"] = None if self.rules is None else dataclasses.replace(self.rules, encode="rank")
        else:
            params["objective"] = objective
        other: Tokenizer = cls(**params)
        other._adopt(model, getattr(self, "history_", None), metadata_=self.metadata_)
        return other

    def followers(self, ids: Any = None) -> NDArray[np.bool_]:
        """Mark the ids that may follow each of `ids`, int[...], by rank: bool[..., vocab_size].

        A mask of logits. `ids` are checked as for `decode`; None: the ids that may come first,
        bool[vocab_size]. A sequence equals the encoding of its document if and only if all its neighbors fit.
        Special tokens may follow any id; without them a row may be all False. ValueError for best paths, and
        if documents are split, changed or mirrored.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.followers(0).tolist(), tok.followers([1, 2]).all()  # ab is one token
        ([True, False, True], np.True_)
        """
        from ubpe_numba.coding.followers import followers  # here only: fits need not wait for it

        return followers(self._tables, self._encodes_by, ids)

    def _corpus(
        self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any, new: Preprocessing | None = None
    ) -> Corpus:
        """The documents of a fit: text as bytes, in segments.

        The `new` pre-tokenizer splits if it differs.

        Without a present pre-tokenizer, documents are whole, and few are equal. They are then not counted.
        """
        old = self._prepared.pretokenizer
        if new is None or new.pretokenizer == old:
            corpus, segmenter = self._uncut_corpus(docs, offsets, sample_weight, boundaries)
            return corpus if segmenter is PLAIN else segmenter.corpus(corpus, self.n_threads)
        for which, cutter in (("present", old), ("new", new.pretokenizer)):
            if getattr(cutter, "cutters", ()) is None:
                hint = "a pattern does not, and a normalizer may do it instead"
                raise ValueError(
                    f"pretokenizer: the {which} one changes text as it splits it, the other does not; {hint}"
                )
        if isinstance(docs, Counts) and docs.are_segments:
            raise ValueError(
                "docs: with another pretokenizer tokens cross the counted segments. Pass the documents."
            )
        corpus, _ = self._uncut_corpus(docs, offsets, sample_weight, boundaries)
        segmenter = new._segmenter(self._model.alphabet.kind, None)
        return segmenter.corpus(corpus, self.n_threads, count=new.pretokenizer is not None)

    def _read(self, docs: Any, offsets: Any) -> Documents:
        """The documents of a fit; symbols with names are numbered as in a given alphabet."""
        documents = read_documents(
            docs, offsets, self._prepared.encoding, True if has_names(self.alphabet) else None
        )
        if self.alphabet is None or not isinstance(documents.kind, Named):
            return documents
        return Alphabet.from_user(self.alphabet, documents.kind).aligned(documents)

    def _uncut_corpus(
        self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any
    ) -> tuple[Corpus, Segmenter]:
        """The documents of a fit, text as bytes but not split yet, and the segmenter that splits them."""
        prepared = self._prepared
        if prepared.is_plain:
            return as_corpus(docs, offsets, sample_weight, boundaries, self._read), PLAIN
        if prepared.encoding is not None and isinstance(docs, Counts):
            docs = Counts(as_utf8(docs.flat), docs.weights, docs.are_segments)
        corpus = as_corpus(docs, offsets, sample_weight, boundaries, self._read)
        kind, is_empty = corpus.given.kind, corpus.given.offsets[-1] == corpus.given.offsets[0]
        if self.alphabet is not None:  # integers do for bytes, and bytes for integers
            kind = alphabet_of(self.alphabet, corpus.given).kind
        elif is_empty and prepared.pretokenizer is not None:
            kind = "str"
        if is_empty:  # without symbols documents are of any kind
            corpus = corpus._replace(given=corpus.given._replace(kind=kind))
        segmenter = self._segmenter(kind, None)
        if isinstance(docs, Counts) and docs.are_segments:  # all is done but what leaves documents whole
            reserved = (
                None
                if segmenter.pretokenizer is not None or segmenter.lone is None
                else segmenter.lone.symbols_only()
            )
            segmenter = PLAIN._replace(reserved=reserved)
        return corpus, segmenter


def given_tokenizer(tok: Any, cls: type = Tokenizer) -> Any:
    """The argument `tok` of a function, with its state of this moment.

    TypeError for anything that is not an instance of `cls`.
    """
    if not isinstance(tok, cls):
        raise TypeError(f"tok: expected a {cls.__name__} as the first argument, got {describe(tok)}")
    state: Any = tok
    return state._now()


def refuse_no_labels(y: Any, n: int) -> None:
    """TypeError for an argument `y` that cannot be labels of n documents, which scikit-learn passes."""
    several = isinstance(y, Sized) and not isinstance(y, (str, bytes, Mapping))
    if not several or len(y) != n or any(isinstance(label, (list, tuple, dict)) for label in y):
        way = "n_tokens is an argument of the constructor; say offsets=, boundaries= or sample_weight="
        raise TypeError(
            f"y: expected the labels of {n} documents, which are ignored, got {describe(y)}; {way}"
        )


def segments_of(corpus: Corpus, alphabet: Alphabet) -> Ragged:
    """The segments of a corpus as alphabet ids; UnknownSymbolError as `fit` raises it."""
    try:
        return alphabet.to_ids(corpus.given._replace(values=corpus.values, offsets=corpus.offsets))
    except UnknownSymbolError:
        alphabet.to_ids(corpus.given)  # which names the document and the position in it
        raise


def seconds_of(seconds: Any) -> float | None:
    """The argument `seconds`, None for any number of them; TypeError or ValueError if it is not valid."""
    if seconds is None:
        return None
    if not is_number(seconds):
        raise TypeError(f"seconds: expected a number or None, got {quoted(seconds)}")
    if not seconds >= 0:
        raise ValueError(f"seconds: expected 0 or more, got {quoted(seconds)}")
    return float(seconds) if seconds <= sys.float_info.max else None
