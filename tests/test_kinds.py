"""What is inferred of values is true of the values that come, whatever the arguments."""

import math

import numpy as np
import pytest
import slopes

import s2sad
from s2sad import kinds as K
from s2sad.facts.texts import text_method
from s2sad.steps.derivation import Derivation, analyse

V = np.array([0.7, -1.3, 0.4])
M = np.arange(6.0).reshape(2, 3)


def scalars(x):
    n = 3
    return x * n, x**2, n * 2, n / 2, n // 2, x > 1.0, math.sin(x), abs(x), round(x), int(x)


def arrays(m, v):
    return m @ v, m * v, m.T, m[0], m[:, 1:], m[0, 1], np.sum(m), m.sum(axis=0), v[::-1], v > 0.0


def more_arrays(m, v):
    return (
        *(np.outer(v, v), np.zeros(m.shape[0]), np.zeros_like(m), m.reshape(-1), m.shape),
        *(np.where(v > 0, v, 1.0), np.maximum(v, 0.5), v.astype(np.float32), np.arange(3), len(v)),
    )


def complexes(v):
    z = v * 1j
    return z, z.real, np.abs(z), np.sum(z), complex(1.0, 2.0)


def joins(x, v):
    s = 0
    for i in range(3):
        s = s + x
    if x > 0.0:
        w = v * 2.0
    else:
        w = v + 1.0
    return s, w


def structures(x, v):
    d = {"a": x, "b": v}
    xs = [x, x * 2.0]
    xs.append(3.0)
    return d["b"], xs[1], (x, v)[1], xs


CASES = [
    (scalars, (1.5,)),
    (arrays, (M, V)),
    (more_arrays, (M, V)),
    (complexes, (V,)),
    (joins, (0.5, V)),
    (joins, (-0.5, V)),
    (structures, (0.5, V)),
    (arrays, (M.astype(np.float32), V)),
]


def inferred(fn, args):
    names = fn.__code__.co_varnames[: len(args)]
    params = {n: K.kind_of(a, n) for n, a in zip(names, args)}
    return analyse(Derivation(), fn, params).kinds.result


def check(kind, value, lengths):
    """Assert that a kind is true of a value; `lengths` holds those of the symbols so far."""
    if isinstance(kind, K.Unknown):
        return
    if isinstance(kind, K.Tuple):
        assert isinstance(value, tuple) and len(value) == len(kind.items)
        for k, v in zip(kind.items, value):
            check(k, v, lengths)
    elif isinstance(kind, K.List):
        for v in value:
            check(kind.item, v, lengths)
    elif isinstance(kind, K.Array):
        assert type(value) is np.ndarray
        assert (value.dtype.name, value.ndim) == (kind.dtype, kind.rank)
        for dim, length in zip(kind.dims, value.shape):
            assert not dim.many or length != 1
            assert dim != K.ONE or length == 1
            assert lengths.setdefault(dim.symbol, length + dim.cut) == length + dim.cut
    elif isinstance(kind, K.Num):
        found = K.kind_of(value, "", literal=True)
        order = ("bool", "int", "float", "complex")
        assert isinstance(found, K.Num)
        assert order.index(found.type) <= order.index(kind.type)
        assert kind.dtype in ("any", found.dtype)
        assert kind.value is K.MISSING or kind.value == value


