"""What is drawn on axes, as a hash: any release of matplotlib gives the same."""

from typing import Any

import numpy as np
from digests import digest
from matplotlib.colors import to_hex, to_rgba_array

NAMES = "text fontsize fontweight fontfamily rotation ha va linestyle marker markersize alpha zorder visible xscale yscale"


def look(artist: Any) -> list[Any]:
    """What an artist shows: its text, places rounded to four digits, colours, sizes and order."""
    found: list[Any] = [str(getattr(artist, f"get_{name}", str)()) for name in NAMES.split()]
    for name in ("xydata", "position", "xlim", "ylim", "linewidth"):
        found.append(np.round(np.asarray(getattr(artist, f"get_{name}", list)(), float), 4).tolist())
    for name in ("color", "facecolor", "edgecolor"):
        colours = getattr(artist, f"get_{name}", list)()
        found.append([to_hex(colour, True) for colour in to_rgba_array(colours)] if len(colours) else [])
    shapes = [path.vertices for path in getattr(artist, "get_paths", list)()]
    if hasattr(artist, "get_patch_transform"):
        shapes = [artist.get_path().get_extents(artist.get_patch_transform()).get_points()]
    return [*found, *(np.round(shape, 4).tolist() for shape in shapes)]


def picture_of(axes: Any) -> str:
    """A hash of what is drawn on axes, and of their look."""
    parts = [part for ax in axes for part in (ax, *ax.lines, *ax.patches, *ax.collections, *ax.texts)]
    lines = [
        (spine.get_visible(), to_hex(spine.get_edgecolor())) for ax in axes for spine in ax.spines.values()
    ]
    labels = [
        text
        for ax in axes
        for text in (ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label)
    ]
    # fonts place them
    written = [(text.get_text(), to_hex(text.get_color()), text.get_fontsize()) for text in labels]
    return digest([look(part) for part in parts], lines, written)
