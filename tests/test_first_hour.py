"""What a newcomer tries in the first hour: library functions given as they are, *args, and small
programs of ordinary Python, each held against differences in both modes and to second order.
"""

import copy
import functools
import math
import operator
import pickle
import re
import warnings

import numpy as np
import programs
import pytest
from scipy import linalg, special

import s2sad
from s2sad import Active, Const, Duplicated, Forward, Reverse

X = np.array([0.7, -1.3, 0.4])
W = np.array([1.0, 2.0, 3.0])
M = np.array([[2.0, 0.3], [0.1, 1.5]])

HEAD = """
import bisect
import copy
import functools
import itertools
import math
import operator
import sys
from bisect import insort
from functools import reduce

import numpy as np

INFO = np.finfo(float)


def machine():
    return np.iinfo(np.int32)


def picked(x):
    marks = np.zeros(1, dtype=int)
    marks[0] = 1
    return x[marks[0]]


def moved(y, a, b):
    y[0] += a
    return a + b


def raised(y, v):
    y[0] += v
    return y[0] * v


def walk(x, m, marks):
    if m == 0:
        return x[marks[0]] * x[marks[1]]
    total = 0.0
    for j in range(3):
        marks[m - 1] = j
        total += walk(x, m - 1, marks)
    return total


def permanent(x, m, used):
    if m == 3:
        return 1.0
    total = 0.0
    for j in range(3):
        if not used[j]:
            used[j] = True
            total += x[j] * (m + 1) * permanent(x, m + 1, used)
            used[j] = False
    return total


def trails(x, m, trail):
    if m == 0:
        return np.prod(x[trail])
    total = 0.0
    for j in range(3):
        trail.append(j)
        total += trails(x, m - 1, trail)
        trail.pop()
    return total


def marked(x, m, marks):
    if m == 0:
        return x[marks[0]]
    marks[0] = m
    s = x[marks[0]] * marked(x, m - 1, marks)
    return s * x[marks[0]]


def swapped(x, m, a, b):
    if m == 0:
        return x[a[0]] * x[b[0]] ** 2
    a[0] = m
    b[0] = a[0] - 1
    return swapped(x, m - 1, b, a) * x[a[0]]


def worded(x, m, words):
    if m == 0:
        return x[len(words[0])]
    words[0] = words[0] + "a"
    return worded(x, m - 1, words) * x[m]


def filled(x, m, out, marks):
    if m == 0:
        return x[marks[0]]
    marks[0] = m
    out[m] = x[m] * x[marks[0] - 1]
    return filled(x, m - 1, out, marks) + out[m]


def chosen(x, marks, out):
    marks[0] = 1
    out[marks[0]] = x[0] * x[1]
    return x[marks[0]]


"""

