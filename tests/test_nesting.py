"""Operators in operators, by s2sad and by JAX: gradients, tangents and second derivatives."""

import inspect

import nesting
import nesting_fields
import numpy as np
import pytest

from s2sad import Error, grad, hvp, jvp

X = np.array([1.2, 0.7, -0.3, 0.4])
ALONG = np.cos(X)
BY_NAME = {f.__name__: f for m in (nesting, nesting_fields) for f in m.PROGRAMS}
REFUSED = {"by_the_rate", "pulled_in_a_loop", "raveled"}
ONCE = {"stein"}  # its second derivatives are refused


@pytest.fixture(scope="module")
def beside():
    """Return the programs with JAX's operators."""
    jax = pytest.importorskip("jax")
    pytest.importorskip("jax.flatten_util")
    jax.config.update("jax_enable_x64", True)

    def named(operator):
        return lambda f, wrt=0, has_aux=False: operator(f, argnums=wrt, has_aux=has_aux)

    space = {n: named(getattr(jax, n)) for n in ("grad", "value_and_grad", "hessian", "jacobian")}
    space |= {"np": jax.numpy, "jvp": jax.jvp, "vjp": jax.vjp}
    space |= {"tree_map": jax.tree_util.tree_map, "ravel": jax.flatten_util.ravel_pytree}
    space["hvp"] = lambda f, x, v: jax.jvp(jax.grad(f), x, v)[1]
    spaces = []
    for module in (nesting, nesting_fields):
        lines = inspect.getsource(module).splitlines(keepends=True)
        ours = ("import", "from s2sad")
        text = "".join(line for line in lines if not line.startswith(ours))
        spaces.append(own := dict(space))
        exec(compile(text, "<nesting by JAX>", "exec"), own)
        own["pull1"] = lambda pull, y: pull(y)[0]

    def wanted(name):
        gradient = jax.grad(next(s[name] for s in spaces if name in s))
        return tuple(map(np.asarray, jax.jvp(gradient, (X,), (ALONG,))))

    return wanted


@pytest.mark.full
@pytest.mark.parametrize("name", BY_NAME)
def test_beside_jax(name, beside):
    f = BY_NAME[name]
    if name in REFUSED:
        with pytest.raises(Error):
            grad(f)(X)
        return
    gradient, product = beside(name)
    scale = max(np.max(np.abs(gradient)), 1e-6)
    assert grad(f)(X) == pytest.approx(gradient, rel=1e-9, abs=1e-9 * scale)
    assert jvp(f, (X,), (ALONG,))[1] == pytest.approx(gradient @ ALONG, rel=1e-9, abs=1e-9 * scale)
    if name in ONCE:
        with pytest.raises(Error):
            hvp(f, (X,), (ALONG,))
        return
    scale = max(np.max(np.abs(product)), 1e-6)
    assert hvp(f, (X,), (ALONG,)) == pytest.approx(product, rel=1e-8, abs=1e-8 * scale)
