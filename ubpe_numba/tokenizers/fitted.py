"""Constructor arguments of tokenizers, their fitted model, and the names of its tokens."""

from __future__ import annotations

import functools
import inspect
import logging
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ubpe_numba.coding.plan import Tables
from ubpe_numba.documents.read import Corpus
from ubpe_numba.errors import NotFittedError
from ubpe_numba.fitting.fit import Settings
from ubpe_numba.fitting.history import History
from ubpe_numba.runtime.arrays import Parameters, describe, freeze, frozen, integer, told
from ubpe_numba.runtime.counterparts import ATTRIBUTES, hint
from ubpe_numba.runtime.messages import Progress, warn
from ubpe_numba.runtime.schema import plain_copy
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import SHORT, Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter
from ubpe_numba.vocabulary.unknown import UnknownChoice, choice_of, hides_symbols
from ubpe_numba.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ubpe_numba.coding.decode import Decoder
    from ubpe_numba.inside.header import Kernels
    from ubpe_numba.tokenizers.token_names import TokenNames
    from ubpe_numba.tokenizers.token_table import TokenTable

DEFAULT_RULES = FitRules()
_WHOLE = Preprocessing()
OBJECTIVES = (
    "tfidf",
    "shortest",
    "additive",
    "log_frequency",
    "longest",
    "likelihood",
    "sentencepiece",
    "tokenizers",
)
#: Objectives of probabilities, and how paths are searched by them.
BY_PROBABILITY = {"likelihood": "additive", "sentencepiece": "sentencepiece", "tokenizers": "tokenizers"}
#: Constructor arguments that decide ids; after a fit, the learned state decides.
_LEARNED = ("alphabet", "preprocessing")
_MANY = 1000  # fits of fewer tokens are trials

log = logging.getLogger("ubpe_numba")


#: Methods that read the state of a tokenizer more than once: they run on the state at the moment of the call.
_READING = frozenset((
    "truncate", "refine", "reweight", "with_objective", "usage", "index", "spans", "explore", "encode_nbest",
    "stream",
    "save", "decode_batch", "encode_iter", "decode_iter", "decode_stream", "token_to_id", "__call__",
    "followers",
))  # fmt: skip
if TYPE_CHECKING:
    of_class = classmethod
else:

    class of_class(classmethod):  # noqa: N801
        """A class method that makes a tokenizer; refused on a tokenizer, which it would leave as it is."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The method, bound to the class; AttributeError on an instance."""
            if instance is not None:
                name, cls = self.__func__.__name__, type(instance).__name__
                message = (
                    f"{name} makes a new tokenizer, and leaves this one as it is: tok = {cls}.{name}(...)"
                )
                raise AttributeError(message, name=name)
            return super().__get__(instance, owner)


#: Methods with hints for unknown arguments; the others check their own, or are called too often to be
#: wrapped.
_WRAPPED = _READING | {"__init__", "fit", "fit_more"}


def _of_now(function: Any) -> Any:
    """A method on the state of the tokenizer at the moment of the call."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self._now(), *args, **kwargs)

    return call


class _Class(ABCMeta):
    """Class of the tokenizer classes: errors for unknown attributes and arguments give the name here."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        """Wrap the methods that are not called often."""
        methods = {
            key: value for key, value in namespace.items() if key in _WRAPPED and inspect.isfunction(value)
        }
        wrapped = {key: told(_of_now(value) if key in _READING else value) for key, value in methods.items()}
        return super().__new__(cls, name, bases, {**namespace, **wrapped}, **options)

    if not TYPE_CHECKING:  # or checkers would know every attribute

        def __getattr__(cls, name: str) -> Any:
            raise _unknown_attribute(cls, name)

    def __dir__(cls) -> list[str]:
        return _there(cls, super().__dir__())


def _unknown_attribute(cls: type, name: str) -> AttributeError:
    hints = hint(
        ATTRIBUTES,
        name,
        [] if name[:1] in ("", "_") or name in ATTRIBUTES else [n for n in dir(cls) if n[0] != "_"],
    )
    return AttributeError(f"{cls.__name__!r} object has no attribute {name!r}{hints}", name=name)


class _Absent:
    """An attribute that a tokenizer has only as its own, or never, as words of other libraries.

    With `__getattr__` instead, Python 3.11 would look up every attribute of every call in slow ways.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tokenizer: Any, cls: type) -> None:
        if tokenizer is None or self._name in ATTRIBUTES:
            raise _unknown_attribute(cls, self._name)
        if self._name == "history_":
            raise NotFittedError(
                f"this {cls.__name__} was not learned by fit, so history_ is missing. Call fit first."
            )


