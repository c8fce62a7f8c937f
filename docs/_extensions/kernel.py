"""How notebooks are executed: a configuration of IPython in _build, whatever the user's own is, with pictures as SVG."""

import os
import pathlib

from _extensions.library import fingerprint, hash_of
from ubpe_numba.views.colours import LIGHT, Theme

_CONFIG = """
c = get_config()
c.HistoryManager.enabled = False
c.IPKernelApp.log_level = 40
c.InlineBackend.figure_formats = {{"svg"}}
c.InlineBackend.print_figure_kwargs = {{"bbox_inches": "tight", "metadata": {{"Date": None}}}}
c.InlineBackend.rc = {style!r}
"""


def _style(theme: Theme) -> dict[str, object]:
    """The colours of the displays, for what matplotlib draws without them; the same SVG for the same picture."""
    dim = dict.fromkeys(
        ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.edgecolor"), theme.dim
    )
    ink = dict.fromkeys(("text.color", "axes.titlecolor"), theme.ink)
    paper = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), theme.paper)
    return {
        **dim,
        **ink,
        **paper,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "grid.color": theme.grid,
        "svg.fonttype": "path",
        "svg.hashsalt": "ubpe-numba",
    }


def prepare(build: pathlib.Path) -> str:
    """Write the configuration, point kernels to it, and return the folder in which outputs are kept for the next build."""
    text = _CONFIG.format(style=_style(LIGHT))
    profile = build / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(text, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(profile.parent)
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    return str(build / "executed" / (fingerprint() + hash_of(text.encode())))
