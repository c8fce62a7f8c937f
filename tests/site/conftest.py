"""The end of a test run says that the site was not looked at."""

from typing import Any

from built_site import MISSED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line, if there was no site."""
    if MISSED:
        terminalreporter.write_sep("!", f"NOT RUN on the site: {MISSED[0]}")