# A line that begins with "# " names a program, what follows is the body of f(x).
PROGRAMS = """
# a function that only one version of a library has
old = lambda v: np.trapezoid(v) if hasattr(np, "trapezoid") else np.trapz(v)
if hasattr(math, "never_there"):
    return math.never_there(x)
return old(x * x)
# ndarray allocates
out = np.ndarray((3,), float)
for i in range(3):
    out[i] = x[i] ** 2
return np.sum(out * x)
# ndarray by keywords, in columns
out = np.ndarray(shape=(3, 2), dtype=x.dtype, order="F")
out[:, 0] = x
out[:, 1] = np.sin(x)
return np.sum(out @ np.array([1.0, 2.0]) * x)
# ndarray of integers
order = np.ndarray(3, dtype=int)
order[:] = [2, 1, 0]
return x[order] @ (x * x)
# finfo
return np.sum(np.log(x * x + np.finfo(float).eps))
# finfo of a dtype, in a test
info = np.finfo(x.dtype)
s = 0.0
for v in x:
    if abs(v) > info.resolution:
        s += v ** 3
return s
# finfo that is global, and a bound that is replaced
best = INFO.max
for v in x:
    best = min(best, v * v)
return best * best + np.sum(x) * INFO.eps
# iinfo
least, at = machine().max, -1
for i in range(3):
    k = int(x[i] * 9.0) % 7
    if k < least:
        least, at = k, i
return x[at] ** 2
# float_info
best = -sys.float_info.max
for v in x:
    best = v if v > best else best
return best * best / (best + sys.float_info.epsilon)
# bisect in a list of numbers
knots = [-2.0, 0.0, 1.0, 2.0]
return sum(knots[bisect.bisect(knots, v)] * v ** 2 for v in x)
# bisect in an array, and interpolation
knots = np.linspace(-2.0, 2.0, 9)
s = 0.0
for v in x:
    k = bisect.bisect_right(knots, v) - 1
    t = (v - knots[k]) / (knots[k + 1] - knots[k])
    s += (1.0 - t) * knots[k] ** 3 + t * knots[k + 1] ** 3
return s
# bisect in what is differentiated
ts = sorted(v * v for v in x)
return ts[bisect.bisect_left(ts, 0.3)] * x[0]
# insort
best = []
for v in x:
    insort(best, v * v)
return best[0] + 2.0 * best[1] * best[2]
# insort on the left, of what is there
best = [x[0]]
for v in x[1:]:
    bisect.insort_left(best, v * v)
return best[0] * best[1] + best[2] ** 2
# max of several by a key
return max(x[0], x[1], key=abs) ** 3
# min of three by a lambda
return min(x[0] * x[1], 2.0, x[2], key=lambda v: -v) ** 2
# max of several by a key, in a loop
s = 0.0
for i in range(3):
    s += min(x[i], x[(i + 1) % 3], key=lambda v: abs(v - 0.5)) ** 2
return s
# max of arrays by a key
return np.sum(max(x, x ** 2, key=np.sum) * x)
# max of what is spread, by a key
return max(*x, key=abs) ** 2
# max by no key
return max(x[0], x[1], key=None) ** 2 + min(list(x), key=None) ** 3
# reduce of a generator
return reduce(lambda a, b: a * b, (v * v for v in x))
# reduce of a generator, from a start
return reduce(operator.mul, (v for v in x if v < 0.6), 2.0)
# reduce of a generator that has a name
squares = (v * v for v in x)
return reduce(operator.add, squares, 1.0) ** 2
# reduce of a generator of matrices
return np.sum(reduce(np.matmul, (np.outer(x, x) * k for k in (1.0, 2.0))))
# reduce of a generator of pairs of loops
return reduce(operator.add, (math.sin(v) * w for v in x for w in (1.0, 2.0) if v > -1.0))
# reduce that writes what its generator reads, in turns
y = np.array([1.0])
return reduce(lambda a, b: moved(y, a, b), (y[0] * w for w in x), 0.5)
# reduce whose generator writes what the function reads, in turns
y = np.array([1.0])
return reduce(lambda a, b: a * b + y[0], (raised(y, w) for w in x), 0.5)
# reduce in a loop, and names of its own
v, s = 2.0, 0.0
for i in range(2):
    s += reduce(lambda a, v: a * v + i, (v * v for v in x), s)
return s * v
# generators handed to max, tuple and np.array
t = tuple(v * v for v in x)
return max(v * w for v in x for w in t) * t[0] + np.sum(np.array(tuple(v**3 for v in x)))
# list of integers that marks the way of a recursion
return walk(x, 2, [0, 0])
# array of integers that marks the way of a recursion
return walk(x, 2, np.zeros(2, dtype=int))
# list of flags
return permanent(x, 0, [False] * 3)
# list of integers that grows and shrinks
return trails(x, 2, [])
# marks that are read after the call, by another name
a = [0]
b = a
y = marked(x, 2, a)
return y * x[b[0]] ** 2
# marks in a dict
d = {"m": [0, 1]}
y = marked(x, 2, d["m"])
return y * x[d["m"][0]] ** 2
# marks written between calls in a loop
a, s = [0], 0.0
for i in range(3):
    a[0] = i
    s += marked(x, i, a) * x[a[0]]
return s
# two lists of marks that change places
return swapped(x, 2, [0], [1])
# list of words
w = [""]
return worded(x, 2, w) * x[len(w[0]) - 1]
# marks beside an array that is filled
out = np.zeros(3)
y = filled(x, 2, out, [0])
return y * np.sum(out)
# np.isscalar of each of several kinds
def doubled(v):
    if np.isscalar(v) and v > 0.0:
        return v * 3.0
    elif np.isscalar(v):
        return v * 5.0
    return np.sum(v) * 2.0
return doubled(x[0]) * doubled(x[1]) * doubled(x)
# np.isscalar in an expression
def listed(v):
    return [v] if np.isscalar(v) else list(v)
return sum(v * v for v in listed(x)) * listed(x[1])[0]
# np.isscalar of a setting that may be None
def weighed(v, p=None):
    if p is None or np.isscalar(p):
        return np.sum(v)
    return v @ p
return weighed(x) * weighed(x, 2.0) * weighed(x, x)
# np.ndim of each of several kinds
def norm(v):
    if np.ndim(v) > 1:
        return np.sum(v**2)
    if np.ndim(v) == 1:
        return v @ v
    return abs(v)
return norm(np.outer(x, x)) + norm(x) * norm(x[1])
# np.shape of each of several kinds
def norm(v):
    if np.shape(v) == ():
        return v * 3.0
    return np.sum(v) * 2.0 if np.shape(v) != () else 0.0
return norm(x[0]) * norm(x)
# integers that a callee writes
return picked(x) ** 2
# integers that are given and written
marks, out = np.zeros(2, dtype=int), np.zeros(3)
y = chosen(x, marks, out)
return np.sum(out) * y * x[marks[0]]
"""
FOUND = re.findall(r"# (.+)\n((?:(?!# ).*\n)+)", PROGRAMS)


def loaded(body):
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return programs.load(f"{HEAD}def f(x):\n{lines}\n", "first_hour").f


