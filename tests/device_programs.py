"""Programs for a GPU, with arguments of NumPy's; tests/test_cupy.py puts them on a device.

`import cupy` finds what is installed there: CuPy, or the stand-in of tests/strict.py.
"""

import cupy as cp
import numpy as np

PROGRAMS = {}
rng = np.random.default_rng(12)


def prog(*args):
    def deco(f):
        PROGRAMS[f.__name__] = f, args
        return f

    return deco


def r(*shape):
    return rng.standard_normal(shape)


@prog(r(3), r(5, 3), r(5))
def least_squares(w, X, y):
    residual = X @ w - y
    return 0.5 * cp.dot(residual, residual) / len(y)


@prog([(r(3, 4), r(4)), (r(4, 2), r(2))], r(5, 3), r(5, 2))
def mlp(params, x, y):
    for W, b in params:
        x = cp.tanh(x @ W + b)
    return cp.mean((x - y) ** 2)


@prog(r(8), 0.2)
def stencil(u, c):
    for _ in range(3):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return cp.sum(u * u)


@prog(r(3, 4), r(5, 3), np.eye(4)[[0, 2, 1, 3, 0]])
def cross_entropy(W, x, labels):
    logits = x @ W
    shifted = logits - cp.max(logits, axis=1, keepdims=True)
    log_p = shifted - cp.log(cp.sum(cp.exp(shifted), axis=1, keepdims=True))
    return -cp.mean(cp.sum(labels * log_p, axis=1))


@prog(r(6))
def from_the_array(x):
    xp = cp.get_array_module(x)
    y = xp.exp(-x * x)
    return xp.sum(y) * xp.max(x)


@prog(r(6))
def by_the_standard(x):
    xp = x.__array_namespace__()
    return xp.mean(xp.sin(x) * x)


@prog(r(4), r(7), np.array([0, 1, 1, 3, 0, 2, 3]))
def scatter(x, weights, index):
    sums = cp.zeros(4)
    cp.add.at(sums, index, weights * x[index])
    return cp.sum(sums**2)


@prog(r(6))
def called_by_numpys_names(x):
    y = np.sin(x)
    return np.sum(np.where(x > 0.0, y * x, x)) + np.linalg.norm(y)


@prog(r(4), r(4))
def there_and_back(x, host):
    scaled = x * cp.asarray(host)
    return np.sum(cp.asnumpy(scaled) ** 2)


@prog(r(5))
def element_by_element(x):
    total = 0.0
    for i in range(1, len(x)):
        total = total + x[i] * x[i - 1]
    return total


@prog(r(5))
def elements_are_views(x):
    first = x[0]
    x[0] = x[1] * x[2]
    return first * x[3]


@prog(r(5), 0.3)
def number_from_the_host(x, rate):
    y = x - rate * cp.cos(x)
    return cp.sum(y * y)
