"""Fits, counts and encodings on many machines, by Dask (``pip install 'ubpe-numba[dask]'``).

Without a `client` the functions start processes on this machine for the call. These import the script, so its
code must be under ``if __name__ == "__main__":``.
"""

from ubpe_numba.runtime.lazy import require

for module in ("dask", "distributed"):
    require(module, "ubpe_numba.distributed", "dask", "dask")

from ubpe_numba.distributed.counting import count  # noqa: E402  # only where Dask is
from ubpe_numba.distributed.encoding import decode, encode  # noqa: E402
from ubpe_numba.distributed.fitting import fit  # noqa: E402

__all__ = ["count", "decode", "encode", "fit"]