def central(f, x, step=1e-6):
    """Return central differences of a result by the entries of a vector, which come first."""
    rows = step * np.eye(len(x))
    return np.array([(np.asarray(f(x + e)) - f(x - e)) / (2 * step) for e in rows])


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in FOUND])
def test_programs(body):
    f = loaded(body)
    x = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, gradient = s2sad.value_and_grad(f)(x)
        along, slope = s2sad.jvp(f, (x,), (W,))
        second = s2sad.hessian(f)(x)
    assert value == along == f(X.copy())
    assert (x == X).all()
    assert gradient == pytest.approx(central(f, X), rel=1e-6, abs=1e-7)
    assert slope == pytest.approx(gradient @ W, rel=1e-9)
    assert second == pytest.approx(central(s2sad.grad(f), X), rel=1e-5, abs=1e-6)


def marking(x, marks):
    return marked(x, 2, marks) * x[marks[0]]


def marked(x, m, marks):
    if m == 0:
        return x[marks[0]]
    marks[0] = m
    s = x[marks[0]] * marked(x, m - 1, marks)
    return s * x[marks[0]]


@pytest.mark.parametrize("make", [list, np.array])
def test_marks_that_are_given(make):
    marks = make([0])
    wanted = central(lambda x: marking(x, make([0])), X)
    assert s2sad.grad(marking)(X, marks) == pytest.approx(wanted, rel=1e-6)
    _, pullback = s2sad.vjp(marking, X, marks, wrt=0)
    assert pullback(1.0) == pytest.approx(wanted, rel=1e-6)
    assert pullback(2.0) == pytest.approx(2.0 * wanted, rel=1e-6)
    assert list(marks) == [0]
    _, (x_bar, _) = s2sad.autodiff(Reverse, marking, Active(X), Const(marks))
    assert x_bar == pytest.approx(wanted, rel=1e-6)
    assert list(marks) == [1]
    with pytest.raises(s2sad.AliasError):
        s2sad.grad(lambda x, a, b: marking(x, a) * x[b[0]])(X, marks, marks)


def gathered(x, m, seen):
    if m == 0:
        return x[0]
    seen.append(x)
    return gathered(x, m - 1, seen) * np.sum(seen[-1])


def test_arrays_among_marks_are_refused():
    start = [1]
    with pytest.raises(s2sad.Error):
        s2sad.grad(lambda x: gathered(x, 2, list(start)))(X)


def test_arrays_in_a_list_that_a_recursion_fills():
    """What was in the list at the end was taken for what it was made of, in silence."""
    start = []

    def f(x):
        return gathered(x, 2, list(start))

    assert s2sad.grad(f)(X) == pytest.approx(central(f, X), rel=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        "y = np.array([1.0])\nreturn reduce(lambda a, b: moved(y, a, b), (y[0] * w for w in x))",
        "y = np.array([1.0])\nreturn reduce(operator.mul, (raised(y, w) for w in x))",
    ],
)
def test_what_takes_turns_where_there_is_no_start(body):
    f = loaded(body)
    assert s2sad.grad(f)(X) == pytest.approx(central(f, X), rel=1e-6)


# --- functions that have a rule, given as they are -----------------------------------------------

GIVEN = [
    (np.sin, (0.3,), {}),
    (np.sin, (2,), {}),
    (np.arctan2, (0.3, 2.0), {}),
    (np.sum, (X,), {}),
    (np.sum, (X,), {"axis": 0}),
    (np.mean, (M,), {"axis": None, "keepdims": False}),
    (np.linalg.norm, (X,), {}),
    (np.linalg.norm, (M, "fro"), {}),
    (np.linalg.norm, (X,), {"ord": 3}),
    (np.linalg.det, (M,), {}),
    (np.dot, (X, W), {}),
    (np.einsum, ("i,i->", X, W), {"wrt": 1}),
    (np.add.reduce, (X,), {}),
    (np.ndarray.sum, (X,), {}),
    (X.dot, (W,), {}),
    (np.power, (0.3, 2), {}),
    (np.interp, (0.4, W, X), {}),
    (math.sin, (0.3,), {}),
    (math.hypot, (3.0, 4.0), {}),
    (math.fsum, ([3.0, 4.0],), {}),
    (abs, (-0.3,), {}),
    (max, (0.3, 0.5), {}),
    (sum, ([0.3, 0.5],), {}),
    (pow, (0.3, 2.0), {}),
    (float, (0.3,), {}),
    (operator.mul, (0.3, 2.0), {}),
    (special.gamma, (2.5,), {}),
    (special.logsumexp, (X,), {}),
    (functools.partial(np.sum, axis=0), (X,), {}),
    (functools.partial(np.dot, W), (X,), {}),
]


def numbers(structure):
    return s2sad.ravel(structure)[0]


