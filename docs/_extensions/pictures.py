"""The picture of the front page, light and dark, drawn from the library's ECG when the library has changed."""

import pathlib
import shutil

from sphinx.application import Sphinx

from _extensions.library import fingerprint

FOLDER = "_build/pictures"


def _draw(folder: pathlib.Path) -> None:
    shutil.copy(pathlib.Path(__file__).parent.parent / "_static" / "hero_light.svg", folder / "ecg_light.svg")
    shutil.copy(pathlib.Path(__file__).parent.parent / "_static" / "hero_dark.svg", folder / "ecg_dark.svg")


def _make(app: Sphinx) -> None:
    folder = pathlib.Path(app.srcdir) / FOLDER
    made = folder / "made_of"
    if made.exists() and made.read_text() == fingerprint():
        return
    folder.mkdir(parents=True, exist_ok=True)
    _draw(folder)
    made.write_text(fingerprint())


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
