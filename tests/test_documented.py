"""What the README and the pages name exists: command lines parse, those of a first hour run, options and attributes are real."""

import builtins
import importlib
import inspect
import pathlib
import re
import shlex
import tomllib
from collections.abc import Iterator

import pytest

from ubpe_numba.cli.main import _parser, main
from ubpe_numba.text.patterns import NAMED

ROOT = pathlib.Path(__file__).parents[1]
PAGES = {
    page.relative_to(ROOT).as_posix(): page.read_text("utf-8")
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
}
OF_LIBRARY = ("README", "docs/do", "docs/learn", "docs/understand", "docs/explore", "docs/index")
FENCED = re.compile(r"^```[^\n]*\n.*?^```$", re.DOTALL | re.MULTILINE)
HELP = "\n".join(
    command.format_help() for command in _parser()._subparsers._group_actions[0].choices.values()
)
#: Names of other libraries, and data, in backticks.
FOREIGN = re.findall(
    r"\w+",
    "abab aeon batch_decode codes convert_ids_to_tokens is_split_into_words mido offset_mapping padding_side parallel"
    " rearrange_tokens regex return_offsets_mapping save_pretrained single_word taskset ubpe_numba",
)


def command_lines(text: str) -> Iterator[list[str]]:
    """The calls of `ubpe-numba` in the blocks for a shell, and in backticks."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines() + re.findall(
        r"`(ubpe-numba [^`]+)`", FENCED.sub("", text)
    )
    for line in lines:
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["ubpe-numba"] and not {"COMMAND", "...", "--help"} & {*words}:
            yield words[1:]


def known_names() -> set[str]:
    """Public names of the library, their attributes, parameters and fields, and other words of its interface."""
    names = {*dir(builtins), *NAMED, *FOREIGN, *re.findall(r"[\w.-]+", HELP)}
    names |= tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    for module in ("", ".signals", ".bounds", ".kernels", ".plot", ".text", ".types", ".actions", ".sklearn"):
        package = importlib.import_module(f"ubpe_numba{module}")
        names.update(package.__all__)
        for public in (getattr(package, name) for name in package.__all__):
            names.update(dir(public))
            for member in (
                public,
                getattr(public, "__init__", None),
                *(getattr(public, name) for name in dir(public) if name[0] != "_" or name == "__call__"),
            ):
                text = (inspect.getdoc(member) or "") + (
                    str(inspect.signature(member)) if hasattr(member, "__code__") else ""
                )
                names.update(re.findall(r"\b\w+(?= ?[:,=)])|\w+_\b", text))
    return names


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if [*command_lines(text)]])
def test_command_lines_parse(page: str) -> None:
    for words in command_lines(PAGES[page]):
        _parser().parse_args(words)


@pytest.mark.parametrize("page", ["README.md", "docs/do/command_line.md"])
def test_command_lines_run_and_print_what_the_page_shows(
    page: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("corpus.txt").write_text("low lower lowest\nnewer newest\nthe low tide\n" * 200)
    pathlib.Path("reads.txt").write_text("ACGTTGCAACGN\nGGTACCATGACC\n" * 20)
    pathlib.Path("run.csv").write_text("".join(f"{i % 90},{i % 50 or ''}\n" for i in range(900)))
    pathlib.Path("recording.raw").write_bytes(bytes(range(0, 240, 2)) * 12)
    for words in command_lines(PAGES[page]):
        if words[0] != "verify":
            assert main(words) == 0, words
            shown = re.search(
                rf"<!-- output of {re.escape(shlex.join(words))} -->\n```text\n(.*?)```",
                PAGES[page],
                re.DOTALL,
            )
            assert not shown or shown[1] == capsys.readouterr().out


def test_names_and_options_in_backticks_exist() -> None:
    known, missing = known_names(), []
    for page, text in PAGES.items():
        code, spans = " ".join(FENCED.findall(text)), re.findall(r"(?<!\})`([^`\n]+)`", FENCED.sub("", text))
        missing += [(page, span) for span in spans if span.startswith("--") and span.split()[0] not in HELP]
        for span in spans if page.startswith(OF_LIBRARY) else ():
            word = re.match(r"(?:(?:tok|ids|scale|BPE|UBPE|SignalTokenizer)\.)?([a-z]\w{3,})(?:$|\(|=)", span)
            if word and word[1] not in known and not re.search(rf"\b{word[1]}\b", code):
                missing.append((page, span))
    assert missing == []
