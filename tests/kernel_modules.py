"""The modules that hold kernels, by their full names."""

import pathlib

import ubpe_numba
from ubpe_numba.runtime.compiler.cache import kernel_sources


def kernel_modules() -> list[str]:
    """The names of all modules in the folders of kernels, machine code and tables."""
    package = pathlib.Path(ubpe_numba.__file__).parent
    files = [path.relative_to(package.parent).with_suffix("") for path in kernel_sources()]
    return [
        ".".join(file.parts) for file in files if file.name != "__init__" and file.parent.name != "compiler"
    ]
