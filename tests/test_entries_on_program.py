"""What is asked for of reverse mode on the program: gradients of all kinds, pullbacks, shadows.

Beside central differences.
"""

import collections
import copy

import numpy as np
import pytest
from test_reverse_on_program import X

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request
from s2sad.selected import Selected

Pair = collections.namedtuple("Pair", "a b")
G = np.array([1.0, 2.0, 3.0])


class Model:
    def __init__(self):
        self.w = X.copy()
        self.more = {"k": 2.0, "v": X * 2.0}


def asked(f, args, mode, **how):
    """Return what is derived of a function by its first argument."""
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(f, params, names[:1], how.pop("single", True), mode, **how)
    d = pipeline.derive(request, HIGHER)
    return loaded(printed(d), d)[d.entry]


def slopes(f, x, step=1e-6):
    """Return the derivatives of what a function of an array gives, by central differences."""
    return np.array([(f(x + step * e) - f(x - step * e)) / (2.0 * step) for e in np.eye(x.size)])


def pair_of(x):
    y = x * x
    return np.sum(y), y


def of_a_pair(p):
    return np.sum(p.a) * p.b


def of_a_model(m):
    return np.sum(m.w * m.more["v"]) * m.more["k"]


def in_double(x):
    return narrow(x, 0.3, np.float64)


def squared(x):
    return x * x


def raised(x):
    return np.sum(x) ** 1.5


def smallest(x, n):
    best = None
    for i in range(n):
        if best is None or x[i] < best:
            best = x[i] * 2.0
    return best


def narrow(x, t, dtype):
    y = np.zeros(3, dtype=dtype)
    y[:] = x
    y[1:] *= x[1:]
    y += x * t
    return np.sum(y * y) * 2.0


MODEL = Model()
HALF = X.astype(np.float16)
# A function, its arguments, what is asked for, and what its gradient is.
GRADIENTS = {
    "a pair, and only the second item": (pair_of, (X,), {"has_aux": True}, 2.0 * X),
    "a named tuple": (of_a_pair, (Pair(X, 2.0),), {}, Pair(np.full(3, 2.0), np.sum(X))),
    "a part of a model": (
        *(of_a_model, (MODEL,), {"picked": (Selected.of("m.more.v"),)}),
        MODEL.w * MODEL.more["k"],
    ),
    "a number in a model": (
        *(of_a_model, (MODEL,), {"picked": (Selected.of("m.more.k"),)}),
        np.sum(MODEL.w * MODEL.more["v"]),
    ),
    "an array without axes": (squared, (np.array(2.0),), {}, np.array(4.0)),
    "a power": (raised, (X,), {}, np.full(3, 1.5 * np.sum(X) ** 0.5)),
    "None or a number": (smallest, (X, 3), {}, np.array([2.0, 0.0, 0.0])),
    "single precision": (squared, (np.float32(2.5),), {}, np.float32(5.0)),
    "half precision": (
        *(raised, (HALF,), {}),
        np.full(3, 1.5 * np.sum(X) ** 0.5).astype(np.float16),
    ),
    "stored in single precision": (
        *(narrow, (X, 0.3, np.float32), {}),
        slopes(in_double, X),
    ),
}


def leaves(value):
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, mode):
    f, args, how, wanted = GRADIENTS[name]
    got = asked(f, args, mode, **how)(*args)
    if mode == "value_and_grad":
        value, got = got
        np.testing.assert_equal(leaves(value), leaves(f(*args)))
    elif how.get("has_aux"):
        got, _ = got
    assert type(got) is type(wanted)
    exact = 1e-3 if f in (raised, narrow) else 1e-10
    for one, other in zip(leaves(got), leaves(wanted), strict=True):
        assert type(one) is type(other) and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=exact)


def test_none_has_no_gradient():
    fn = asked(smallest, (X, 3), "grad")
    with pytest.raises(TypeError, match="smallest returned None, which has no gradient"):
        fn(X, 0)


def scaled_outside(x):
    return np.sum(x * G) * x


