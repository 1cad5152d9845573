"""What a rule raises as it runs says where the user's source has the call."""

import copy
import pathlib
import pickle
import runpy

import numpy as np
import pytest

import s2sad
from s2sad.registry import pullback


def smooth(x, k):
    return np.multiply(x, x) * k


def of_small(x):
    if np.max(x) > 3.0:
        raise NotImplementedError("smooth has a derivative for small numbers only")
    return x


@pullback(smooth)
def pull_smooth(out_bar, out, x, *, k=1.0):
    return 2.0 * out_bar * k * of_small(x)


def rough(x):
    return np.multiply(x, x)


@pullback(rough)
def pull_rough(out_bar, out, x):
    try:
        np.zeros(2).reshape(3)
    except ValueError:
        x = 1.0 * x
    for n in x:
        if n > 3.0:
            raise NotImplementedError
        if n > 2.0:
            raise ValueError("rough: too large")
    return 2.0 * out_bar * x


def checked(x):
    return np.multiply(x, x)


@pullback(checked)
def pull_checked(out_bar, out, x):
    while np.max(x) > 3.0:
        raise ValueError("checked: too large")
    return 2.0 * out_bar * x


def plain(x):
    return np.sum(smooth(x, k=2.0))  # here


def over_lines(x):
    y = 2.0 * x
    z = smooth(
        y,  # where the call begins counts
        k=2.0,
    )
    return np.sum(z)


def twice(x):
    first = np.sum(smooth(0.1 * x, k=2.0))
    return first + np.sum(smooth(x, k=3.0))  # here


def in_a_loop(x):
    for _ in range(2):
        x = x + smooth(x, k=0.1)  # here
    return np.sum(x)


def calls(x):
    return 2.0 * plain(x)


def not_inlined(x):
    return np.sum(checked(x))  # here


def line_of(f, mark="# here"):
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").split("\n")
    first = f.__code__.co_firstlineno
    return next(n for n in range(first, len(lines)) if mark in lines[n - 1])


WHERE = {
    plain: line_of(plain),
    over_lines: line_of(over_lines, "z = smooth("),
    twice: line_of(twice),
    in_a_loop: line_of(in_a_loop),
    calls: line_of(plain),
    not_inlined: line_of(not_inlined),
}


@pytest.mark.parametrize("f", WHERE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["grad", "again", "vjp", "autodiff"])
def test_place(f, mode):
    x = np.array([1.0, 40.0])
    with pytest.raises(s2sad.UnsupportedError) as caught:
        if mode == "autodiff":
            s2sad.autodiff(s2sad.Reverse, f, s2sad.Duplicated(x, np.zeros(2)))
        elif mode == "vjp":
            s2sad.vjp(f, x)[1](1.0)
        else:
            grad = s2sad.grad(f)
            if mode == "again":
                grad(np.array([0.1, 0.2]))
            grad(x)
    assert caught.value.place.file == __file__
    assert caught.value.place.line == WHERE[f]
    assert "Const" in caught.value.remedy
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_value_errors():
    with pytest.raises(ValueError) as caught:
        s2sad.grad(not_inlined)(np.array([1.0, 40.0]))
    assert isinstance(caught.value, s2sad.UnsupportedError)
    assert caught.value.reason == "checked: too large."


def test_what_a_rule_catches():
    def f(x):
        return np.sum(rough(x))

    assert np.array_equal(s2sad.grad(f)(np.array([1.0, 2.0])), [2.0, 4.0])
    with pytest.raises(ValueError, match="rough: too large") as plain_error:
        s2sad.grad(f)(np.array([1.0, 2.5]))
    assert not isinstance(plain_error.value, s2sad.Error)
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(f)(np.array([1.0, 4.0]))
    assert caught.value.place.file == __file__


def test_rules_that_s2sad_brings():
    def f(A, b):
        return np.sum(np.linalg.lstsq(A, b, rcond=None)[0])

    with pytest.raises(s2sad.UnsupportedError, match="rank is deficient") as caught:
        s2sad.grad(f)(np.ones((4, 2)), np.ones(4))
    assert caught.value.place.text.strip() == "return np.sum(np.linalg.lstsq(A, b, rcond=None)[0])"


def test_alone(tmp_path):
    """A file that knows nothing of s2sad raises what the rule raises."""
    x = np.array([1.0, 40.0])
    made = runpy.run_path(str(s2sad.grad(plain).emit(tmp_path / "alone.py", x)))
    with pytest.raises(NotImplementedError) as caught:
        made["plain_grad"](x)
    assert not isinstance(caught.value, s2sad.Error)


def copied(x):
    y = copy.deepcopy(x)
    y[0] = 2.0 * y[0][:1]
    return np.sum(y[0]) + np.sum(y[1])


def copied_below(x):
    return 2.0 * copied(x)


@pytest.mark.parametrize("f", [copied, copied_below], ids=lambda f: f.__name__)
def test_place_of_our_own(f):
    z = np.arange(1.0, 5.0)
    given = [z, z[1:]]
    with pytest.raises(s2sad.AliasError, match="put a copy in one of the places") as caught:
        s2sad.jvp(f, (given,), (given,))
    assert caught.value.place.file == __file__
    assert caught.value.place.text.strip() == "y = copy.deepcopy(x)"
    for derive in (
        lambda: s2sad.grad(f)(given),
        lambda: s2sad.vjp(f, given),
        lambda: s2sad.hvp(f, (given,), (given,)),
    ):
        with pytest.raises(s2sad.AliasError, match="put a copy in one of the places") as caught:
            derive()
        assert caught.value.place.file == __file__
        assert caught.value.place.function.startswith("copied")
