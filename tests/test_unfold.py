"""Calls that are written out where they stand, also of functions in other files and modules."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import s2sad
from tests.slopes import check

THEIRS = """
import numpy as np

SCALE = 2.0


def act(z):
    return np.tanh(z)


def alone(z):
    return np.sin(z)


class Cell:
    def __init__(self, W, h):
        self.W = W
        self.h = h

    def step(self, x):
        self.h[:] = act(self.W @ self.h + x)

    def scaled_step(self, x):
        self.h[:] = SCALE * self.h

    def step_by_helper(self, x):
        self.h[:] = alone(self.W @ self.h + x)

    def grow(self, x):
        self.h.resize(4)
        self.h[:] = x[0]


def fill(rows, v):
    rows[0][:] = v
    rows[1] += rows[0]
"""

OURS = """
import numpy as np
import {theirs} as theirs
from {theirs} import SCALE, Cell, act, fill


def run(W, h, x):
    cell = Cell(W, h)
    for _ in range(2):
        cell.step(x)
    return np.sum(cell.h)


def given(cells, x):
    for cell in cells:
        cell.step(x)
        x = cell.h * x
    return np.sum(x)


def filled(h, x):
    rows = [h.copy(), x * h]
    fill(rows, x)
    theirs.fill(rows, x * h)
    return np.sum(rows[1] * rows[0])


def grown(cell, x):
    cell.grow(x)
    return np.sum(cell.h)


def scaled(cell, x):
    cell.scaled_step(x)
    return np.sum(cell.h)


def by_helper(cell, x):
    cell.step_by_helper(x)
    return np.sum(cell.h)
"""


@pytest.fixture
def modules(tmp_path, monkeypatch, request):
    number = abs(hash(request.node.name))
    names = f"theirs_{number}", f"ours_{number}"
    (tmp_path / f"{names[0]}.py").write_text(THEIRS)
    (tmp_path / f"{names[1]}.py").write_text(OURS.format(theirs=names[0]))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tuple(map(importlib.import_module, names))
    for n in names:
        sys.modules.pop(n, None)


W = np.array([[0.3, -0.2], [0.1, 0.4]])
H, X = np.array([0.5, -0.7]), np.array([1.1, 0.6])


def test_methods_of_a_class_in_another_module(modules):
    theirs, ours = modules
    check(ours.run, W, H, X)
    cells = [theirs.Cell(W, H), theirs.Cell(W, 2.0 * H)]
    value, (gradient, _) = s2sad.value_and_grad(ours.given, wrt=(0, 1))(cells, X)
    again = [theirs.Cell(W, H.copy()), theirs.Cell(W, 2.0 * H)]
    assert value == ours.given(again, X)
    assert np.array_equal(cells[0].h, H) and gradient[0].W.shape == W.shape


def test_functions_of_another_module(modules):
    check(modules[1].filled, H, X)


def test_a_helper_that_is_another_one_later(modules):
    theirs, ours = modules
    gradient = s2sad.grad(ours.run)
    first = gradient(W, H, X)
    kept, theirs.act = theirs.act, np.sin
    check(ours.run, W, H, X)
    ours.act = np.sin
    second = gradient(W, H, X)
    check(ours.run, W, H, X)
    assert not np.allclose(first, second)
    theirs.act = ours.act = kept
    assert np.array_equal(gradient(W, H, X), first)


def along_x(f, theirs):
    """Hold the derivative by the second argument beside differences."""
    slopes = [
        (f(theirs.Cell(W, H.copy()), X + e) - f(theirs.Cell(W, H.copy()), X - e)) / 2e-6
        for e in np.eye(2) * 1e-6
    ]
    cell = theirs.Cell(W, H.copy())
    np.testing.assert_allclose(s2sad.grad(f, wrt=1)(cell, X), slopes, rtol=1e-6)
    np.testing.assert_array_equal(cell.h, H)


def test_data_of_another_module_is_not_taken_for_ours(modules):
    """It may change in one of the two."""
    theirs, ours = modules
    along_x(ours.scaled, theirs)


def test_refusals_point_into_the_other_file(modules):
    theirs, ours = modules
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(ours.grown)(theirs.Cell(W, H), X)
    assert theirs.__file__ in str(caught.value)
    assert "self.h.resize(4)" in str(caught.value)


def test_what_the_other_module_sees_alone(modules):
    theirs, ours = modules
    along_x(ours.by_helper, theirs)


WEIGHTS = np.array([1.0, 2.0, 3.0])


def squashed(z):
    return 1.0 / (1.0 + np.exp(-z))


def test_a_global_that_is_given_stays_one():
    f = lambda x: squashed(WEIGHTS) * x  # noqa: E731
    _, pullback = s2sad.vjp(f, np.ones(3))
    assert np.allclose(pullback(np.ones(3)), squashed(WEIGHTS))
