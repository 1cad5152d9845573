"""The benchmark programs for HIPS/autograd, JAX (jit, CPU) and PyTorch (eager).

autograd and PyTorch run the program's own text with NumPy's name replaced. JAX traces, so what has
control flow is written anew with its scan and cond, as its users do.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = ("autograd", "jax", "torch")
NO_WHILE = "reverse mode of while_loop is not supported"


class CannotExpressError(Exception):
    """The library has no way to write the program; the message says why."""


def rewritten(path: Path, imports: str, replacements: dict[str, str]) -> dict[str, Any]:
    """The globals of the file at path, run without s2sad and with other names for NumPy's."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^(from s2sad import .*|@differentiate)$", "", text, flags=re.MULTILINE)
    text = re.sub(r": (Active|Const)\b", "", text)
    text = text.replace("import numpy as np", imports)
    for old, new in replacements.items():
        text = text.replace(old, new)
    namespace = {"__name__": f"rewritten_{path.stem}", "__file__": str(path)}
    exec(compile(text, f"<{path.stem} rewritten>", "exec"), namespace)
    return namespace


def build(library: str, path: Path, function: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """The library's gradient of a program, called without arguments; ImportError without it."""
    builders = {"autograd": autograd_gradient, "jax": jax_gradient, "torch": torch_gradient}
    return builders[library](path, function, wrt, args)


def autograd_gradient(path: Path, function: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """HIPS/autograd on the program's own text."""
    import autograd

    f = rewritten(path, "import autograd.numpy as np", {})[function]
    gradient = autograd.grad(f, wrt if len(wrt) > 1 else wrt[0])
    return lambda: gradient(*args)


def torch_gradient(path: Path, function: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """PyTorch on the program's own text, eagerly."""
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    replacements = {"np.max": "torch.amax", "np.array": "torch.stack", "np.": "torch."}
    f = rewritten(path, "import torch", replacements)[function]
    leaves = []

    def tensor(value: Any, active: bool) -> Any:
        if isinstance(value, list):
            return [tensor(part, active) for part in value]
        if isinstance(value, dict):
            return {key: tensor(part, active) for key, part in value.items()}
        if not active and not isinstance(value, np.ndarray):
            return value
        result = torch.tensor(value, requires_grad=active)
        if active:
            leaves.append(result)
        return result

    given = [tensor(value, i in wrt) for i, value in enumerate(args)]
    return lambda: torch.autograd.grad(f(*given), leaves)


def jax_gradient(path: Path, function: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """JAX, compiled by jit for the CPU, with its arrays made beforehand."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    name = path.stem
    if name in ("newton", "lynx_hare"):
        raise CannotExpressError(NO_WHILE)
    if name in _JAX:
        f = _JAX[name]()
    else:
        f = rewritten(path, "import jax.numpy as np", {})[function]
    static = tuple(i for i, value in enumerate(args) if isinstance(value, int))
    gradient = jax.jit(jax.grad(f, wrt if len(wrt) > 1 else wrt[0]), static_argnums=static)
    given = [
        value if i in static else jax.tree.map(jax.numpy.asarray, value)
        for i, value in enumerate(args)
    ]
    return lambda: jax.block_until_ready(gradient(*given))


def _jax_branches() -> Callable:
    import jax
    import jax.numpy as jnp

    def middle(x):
        return jnp.exp(x) * x**2

    def lower(x):
        return jax.lax.cond(x > 0.0, middle, lambda x: -x * x, x)

    return lambda x: jax.lax.cond(x > 1.0, lambda x: x**3 * x, lower, x)


def _jax_recurrence() -> Callable:
    import jax
    import jax.numpy as jnp

    def rnn(W, b, xs):
        def step(h, x):
            return jnp.tanh(W @ h + x + b), None

        h, _ = jax.lax.scan(step, jnp.zeros(W.shape[0]), xs)
        return jnp.sum(h * h)

    return rnn


def _jax_enumerate_sum() -> Callable:
    import jax
    import jax.numpy as jnp

    def f(xs):
        def step(s, pair):
            i, x = pair
            return s + i * x, None

        return jax.lax.scan(step, 0.0, (jnp.arange(len(xs)), xs))[0]

    return f


def _jax_early_exit() -> Callable:
    import jax
    import jax.numpy as jnp

    def f(xs, limit):
        def step(carry, x):
            s, done = carry
            runs = ~done & (x >= 0.0)
            s = jnp.where(runs, s * x, s)
            return (s, done | (runs & (s > limit))), None

        (s, done), _ = jax.lax.scan(step, (1.0, False), xs)
        return jnp.where(done, jnp.log(s), s)

    return f


def _jax_calls() -> Callable:
    import jax
    import jax.numpy as jnp

    def simulate(x0, v0, forces, dt):
        def step(state, force):
            x, v = state
            v = v + dt * (force - jnp.sin(x))
            return (x + dt * v, v), None

        (x, v), _ = jax.lax.scan(step, (x0, v0), forces)
        return x * x + v * v

    return simulate


_JAX = {
    "branches": _jax_branches,
    "recurrence": _jax_recurrence,
    "enumerate_sum": _jax_enumerate_sum,
    "early_exit": _jax_early_exit,
    "calls": _jax_calls,
}