def by_views(x):
    v = G[1:]
    M = np.outer(x, x)
    row = M[1]
    row[1:] *= v
    return M[:2] if x[0] > 0.0 else row


def with_a_branch(x):
    if x[0] > 0.0:
        y = np.exp(x)
        z = y * x
    else:
        z = x * 2.0
    return z


def smoothed(u, x):
    for k in range(2):
        for i in range(1, 3):
            u[i] = np.sin(u[i - 1] * u[i]) * x[k]
            if u[i] > 0.1:
                u[i] *= u[0]
    return np.sum(u)


def in_loops(x):
    u = x * 1.0
    total = smoothed(u, x)
    while total < 2.0:
        for i in range(3):
            total += np.exp(u[i] * total)
            u[i] *= total
    return u * total


def in_a_list(x):
    parts = [x * 1.0, x**2]
    old = parts[0]
    for i in range(3):
        parts[0] = np.sin(parts[0]) * parts[1][i]
        parts[1] = parts[0] + old
    old[1] = 3.0
    return parts[0] * parts[1]


def quotients(x):
    p, total = x * 1.0, 0.0
    for i in range(3):
        total += x[i] / (p @ x)
        p += total
    return total * p


def hooked(x):
    k = 2.0
    z = s2sad.adjoint_hook(x * x, lambda g: k * g)
    k = 3.0
    return z * k


