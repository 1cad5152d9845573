"""Programs that use operators: each is differentiated, backward and forward."""

import numpy as np
import pytest
from test_jvp import moved

from s2sad import grad, jvp, value_and_grad

X = np.array([1.2, 0.7, -0.3, 0.4])
ALONG = np.array([0.3, -1.0, 0.5, 2.0])


def check(f, *args):
    """Hold the gradient by the first argument, and the tangent along one, beside differences."""

    def at(t):
        return f(moved(args[0], along, t), *args[1:])

    along = ALONG if np.ndim(args[0]) else 1.0
    wanted = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    assert np.sum(grad(f)(*args) * along) == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    found = jvp(f, args, [along, *[None] * (len(args) - 1)])[1]
    assert found == pytest.approx(wanted, rel=1e-7, abs=1e-9)


def bent(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2 + 0.1 * np.sin(x[:-1]))


# --- parameters in structures --------------------------------------------------------------------


def squares(p):
    return np.sum(p["w"] ** 2 * p["b"])


def layers(p):
    return np.sum(np.tanh(p["W"] @ p["b"]) ** 2) * p["s"]


def start(x):
    return {"w": x, "b": 2.0 * x}


def deep(x):
    return {"W": np.outer(x, x), "b": np.sin(x), "s": 1.0 + x[0]}


def of_a_display(x):
    g = grad(squares)({"w": x, "b": 2.0 * x})
    return np.sum(g["w"] * g["b"])


def of_a_dict(x):
    p = start(x)
    g = grad(lambda p: squares(p) * x[0])(p)
    return np.sum(g["w"] * g["b"])


def of_a_list(x):
    a, b = grad(lambda rows: np.sum(rows[0] ** 2 * rows[1]))([x, 2.0 * x])
    return np.sum(a * b)


def trained_by_name(x):
    p = start(x)
    for _ in range(3):
        g = grad(squares)(p)
        p = {"w": p["w"] - 0.1 * g["w"], "b": p["b"] - 0.1 * g["b"]}
    return squares(p)


def trained_by_key(x):
    p = start(x)
    for _ in range(3):
        g = grad(squares)(p)
        p = {k: p[k] - 0.1 * g[k] for k in p}
    return squares(p)


def trained_of_other_kinds(x):
    p = deep(x)
    for _ in range(2):
        g = grad(layers)(p)
        p = {k: v - 0.1 * g[k] for k, v in p.items()}
    return layers(p)


def trained_in_place(x):
    p = deep(x)
    for _ in range(2):
        _, g = value_and_grad(layers)(p)
        for k in p:
            p[k] = p[k] - 0.1 * g[k]
    return layers(p)


STRUCTURES = [
    of_a_display,
    of_a_dict,
    of_a_list,
    trained_by_name,
    trained_by_key,
    trained_of_other_kinds,
    trained_in_place,
]


@pytest.mark.parametrize("f", STRUCTURES)
def test_structures(f):
    check(f, X)
