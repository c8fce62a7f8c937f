"""Write `ubpe_numba/formats/transformers_classes.json`: what the classes of transformers make of a file, as they themselves say.

A class of transformers with a constructor of its own takes the vocabulary of a `tokenizer.json`, and makes
the other parts by fields of `tokenizer_config.json`. Each class is built here with each combination of its
flags; of each part the table has the values, by the flags on which it depends. Tokens are named by their
roles, such as "$cls_token", and their ids "#cls_token"; "#=word" is the id of a word.

    python tools/transformers_classes.py            # needs transformers, sentencepiece; prints omissions
"""

from __future__ import annotations

import inspect
import io
import itertools
import json
import pathlib
import sys
from typing import Any

import transformers
from tokenizers import processors
from transformers import CONFIG_MAPPING
from transformers.models.auto import tokenization_auto as auto
from transformers.tokenization_utils_tokenizers import TokenizersBackend

TARGET = pathlib.Path(__file__).parents[1] / "ubpe_numba/formats/transformers_classes.json"
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
WITHOUT = "without"  # the post-processor for a file that has none
#: Flags of constructors: fields that are true, false or null.
FLAGS = (
    "do_lower_case", "keep_accents", "add_prefix_space", "trim_offsets", "tokenize_chinese_chars", "strip_accents",
    "split_by_punct", "clean_text", "remove_space", "legacy", "legacy_behaviour", "predict_timestamps",
)  # fmt: skip
#: Parameters that change no ids of texts.
IDLE = (
    "errors", "vocab", "merges", "vocab_file", "merges_file", "use_default_system_prompt", "clean_up_tokenization_spaces",
    "model_max_length", "extra_special_tokens", "additional_special_tokens", "pad_token_label", "only_label_first_subword",
    "_spm_precompiled_charsmap", "normalizer_file", "tags_dict",
)  # fmt: skip
#: Words that constructors look up by themselves.
WORDS = ("<|startoftranscript|>", "<|notimestamps|>", "__eng__", "__fra__", "eng_Latn", "en_XX")
#: Classes whose parts depend on more than that.
LEFT_OUT = (
    "SplinterTokenizer", "FNetTokenizer", "MBart50Tokenizer", "ReformerTokenizer",
    "ConvBertTokenizer",  # its base makes some parts, the file others
)  # fmt: skip
#: Methods of classes that do more than their file says; that of Whisper does not unless it is asked.
OWN_METHODS = ("_pad", "_decode")
#: What the method `decode` of CLIP does.
OF_CLIP = [
    {"type": "Replace", "pattern": {"String": "</w>"}, "content": " "},
    {"type": "Strip", "content": " ", "start": 64, "stop": 64},
]
MANY = 50  # tokens before those with a role: ids below are the constructor's own
# stands for that of the file
OWN = processors.TemplateProcessing(single="$A:0", pair="$A:0 $B:5", special_tokens=[])
PLAIN = json.loads(
    processors.TemplateProcessing(single="$A:0", pair="$A:0 $B:1", special_tokens=[]).__getstate__()
)


def charsmap() -> bytes:
    """A compiled table of characters, as sentencepiece has it."""
    import sentencepiece

    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"] * 9),
        model_writer=out,
        vocab_size=9,
        hard_vocab_limit=False,
        minloglevel=9,
    )
    from transformers.convert_slow_tokenizer import import_protobuf

    proto = import_protobuf().ModelProto.FromString(out.getvalue())
    return bytes(proto.normalizer_spec.precompiled_charsmap)


CHARSMAP = charsmap()


def parameters_of(cls: Any) -> dict[str, Any]:
    """The parameters of a constructor, and of the one that it passes others to."""
    found: dict[str, Any] = {}
    for base in cls.__mro__[: cls.__mro__.index(TokenizersBackend)]:
        own = inspect.signature(base.__init__).parameters if "__init__" in base.__dict__ else {}
        found = {**own, **found}
        if own and "args" not in own:
            break
    return found


def roles_of(cls: type) -> dict[str, Any]:
    """The parameters of a constructor that are special tokens, with their defaults."""
    parameters = parameters_of(cls)
    return {
        name: p.default
        for name, p in parameters.items()
        if name.endswith("_token") or name == "mask_token_sent"
    }


