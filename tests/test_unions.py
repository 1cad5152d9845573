"""Values of several kinds: a number or an array, None or a value, lists of different items."""

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K

X = np.array([0.3, -0.7, 1.1])
W = np.array([0.5, 0.2, -0.4])
M = np.arange(6.0).reshape(2, 3) * 0.1 + 0.2


def differences(f, x, *rest, h=1e-6):
    """Return the gradient of f by central differences, flat, over lists of arrays too."""
    leaves = [x] if isinstance(x, np.ndarray | float) else list(x)
    out = []
    for i, leaf in enumerate(leaves):
        flat = np.ravel(leaf).astype(float)
        for j in range(flat.size):
            values = []
            for step in (h, -h):
                moved = flat.copy()
                moved[j] += step
                new = float(moved[0]) if isinstance(leaf, float) else moved.reshape(leaf.shape)
                args = [*leaves[:i], new, *leaves[i + 1 :]]
                values.append(f(args[0] if leaves[0] is x else type(x)(args), *rest))
            out.append((values[0] - values[1]) / (2 * h))
    return np.array(out)


def flat(gradient):
    parts = gradient if isinstance(gradient, list | tuple) else [gradient]
    return np.concatenate([np.ravel(p) for p in parts])


def agrees(f, x, *rest):
    got = s2sad.grad(f)(x, *rest)
    assert flat(got) == pytest.approx(differences(f, x, *rest), rel=1e-6, abs=1e-8)
    assert s2sad.value_and_grad(f)(x, *rest)[0] == f(x, *rest)
    value, pullback = s2sad.vjp(f, x, *rest)
    assert value == f(x, *rest)
    for _ in range(2):
        assert flat(pullback(1.0)) == pytest.approx(flat(got), rel=1e-12)


def from_float(x, n):
    s = 0.0
    for i in range(n):
        s = s + W * x[i]
    return np.sum(s * s) + x[0]


def from_int(x, n):
    s = 0
    for i in range(n):
        s = s + np.outer(x, W) * i
    return np.sum(s * np.cos(s)) + x[1]


def in_place(x, n):
    s = 0.0
    for i in range(n):
        s += W * x[i]
        s *= 1.5
    return np.mean(s**2) + x[0]


def of_a_list(x, n):
    s = 0
    for t in [x, W, x * W][:n]:
        s = s + t
    return np.sum(s * x)


def horner(x, n):
    y = 0.0
    for c in [1.0, 2.0, 3.0][:n]:
        y = y * x + c
    return np.sum(y * x)


def product(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return np.sum(y) + x[0]


def broadcast_later(x, n):
    s = x[0]
    for _ in range(n):
        s = s * x
    return np.sum(s * s)


def on_one_path(x, n):
    if n > 1:
        s = x * x
    else:
        s = x[0] * 2.0
    return np.sum(s * x) + np.sum(np.tanh(s))


def or_zero(x, n):
    s = x * x if n > 1 else 0.0
    return np.sum(s * x) + x[2]


def branch_in_loop(x, n):
    s = 0.0
    for i in range(n):
        if i == 1:
            s = s + x
        else:
            s = s + x[i]
    return np.sum(s * s)


def helper(x, cs):
    r = 0.0
    for c in cs:
        r = r * x + c
    return r


def through_a_call(x, n):
    return np.sum(helper(x, [1.0, 2.0, 3.0][:n]) * x)


def double(s):
    return s * s


def into_a_call(x, n):
    s = 0.0
    for i in range(n):
        s = double(s) + x * i
    return np.sum(s * x)


def ranks(x, n):
    total = 0.0
    for a in (x, np.outer(x, x), x):
        total = total + np.sum(a * a)
    return total


def smallest(x, n):
    best = None
    for i in range(len(x)):
        v = (x[i] - 0.1 * n) ** 2
        if best is None or v < best:
            best = v
    return best


def previous(x, n):
    before = None
    s = 0.0
    for t in x:
        if before is not None:
            s += (t - before) ** 2
        before = t
    return s


def previous_row(x, n):
    before = None
    s = 0.0
    for i in range(n + 1):
        row = x * i
        if before is not None:
            s = s + np.sum(row * before)
        before = row
    return s


def best_pair(x, n):
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best[0]:
            best = (x[i], i)
    return best[0] ** 2 * (1 + best[1])


def default_of_none(x, n):
    m = None
    if n > 1:
        m = np.mean(x)
    m = m or 1.0
    return np.sum((x - m) ** 2 * x)


PROGRAMS = [
    *(from_float, from_int, in_place, of_a_list, horner, product, broadcast_later, on_one_path),
    *(or_zero, branch_in_loop, through_a_call, into_a_call, ranks, smallest, previous),
    *(previous_row, best_pair, default_of_none),
]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f, n):
    agrees(f, X, n)


def nothing_found(x, limit):
    best = None
    for t in x:
        if t > limit:
            best = t * t
    return best


def test_none_has_no_gradient():
    assert s2sad.grad(nothing_found)(X, 1.0) == pytest.approx([0.0, 0.0, 2.2])
    with pytest.raises(TypeError, match="nothing_found returned None"):
        s2sad.grad(nothing_found)(X, 5.0)


def kept_elsewhere(x):
    s = 0.0
    seen = []
    for i in range(3):
        s += W * x[i]
        seen.append(s)
    return np.sum(seen[0] * s)


def of_an_argument(x, start):
    s = x if start else 0.0
    s += W
    return np.sum(s * s)


def narrower(x):
    s = 0.0
    for i in range(3):
        s += np.float32(1.0) * W.astype(np.float32)
        s += x[i] * W
    return np.sum(s * s)


