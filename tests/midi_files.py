"""Real MIDI files for tests: the documentation's; those of packages that are installed; those in the folder UBPE_MIDI.

`pip download --no-deps --no-binary miditok miditok`, unpacked, is such a folder: MidiTok's own tests have 35
files. The package openttd-openmsx of Debian has 31, which are found where it puts them, and music21 has 23.
"""

import importlib.util
import os
import pathlib

PRELUDE = pathlib.Path(__file__).parent.parent / "docs" / "data" / "bach_bwv846_prelude.mid"
OPENTTD = pathlib.Path("/usr/share/games/openttd/baseset/openmsx")


def folders() -> list[pathlib.Path]:
    """The folders that there are on this machine."""
    music21 = importlib.util.find_spec("music21")
    found = [OPENTTD, *map(pathlib.Path, (music21 and music21.submodule_search_locations) or ())]
    if os.environ.get("UBPE_MIDI"):
        found.append(pathlib.Path(os.environ["UBPE_MIDI"]))
    return [folder for folder in found if folder.is_dir()]


def midi_files(at_most: int = 1 << 30) -> list[pathlib.Path]:
    """All files of at most so many bytes, the prelude first."""
    found = [path for folder in folders() for path in sorted(folder.rglob("*.mid"))]
    return [PRELUDE, *(path for path in found if path.stat().st_size <= at_most)]