@pytest.mark.parametrize("f, args, settings", GIVEN)
def test_a_librarys_function_is_differentiated_as_it_is(f, args, settings):
    settings = dict(settings)
    at = settings.pop("wrt", 0)
    wrt = {"wrt": at} if at else {}
    x = float(args[at]) if isinstance(args[at], int) else args[at]
    vector, unravel = s2sad.ravel(x)

    def called(moved):
        return f(*args[:at], unravel(moved), *args[at + 1 :], **settings)

    def slope(moved):
        return numbers(
            s2sad.grad(f, **wrt)(*args[:at], unravel(moved), *args[at + 1 :], **settings)
        )

    value, gradient = s2sad.value_and_grad(f, **wrt)(*args, **settings)
    assert value == pytest.approx(f(*args, **settings))
    assert numbers(gradient) == pytest.approx(central(called, vector), rel=1e-6, abs=1e-8)
    assert numbers(s2sad.grad(f, **wrt)(*args, **settings)) == pytest.approx(numbers(gradient))
    jacobian = s2sad.jacobian(f, **wrt)(*args, **settings)
    assert numbers(jacobian) == pytest.approx(numbers(gradient))
    second = s2sad.hessian(f, **wrt)(*args, **settings)
    assert numbers(second) == pytest.approx(central(slope, vector).ravel(), rel=1e-5, abs=1e-6)


PRODUCTS = [
    (np.cumsum, (X,)),
    (np.linalg.solve, (M, np.array([1.0, 2.0]))),
    (linalg.solve, (M, np.array([1.0, 2.0]))),
    (np.where, (X > 0.5, X, W)),
    (np.reshape, (M, (4,))),
    (np.concatenate, ([X, W],)),
    (np.multiply.outer, (X, W)),
    (np.fft.rfft, (X,)),
    (np.linalg.eigh, (M @ M.T,)),
    (np.ndarray.reshape, (M, 4)),
]


@pytest.mark.parametrize("f, args", PRODUCTS, ids=lambda one: getattr(one, "__name__", ""))
def test_products_of_a_librarys_function(f, args):
    wanted, back = s2sad.vjp(lambda *given: f(*given), *args)
    y, pullback = s2sad.vjp(f, *args)
    assert numbers(y) == pytest.approx(numbers(wanted))
    assert repr(pullback(y)) == repr(back(y))
    tangents = tuple(None if i == len(args) - 1 and i else a for i, a in enumerate(args))
    tangents = tuple(None if getattr(t, "dtype", X.dtype) != X.dtype else t for t in tangents)
    if any(t is not None for t in tangents):
        assert repr(s2sad.jvp(f, args, tangents)) == repr(
            s2sad.jvp(lambda *given: f(*given), args, tangents)
        )


def test_the_other_operators_take_a_librarys_function():
    assert s2sad.hvp(np.prod, (X,), (W,)) == pytest.approx(s2sad.hessian(np.prod)(X) @ W)
    assert s2sad.autodiff(Reverse, np.dot, Active(X), Const(W))[1][0] == pytest.approx(W)
    shadow = np.ones(3)
    s2sad.autodiff(Reverse, np.dot, Duplicated(X.copy(), shadow), Const(W))
    assert shadow == pytest.approx(1.0 + W)
    assert s2sad.autodiff(Forward, np.sin, Duplicated(0.3, 2.0))[1] == 2.0 * math.cos(0.3)
    s2sad.check_grads(np.linalg.solve, (M, np.array([1.0, 2.0])))
    assert "x: a float" in str(s2sad.explain(np.sin, args=(0.3,)))
    assert s2sad.differentiate(np.sin).grad(0.3) == math.cos(0.3)
    assert s2sad.differentiate(np.prod).hessian(X) == pytest.approx(s2sad.hessian(np.prod)(X))
    assert pickle.loads(pickle.dumps(s2sad.grad(np.sin)))(0.3) == math.cos(0.3)
    assert s2sad.grad(s2sad.grad(np.sin))(0.3) == -math.sin(0.3)
    assert s2sad.grad(s2sad.grad(s2sad.grad(math.sin)))(0.3) == -math.cos(0.3)


def test_positions_and_names_of_a_librarys_arguments():
    assert s2sad.grad(np.dot, wrt=1)(X, W) == pytest.approx(X)
    assert s2sad.grad(np.dot, wrt="b")(X, W) == pytest.approx(X)
    assert s2sad.grad(np.power, wrt="x2")(0.5, 2.0) == pytest.approx(0.25 * math.log(0.5))
    assert s2sad.grad(np.power, wrt=(1, 0))(0.5, 2) == pytest.approx((0.25 * math.log(0.5), 1.0))
    assert s2sad.grad(np.sum)(a=X, axis=0) == pytest.approx(np.ones(3))
    with pytest.raises(s2sad.ActivityError, match="names no parameter"):
        s2sad.grad(np.sin, wrt=3)(0.3)


def test_each_setting_has_its_own_derivative():
    g = s2sad.vjp
    assert g(np.sum, M, 0)[1](np.array([1.0, 2.0])).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert g(np.sum, M, 1)[1](np.array([1.0, 2.0])).tolist() == [[1.0, 1.0], [2.0, 2.0]]
    norm = s2sad.grad(np.linalg.norm)
    assert norm(X, 1) == pytest.approx(np.sign(X))
    assert norm(X, 2) == pytest.approx(X / np.linalg.norm(X))


def test_the_text_of_a_librarys_function(tmp_path):
    text = s2sad.source(np.sum, args=(M, 0), mode="vjp")
    assert "np.sum(a, axis=0)" in text or "np.sum(a, 0)" in text
    path = s2sad.grad(np.linalg.norm).emit(tmp_path / "norm_grad.py", X, ord=3)
    space = {}
    exec(path.read_text(), space)
    assert space["norm_grad"](X, ord=3) == pytest.approx(s2sad.grad(np.linalg.norm)(X, ord=3))
    with pytest.raises(ValueError, match="derived for ord=3"):
        space["norm_grad"](X, ord=2)


