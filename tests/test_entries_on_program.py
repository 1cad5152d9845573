"""What is asked for of reverse mode on the program: gradients of all kinds, pullbacks, shadows.

Beside what the passes on the tree give.
"""

import collections
import copy
import dataclasses

import numpy as np
import pytest
from switch import of_the_program
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
    """Return what both passes derive of a function by its first argument: the tree's first."""
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(f, params, names[:1], how.pop("single", True), mode, **how)
    found = []
    for on_program in (False, True):
        d = pipeline.derive(dataclasses.replace(request, on_program=on_program), HIGHER)
        found.append(loaded(printed(d), d)[d.entry])
    return found


def pair_of(x):
    y = x * x
    return np.sum(y), y


def of_a_pair(p):
    return np.sum(p.a) * p.b


def of_a_model(m):
    return np.sum(m.w * m.more["v"]) * m.more["k"]


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


def narrow(x, t):
    y = np.zeros(3, dtype=np.float32)
    y[:] = x
    y[1:] *= x[1:]
    y += x * t
    return np.sum(y * y) * 2.0


GRADIENTS = {
    "a pair, and only the second item": (pair_of, (X,), {"has_aux": True}),
    "a named tuple": (of_a_pair, (Pair(X, 2.0),), {}),
    "a part of a model": (of_a_model, (Model(),), {"picked": (Selected.of("m.more.v"),)}),
    "a number in a model": (of_a_model, (Model(),), {"picked": (Selected.of("m.more.k"),)}),
    "an array without axes": (squared, (np.array(2.0),), {}),
    "a power": (raised, (X,), {}),
    "None or a number": (smallest, (X, 3), {}),
    "single precision": (squared, (np.float32(2.5),), {}),
    "half precision": (raised, (X.astype(np.float16),), {}),
    "stored in single precision": (narrow, (X, 0.3), {}),
}


def leaves(value):
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, mode):
    f, args, how = GRADIENTS[name]
    old, new = asked(f, args, mode, **how)
    wanted, got = old(*args), new(*args)
    assert type(got) is type(wanted)
    for one, other in zip(leaves(got), leaves(wanted), strict=True):
        assert (type(one), getattr(one, "dtype", None)) == (
            type(other),
            getattr(other, "dtype", None),
        )
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_none_has_no_gradient():
    for fn in asked(smallest, (X, 3), "grad"):
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
    old, new = asked(f, (X,), "vjp")
    x = X.copy()
    value, pullback = new(x)
    wanted_value, wanted = old(X)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    seed = np.cos(np.arange(float(np.size(value)))).reshape(np.shape(value))
    expected = wanted(seed)
    kept = G.copy()
    try:
        x[:], value[...], G[:] = 7.0, 7.0, 7.0
        for _ in range(2):
            np.testing.assert_allclose(pullback(seed), expected, rtol=1e-10)
    finally:
        G[:] = kept


def test_a_pullback_of_a_pair():
    for fn in asked(pair_of, (X,), "vjp", has_aux=True):
        loss, pullback, more = fn(X)
        more[:] = 0.0
        assert loss == pytest.approx(np.sum(X * X))
        np.testing.assert_allclose(pullback(2.0), 4.0 * X, rtol=1e-12)


def replaced(parts):
    parts[0] = np.sin(parts[0]) * parts[1]
    return np.sum(parts[0] ** 2)


def test_a_pullback_begins_anew():
    old, new = asked(replaced, ([X, X**2],), "vjp")
    _, pullback = new([X, X**2])
    _, wanted = old([X, X**2])
    for _ in range(2):
        np.testing.assert_allclose(pullback(2.0), wanted(2.0), rtol=1e-10)


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
    """The passes on the tree put back the array of the second function."""
    _, fn = asked(f, (X,), "value_and_grad", has_aux=True)
    (_, u), gradient = fn(X)
    slopes = [(f(X + 1e-6 * e)[0] - f(X - 1e-6 * e)[0]) / 2e-6 for e in np.eye(3)]
    np.testing.assert_array_equal(u, f(X)[1])
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


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
    outcomes = []
    for on_program in (False, True):
        d = pipeline.derive(dataclasses.replace(request, on_program=on_program), HIGHER)
        fn = loaded(printed(d), d)[d.entry]
        given = [[p.copy() for p in a] if isinstance(a, list) else np.copy(a) for a in args]
        shadows = [[p * 3.0 for p in a] if isinstance(a, list) else a * 3.0 for a in given]
        shadows = [s for n, s in zip(names, shadows, strict=True) if n in shadowed]
        seed = [np.array([0.3, -1.0, 2.0])] if f in (scaled_rows, squared) else []
        if batch:
            value, pullback = fn(*given)
            pullback(*seed, *copy.deepcopy(shadows))
            returned = pullback(*seed, *shadows)
        else:
            value, returned = None, fn(*given, *shadows, *seed)
        outcomes.append(leaves([given, shadows, returned, value]))
    for one, other in zip(*outcomes, strict=True):
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-10)


@of_the_program
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


@pytest.mark.parametrize("f", [grown, with_keys])
def test_what_the_tree_refuses_is_refused_alike(f):
    request = Request(f, (("x", K.kind_of(X, "x")),), ("x",), True, "grad")
    with pytest.raises(s2sad.Error) as of_the_tree:
        pipeline.derive(request, HIGHER)
    with pytest.raises(s2sad.Error) as of_the_program:
        pipeline.derive(dataclasses.replace(request, on_program=True), HIGHER)
    assert str(of_the_program.value) == str(of_the_tree.value)


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
    found = []
    for on_program in (False, True):
        d = pipeline.derive(dataclasses.replace(request, on_program=on_program), HIGHER)
        shadows = [0.1 * X, X**2]
        loaded(printed(d), d)[d.entry]([X.copy(), X + 1.0], shadows)
        found.append(shadows)
    np.testing.assert_allclose(found[1], found[0], 1e-12)


@pytest.mark.parametrize("twice", [False, True])
def test_a_shadow_of_a_list_that_may_hold_one_array_twice(twice):
    params = (("parts", K.kind_of([X, X], "parts")),)
    request = Request(
        replaced_for_its_owner, params, ("parts",), False, "reverse", shadowed=("parts",)
    )
    d = pipeline.derive(dataclasses.replace(request, on_program=True), HIGHER)
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
    _, reverse = asked(cell_of_a_parameter, (X.copy(),), "reverse")
    _, found = reverse(X.copy())
    steps = 1e-6 * np.eye(len(X))
    slopes = [(cell_of_a_parameter(X + e) - cell_of_a_parameter(X - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)
