"""What is taken from a shadow, and added there again, stays where it is."""

import numpy as np
import pytest
from test_kept_on_program import derived, test_gradients_are_those_of_differences

import s2sad
from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Var
from s2sad.ir.what_stays import with_what_stays
from s2sad.primitives import language as L


def diffusion(A):
    T = A * 1.0
    for _ in range(3):
        B = T.copy()
        T[1:-1] = B[1:-1] + 0.1 * (B[2:] + B[:-2] - 2.0 * B[1:-1])
        T[0] = T[1]
    return np.sum(T * T)


def in_place(A):
    T = A * 1.0
    for _ in range(3):
        T[1:-1] = T[1:-1] + 0.1 * T[2:] * T[:-2]
    return np.sum(T * T)


def whole(x):
    u, v = x * 1.0, x * 2.0
    for _ in range(3):
        v[...] = v - 0.1 * u * v
        u[:] = u * v + u
    return np.sum(u * v)


def scaled(x):
    u = x * 1.0
    for _ in range(2):
        u[1:] = 2.0 * u[1:] + u[1:] * u[:-1]
        u[:2] = u[:2] + u[1:3]
        u[:2] = u[2:] + u[:2]
    return np.sum(u * u)


def by_parts_of_a_view(A):
    M = A * 1.0
    w = M[1:3]
    for i in range(2):
        w[i] = w[i] + M[i] * w[i, 0]
        M[i + 1] = M[i + 1] + w[0] * 0.5
    return np.sum(M * M)


def on_one_arm(x):
    u = x * 1.0
    for i in range(3):
        u[i:] = u[i:] + (u[i] * u[i:] if x[i] > 0.0 else 0.3 * u[i:])
    return np.sum(u * u)


def through_a_function(x):
    u = x * 1.0
    for _ in range(2):
        moved(u, x)
        u[1:] = u[1:] + u[:-1]
    return np.sum(u * u)


def moved(u, x):
    u[:-1] = u[:-1] + x[1:] * u[1:]


PROGRAMS = [
    diffusion,
    in_place,
    whole,
    scaled,
    by_parts_of_a_view,
    on_one_arm,
    through_a_function,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    test_gradients_are_those_of_differences(f)


def test_shadows_of_a_caller_are_added_to():
    x, x_bar = np.array([0.7, -1.3, 0.4, 0.9]), np.full(4, 0.5)

    def f(u):
        for _ in range(2):
            u[1:] = u[1:] + u[:-1] * u[1:]

    given = x.copy()
    s2sad.autodiff(s2sad.Reverse, f, s2sad.Duplicated(given, x_bar))
    e = 1e-6
    for i in range(4):
        ends = []
        for step in (e, -e):
            moved_x = x.copy()
            moved_x[i] += step
            f(moved_x)
            ends.append(0.5 * np.sum(moved_x))
        assert x_bar[i] == pytest.approx((ends[0] - ends[1]) / (2 * e), rel=1e-6)


def test_nothing_is_taken_away_to_be_added_again():
    _, text = derived(diffusion)
    assert (
        "T_bar[1:-1] -= 0.2 * T_bar[1:-1]" in text or "T_bar[1:-1] -= 2.0 * B_item_bar" in text
    ), text
    assert "T_bar[1:-1].copy()" not in text


# --- programs that no function gives ---

FLOATS = K.kind_of(np.ones(3), "x")
FIRST = P.Const(0)


def put(owner, at, value):
    places = (P.Place(owner, (P.Item(at),)),)
    return Op((), L.PUT_ITEM, (owner, at, value), (), (), places)


def add(owner, at, value, word="Add"):
    places = (P.Place(owner, (P.Item(at),)),)
    return Op((), L.AUGMENTED_ITEM[word], (owner, at, value), (), (), places)


def program(between=(), behind=(), word="Add", at=FIRST):
    """Return: c = u[0].copy(); u[0] = 0.0; what stands between; u[0] += c."""
    kind = K.kind_of(np.ones((3, 3)), "A")
    given, u, row, c = (
        Var(n, k) for n, k in zip("guvc", (kind, kind, FLOATS, FLOATS), strict=True)
    )
    ops = [
        Op((u,), L.method("copy"), (given,)),
        Op((row,), L.ITEM, (u, FIRST)),
        Op((c,), L.method("copy"), (row,)),
        put(u, FIRST, P.Const(0.0)),
    ]
    for make in between:
        ops += make(u, row, c)
    ops.append(add(u, at, c, word))
    for make in behind:
        ops += make(u, row, c)
    return P.Program("f", P.Block((given,), tuple(ops), P.End("next", (u,))))


def is_spared(made):
    return not any(isinstance(o, Op) and o.primitive is L.PUT_ITEM for o in P.every(made.block))


def sums(u, row, c):
    return [add(u, FIRST, c, "Sub"), add(u, P.Const(1), c)]


def read_of_the_part(u, row, c):
    out, total = Var("", FLOATS), Var("", FLOATS)
    return [Op((out,), L.ITEM, (u, FIRST)), Op((total,), L.INFIX["Mult"], (out, c))]


def read_through_a_view(u, row, c):
    return [Op((Var("", FLOATS),), L.INFIX["Mult"], (row, c))]


def read_of_another_part(u, row, c):
    out = Var("", FLOATS)
    return [Op((out,), L.ITEM, (u, P.Const(1))), Op((Var("", FLOATS),), L.INFIX["Mult"], (out, c))]


def added_of_itself(u, row, c):
    return [add(u, FIRST, row)]


def set_once_more(u, row, c):
    return [put(u, FIRST, c)]


def multiplied(u, row, c):
    places = (P.Place(u, (P.Item(FIRST),)),)
    return [Op((), L.AUGMENTED_ITEM["Mult"], (u, FIRST, c), (), (), places)]


def written_copy(u, row, c):
    return [put(c, FIRST, P.Const(2.0))]


def unknown(u, row, c):
    return [Op((Var("", K.UNKNOWN),), L.CALL, (P.Outer("g", K.UNKNOWN), u))]


@pytest.mark.parametrize(
    "between, behind, spared",
    [
        ((), (), True),
        ((sums,), (), True),
        ((sums, read_of_another_part), (), True),
        ((), (read_of_the_part,), True),
        ((read_of_the_part,), (), False),
        ((read_through_a_view,), (), False),
        ((added_of_itself,), (), False),
        ((set_once_more,), (), False),
        ((multiplied,), (), False),
        ((written_copy,), (), False),
        ((), (written_copy,), False),
        ((unknown,), (), False),
    ],
)
def test_what_stands_between(between, behind, spared):
    made = with_what_stays(program(between, behind), frozenset())
    assert is_spared(made) is (spared and set_once_more not in between)


def test_another_part_or_a_difference_is_no_return():
    assert not is_spared(with_what_stays(program(at=P.Const(1)), frozenset()))
    assert not is_spared(with_what_stays(program(word="Sub"), frozenset()))


def test_arrays_of_the_user_stay():
    made = program()
    own = frozenset(v for o in made.block.ops for v in o.outs)
    assert not is_spared(with_what_stays(made, own))