g_sin = s2sad.grad(np.sin)


def made_of(f):
    def inner(x):
        return s2sad.grad(f)(x[0]) * x[1]

    return inner


def applied(operator_, f, x):
    return operator_(f)(x)


def wrapped(f):
    def inner(x):
        return np.sum(f(x) ** 2)

    return inner


@pytest.mark.parametrize(
    "f",
    [
        wrapped(np.cos),
        wrapped(np.cumsum),
        wrapped(np.ndarray.cumsum),
        wrapped(X.dot),
        wrapped(functools.partial(np.sum, axis=0)),
        made_of(np.cos),
        made_of(math.exp),
        lambda x: g_sin(x[0]) * x[1],
        lambda x: s2sad.grad(np.tanh)(x[0]) * x[1],
        lambda x: applied(s2sad.grad, np.cos, x[0]) * x[1],
        lambda x: np.sum(s2sad.jvp(np.sin, (x,), (x,))[1]),
    ],
)
def test_captured_and_handed_on(f):
    gradient = s2sad.grad(f)(X)
    assert gradient == pytest.approx(central(f, X), rel=1e-6)
    assert s2sad.jvp(f, (X,), (W,))[1] == pytest.approx(gradient @ W)
    assert s2sad.hessian(f)(X) == pytest.approx(central(s2sad.grad(f), X), rel=1e-5, abs=1e-6)


# --- functions that take any arguments -----------------------------------------------------------


def scaled(f):
    factor = 3.0

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        x = f(*args, **kwargs)
        return factor * x

    return wrapper


def bare(f):
    def wrapper(*args):
        return f(*args)

    return wrapper


@scaled
def loss(w, x):
    return np.sum(w * x**2)


@scaled
def clashing(factor, x, f=1.0):
    """Parameters whose names the wrapper reads."""
    return np.sum(factor * x**2) * f


@bare
def nameless(w, x):
    return np.sum(w * x**2)


class Model:
    def __init__(self, k):
        self.k = k

    @s2sad.differentiate
    def decorated(self, *args):
        return self.k * np.sum(args[0] * args[1] ** 2)

    def plain(self, *args):
        return self.k * np.sum(args[0] * args[1] ** 2)

    def __call__(self, *args):
        return self.plain(*args)


@s2sad.differentiate(wrt=1)
def second(*args):
    return np.sum(args[0] * args[1] ** 2)


def mixed(w, *rest, k=2.0, **more):
    total = k * np.sum(w)
    for i, r in enumerate(rest):
        total += (i + 1) * np.sum(r)
    for v in more.values():
        total += v**2
    return total


def annotated(w: Const, *args):
    return np.sum(w * args[0])


model = Model(3.0)
BY_W, BY_X = X**2, 2.0 * W * X
CALLS = [
    (loss, {}, (W, X), {}, 3.0 * BY_W),
    (loss, {"wrt": 1}, (W, X), {}, 3.0 * BY_X),
    (loss, {"wrt": -1}, (W, X), {}, 3.0 * BY_X),
    (loss, {"wrt": "x"}, (W, X), {}, 3.0 * BY_X),
    (loss, {"wrt": "x"}, (W,), {"x": X}, 3.0 * BY_X),
    (loss, {}, (), {"w": W, "x": X}, 3.0 * BY_W),
    (loss, {"wrt": ("x", "w")}, (W, X), {}, (3.0 * BY_X, 3.0 * BY_W)),
    (clashing, {}, (W, X), {}, 3.0 * BY_W),
    (clashing, {}, (), {"factor": W, "x": X}, 3.0 * BY_W),
    (clashing, {"wrt": "f"}, (W, X), {"f": 2.0}, 3.0 * np.sum(W * X**2)),
    (clashing, {"wrt": "factor"}, (W, X), {"f": 2.0}, 6.0 * BY_W),
    (nameless, {}, (W, X), {}, BY_W),
    (nameless, {"wrt": (0, 1)}, (W, X), {}, (BY_W, BY_X)),
    (functools.partial(nameless, W), {}, (X,), {}, BY_X),
    (model.plain, {}, (W, X), {}, 3.0 * BY_W),
    (model.plain, {"wrt": 1}, (W, X), {}, 3.0 * BY_X),
    (model, {"wrt": 1}, (W, X), {}, 3.0 * BY_X),
    (second, {}, (W, X), {}, BY_X),
    (lambda *xs: xs[0] * xs[1] ** 2, {}, (2, 3), {}, 9.0),
    (lambda *xs, n=2: xs[0] * xs[1] ** n, {"wrt": 1}, (2.0, 3.0), {"n": 3}, 54.0),
    (mixed, {}, (W, X), {"a": 3.0}, 2.0 * np.ones(3)),
    (mixed, {"wrt": 2}, (W, X, X), {"a": 3.0}, 2.0 * np.ones(3)),
    (mixed, {"wrt": "a"}, (W, X, X), {"a": 3.0}, 6.0),
    (mixed, {"wrt": "rest"}, (W, X, X), {"a": 1.0}, (np.ones(3), 2.0 * np.ones(3))),
    (mixed, {"wrt": "more"}, (W,), {"a": 3.0, "b": 4.0}, {"a": 6.0, "b": 8.0}),
    (annotated, {}, (W, X), {}, W),
]


