"""The site: built offline, tutorials executed at build, pages of the reference made of the public names, any warning an error."""

import pathlib
import sys

DOCS = pathlib.Path(__file__).parent
sys.path.insert(0, str(DOCS))

from _extensions.kernel import prepare  # noqa: E402
from _extensions.name_pages import public_names  # noqa: E402

import ubpe_numba  # noqa: E402
from ubpe_numba.views.colours import DARK  # noqa: E402

project = "ubpe-numba"
author = "The ubpe-numba developers"
copyright = author
version = release = ubpe_numba.__version__

extensions = [
    "myst_nb",  # pages in Markdown; those with code cells are executed
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "_extensions.commands",
    "_extensions.gallery",
    "_extensions.library",
    "_extensions.mathml",
    "_extensions.names",
    "_extensions.pictures",
    "_extensions.plain_text",
    "_extensions.report",
    "_extensions.schemes",
    "_extensions.signatures",
]
exclude_patterns = ["README.md", "_build", "_extensions", "_static"]
# of docstrings: a link where the library has something of that name, code where it has not
default_role = "py:obj"

autosummary_generate = False  # the extension `names` makes the pages, in _build
autodoc_typehints = "none"  # the extension `signatures` writes them
numpydoc_xref_param_type = True  # links in types and in what is raised, of these names only
numpydoc_xref_aliases = {
    name.rpartition(".")[2]: name for name in public_names() if "distributed" not in name
}
numpydoc_xref_ignore = "all"
numpydoc_show_class_members = False  # the extension `name_pages` makes the tables
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

nb_execution_mode = "cache"  # executed again when a page or the library has changed
nb_execution_cache_path = prepare(DOCS / "_build")
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_ipywidgets_js = {}  # nothing from another host
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "ubpe-numba"
html_extra_path = ["_build/report"]  # the report of the explorer
(DOCS / "_build" / "report").mkdir(parents=True, exist_ok=True)
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b62a8",
        "color-brand-content": "#0b62a8",
        "color-brand-visited": "#6a3fa0",
        "color-code-background": "#f5f6f8",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cb6ff",
        "color-brand-content": "#6cb6ff",
        "color-brand-visited": "#b9a0f5",
        "color-background-primary": DARK.paper,
        "color-code-background": "#1e232b",
    },
    "top_of_page_buttons": [],
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
