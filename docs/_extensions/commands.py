"""The directive `command-help`: what the commands of `ubpe-numba` print for --help, as they are at build."""

import argparse

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ubpe_numba.cli import main

_WIDTH = 88


class CommandHelp(SphinxDirective):
    """The help of the program, and then a section for each command."""

    def run(self) -> list[nodes.Node]:
        """Literal blocks, as on a terminal."""
        self.env.note_dependency(main.__file__)
        parser = main._parser()
        found: list[nodes.Node] = [_help(parser)]
        for name, command in commands(parser).items():
            section = nodes.section(
                "", nodes.title("", name), _help(command), ids=[nodes.make_id(name)], names=[name]
            )
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found


def _help(parser: argparse.ArgumentParser) -> nodes.literal_block:
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=_WIDTH)
    text = parser.format_help()
    return nodes.literal_block(text, text, language="text")


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands, by name."""
    return next(
        action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