@pytest.mark.parametrize("f, asked, args, kwargs, wanted", CALLS)
def test_positions_count_arguments_as_given(f, asked, args, kwargs, wanted):
    gradient = s2sad.grad(f, **asked)(*args, **kwargs)
    assert type(gradient) is type(wanted)
    assert numbers(gradient) == pytest.approx(numbers(wanted))
    value, again = s2sad.value_and_grad(f, **asked)(*args, **kwargs)
    assert value == f(*args, **kwargs)
    assert numbers(again) == pytest.approx(numbers(wanted))
    assert numbers(s2sad.jacobian(f, **asked)(*args, **kwargs)) == pytest.approx(numbers(wanted))


@pytest.mark.parametrize("f", [loss, nameless, model.plain, model.decorated, second])
def test_products_of_functions_that_take_any_arguments(f):
    factor = f(W, X) / np.sum(W * X**2)
    y, pullback = s2sad.vjp(f, W, X, wrt=(0, 1))
    w_bar, x_bar = pullback(1.0)
    assert w_bar == pytest.approx(factor * BY_W)
    assert x_bar == pytest.approx(factor * BY_X)
    assert s2sad.jvp(f, (W, X), (None, W))[1] == pytest.approx(factor * BY_X @ W)
    assert s2sad.hvp(f, (W, X), (None, W)) == pytest.approx(factor * 2.0 * W * W)
    assert s2sad.hessian(f, wrt=1)(W, X) == pytest.approx(factor * 2.0 * np.diag(W))
    shadow = np.zeros(3)
    _, (_, x_bar) = s2sad.autodiff(Reverse, f, Duplicated(W, shadow), Active(X))
    assert shadow == pytest.approx(factor * BY_W)
    assert x_bar == pytest.approx(factor * BY_X)
    dot = s2sad.autodiff(Forward, f, Const(W), Duplicated(X.copy(), W.copy()))[1]
    assert dot == pytest.approx(factor * BY_X @ W)
    s2sad.check_grads(f, (W, X))


def test_a_second_call_derives_nothing(monkeypatch):
    for f, args in ((nameless, (W, X)), (model.plain, (W, X)), (np.dot, (W, X))):
        gradient = s2sad.grad(f)
        first = gradient(*args)
        monkeypatch.setattr("s2sad.operators.derived.Derived._derive", None)
        assert numbers(gradient(*args)) == pytest.approx(numbers(first))
        assert numbers(s2sad.grad(f)(*args)) == pytest.approx(numbers(first))
        monkeypatch.undo()


def test_every_argument_has_a_cotangent():
    assert numbers(s2sad.vjp(nameless, W, X)[1](1.0)) == pytest.approx([*BY_W, *BY_X])
    assert numbers(s2sad.vjp(mixed, W, X, X)[1](1.0)) == pytest.approx(
        [2.0] * 3 + [1.0] * 3 + [2.0] * 3
    )


def test_decorated_functions_that_take_any_arguments():
    assert second.grad(W, X) == pytest.approx(BY_X)
    assert second.hessian(W, X) == pytest.approx(2.0 * np.diag(W))
    assert model.decorated.grad(W, X) == pytest.approx(3.0 * BY_W)
    assert model.decorated.jacobian(W, X) == pytest.approx(3.0 * BY_W)
    assert model.decorated.hessian(W, X) == pytest.approx(np.zeros((3, 3)))
    assert "def decorated_grad(self, args_0, args_1):" in model.decorated.grad.source(W, X)
    assert numbers(model.decorated.vjp(W, X)[1](1.0)) == pytest.approx([*3.0 * BY_W, *3.0 * BY_X])


def test_the_text_has_the_names_of_what_is_wrapped(tmp_path):
    text = s2sad.source(loss, args=(W, X))
    assert "def loss_grad(w, x):" in text
    assert "with respect to w" in text
    with pytest.raises(s2sad.ActivityError, match="wrt='q' names no parameter of loss"):
        s2sad.grad(loss, wrt="q")(W, X)
    with pytest.raises(s2sad.ActivityError, match="wrt=2 names no parameter"):
        s2sad.grad(loss, wrt=2)(W, X)


CUBES = """
import numpy as np

import s2sad


def cubes(p):
    return np.sum(p**3)


def outer(p, op):
    return np.sum(op(cubes)(p))


def applied(op, f, p):
    return op(f)(p)


def by_call(p):
    return outer(p, s2sad.grad)


def by_two(p):
    return np.sum(applied(s2sad.grad, cubes, p))


def by_value(p):
    value, gradient = applied(s2sad.value_and_grad, cubes, p)
    return value * np.sum(gradient)
"""