@pytest.mark.parametrize("fn, args", CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_kinds_are_true(fn, args):
    check(inferred(fn, args), fn(*args), {})


@pytest.mark.parametrize("fn, args", CASES[:6], ids=lambda c: getattr(c, "__name__", ""))
def test_nothing_in_these_stays_unknown(fn, args):
    kind = inferred(fn, args)
    assert not [i for i, k in enumerate(kind.items) if isinstance(k, K.Unknown)]


def test_lengths_agree_by_the_program_and_never_by_coincidence():
    kind = inferred(lambda a, b: (a + 1.0, b + 1.0, a * 2.0), (V, V.copy()))
    first, second, third = (k.dims[0].symbol for k in kind.items)
    assert first == third != second


def test_a_length_of_one_is_known():
    kind = inferred(lambda a, b: a + b, (np.ones((4, 1)), np.ones((1, 5))))
    assert kind.rank == 2 and K.ONE not in kind.dims


KINDS = [
    *(K.FLOAT, K.INT, K.BOOL, K.NONE, K.Str("a"), K.UNBOUND, K.Num("float", "float64")),
    *(K.kind_of(V, "v"), K.kind_of(M, "m"), K.kind_of((1.0, V), "t"), K.kind_of([1.0], "l")),
    *(K.kind_of({"a": 1}, "d"), K.kind_of(V.astype(np.float32), "w"), K.UNKNOWN),
]


@pytest.mark.parametrize("left", KINDS)
def test_join(left):
    assert K.join(left, left) == left
    assert K.join(left, K.UNBOUND) == left and K.join(K.UNBOUND, left) == left
    for right in KINDS:
        one, other = K.join(left, right), K.join(right, left)
        assert isinstance(one, K.Unknown) == isinstance(other, K.Unknown)
        if K.differentiable(left) and not isinstance(left, K.Unknown):
            assert K.differentiable(one)


@pytest.mark.parametrize(
    "value, carries",
    [
        (1.0, True),
        (1, False),
        (True, False),
        (None, False),
        ("a", False),
        (1j, True),
        (V, True),
        (np.arange(3), False),
        ((1, 2.0), True),
        ([1], False),
        ({"a": V}, True),
        (math.sin, False),
    ],
)
def test_what_carries_a_derivative(value, carries):
    assert K.differentiable(K.kind_of(value, "x")) is carries


def counts(x):
    i, s = 0, 0.0
    while i < 6:
        j = 0
        while j < i:
            s += x / (i + j)
            if j:
                s += math.log(j) * x
            j += 1
        i += 1
    return s


def test_a_value_known_in_the_first_round_only_is_no_reason_to_know_nothing():
    kind = inferred(counts, (1.5,))
    assert kind == K.FLOAT


@pytest.mark.parametrize(
    "method, given",
    [
        *[("count", "a"), ("find", "b"), ("index", "b"), ("startswith", "a"), ("split", ",")],
        *[("partition", "b"), ("upper", None), ("isdigit", None), ("encode", None), ("strip", " ")],
    ],
)
def test_methods_of_strings(method, given):
    args = () if given is None else (given,)
    check(text_method(method), getattr("a,b3", method)(*args), {})


def of_text(x, text):
    weight = x * text.count("a") + x ** int(text[-1]) + float(text[-1]) * x * ord(text[0])
    return weight + x if text.startswith("a") else -weight


def test_numbers_from_strings():
    slopes.check(of_text, 1.5, "aab3", constant=(1,))


def by_rank(x):
    order = sorted(range(len(x)), key=lambda i: -x[i])
    best = max(range(len(x)), key=lambda i: x[i])
    return sum((k + 1) * x[i] for k, i in enumerate(order)) * x[best]


def test_positions_picked_by_values():
    slopes.check(by_rank, np.array([0.5, 2.0, -1.0]))


def larger(x, n):
    return max(n, x) * min(x, 3, n) + max([1, x]) * max((x, 2)) + max(1, max(0, x))


def relu(x, n):
    return sum(max(k, x * n) for k in range(3)) + min(len("ab"), x) * max(True, x, 2 * n)


@pytest.mark.parametrize("fn", [larger, relu])
@pytest.mark.parametrize("x", [-0.7, 0.4, 1.5, 2.7, np.float64(2.7), np.float64(-0.7)])
@pytest.mark.parametrize("n", [2, -1, np.int64(2), 2.5])
def test_which_is_larger_decides_the_type(fn, x, n):
    slopes.check(fn, x, n, constant=(1,))


def test_numbers_of_types_of_numpy():
    slopes.check(lambda x: np.uint8(200) * x * np.int32(3) - np.bool_(True) * x, 0.5)


def filtered(q):
    """A Kalman filter, whose noise is a slice of one parameter."""
    F, H, R = np.array([[1, q[0]], [0, 1.0]]), np.eye(1, 2), np.exp(q[1:2])[:, None]
    m, P = np.zeros(2), np.eye(2)
    for y in (1.0, 1.4, 2.2):
        m, P = F @ m, F @ P @ F.T
        S = H @ P @ H.T + R
        K_ = np.linalg.solve(S, H @ P).T
        m, P = m + K_ @ (np.array([y]) - H @ m), P - K_ @ S @ K_.T
    return np.sum(m**2) + np.sum(P)


def test_a_slice_of_one_entry_fits_where_a_square_matrix_is_wanted():
    q = np.array([0.9, -0.4])
    want = [(filtered(q + 1e-6 * e) - filtered(q - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    assert np.allclose(s2sad.grad(filtered)(q), want, rtol=1e-6)
