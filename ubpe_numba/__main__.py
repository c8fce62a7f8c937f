"""The command line: `python -m ubpe_numba demo` and `warmup`."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ubpe_numba", description="Byte-pair encoding for sequences of integers.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="tokenize a bundled ECG, decode it, compare, and print what was found")
    demo.add_argument("--tokens", type=int, default=1024, metavar="N", help="size of the vocabulary (default %(default)s)")
    demo.add_argument("--plot", metavar="FILE.png", help="also draw the signal coloured by token (needs the extra 'plot')")
    demo.add_argument("--quiet", action="store_true", help="no progress bar")
    commands.add_parser("warmup", help="compile every kernel into the cache, for container images")
    options = parser.parse_args(arguments)
    # imported here, so that --help does not wait for the compiler to be imported
    try:
        if options.command == "warmup":
            from ubpe_numba._warmup import warmup

            warmup()
            return 0
        from ubpe_numba.demo import run

        return run(options.tokens, options.plot, not options.quiet)
    except (ImportError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