@pytest.mark.parametrize("name", ["by_call", "by_two", "by_value"])
def test_an_operator_that_is_handed_on_is_used_up(tmp_path, name):
    f = getattr(programs.load(CUBES, "operators"), name)
    text = s2sad.grad(f).source(X)
    assert "import s2sad" not in text
    space = {}
    exec(text, space)
    assert space[f"{name}_grad"](X) == pytest.approx(central(f, X), rel=1e-6)


g_loss = s2sad.grad(loss, wrt="x")


def test_derivatives_of_them_are_derived_again():
    for f in (
        lambda w, x: np.sum(g_loss(w, x) ** 2),
        lambda w, x: np.sum(s2sad.grad(loss, wrt=1)(w, x) ** 2),
        lambda w, x: np.sum(s2sad.grad(nameless, wrt=1)(w, 3.0**0.5 * x) ** 2) * 3.0,
    ):
        assert s2sad.grad(f, wrt=1)(W, X) == pytest.approx(72.0 * W**2 * X)
    assert s2sad.grad(s2sad.grad(lambda *xs: xs[0] ** 3))(2.0) == pytest.approx(12.0)
    back = s2sad.vjp(s2sad.grad(loss, wrt="x"), W, X)[1](X)
    assert numbers(back) == pytest.approx([*6.0 * X * X, *6.0 * W * X])


# --- integers in structures carry no derivative --------------------------------------------------


def of_two(p):
    return p[0] ** 2 * p[1] ** 3


def rows(p):
    return p[0][0] * p[0][1] * p[1][1] ** 2


def one_of_two(p):
    q = p if p[1] > 0.0 else [3.0, 2.0]
    return q[0] ** 2 * q[1] ** 3


MIXED = [
    (of_two, [1, 2.0], [None, 12.0]),
    (of_two, [1.0, 2], [16.0, None]),
    (of_two, (1, 2.0), (None, 12.0)),
    (of_two, [True, 2.0], [None, 12.0]),
    (of_two, [np.int64(1), 2.0], [None, 12.0]),
    (of_two, [np.bool_(True), 2.0], [None, 12.0]),
    (one_of_two, [1, 2.0], [None, 12.0]),
    (one_of_two, [np.int64(1), 2.0], [None, 12.0]),
    (rows, [[1, 2.0], [3.0, 4.0]], [[None, 16.0], [0.0, 16.0]]),
    (rows, [[1, 2], [3.0, 4.0]], [[None, None], [0.0, 16.0]]),
    (lambda xs: sum(v * v for v in xs), [1, 2.0, 3], [None, 4.0, None]),
]


@pytest.mark.parametrize("f, point, wanted", MIXED)
def test_integers_in_structures_carry_no_derivative(f, point, wanted):
    assert s2sad.grad(f)(point) == wanted
    assert s2sad.value_and_grad(f)(point) == (f(point), wanted)
    assert s2sad.vjp(f, point)[1](1.0) == wanted
    assert s2sad.jacobian(f)(point) == s2sad.jacobian(f, mode="forward")(point) == wanted
    assert s2sad.autodiff(Reverse, f, Active(point))[1] == (wanted,)
    slopes = sum(numbers(wanted))
    assert s2sad.jvp(f, (point,), (s2sad.tree_map(lambda leaf: 1.0, point),))[1] == slopes
    s2sad.check_grads(f, (point,))


def test_second_derivatives_beside_integers():
    assert s2sad.hessian(of_two)([1, 2.0]) == [None, [None, 12.0]]
    assert s2sad.hessian(of_two)((1, 2.0)) == (None, (None, 12.0))
    assert s2sad.grad(of_two)([1.0, 2.0]) == [16.0, 12.0]


def test_whole_arguments_that_are_integers():
    assert s2sad.grad(lambda x: x**2)(3) == 6.0
    assert s2sad.grad(lambda x, n: x**n, wrt="n")(2.0, 3) == pytest.approx(8.0 * math.log(2.0))
    for given in (True, np.int64(3), np.array([1, 2]), np.array([True]), [1, 2]):
        with pytest.raises(s2sad.ActivityError, match="Argument x"):
            s2sad.grad(lambda x: x**2)(given)


def rows_of(d):
    return sum(sum(v * v for v in row) for row in d.values())


@pytest.mark.parametrize(("a", "b"), [(0, 1), ("a", "b")])
def test_an_int_among_floats_in_a_dict_of_lists(a, b):
    given = {a: [1, 2.0], b: [3.0, 4]}
    assert s2sad.grad(rows_of)(given) == {a: [None, 4.0], b: [6.0, None]}
    assert s2sad.jvp(rows_of, (given,), ({a: [0.0, 1.0], b: [1.0, 0.0]},)) == (30.0, 10.0)


def first_doubled(rows):
    total = 0.0
    for row in rows:
        row[0] = row[0] * 2.0
        total = total + row[0] * row[1]
    return total


def squares(table):
    return sum([v * v for v in table.values()])


def products(records):
    return sum([r["a"] * r["b"] for r in records])


def scaled(p):
    return p["n"] * first_doubled(p["rows"])


