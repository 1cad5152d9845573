"""How arguments lie in memory counts where a program asks for it, also where it works on copies."""

import numpy as np
import pytest

import s2sad

RAMP = np.arange(1.0, 7.0)


def by_flags(x):
    return np.sum(x**2 * (2.0 if x.flags.f_contiguous else 1.0))


def raveled(x):
    return np.sum(x.ravel("A") ** 2 * RAMP)


def reshaped(x, order="A"):
    return np.sum(np.reshape(x, (6,), order=order) ** 3 * RAMP)


def zeros_like_it(x):
    y = np.zeros_like(x)
    y[0] = x[0] ** 2
    return np.sum(y.ravel(order="A") ** 2 * RAMP)


def transposed(x):
    return np.sum(x.T.flatten("A") ** 2 * RAMP)


def in_a_dict(p):
    return np.sum(np.ravel(p["x"], "A") ** 2 * RAMP)


def through_a_helper(x):
    return raveled(x) * np.isfortran(x)


LAYOUTS = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "reversed": lambda a: np.asfortranarray(a[::-1])[::-1],
    "gaps": lambda a: np.asfortranarray(np.repeat(np.repeat(a, 2, 0), 2, 1))[::2, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(
    "f", [by_flags, raveled, reshaped, zeros_like_it, transposed, through_a_helper]
)
def test_private_copies_lie_as_the_arguments_do(f, layout):
    x = layout(np.arange(0.5, 6.5).reshape(2, 3))
    value, pullback = s2sad.vjp(f, x, wrt="x")
    assert value == f(x)
    slopes = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = layout(np.array(x))
            moved[place] += step
            ends.append(f(moved))
        slopes[place] = (ends[0] - ends[1]) / 2e-6
    assert pullback(1.0) == pytest.approx(slopes, rel=1e-6)
    assert s2sad.grad(f)(x) == pytest.approx(slopes, rel=1e-6)
    assert s2sad.jacobian(f, mode="forward")(x) == pytest.approx(slopes, rel=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_arrays_in_structures(layout):
    x = layout(np.arange(0.5, 6.5).reshape(2, 3))
    value, pullback = s2sad.vjp(in_a_dict, {"x": x})
    assert value == in_a_dict({"x": x})
    order = "F" if x.flags.fnc else "C"
    assert pullback(1.0)["x"] == pytest.approx(2.0 * x * RAMP.reshape(2, 3, order=order))


def test_results_have_the_layout_of_the_plain_call():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    value, _ = s2sad.vjp(lambda x: np.exp(x) * x, x)
    assert value.strides == (np.exp(x) * x).strides


def test_what_is_written_in_a_structure_and_asked_for_its_layout_is_refused():
    def f(p):
        p["x"][0, 0] = 3.0
        return raveled(p["x"])

    with pytest.raises(s2sad.UnsupportedError, match="depends on its memory layout"):
        s2sad.grad(f)({"x": np.ones((2, 3))})