def build(cls: Any, roles: dict[str, Any], own: Any = OWN, **fields: Any) -> Any:
    """A tokenizer of a class with some vocabulary, in which each role has a token of its name, and the file's post-processor."""
    names = [f"<@{role}>" for role, value in roles.items() if value is not None]
    words = [f"w{i}" for i in range(MANY)] + names + [*WORDS]
    kind = cls.model.__name__ if cls.model is not None else "Unigram"
    vocab: Any = (
        [(word, 0.0) for word in words] if kind == "Unigram" else {word: i for i, word in enumerate(words)}
    )
    more = {"merges": []} if kind == "BPE" else {}
    tokens = {role: f"<@{role}>" for role, value in roles.items() if value is not None}
    return cls(vocab=vocab, post_processor=own, **more, **tokens, **fields)


def named(part: Any, roles: list[str]) -> Any:
    """A part with roles in place of their ids, and of the table of characters."""
    if isinstance(part, dict):
        if part.get("type") == "Precompiled":
            return {"type": "Precompiled", "precompiled_charsmap": "$charsmap"}
        return {named(key, roles): named(value, roles) for key, value in part.items()}
    if isinstance(part, list):
        return [named(value, roles) for value in part]
    if isinstance(part, str) and part.startswith("<@"):
        return "$" + part[2:-1]
    known = [*roles, *(f"={word}" for word in WORDS)]
    return "#" + known[part - MANY] if type(part) is int and MANY <= part < MANY + len(known) else part


def row_of(cls: Any) -> dict[str, Any]:
    """What the table has of a class."""
    roles = roles_of(cls)
    there = [role for role, value in roles.items() if value is not None]
    parameters = parameters_of(cls)
    flags = [name for name in FLAGS if name in parameters]
    has_map = "_spm_precompiled_charsmap" in parameters
    cases: dict[str, dict[tuple[Any, ...], Any]] = {name: {} for name in (*PARTS, WITHOUT, "model")}
    for values in itertools.product((True, False, None), repeat=len(flags)):
        for mapped in (True, False) if has_map else (False,):
            more = {"_spm_precompiled_charsmap": CHARSMAP} if mapped else {}
            try:
                made = build(cls, roles, **dict(zip(flags, values, strict=True)), **more)
            except TypeError:
                if None in values:  # which it does not take
                    continue
                raise
            file = json.loads(made.backend_tokenizer.to_str())
            model = {name: value for name, value in file["model"].items() if name not in ("vocab", "merges")}
            if cls.__name__ == "CLIPTokenizer":
                file["decoder"] = {"type": "Sequence", "decoders": [file["decoder"], *OF_CLIP]}
            bare = build(cls, roles, None, **dict(zip(flags, values, strict=True)), **more)
            without = json.loads(bare.backend_tokenizer.post_processor.__getstate__())
            cases[WITHOUT][*values, mapped] = None if without == PLAIN else named(without, there)
            for part in PARTS:
                value = named(file[part], there)
                cases[part][*values, mapped] = (
                    "$file" if file[part] == json.loads(OWN.__getstate__()) else value
                )
            cases["model"][*values, mapped] = named(model, there)
    parts = {}
    for part, by_case in cases.items():
        needed = [
            i
            for i in range(len(flags) + 1)
            if any(
                by_case[case] != by_case[other]
                for case in by_case
                for other in by_case
                if case[:i] + case[i + 1 :] == other[:i] + other[i + 1 :]
            )
        ]
        values = {json.dumps([case[i] for i in needed]): value for case, value in by_case.items()}
        parts[part] = {"by": [[*flags, "$charsmap"][i] for i in needed], "of": values}
    made, plain = build(cls, roles), build(cls, roles).added_tokens_decoder
    added = {str(token): token for token in plain.values()}
    tokens = {}
    for role in there:
        token = added.get(f"<@{role}>")
        value = roles[role]
        if token is not None and role in made._special_tokens_map:
            odd = {
                name: True
                for name in ("lstrip", "rstrip", "single_word", "normalized")
                if getattr(token, name)
            }
            tokens[role] = {"content": str(value), **odd}
    extra = [
        str(token)
        for token in cls(
            **({"vocab": [("a", 0.0)] * 200} if cls.__name__ == "BigBirdTokenizer" else {})
        )._extra_special_tokens
    ]
    others = {
        name: p.default
        for name, p in parameters.items()
        if name not in (*IDLE, *flags, *roles, "self", "args", "kwargs") and not name.endswith("_box")
    }
    defaults = {name: parameters[name].default for name in flags}
    row = {
        "fields": defaults,
        "fixed": others,
        "names": list(cls.model_input_names),
        "tokens": tokens,
        **parts,
    }
    row |= {"extra": extra} if extra else {}
    row |= {"padding_side": "left"} if cls.padding_side == "left" else {}
    return row


