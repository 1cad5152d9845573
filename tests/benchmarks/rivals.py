"""The benchmark programs for HIPS/autograd, JAX (jit, CPU) and PyTorch (eager).

autograd and PyTorch run the program's own text with NumPy's name replaced. JAX traces, so what has
control flow is written anew with its scan and cond, as its users do.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WRITING = ("heat", "shallow_water", "lu", "lstm")
LIBRARIES = ("autograd", "jax", "torch")
NO_WRITES = "arrays cannot be written in place"
OVERWRITTEN = "what is written in place is needed again: RuntimeError in backward"
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

    if path.stem in WRITING:
        raise CannotExpressError(NO_WRITES)
    f = rewritten(path, "import autograd.numpy as np", {})[function]
    gradient = autograd.grad(f, wrt if len(wrt) > 1 else wrt[0])
    return lambda: gradient(*args)


def torch_gradient(path: Path, function: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """PyTorch on the program's own text, eagerly."""
    import torch

    if path.stem in WRITING and path.stem != "heat":
        raise CannotExpressError(OVERWRITTEN)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    replacements = {"np.max": "torch.amax", "np.array": "torch.stack", "np.": "torch."}
    replacements[".copy()"] = ".clone()"
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
    if name == "lu":
        raise CannotExpressError("row exchanges in loops: only unrolled, or with linalg.solve")
    if name in _JAX:
        f = _JAX[name]()
    else:
        f = rewritten(path, "import jax.numpy as np", {})[function]
    static = tuple(i for i, value in enumerate(args) if isinstance(value, int))
    if name == "shallow_water":
        static = (6,)
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


def _jax_heat() -> Callable:
    import jax
    import jax.numpy as jnp

    def loss(x, final, alpha, steps, weight):
        def step(T, _):
            inner = T[1:-1, 1:-1] + alpha * (
                T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4.0 * T[1:-1, 1:-1]
            )
            T = T.at[1:-1, 1:-1].set(inner)
            T = T.at[0, :].set(T[1, :])
            T = T.at[-1, :].set(T[-2, :])
            T = T.at[:, 0].set(T[:, 1])
            return T.at[:, -1].set(T[:, -2]), None

        start = x.reshape(final.shape)
        misfit = jax.lax.scan(step, start, None, length=steps)[0] - final
        down = start[1:, :] - start[:-1, :]
        across = start[:, 1:] - start[:, :-1]
        return jnp.mean(misfit**2) + weight * (jnp.mean(down**2) + jnp.mean(across**2))

    return loss


def _jax_shallow_water() -> Callable:
    import jax
    import jax.numpy as jnp

    def loss(x, eta, seen, rows, columns, dt, steps):
        depth = x.reshape(eta.shape)
        ny, nx = eta.shape

        def step(state, _):
            eta, u, v = state
            u = u.at[:, 1:-1].add(-dt * (eta[:, 1:] - eta[:, :-1]))
            v = v.at[1:-1, :].add(-dt * (eta[1:, :] - eta[:-1, :]))
            water = depth + eta
            flux_x = 0.5 * u[:, 1:-1] * (water[:, 1:] + water[:, :-1])
            flux_y = 0.5 * v[1:-1, :] * (water[1:, :] + water[:-1, :])
            flux_x = jnp.pad(flux_x, ((0, 0), (1, 1)))
            flux_y = jnp.pad(flux_y, ((1, 1), (0, 0)))
            eta = eta - dt * (flux_x[:, 1:] - flux_x[:, :-1] + flux_y[1:, :] - flux_y[:-1, :])
            return (eta, u, v), eta[rows, columns]

        start = (eta, jnp.zeros((ny, nx + 1)), jnp.zeros((ny + 1, nx)))
        records = jax.lax.scan(step, start, None, length=steps)[1]
        return jnp.mean((records - seen) ** 2) / jnp.mean(seen**2)

    return loss


def _jax_lstm() -> Callable:
    import jax
    import jax.numpy as jnp

    def loss(params, xs):
        n = len(params["V"])

        def step(state, x):
            h, c = state
            z = params["W"] * x + params["U"] @ h + params["b"]
            write, keep, read = jax.nn.sigmoid(z[: 3 * n].reshape(3, n))
            c = keep * c + write * jnp.tanh(z[3 * n :])
            h = read * jnp.tanh(c)
            return (h, c), params["V"] @ h + params["a"]

        out = jax.lax.scan(step, (jnp.zeros(n), jnp.zeros(n)), xs[:-1])[1]
        return jnp.mean((out - xs[1:]) ** 2)

    return loss


_JAX = {
    "heat": _jax_heat,
    "shallow_water": _jax_shallow_water,
    "lstm": _jax_lstm,
    "branches": _jax_branches,
    "recurrence": _jax_recurrence,
    "enumerate_sum": _jax_enumerate_sum,
    "early_exit": _jax_early_exit,
    "calls": _jax_calls,
}