def _there(owner: Any, names: Iterable[str]) -> list[str]:
    """The names of attributes of a tokenizer or of a class, without those that are absent."""
    return [name for name in names if not isinstance(inspect.getattr_static(owner, name, None), _Absent)]


class Fitted(Parameters, metaclass=_Class):
    """The constructor's arguments and the model of a tokenizer; other parts of `Tokenizer` build on it."""

    #: Whether encoding needs the pairs that tokens are made of.
    _needs_pairs: ClassVar[bool] = True
    #: Whether `_weighed` needs the corpus of a fit.
    _weighs_by_text: bool = False
    n_tokens: int | None
    alphabet: Any
    rules: FitRules | None
    preprocessing: Preprocessing | None
    unknown: Any
    n_threads: int | None
    _settings: Callable[..., Settings]  # the validated arguments that decide a fit, of tokenizers that learn
    _plan: Callable[..., Any]  # of a call with these options
    _model: Model
    history_: History
    #: That of the file which the tokenizer comes from; None without.
    metadata_: dict[str, Any] | None
    #: What is made when it is first needed, of a fitted one a dict, which copies of this state share.
    _made_plans: Mapping[str, Any] = MappingProxyType({})

    def __dir__(self) -> list[str]:
        return _there(self, super().__dir__())

    def _set(self, params: dict[str, Any]) -> None:
        for name in sorted(params, key=lambda name: name not in _LEARNED):  # those that may raise come first
            setattr(self, name, params[name])

    def __repr__(self) -> str:
        shown = [f"n_tokens={self.n_tokens!r}"]
        for name, argument in list(inspect.signature(type(self).__init__).parameters.items())[1:]:
            value = getattr(self, name)
            default = same(value, argument.default) or (name == "rules" and value == DEFAULT_RULES)
            if name in ("n_tokens", "alphabet") or default:
                continue
            text = repr(value) if isinstance(value, (FitRules, Preprocessing)) else SHORT.repr(value)
            shown.append(f"{name}={' '.join(text.split())}")
        size = f": {len(self._model.vocabulary)} tokens" if "_model" in self.__dict__ else ""
        return f"{type(self).__name__}({', '.join(shown)}){size}"

    @property
    def _prepared(self) -> Preprocessing:
        """The argument `preprocessing`; TypeError for another value."""
        if self.preprocessing is None:
            return _WHOLE
        if not isinstance(self.preprocessing, Preprocessing):
            hint = "for_text takes the parts of one as arguments"
            raise TypeError(
                f"preprocessing: expected a Preprocessing or None, got {describe(self.preprocessing)}; {hint}"
            )
        return self.preprocessing

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        """The segmenter of the arguments, for an alphabet of this kind and `size` ids.

        `size` is None if not known yet.
        """
        return PLAIN if self.preprocessing is None else self._prepared._segmenter(kind, size)

    @property
    def _encodes_by(self) -> str:
        """How documents become tokens: ``"rank"``, ``"batch"`` (the UBPE articles), or an objective."""
        if (objective := self.__dict__.get("objective")) is not None:
            return objective if isinstance(objective, str) else "additive"
        return (self.rules or DEFAULT_RULES).encode

    def _fitted(self) -> Model:
        """The model, or a NotFittedError."""
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} has no vocabulary yet: call fit or load first")
        return model

    def _adopt(self, model: Model, history: History | None = None, **params: Any) -> None:
        """Become fitted, or refitted, with other `params`; other threads see the state before or after.

        ValueError if the model lacks something that encoding needs.
        """
        self._check_model(model)
        state = {**vars(self), **params, "history_": history, "_model": model, "_made_plans": {}}
        state = {
            name: value
            for name, value in state.items()
            if value is not None or name not in ("history_", "metadata_")
        }
        if history is not None:
            for array in history[:4]:
                array.setflags(write=False)
        settings = {
            name: frozen(value) for name, value in state.items() if isinstance(value, (list, np.ndarray))
        }
        super().__setattr__("__dict__", state | settings)

    def _now(self) -> Self:
        """Copy the state of this moment, for code that reads it more than once.

        Other threads may set another state meanwhile.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        freeze([*state.values(), *state.get("history_", ())])  # pickle makes arrays that can be written to
        vars(self).update(state, _made_plans={})

    def _check_model(self, model: Model) -> None:
        """ValueError if the model lacks something that encoding needs."""
        if self._needs_pairs and model.vocabulary.merges is None:
            raise ValueError("vocabulary: it knows flat sequences only, encoding by substitution needs pairs")
        self._check_symbols(model.alphabet, model.segmenter)
        if model.segmenter.mirror is not None:
            from ubpe_numba.vocabulary.mirror import tokens_of  # here only: few models have one

            tokens_of(model)

    def _check_symbols(self, alphabet: Alphabet, segmenter: Segmenter) -> None:
        """ValueError for a break or a stop token, or `unknown`, that the alphabet does not have."""
        if segmenter.reserved is not None and segmenter.lone is not None:
            segmenter.lone.symbol_ids(alphabet)
        if not isinstance(self.unknown, str) or self.unknown != "raise":
            choice_of(self.unknown, alphabet, segmenter.special)

    def _learned(
        self,
        alphabet: Alphabet,
        settings: Settings,
        vocabulary: Vocabulary,
        history: History,
        corpus: Corpus | None = None,
        bar: Progress | None = None,
    ) -> Self:
        """Become fitted with the result of a fit, with weights from its corpus if that is passed."""
        if settings.rules.order == "idf":
            # here only: most fits keep the order of creation
            from ubpe_numba.vocabulary.weights import rearranged

            vocabulary = rearranged(vocabulary, settings.n_tokens, settings.rules.trim, self._needs_pairs)
        if corpus is not None and self._weighs_by_text:
            vocabulary = self._weighed(corpus, alphabet, vocabulary, bar or Progress(False), settings.frame)
        size = vocabulary.offsets.size - 1
        segmenter = self._segmenter(alphabet.kind, size)
        if settings.frame:
            segmenter = segmenter._replace(frame=settings.frame)
        self._adopt(Model(alphabet, vocabulary, segmenter), history, metadata_=None)
        if size < settings.n_tokens != MAX_SIZE:
            self._tell_the_end(settings, size, alphabet.size)
        return self

    def _tell_the_end(self, settings: Settings, size: int, had: int) -> None:
        """Log that a fit from `had` ids ended at `size`, below the size requested; warn if it is far below.

        Far is less than a tenth of the tokens to learn, of a first fit where these are a thousand or more,
        and there is any symbol to learn from. The default of `n_tokens` requests nothing.
        """
        if settings.mirror is not None and size + 1 == settings.n_tokens:
            return  # a token and its mirror were next
        asked = MAX_SIZE if self.n_tokens is None else int(self.n_tokens)
        size += (shift := asked - settings.n_tokens)  # ids in addition to those of the vocabulary count
        had += shift
        longest = settings.rules.max_token_length
        limits = f" and makes a token of at most {longest} symbols" if longest is not None else ""
        message = (
            f"n_tokens: the fit ended at {size} tokens of {asked}, alphabet included: "
            f"no pair is left that occurs {settings.rules.min_count} times or more{limits}"
        )
        log.info(message)
        default = inspect.signature(type(self).__init__).parameters["n_tokens"].default
        wanted = asked - had
        enough = wanted < _MANY and had == self._model.vocabulary.n_alphabet  # few, of a first fit
        if asked != default and self._model.vocabulary.n_symbols and not enough and size - had < wanted / 10:
            warn(f"{message}; are these the documents that were meant?")

    def _weighed(
        self, corpus: Corpus, alphabet: Alphabet, vocabulary: Vocabulary, progress: Progress, frame: int
    ) -> Vocabulary:
        """A vocabulary learned from a corpus, with all that encoding needs in addition to the merges."""
        return vocabulary

    @property
    def _tables(self) -> Tables:
        """The encoders and the decoder of the model."""
        tables: Tables | None = self._made_plans.get("tables")
        if tables is None or tables.model is not self._model:  # of the model that there was before
            tables = Tables(self._fitted())
            self.__dict__["_made_plans"]["tables"] = tables
        return tables

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; ValueError for one that decides ids, once these are learned."""
        if name in _LEARNED and "_model" in self.__dict__:
            hint = f"{type(self).__name__}(**{{**tok.get_params(), '{name}': ...}}) makes a new tokenizer"
            raise ValueError(f"{name}: a fitted tokenizer encodes by the one it was fitted with; {hint}")
        if name[0] != "_" and name[-1] != "_" and name not in self._param_names():
            raise _unknown_attribute(type(self), name)
        super().__setattr__(name, frozen(value) if "_model" in self.__dict__ else value)
        tables = self._made_plans.get("tables")
        self.__dict__["_made_plans"] = {} if tables is None else {"tables": tables}

    def __getstate__(self) -> dict[str, Any]:
        """All attributes but those that are made when first needed; equal for equal tokenizers."""
        return dict(
            plain_copy(
                {name: v for name, v in sorted(vars(self).copy().items()) if not name.startswith("_made_")}
            )
        )

    @property
    def vocabulary(self) -> TokenTable:
        """The tokens by id, as `encode` gives them: symbols, merges, statistics.

        Examples
        --------
        >>> v = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").vocabulary
        >>> len(v), v[3], v.merges.tolist()
        (4, 'aba', [[0, 1], [2, 0]])
        """
        tables = self._tables
        table: TokenTable | None = tables.kept.get("vocabulary")
        if table is None:
            # here only: encoding need not wait for it
            from ubpe_numba.tokenizers.token_table import TokenTable

            table = tables.kept["vocabulary"] = TokenTable(tables.model, self._symbols_by_id(tables))
        return table

    def _symbols_by_id(self, tables: Tables) -> Decoder:
        """The decoder whose tables have the symbols of every id as its token is written."""
        return tables.decoder

    @property
    def kernels(self) -> Kernels:
        """The present tokenizer inside compiled functions, as for `ubpe_numba.kernels.Kernels`."""
        kernels: Kernels | None = self._made_plans.get("kernels")
        if kernels is None:
            from ubpe_numba.inside.header import Kernels  # here only: other calls need not wait for it

            now = self._now()
            # or a cycle through an array, which is never freed
            plan, plans = now._plan(), now.__dict__.pop("_made_plans")
            kernels = plans["kernels"] = Kernels(now, plan)
        return kernels

    @property
    def is_lossless(self) -> bool:
        """Whether `decode` restores every text.

        False if a normalizer changes text, parts are left out or become an unknown token, `unknown` allows
        other symbols, or several symbols share an id. `decode` then returns the text as it was encoded.

        Examples
        --------
        >>> BPE(4, alphabet="ab", preprocessing=Preprocessing(normalizer="Lowercase")).fit(["abab", "Ab"]).is_lossless
        False
        """
        model = self._fitted()
        lossless = model.segmenter.is_lossless and model.alphabet.is_lossless
        return lossless and not hides_symbols(self.unknown, model.alphabet)

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides encoding, decoding and weights.

        A model of a format without weights may encode the same and have another fingerprint.

        Examples
        --------
        >>> BPE.from_merges([[0, 1]], alphabet="ab").fingerprint == BPE.from_merges([[1, 0]], alphabet="ab").fingerprint
        False
        """
        now = self._now()
        params = now._encode_params()
        if (unknown := now._unknown(None)) != "raise":
            params["unknown"] = unknown if isinstance(unknown, (str, int)) else unknown[1]
        return now._fitted().fingerprint(type(self).__name__, params)

    def _encode_params(self) -> dict[str, Any]:
        """The constructor arguments that change how it encodes."""
        return {"encode": (self.rules or DEFAULT_RULES).encode}

    def _unknown(self, unknown: Any) -> UnknownChoice:
        """The treatment of unknown symbols: as a call says, or for None the constructor."""
        alphabet, _, segmenter = self._fitted()
        return choice_of(self.unknown if unknown is None else unknown, alphabet, segmenter.special)

    @property
    def _names(self) -> TokenNames:
        """The names of ids, made when they are first needed."""
        tables = self._tables
        names: TokenNames | None = tables.kept.get("names")
        if names is None:
            # here only: encoding need not wait for it
            from ubpe_numba.tokenizers.token_names import token_names

            names = tables.kept["names"] = token_names(tables.model)
        return names

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, gaps and special tokens included: the rows of an embedding.

        Examples
        --------
        >>> BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<end>"])).vocab_size
        4
        """
        _, vocabulary, segmenter = self._fitted()
        n = segmenter.n_ids(len(vocabulary))
        if (unknown := segmenter.unknown) is not None:
            n = max(n, 1 + (unknown.id if unknown.byte_ids is None else int(unknown.byte_ids.max())))
        return n

    def get_vocab(self) -> dict[Any, int]:
        """The id of every token by its name, in order of ids: a new dict at each call.

        Over characters a name is the text of the token, over bytes a character per byte (``"Ġlow"`` is ``
        low``), over integers a tuple. If names are equal, the id is that of a special token, or the lowest.

        Examples
        --------
        >>> BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["<end>"])).get_vocab()
        {'a': 0, 'b': 1, 'ab': 2, '<end>': 3}
        >>> BPE.from_merges([[0, 1]], alphabet=[60, 62]).get_vocab()
        {(60,): 0, (62,): 1, (60, 62): 2}
        """
        return dict(self._names.ids)

    def token_to_id(self, token: Any) -> int | None:
        """The id of a token by its name, as for `get_vocab`, its bytes, or its integers.

        None if no token has this name. TypeError for a name of a different kind than documents.

        Examples
        --------
        >>> tok = BPE.for_text(258, pretokenizer="gpt2", special_tokens=["<end>"]).fit(["low low low"])
        >>> tok.token_to_id("lo"), tok.token_to_id(b"low"), tok.token_to_id("<end>"), tok.token_to_id("high")
        (256, 257, 258, None)
        """
        model, names = self._fitted(), self._names
        kind, special = model.alphabet.kind, model.segmenter.special
        if isinstance(token, (bytes, bytearray)) and kind == "bytes":
            data = bytes(token)
            if model.segmenter.unknown is None:
                from ubpe_numba.text.characters import names_of  # here only: integers need not wait for it

                return names.by_bytes.get(names_of(data))
            try:
                token = data.decode()
            except UnicodeDecodeError:
                return None
        elif model.alphabet.names is not None:
            token_id = names.ids.get(tuple(token) if isinstance(token, (list, tuple, np.ndarray)) else token)
            return (
                names.ids.get((token,))
                if token_id is None and not isinstance(token, (list, np.ndarray))
                else token_id
            )
        elif kind == "int" and not isinstance(token, (str, bytes, bytearray)):
            items = token.tolist() if isinstance(token, np.ndarray) else token
            token = tuple(
                integer(item, "token") for item in (items if isinstance(items, (list, tuple)) else [items])
            )
        elif not isinstance(token, str) or (kind == "int" and (special is None or not special.named.any())):
            expected = "integers" if kind == "int" else kind if kind == "str" else "str or bytes"
            raise TypeError(f"token: expected {expected}, got {describe(token)}")
        return names.ids.get(token)

    def id_to_token(self, token_id: int) -> Any:
        """The name of the token of an id, `str` or tuple of int, as for `get_vocab`; None for an unused id.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet=b" a")
        >>> tok.id_to_token(2), tok.decode([2]), tok.id_to_token(3)
        ('Ġa', b' a', None)
        """
        return self._names.names.get(integer(token_id, "token_id"))

    def __eq__(self, other: object) -> bool:
        """Tokenizers of a class are equal if their fingerprints are, before a fit if their arguments are."""
        if not isinstance(other, Fitted):
            return NotImplemented
        mine, yours = self.__dict__.get("_model"), other.__dict__.get("_model")
        if type(self) is not type(other) or (mine is None) is not (yours is None):
            return False
        if mine is None or yours is None:
            return all(same(value, getattr(other, name)) for name, value in self.get_params().items())
        if self is other:
            return True
        if mine is not yours and not np.array_equal(mine.vocabulary.arena, yours.vocabulary.arena):
            return False  # without a hash of the whole model
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """One hash per class: a fit changes equality, and a hash must not change."""
        return hash(type(self))

    def __sklearn_tags__(self) -> Any:
        """The tags of a scikit-learn pipeline step: a transformer of documents, without targets."""
        # installed, since it is the caller
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True),
        )


for _name in ("history_", "metadata_", *ATTRIBUTES):
    setattr(Fitted, _name, _Absent(_name))


def is_number(value: Any) -> bool:
    """Whether a value is an integer or a float, and no bool."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def objective_of(objective: Any) -> tuple[Any, Any]:
    """Split the argument `objective` of `UBPE` into the search of paths and the weights of tokens.

    The weights are those that ``"additive"`` sums.
    """
    if isinstance(objective, str):
        return ("additive", objective) if objective == "log_frequency" else (objective, None)
    return "additive", objective


def objective_from(objective: Any, weights: Any) -> Any:
    """The inverse of `objective_of`; weights of other objectives than ``"additive"`` are never read."""
    if objective != "additive" or weights is None or (isinstance(weights, str) and weights == "idf"):
        return objective
    return weights


def same(a: Any, b: Any) -> bool:
    """Whether two arguments are equal; arrays are if all their values are."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if a is b or type(a) is not type(b):
        return a is b
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return np.array_equal(a, b) if hasattr(type(a), "__array__") else bool(a == b)  # as a column of a table