def test_what_others_can_see_is_no_new_value():
    with pytest.raises(s2sad.UnsupportedError, match=r"(?s)in place.*Write \w+ = \w+"):
        s2sad.grad(kept_elsewhere)(X)
    for start, slope in ((True, 2.0 * (X + W)), (False, 0.0 * X)):
        assert s2sad.grad(of_an_argument)(X, start) == pytest.approx(slope)


def test_in_place_keeps_the_dtype():
    """What is added in place is rounded; its derivative is that of the sum."""
    W32 = W.astype(np.float32).astype(float)
    total = 3.0 * W32 + np.sum(X) * W
    want = np.full(len(X), 2.0 * np.sum(total * W))
    assert s2sad.grad(narrower)(X) == pytest.approx(want, rel=1e-5)


def mixed(x):
    t = [x[0], x]
    u = [2.0, x * x]
    a, b = u
    return t[0] * np.sum(t[1]) + np.sum(a * b)


def nested(x):
    t = [[0.0], x]
    return np.sum(np.concatenate(t) ** 2) + np.sum(np.hstack([x, [1.0, x[0]]]) ** 2)


@pytest.mark.parametrize("f", [mixed, nested])
def test_lists_of_different_items(f):
    agrees(f, X)


def layers(params):
    h = params[0] @ W
    return np.sum(np.tanh(h + params[1]) * params[2])


def all_of(params):
    s = 0.0
    for p in params:
        s = s + np.sum(p * p)
    return s


@pytest.mark.parametrize("f", [layers, all_of])
def test_arguments_of_different_ranks(f):
    agrees(f, [M, X[:2], 0.7])
    more = [M, X[:2], 0.7, M] if f is all_of else [M * 2, X[1:], 0.3]
    agrees(f, more)


def test_kinds_of_unions():
    number, array = K.FLOAT, K.kind_of(X, "x")
    union = K.join(number, array)
    assert isinstance(union, K.Union) and union == K.join(array, number)
    assert K.join(union, array) == union
    assert K.describe(union) == "a float or a 1-d array of float64"
    assert isinstance(K.join(K.kind_of(X.astype(np.float32), "y"), array), K.Unknown)
    assert isinstance(K.join(K.Str(), array), K.Unknown)
    assert K.carriers(K.join(K.kind_of(0.0, "", literal=True), array)) == (array,)
    assert K.without_none(K.join(K.NONE, array)) == array


def beside_a_written_array(x):
    s = 0.0
    rows = np.zeros((3, 3))
    for i in range(3):
        rows[i] = x * i
        s += rows[i]
    return np.sum(s * s)


def of_what_is_written_later(x):
    s = 0.0
    y = x * 2.0
    for i in range(3):
        s += y
        y[i] += 1.0
    return np.sum(s * y)


def summed_in_a_callee(x):
    s = 0.0
    for _ in range(3):
        s = bump(s) + x
    return np.sum(s * s)


def bump(s):
    s += 1.0
    return s


@pytest.mark.parametrize("fn", [beside_a_written_array, of_what_is_written_later])
def test_unions_beside_arrays_written_in_place(fn):
    agrees(fn, X)


def test_a_union_that_a_called_function_writes_is_refused():
    with pytest.raises(s2sad.UnsupportedError, match="may be an array or a number"):
        s2sad.grad(summed_in_a_callee)(X)


def a_sum_is_written(x):
    s = 0.0
    for i in range(3):
        s += x * i
    s[0] = 2.0
    return np.sum(s * s)


def another_name_of_a_sum(x):
    s = 0.0
    for i in range(3):
        s = s + x * i
    v = s
    v[0] = 2.0
    return np.sum(s * s)


def sums_of_two_names(x):
    s = 0.0
    for i in range(3):
        s += x * i
    y = s
    y += 1.0
    return np.sum(s * y)


def written_in_turn(x):
    s = x[0]
    y = x * 2.0
    for i in range(3):
        s = y if i == 1 else 1.0
        y[i] = x[i] ** 2
    return np.sum(s * s)


@pytest.mark.parametrize(
    "fn", [a_sum_is_written, another_name_of_a_sum, sums_of_two_names, written_in_turn]
)
def test_what_may_be_a_number_has_no_shadow(fn):
    with pytest.raises(s2sad.UnsupportedError, match="written in place"):
        s2sad.grad(fn)(X)


def root_of_a_sum(x):
    s = 0.0
    for _ in range(3):
        s = s + x * x
    return np.sum(np.where(x > 0.0, np.sqrt(s), 0.0))


def test_a_sum_that_starts_as_a_number_has_strong_zeros():
    gradient = s2sad.grad(root_of_a_sum)(np.array([0.0, 0.7]))
    assert gradient == pytest.approx([0.0, np.sqrt(3.0)])


def test_pairs_with_none_among_them():
    """Of a None there is no cotangent, and none is added to."""

    def f(x):
        before, pairs = None, []
        for k in range(3):
            pairs.append((k, before))
            before = x[k]
        return sum(p * p * k for k, p in pairs if p is not None)

    x = np.array([0.7, -1.3, 0.4])
    assert s2sad.grad(f)(x) == pytest.approx([2 * 0.7, -4 * 1.3, 0.0])


def test_what_is_none_at_first_is_differentiated_twice():
    def f(x):
        s, acc = x[0], x * x
        for k in range(3):
            new = acc + acc
            new[k] = new[k] * s
            acc, before = new, acc
        return acc @ before

    x, d, h = np.array([0.7, -1.3, 0.4]), np.array([0.3, 0.2, 0.7]), 1e-5
    gradient = s2sad.grad(f)
    slope = (gradient(x + h * d) - gradient(x - h * d)) / (2 * h)
    assert s2sad.hvp(f, (x,), (d,)) == pytest.approx(slope, rel=1e-7)
