"""Derivatives of plain Python and NumPy functions, as Python source that can be read.

    >>> def loss(w, x):
    ...     return np.sum((x * w) ** 2)
    >>> s2sad.grad(loss)(3.0, np.array([1.0, 2.0]))
    np.float64(30.0)

A function goes in, and a function with the same parameters comes out:

    grad, value_and_grad       of a function that returns a real scalar
    jacobian, hessian          all first derivatives of any result; second ones of a scalar
    vjp, jvp, hvp              products with the transposed Jacobian, the Jacobian, the Hessian
    autodiff                   with activities: Active, Const, Duplicated, BatchDuplicated; the mode
                               is Reverse or Forward
    @differentiate             f.grad, f.value_and_grad, f.vjp ... on the function itself

Inside a differentiated function: stop_gradient, within_gradient, adjoint_hook, checkpoint,
checkpointed. Structures: ravel, tree_map. Rules of your own: pullback, pushforward, elementwise,
nondifferentiable. Looking and checking: source, emit, explain, check_grads, and the commands of
`s2sad --help`. Other libraries: to_torch, to_jax.

Modules: s2sad.control (scan, cond, while_loop ...), s2sad.sparse (sparse Jacobians and Hessians),
s2sad.dask (sums over partitions, on many machines), s2sad.testing (check_rule). All errors derive
from s2sad.Error; they name the line of your function and say what to do. S2SAD_TRACEBACK=full shows
the frames inside s2sad.
"""

import importlib
from typing import TYPE_CHECKING, Any

from s2sad.activities import Active, BatchDuplicated, Const, Duplicated
from s2sad.api import (
    autodiff,
    emit,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    source,
    value_and_grad,
    vjp,
)
from s2sad.checkpoints import checkpoint, checkpointed
from s2sad.decorated import differentiate
from s2sad.errors import (
    ActivityError,
    AliasError,
    DerivativeWarning,
    Error,
    MismatchError,
    MissingRuleError,
    NotFiniteError,
    SettingError,
    SourceError,
    UnsupportedError,
)
from s2sad.inside import adjoint_hook, stop_gradient, within_gradient
from s2sad.operators.duplicated import Forward, Reverse
from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.tree import ravel, tree_map

if TYPE_CHECKING:
    from s2sad import control as control
    from s2sad import dask as dask
    from s2sad import sparse as sparse
    from s2sad import testing as testing
    from s2sad.tools.bridges import to_jax, to_torch
    from s2sad.tools.checking import check_grads
    from s2sad.tools.looking import explain

__version__ = "0.1.0"

__all__ = [
    "Active",
    "ActivityError",
    "AliasError",
    "BatchDuplicated",
    "Const",
    "DerivativeWarning",
    "Duplicated",
    "Error",
    "Forward",
    "MismatchError",
    "MissingRuleError",
    "NotFiniteError",
    "Reverse",
    "SettingError",
    "SourceError",
    "UnsupportedError",
    "adjoint_hook",
    "autodiff",
    "check_grads",
    "checkpoint",
    "checkpointed",
    "differentiate",
    "elementwise",
    "emit",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "nondifferentiable",
    "pullback",
    "pushforward",
    "ravel",
    "source",
    "stop_gradient",
    "to_jax",
    "to_torch",
    "tree_map",
    "value_and_grad",
    "vjp",
    "within_gradient",
]

# Imported when it is asked for: few programs want it, and deriving takes time to load.
_LATER = {
    "check_grads": "tools.checking",
    "explain": "tools.looking",
    "to_jax": "tools.bridges",
    "to_torch": "tools.bridges",
}
_MODULES = ("control", "dask", "sparse", "testing")


def __getattr__(name: str) -> Any:
    """Import what few programs want when it is asked for: `s2sad.testing.check_rule(...)`."""
    if name in _MODULES:
        return importlib.import_module(f"s2sad.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"s2sad.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})