@pytest.mark.parametrize(
    "f", [scaled_outside, by_views, with_a_branch, squared, in_loops, in_a_list, quotients, hooked]
)
def test_a_pullback_may_be_called_later_and_again(f):
    x = X.copy()
    value, pullback = asked(f, (X,), "vjp")(x)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    seed = np.cos(np.arange(float(np.size(value)))).reshape(np.shape(value))
    expected = slopes(lambda x: np.sum(seed * f(x)), X) * (2.0 if f is hooked else 1.0)
    kept = G.copy()
    try:
        x[:], value[...], G[:] = 7.0, 7.0, 7.0
        once = pullback(seed)
        np.testing.assert_allclose(once, expected, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(pullback(seed), once)
    finally:
        G[:] = kept


def test_a_pullback_of_a_pair():
    loss, pullback, more = asked(pair_of, (X,), "vjp", has_aux=True)(X)
    more[:] = 0.0
    assert loss == pytest.approx(np.sum(X * X))
    np.testing.assert_allclose(pullback(2.0), 4.0 * X, rtol=1e-12)


def replaced(parts):
    parts[0] = np.sin(parts[0]) * parts[1]
    return np.sum(parts[0] ** 2)


def test_a_pullback_begins_anew():
    _, pullback = asked(replaced, ([X, X**2],), "vjp")([X, X**2])
    by_first = 4.0 * np.sin(X) * np.cos(X) * X**4
    for _ in range(2):
        first, second = pullback(2.0)
        np.testing.assert_allclose(first, by_first, rtol=1e-10)
        np.testing.assert_allclose(second, 4.0 * np.sin(X) ** 2 * X**2, rtol=1e-10)


def filled(out, x, k):
    out[1:] += x[1:] * k
    out[0] = np.sum(x) * out[1]


def scaled_rows(rows, x):
    rows[0][1] *= x[0]
    return rows[0] * rows[1] + x


def swept(u, x):
    for i in range(1, 3):
        u[i] = np.sum(u[:i] * u[:i]) * x[i]
    return np.sum(u)


def swept_by_a_call(u, x):
    return swept(u, x) * 2.0


def made_by_a_call(x):
    u = x * 1.0
    return swept(u, x), u


def handed_through(x):
    return made_by_a_call(x)


@pytest.mark.parametrize("f", [made_by_a_call, handed_through])
def test_what_is_handed_back_is_not_put_back(f):
    fn = asked(f, (X,), "value_and_grad", has_aux=True)
    (_, u), gradient = fn(X)
    np.testing.assert_array_equal(u, f(X)[1])
    np.testing.assert_allclose(gradient, slopes(lambda x: f(x)[0], X), rtol=1e-6, atol=1e-8)


def exchanged(u, x):
    old = u.copy()
    u[:] = x
    x[:] = old * x


def in_one_arm(u, x):
    for i in range(3):
        if x[i] > 0.0:
            u *= x
        else:
            u[1:] = u[:-1] * x[i]
    return np.sum(u * u)


def by_another_name(u, x):
    u[0] *= x[1]
    v = u if x[0] > 0.0 else x
    return np.sum(v * u)


SHADOWED = {
    "an array that is written": (filled, (X.copy(), X, 0.5), ("out", "x"), ("k",)),
    "a list of arrays": (scaled_rows, ([X.copy(), X**2], X), ("rows", "x"), ()),
    "what is only read": (squared, (X,), ("x",), ()),
    "an array that is written in loops": (smoothed, (X.copy(), X), ("u", "x"), ()),
    "an array that could be put back": (swept, (X.copy(), X), ("u", "x"), ()),
    "an array that a call writes": (swept_by_a_call, (X.copy(), X), ("u", "x"), ()),
    "arrays that are exchanged": (exchanged, (X.copy(), X + 2.0), ("u", "x"), ()),
    "an array that arms write": (in_one_arm, (X.copy(), X), ("u", "x"), ()),
    "an array with two names": (by_another_name, (X.copy(), X), ("u", "x"), ()),
}


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("name", SHADOWED)
def test_shadows(name, batch):
    f, args, shadowed, active = SHADOWED[name]
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(
        f,
        params,
        (*shadowed, *active),
        False,
        "reverse",
        shadowed=shadowed,
        seeded=None,
        batch=batch,
    )
    d = pipeline.derive(request, HIGHER)
    fn = loaded(printed(d), d)[d.entry]
    given = [[p.copy() for p in a] if isinstance(a, list) else np.copy(a) for a in args]
    shadows = [[p * 3.0 for p in a] if isinstance(a, list) else a * 3.0 for a in given]
    begun = [
        s if n in shadowed else np.zeros_like(s)
        for n, s in zip(names, copy.deepcopy(shadows), strict=True)
    ]
    shadows = [s for n, s in zip(names, shadows, strict=True) if n in shadowed]
    seed = [np.array([0.3, -1.0, 2.0])] if f in (scaled_rows, squared) else []
    if batch:
        _, pullback = fn(*given)
        pullback(*seed, *copy.deepcopy(shadows))
        returned = pullback(*seed, *shadows)
    else:
        returned = fn(*given, *shadows, *seed)
    wanted = shadows_by_differences(f, args, begun, *seed)
    got = dict(zip(shadowed, shadows, strict=True))
    if active:
        returned = returned[1] if f(*copy.deepcopy(args)) is not None else returned
        got |= {active[0]: returned[-1] if isinstance(returned, tuple) else returned}
    for n, one in zip(names, wanted, strict=True):
        np.testing.assert_allclose(ravelled(got[n]), one, rtol=1e-6, atol=1e-7)
    left = copy.deepcopy(list(args))
    f(*left)
    np.testing.assert_allclose(ravelled(given), ravelled(left), rtol=1e-12)


def ravelled(value):
    return np.concatenate([np.ravel(leaf) for leaf in leaves(value)])


def shadows_by_differences(f, args, begun, seed=1.0):
    """Return what shadows that `begun` so hold in the end: those of what is written are seeds.

    To those of what is only read the cotangent is added.
    """
    held = copy.deepcopy(list(args))
    f(*held)
    written = [
        not np.array_equal(ravelled(a), ravelled(b)) for a, b in zip(args, held, strict=True)
    ]

    def weighed(flat):
        parts, at = copy.deepcopy(list(args)), 0
        for i, part in enumerate(parts):
            for array in leaves(part) if isinstance(part, list) else [part]:
                size = np.size(array)
                if isinstance(array, np.ndarray):
                    array[...] = flat[at : at + size].reshape(array.shape)
                else:
                    parts[i] = float(flat[at])
                at += size
        value = f(*parts)
        total = 0.0 if value is None else np.sum(seed * value)
        pairs = zip(parts, begun, written, strict=True)
        return total + sum(ravelled(p) @ ravelled(b) for p, b, w in pairs if w)

    found, at, out = slopes(weighed, ravelled(args)), 0, []
    for a, b, w in zip(args, begun, written, strict=True):
        size = ravelled(a).size
        out.append(found[at : at + size] + (0.0 if w else ravelled(b)))
        at += size
    return out


def test_the_shadows_of_a_caller_are_worked_on():
    """There are no copies of them; nothing else may have that memory (AliasError)."""
    text = s2sad.source(in_one_arm, mode="reverse", args=(X.copy(), X))
    assert "u_bar.copy()" not in text and "u_bar_1" not in text


def grown(x):
    total = 0.0
    for _ in range(3):
        y = x * G
        G[0] += 1.0
        total += np.sum(y * y)
    return total


def with_keys(x):
    d = {}
    for i in range(3):
        d[x[i]] = x[i] * 2.0
    return sum(d.values())


@pytest.mark.parametrize(
    "f, why",
    [
        (grown, "needs the old content of `G`"),
        (with_keys, "A key of `d` depends on"),
    ],
)
def test_what_cannot_be_undone_is_refused(f, why):
    request = Request(f, (("x", K.kind_of(X, "x")),), ("x",), True, "grad")
    with pytest.raises(s2sad.UnsupportedError) as caught:
        pipeline.derive(request, HIGHER)
    assert why in str(caught.value) and f.__name__ in str(caught.value)


def replaced_for_its_owner(parts):
    parts[0] = np.sin(parts[0])
    return np.sum(parts[0] * parts[1])


def swapped_for_its_owner(parts):
    parts[0], parts[1] = parts[1] * parts[0], parts[0]
    parts[1][0] = parts[0][1]
    return np.sum(parts[0] * parts[1])


@pytest.mark.parametrize("f", [replaced_for_its_owner, swapped_for_its_owner])
def test_a_shadow_of_a_list_in_which_arrays_are_replaced(f):
    """In the end it holds the cotangents of what the list held at the start."""
    params = (("parts", K.kind_of([X, X], "parts")),)
    request = Request(f, params, ("parts",), False, "reverse", shadowed=("parts",))
    d = pipeline.derive(request, HIGHER)
    shadows = [0.1 * X, X**2]
    loaded(printed(d), d)[d.entry]([X.copy(), X + 1.0], shadows)

    def weighed(flat):
        parts = [flat[:3].copy(), flat[3:].copy()]
        return f(parts) + (0.1 * X) @ parts[0] + X**2 @ parts[1]

    wanted = slopes(weighed, np.append(X, X + 1.0))
    np.testing.assert_allclose(np.concatenate(shadows), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("twice", [False, True])
def test_a_shadow_of_a_list_that_may_hold_one_array_twice(twice):
    params = (("parts", K.kind_of([X, X], "parts")),)
    request = Request(
        replaced_for_its_owner, params, ("parts",), False, "reverse", shadowed=("parts",)
    )
    d = pipeline.derive(request, HIGHER)
    reverse = loaded(printed(d), d)[d.entry]
    x, y, end = X.copy(), X * 2.0, X * 3.0
    parts, shadow = [x, x if twice else y], [end.copy(), np.ones_like(X)]
    b = parts[1]
    value = reverse(parts, shadow)
    assert value == np.sum(parts[0] * b) and parts[1] is b and np.allclose(parts[0], np.sin(X))
    np.testing.assert_allclose(shadow[0], (end + b) * np.cos(X))
    np.testing.assert_allclose(shadow[1], 1.0 + np.sin(X))


def cell_of_a_parameter(x):
    y = x[1] * 0.94
    x[0] = y * 2.0
    x = x * y

    def last():
        return x[0] * 2.0

    return x[0] * x[-1] + x[1] + last()


def test_a_parameter_whose_name_is_rebound_keeps_its_cotangent():
    """An inner function reads the name: both are one variable of Python's."""
    _, found = asked(cell_of_a_parameter, (X.copy(),), "reverse")(X.copy())
    wanted = slopes(lambda x: cell_of_a_parameter(x.copy()), X)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
