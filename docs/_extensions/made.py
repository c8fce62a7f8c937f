"""Files that are made once for each state of the library and of the extensions."""

import pathlib
from collections.abc import Callable

from sphinx.application import Sphinx


def when_changed(app: Sphinx, name: str, make: Callable[[pathlib.Path], None]) -> None:
    """Call `make` with the folder `_build/name` unless it has done its work for this state already."""
    folder = pathlib.Path(app.srcdir) / "_build" / name
    mark = folder.with_name(f"{name}.made_of")
    if mark.exists() and mark.read_text(encoding="utf-8") == app.config.made_of:
        return
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    mark.write_text(app.config.made_of, encoding="utf-8")
