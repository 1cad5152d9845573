"""The rules of rules/scipy_ndimage.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

N = pytest.importorskip("scipy.ndimage")
rng = np.random.default_rng(3)


def n(*shape):
    return rng.standard_normal(shape)


points = np.array([[0.3, 1.6, 2.2, -1.0, 3.7], [1.2, 2.7, 0.1, 2.3, 1.4]])
ROWS = [
    (N.correlate1d, (n(3), n(5)), {"mode": "constant", "cval": 2.0}),
    (N.map_coordinates, (n(4, 5), points), {"order": 1, "mode": "nearest"}),
    (N.map_coordinates, (n(4, 5), points), {"order": 1, "mode": "constant"}),
    (N.map_coordinates, (n(6), np.array([[0.3, 2.2, 4.9]])), {"order": 1, "mode": "nearest"}),
    (N.map_coordinates, (n(4, 5), np.array([[1, 2], [0, 3]])), {"order": 1}),
    (N.gaussian_filter, (n(6, 7),), {"sigma": (0.0, 0.7)}),
    (N.map_coordinates, (n(4, 5), points), {}),
    (N.map_coordinates, (n(4, 5), points), {"mode": "mirror"}),
    (N.map_coordinates, (n(5), np.array([[-0.7, 5.3, 2.2, 0.4]])), {"mode": "mirror"}),
    (N.map_coordinates, (n(5), np.array([[-0.7, 5.3, 2.2, 0.4]])), {"cval": 2.0}),
    (N.map_coordinates, (n(5), np.array([[0.3, 2.2]])), {"prefilter": False}),
    (N.map_coordinates, (n(3, 4, 5), 1.9 * rng.random((3, 4))), {"order": 2}),
    (N.map_coordinates, (n(6, 5), 3.9 * rng.random((2, 4))), {"order": 4}),
    (N.map_coordinates, (n(6, 5), 3.9 * rng.random((2, 4))), {"order": 5}),
]
for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
    ROWS += [
        (N.correlate1d, (n(7), n(3)), {"mode": mode}),
        (N.correlate1d, (n(5, 6), n(4)), {"mode": mode, "axis": 0, "origin": 1}),
        (N.convolve1d, (n(7), n(3)), {"mode": mode, "origin": -1}),
        (N.convolve1d, (n(5, 6), n(4)), {"mode": mode, "axis": 0}),
        (N.gaussian_filter1d, (n(9),), {"sigma": 0.8, "mode": mode}),
        (N.gaussian_filter1d, (n(9),), {"sigma": 0.8, "mode": mode, "order": 1}),
        (N.gaussian_filter, (n(6, 7),), {"sigma": (0.5, 0.7), "mode": mode}),
        (N.uniform_filter1d, (n(7),), {"size": 3, "mode": mode}),
        (N.uniform_filter1d, (n(7),), {"size": 4, "mode": mode, "origin": 1}),
    ]
FAR = np.array([[0.3, 2.2, -3.4, 8.7, -17.3, 41.6, 3.7], [1.2, -0.3, 2.6, 3.3, 9.1, 0.4, 30.2]])
for mode in ("nearest", "reflect", "mirror", "grid-wrap"):
    for order in (0, 1, 2, 3, 4):
        ROWS.append((N.map_coordinates, (n(5, 4), FAR), {"order": order, "mode": mode}))
    for fn, args in ((N.affine_transform, (n(5, 4),)), (N.rotate, (n(4, 5),))):
        given = (
            {"matrix": [[0.9, 0.2], [-0.3, 1.1]]} if fn is N.affine_transform else {"angle": 24.0}
        )
        ROWS.append((fn, args, {**given, "mode": mode}))
    ROWS.append((N.map_coordinates, (n(5, 4), FAR), {"prefilter": False, "mode": mode}))


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def warped(image, where):
    image = N.gaussian_filter(image, 0.5)
    linear = np.sum(N.map_coordinates(image, where, order=1) ** 2)
    return linear + np.sum(N.map_coordinates(image, where) ** 3)


def enlarged(image):
    return np.sum(N.generic_filter(image, np.ptp, 3))


def test_in_a_program():
    image, where = n(4, 5), points[:, :3]
    found = s2sad.grad(warped, wrt=(0, 1))(image, where)
    for i, value in enumerate((image, where)):
        for k in np.ndindex(value.shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = [image.copy(), where.copy()]
                moved[i][k] += h
                ends.append(warped(*moved))
            assert abs((ends[0] - ends[1]) / 2e-6 - found[i][k]) < 1e-6
    text = s2sad.grad(warped).source(image, where)
    namespace = {}
    exec(compile(text, "derived", "exec"), namespace)
    assert np.array_equal(namespace["warped_grad"](image, where), found[0])


ORDER, MODE = 3, "nearest"


def reader(order, mode):
    return lambda where: np.sum(N.map_coordinates(IMAGE, where, order=order, mode=mode) ** 2)


def by_words_outside(where):
    filtered = N.gaussian_filter(where, 0.7, mode=MODE) * N.correlate1d(
        where, [0.2, 0.5], mode=MODE
    )
    return np.sum(filtered * N.map_coordinates(IMAGE, where, order=ORDER, mode=MODE))


IMAGE = n(6, 5)


@pytest.mark.parametrize("f", [reader(1, "nearest"), reader(3, "mirror"), by_words_outside])
def test_settings_that_are_not_written_in_the_call(f):
    slopes.check(f, 0.3 + 3.4 * rng.random((2, 4)))


def test_a_mode_that_is_not_known():
    with pytest.raises(NotImplementedError, match="grid-wrap"):
        s2sad.grad(reader(3, "wrap"))(FAR)


def test_a_function_without_rule_is_named():
    why = "N.generic_filter has no derivative: it calls a function of yours"
    with pytest.raises(s2sad.MissingRuleError, match=why):
        s2sad.grad(enlarged)(n(3))
