"""A number that is zero on one arm of a branch is added on the other arm alone."""

import numpy as np
import pytest
from test_kept_on_program import derived, test_gradients_are_those_of_differences

import s2sad
from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Var
from s2sad.ir.sums_in_arms import with_sums_in_arms
from s2sad.primitives import language as L


def skips_what_is_negative(x):
    s = 1.0
    for v in x:
        if v < 0.0:
            continue
        s = s * v
    return s


def subtracts(x):
    s = 1.0
    for i in range(4):
        v = x[i]
        if v > 0.0:
            s = s * s - v
    return s


def one_of_three(x):
    s = 0.5
    for i in range(4):
        v = x[i]
        if v > 0.5:
            s = s * v
        elif v > 0.0:
            s = s - v * s
        elif v > -1.0:
            s = s + 2.0
    return s


def both_arms(x):
    s = 1.0
    for i in range(4):
        v = x[i]
        s = s * v if v > 0.0 else s + v * v
    return s


def read_again(x):
    s = 1.0
    for i in range(4):
        v = x[i]
        if v > 0.0:
            s = s * v
        s = s + v * np.sum(x[:i])
    return s


def in_no_round(x, s):
    for i in range(int(s - 0.6)):
        v = x[i]
        if v > 0.0:
            s = s * v
    return s * x[1]


def of_what_is_written(x):
    u = x * 1.0
    for i in range(3):
        v = u[i]
        if v > 0.0:
            u[i + 1] = v * u[i + 1]
        u[i] = u[i + 1] * x[i]
    return np.sum(u * u)


PROGRAMS = [
    skips_what_is_negative,
    subtracts,
    one_of_three,
    both_arms,
    read_again,
    in_no_round,
    of_what_is_written,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    test_gradients_are_those_of_differences(f)


def test_no_zeros_are_added():
    for f in (skips_what_is_negative, subtracts, one_of_three):
        _, text = derived(f)
        assert "_bar = 0.0" not in text, text
    assert "x_bar[i] -= " in derived(subtracts)[1]


def test_both_arms_add_what_they_have():
    assert "x_bar[i] += v_bar" in derived(both_arms)[1]


def test_a_loop_goes_on_where_the_user_said_so():
    _, text = derived(skips_what_is_negative)
    assert "        if v < 0.0:\n            continue\n" in text


def test_shadows_of_a_caller():
    x, x_bar = np.array([0.5, -1.0, 2.0]), np.array([0.1, 0.2, 0.3])
    s2sad.autodiff(s2sad.Reverse, skips_what_is_negative, s2sad.Duplicated(x, x_bar))
    np.testing.assert_allclose(x_bar, [2.1, 0.2, 0.8])


# --- programs that no function gives ---

FLOATS = K.kind_of(np.ones(3), "x")
FLOAT = K.kind_of(1.0, "s")


def program(between=(), last=(), zero=0.0):
    """Return: x_bar = 0.0 if t else s * s; what stands between; u_bar[0] += x_bar."""
    like, s, t = Var("like", FLOATS), Var("s", FLOAT), Var("t", K.BOOL)
    u_bar, x_bar, product = Var("u_bar", FLOATS), Var("x_bar", FLOAT), Var("", FLOAT)
    fn = P.Outer("np.zeros_like", K.Known(np.zeros_like))
    zeros = Op((u_bar,), L.CALL, (fn, like))
    then = P.Block((), (), P.End("next", (P.Const(zero),)))
    times = Op((product,), L.INFIX["Mult"], (s, s))
    orelse = P.Block((), (times,), P.End("next", (product,)))
    branch = P.If((x_bar,), t, then, orelse)
    places = (P.Place(u_bar, (P.Item(P.Const(0)),)),)
    add = Op((), L.AUGMENTED_ITEM["Add"], (u_bar, P.Const(0), x_bar), (), (), places)
    more = [make(u_bar, x_bar) for make in between]
    behind = [make(u_bar, x_bar) for make in last]
    ops = (zeros, branch, *more, add, *behind)
    return P.Program("f", P.Block((like, s, t), ops, P.End("next", (u_bar,))))


def moved(made):
    branch = next(o for o in made.block.ops if isinstance(o, P.If))
    return bool(branch.orelse.ops[1:])


def read(index):
    return lambda u_bar, _: Op((Var("", FLOAT),), L.ITEM, (u_bar, P.Const(index)))


def written(index):
    def make(u_bar, _):
        places = (P.Place(u_bar, (P.Item(P.Const(index)),)),)
        given = (u_bar, P.Const(index), P.Const(2.0))
        return Op((), L.PUT_ITEM, given, (), (), places)

    return make


def read_number(_, x_bar):
    return Op((Var("", FLOAT),), L.INFIX["Add"], (x_bar, P.Const(1.0)))


def unknown(u_bar, _):
    fn = P.Outer("g", K.UNKNOWN)
    return Op((Var("", K.UNKNOWN),), L.CALL, (fn, u_bar))


@pytest.mark.parametrize(
    "between, last, goes",
    [
        ((), (), True),
        ((read(1), written(2)), (), True),
        ((read(0),), (), False),
        ((written(0),), (), False),
        ((unknown,), (), False),
        ((read_number,), (), False),
        ((), (read_number,), False),
        ((), (unknown,), True),
    ],
)
def test_what_stands_between(between, last, goes):
    assert moved(with_sums_in_arms(program(between, last), frozenset())) is goes


def test_a_number_that_is_no_zero_stays():
    assert not moved(with_sums_in_arms(program(zero=1.0), frozenset()))


def test_arrays_of_the_user_stay():
    made = program()
    own = frozenset(v for o in made.block.ops for v in o.outs)
    assert not moved(with_sums_in_arms(made, own))


def arms_in_arms_with_several_sums(x, A):
    s, u = 1.0, A[0] * 1.0
    for i in range(4):
        v, w = x[i], A[1, i]
        if v > 0.5:
            s = s * v
            u[i] = s * w
        elif w > 0.0:
            s = s - v * w
        else:
            if v > -1.0:
                s = s * w + u[i]
            s = s * 1.1
            u[i] = u[i] * s
    return s * np.sum(u)


def test_several_sums_go_into_arms_of_arms():
    test_gradients_are_those_of_differences(arms_in_arms_with_several_sums)
