"""The manners of scikit-learn: parameters by name, as `clone` and `Pipeline` ask for them, without importing it."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Parameters")


class Parameters:
    """Base of classes whose constructor stores its arguments under their own names and does nothing else."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments, as scikit-learn's `clone` asks for them."""
        return {name: getattr(self, name) for name in list(inspect.signature(type(self).__init__).parameters)[1:]}

    def set_params(self: Self, **params: Any) -> Self:
        """Change constructor arguments by name; ValueError for one that does not exist.

        `n_threads`, `objective`, `token_weights` and the rule of encoding act at once, the others at the next `fit`.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: not a parameter of {type(self).__name__}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.get_params().items() if k == "n_tokens" or (v is not None and k != "alphabet")}
        params = ", ".join(f"{k}={v!r}" for k, v in shown.items())
        return f"{type(self).__name__}({params})"