def main() -> None:
    """Write the table."""
    rows: dict[str, Any] = {}
    generic, left_out = [], []
    # the older names of files too, of which some are another class now, which `dir` does not know
    names = {name.replace("Config", "Tokenizer") for name in auto.CONFIG_MAPPING_NAMES.values()}
    names |= {
        name.removesuffix("Fast")
        for name in dir(transformers)
        if name.endswith(("Tokenizer", "TokenizerFast"))
    }
    names.discard("PreTrainedTokenizer")  # the base of all: the file as it is
    of_types = {name for name in auto.TOKENIZER_MAPPING_NAMES.values() if name}
    for name in sorted(names | of_types):
        try:
            cls = auto.tokenizer_class_from_name(name)
            if name not in of_types and not hasattr(cls, "model_input_names"):
                continue
        except Exception as error:
            print(name, repr(error)[:200], file=sys.stderr)
            continue
        is_fast = isinstance(cls, type) and issubclass(cls, TokenizersBackend)
        more = cls.__mro__[: cls.__mro__.index(TokenizersBackend)] if is_fast else ()
        own = name != "WhisperTokenizer" and any(
            method in base.__dict__ for method in OWN_METHODS for base in more
        )
        if name in LEFT_OUT or own or not is_fast:
            left_out.append(name)
        elif cls is TokenizersBackend or (
            "__init__" not in cls.__dict__ and TokenizersBackend in cls.__bases__
        ):
            generic.append(name)
        else:
            try:
                rows[name] = row_of(cls)
            except Exception as error:
                left_out.append(name)
                print(name, repr(error)[:300], file=sys.stderr)
    plain = ("TokenizersBackend", "MistralCommonBackend")
    named = ((kind, name) for kind, name in auto.TOKENIZER_MAPPING_NAMES.items() if name)
    types = {kind: "" if name in plain else name.removesuffix("Fast") for kind, name in named}
    defaults = {}  # where the class of a type's configuration has another one
    for kind, name in types.items():
        cls = (
            auto.TOKENIZER_MAPPING.get(CONFIG_MAPPING[kind], TokenizersBackend)
            if kind in CONFIG_MAPPING
            else TokenizersBackend
        )
        if (
            cls is not None
            and (found := "" if cls.__name__ in plain else cls.__name__.removesuffix("Fast")) != name
        ):
            defaults[kind] = found
    parts: dict[str, int] = {}
    for row in rows.values():
        for name in (*PARTS, WITHOUT, "model"):
            of = {
                case: parts.setdefault(json.dumps(value, ensure_ascii=False), len(parts))
                for case, value in row[name]["of"].items()
            }
            row[name] = [row[name]["by"], of if len({*of.values()}) > 1 else {"[]": next(iter(of.values()))}]
    table = {
        "parts": [json.loads(part) for part in parts], "classes": rows, "others": left_out,
        "types": types, "defaults": defaults, "wrong": sorted(auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS),
    }  # fmt: skip
    lines = []
    for name, value in table.items():
        text = json.dumps(value, ensure_ascii=False)
        if name == "parts":
            text = "[\n" + ",\n".join(json.dumps(part, ensure_ascii=False) for part in value) + "\n]"
        elif name == "classes":
            text = (
                "{\n"
                + ",\n".join(
                    f"{json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in rows.items()
                )
                + "\n}"
            )
        lines.append(f"{json.dumps(name)}: {text}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    assert json.loads(text) == table
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