@pytest.mark.parametrize(
    ("fn", "given", "expected"),
    [
        (first_doubled, [[1, 2], [3.0, 4.0]], [[None, None], [8.0, 6.0]]),
        (squares, {0: 1, 1: 2.0}, {0: None, 1: 4.0}),
        (squares, {"a": 1, "b": 2.0}, {"a": None, "b": 4.0}),
        (
            products,
            [{"a": 1, "b": 2.0}, {"a": 3.0, "b": 4.0}],
            [{"a": None, "b": 1.0}, {"a": 4.0, "b": 3.0}],
        ),
        (scaled, {"rows": [[1, 2.0]], "n": 3}, {"rows": [[None, 6.0]], "n": None}),
    ],
)
def test_integers_among_floats_in_structures(fn, given, expected):
    assert s2sad.grad(fn)(copy.deepcopy(given)) == expected
    ones = s2sad.tree_map(lambda v: 1.0, given)
    slope = sum(s2sad.ravel(expected)[0])
    assert s2sad.jvp(fn, (copy.deepcopy(given),), (ones,))[1] == pytest.approx(slope)


def protected(a):
    a = np.asarray(a, dtype=float)
    a.setflags(write=False)
    return a


def flagged(x):
    z = np.zeros(3)
    z[0] = x[0]
    for i in range(1, 3):
        z[i] = z[i - 1] * x[i]
    z *= protected(x)
    z.flags.writeable = False
    z.flags["WRITEABLE"] = True
    z += 1.0
    z.setflags(write=False)
    if x.flags.writeable:
        x.setflags(write=False)
    return np.sum(z * z)


def test_flags_of_arrays_are_the_plain_functions_matter():
    x = np.array([0.5, 0.3, 0.2])
    s2sad.check_grads(flagged, (x.copy(),))
    assert "flags" not in s2sad.grad(flagged).source(x).replace("x.flags.writeable", "")
    s2sad.grad(flagged)(x)
    assert x.flags.writeable


def write_caught(x):
    v = x * 1.0
    v.flags.writeable = False
    try:
        v[0] = 1.0
    except ValueError:
        return np.sum(v**2)
    return np.sum(x)


def flag_read(x):
    v = x * 1.0
    v.setflags(write=False)
    if v.flags.writeable:
        v[0] = 3.0
    return np.sum(v**2)


def flag_read_by_key(x):
    v = protected(x * 1.0)
    w = v if v.flags["WRITEABLE"] else v.copy()
    w[0] = 3.0
    return np.sum(w * v)


def own_flag(a):
    f = a.flags
    return a if f.behaved else a * 3.0


def flag_read_elsewhere(x):
    return np.sum(own_flag(protected(x * 1.0)) * x)


@pytest.mark.parametrize("fn", [write_caught, flag_read, flag_read_by_key, flag_read_elsewhere])
def test_programs_that_depend_on_flags_that_derivatives_leave_out_are_refused(fn):
    for of in (s2sad.grad(fn), lambda x: s2sad.jvp(fn, (x,), (x,))):
        with pytest.raises(s2sad.UnsupportedError, match="flags"):
            of(np.array([0.5, 0.3, 0.2]))


def other_flags(x):
    u = protected(x * 2.0)
    if not u.flags.c_contiguous:
        u = np.ascontiguousarray(u)
    try:
        y = float(u[1])
    except TypeError:
        y = 0.0
    return np.sum(u * x) * y


def test_flags_that_tell_the_order_of_elements_may_be_read():
    s2sad.check_grads(other_flags, (np.array([0.5, 0.3, 0.2]),))


def one_or_many(x):
    scalar = np.isscalar(x)
    if scalar:
        x = np.array([x])
    y = x * x
    if scalar:
        return y[0]
    return np.sum(y)


def of_no_axis(x):
    x = np.asarray(x)
    alone = x.ndim == 0
    if alone:
        x = x[None]
    y = x * x
    return y[0] if alone else y.sum()


def told_to_an_inner_one(x):
    alone = isinstance(x, float)

    def squared(v):
        return v * v if alone else np.sum(v * v)

    return squared(x)


def of_several_flags(x):
    many = not np.isscalar(x)
    several = many and x.ndim > 0
    return np.sum(x * x) if several else x * x


FLAGGED = [one_or_many, of_no_axis, told_to_an_inner_one, of_several_flags]


@pytest.mark.parametrize("f", FLAGGED)
@pytest.mark.parametrize("x", [0.7, np.array([0.5, 0.3])], ids=["number", "array"])
def test_a_test_of_kinds_that_has_a_name_is_decided(f, x):
    assert s2sad.grad(f)(x) == pytest.approx(2.0 * x)
    assert s2sad.jvp(f, (x,), (x,))[1] == pytest.approx(np.sum(2.0 * x * x))


def test_a_flag_that_changes_in_a_loop_is_not_decided():
    def f(x):
        total, first = 0.0, x is None
        for v in x:
            total += v * 3.0 if first else v
            first = not first
        return total

    x = np.array([0.5, 0.3, 0.2])
    assert s2sad.grad(f)(x).tolist() == [1.0, 3.0, 1.0]
