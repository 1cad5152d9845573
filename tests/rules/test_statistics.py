"""The rules of rules/statistics.py: covariances of rows and columns, histograms and their edges."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(8)
A, B = rng.standard_normal((3, 6)), rng.standard_normal((2, 6))
a, b, w = A[0], A[1], np.abs(A[2])
Z = A + 1j * rng.standard_normal((3, 6))
COUNTS = np.array([1, 2, 1, 3, 1, 0])

COV = [
    {},
    {"bias": True},
    {"ddof": 0},
    {"ddof": 2},
    {"fweights": COUNTS},
    {"fweights": COUNTS, "bias": True},
]
DATA = [(A,), (a,), (A, B), (a, b), (A, a), (Z,), (Z, A), (a, Z[0])]


@pytest.mark.parametrize("settings", COV, ids=str)
@pytest.mark.parametrize("data", DATA)
def test_cov(data, settings):
    check_rule(np.cov, *data, **settings)
    turned = [x.T for x in data]
    check_rule(np.cov, *turned, rowvar=False, **settings)


@pytest.mark.parametrize("settings", COV, ids=str)
def test_cov_of_weighted_observations(settings):
    """The weights are settings: np.cov with them fixed is what is differentiated."""
    rule = rule_for(np.cov)
    c_bar = rng.standard_normal((3, 3))
    out = np.cov(A, aweights=w, **settings)
    bar, _ = rule.pullback(c_bar, out, A, aweights=w, **settings)
    dot = rng.standard_normal(A.shape)
    push = rule.pushforward(out, A, None, dot, None, aweights=w, **settings)
    up, down = (np.cov(A + h * dot, aweights=w, **settings) for h in (1e-6, -1e-6))
    assert np.allclose(push, (up - down) / 2e-6, atol=1e-7)
    assert np.isclose(np.sum(bar * dot), np.sum(c_bar * push))


@pytest.mark.parametrize("data", DATA)
def test_corrcoef(data):
    check_rule(np.corrcoef, *data)
    check_rule(np.corrcoef, *[x.T for x in data], rowvar=False)
    check_rule(np.corrcoef, *data, dtype=np.complex128)


# No point is near an edge: differences would step over it.
x = rng.permutation(np.array([0.0, 2.5, 6.5, 14.2, 17.0, 22.5, 25.5, 34.5, 40.0]))
y, v = rng.permutation(x), rng.random(9) + 0.5
HISTOGRAM = [
    {},
    {"bins": 4},
    {"bins": 3, "range": (8.0, 32.0)},
    {"bins": [4, 10.0, 24, 36]},
    {"bins": (-1, 20, 41), "range": (8, 32)},
    {"bins": "sturges"},
    {"bins": 1},
]


@pytest.mark.parametrize("density", [None, False, True])
@pytest.mark.parametrize("settings", HISTOGRAM, ids=str)
def test_histogram(settings, density):
    check_rule(np.histogram, x, density=density, **settings)
    check_rule(np.histogram, x.reshape(3, 3), density=density, **settings)
    if settings.get("bins") != "sturges" and not (density and settings.get("bins") == 1):
        check_rule(np.histogram, x, density=density, weights=v, **settings)
        check_rule(np.histogram, x.reshape(3, 3), weights=v.reshape(3, 3), **settings)


@pytest.mark.parametrize("settings", HISTOGRAM, ids=str)
def test_edges(settings):
    check_rule(np.histogram_bin_edges, x, **settings)


SEVERAL = [
    {},
    {"bins": 2},
    {"bins": (3, 2)},
    {"bins": (3, [8, 20, 36])},
    {"bins": (3, 2), "range": ((3, 33), (8, 36))},
    {"bins": (3, 2), "range": (None, (8, 36))},
    {"bins": ((4, 20, 36), (-1, 13, 41))},
]


@pytest.mark.parametrize("density", [None, True])
@pytest.mark.parametrize("settings", SEVERAL, ids=str)
def test_histogram_of_several(settings, density):
    for weights in (None, v):
        check_rule(np.histogram2d, x, y, density=density, weights=weights, **settings)
        check_rule(np.histogramdd, (x, y), density=density, weights=weights, **settings)
        points = np.stack((x, y), axis=1)
        check_rule(np.histogramdd, points, density=density, weights=weights, **settings)
    check_rule(np.histogram2d, x, y, bins=[4, 16, 20, 36], weights=v)
    check_rule(np.histogramdd, np.stack((x, y, x[::-1]), axis=1), bins=2, density=density)


def test_the_last_edge_belongs_to_the_last_bin():
    data = np.array([0.0, 1.0, 2.0, 2.5, -0.5])
    out = np.histogram(data, [0.0, 1.0, 2.0], weights=data)
    pull = rule_for(np.histogram).pullback
    bar = pull((np.array([3.0, 5.0]), None), out, data, data, bins=[0.0, 1.0, 2.0])[1]
    assert bar.tolist() == [3.0, 5.0, 5.0, 0.0, 0.0]


def test_bincount():
    check_rule(np.bincount, np.array([0, 2, 2, 5]), v[:4])
    check_rule(np.bincount, np.array([0, 2, 2, 5]), v[:4], minlength=8)
    check_rule(np.bincount, np.array([0, 2, 2, 5]))


def test_zero():
    check_rule(np.searchsorted, np.sort(a), a - 0.1)
    check_rule(np.digitize, a - 0.1, np.sort(a))
    check_rule(np.count_nonzero, a)


def portfolio(returns, share):
    return share @ np.cov(returns) @ share - 0.1 * np.corrcoef(returns[0], share)[0, 1]


def weighed(x, w):
    hist, edges = np.histogram(x, bins=4, weights=w * x, density=True)
    return np.sum(hist * hist) + edges[1] * edges[2]


def only_weights(w):
    hist, _ = np.histogram([0.1, 0.2, 0.7, 0.4, 0.3, 0.5], bins=3, range=(0.0, 1.0), weights=w)
    return np.sum(hist**2)


def map_of(x, y, w):
    image, *_ = np.histogram2d(x, y, bins=3, weights=w)
    return np.sum(np.sqrt(image + 1.0))


def points_of(x, y, w):
    image, _ = np.histogramdd([x, y], bins=(2, 3), weights=w, density=True)
    return np.sum(image**2) * 1e4


BINS = np.array([0, 1, 1, 2, 0, 2])


def counted(w):
    return np.sum(np.bincount(BINS, weights=w * w, minlength=4) ** 2)


def test_gradient():
    slopes.check(portfolio, A[:, :3], w[:3])
    slopes.check(weighed, x, v)
    slopes.check(only_weights, w)
    slopes.check(map_of, x, y, v)
    slopes.check(points_of, x, y, v)
    slopes.check(counted, w)
    single = s2sad.grad(weighed, wrt=(0, 1))(x.astype(np.float32), v.astype(np.float32))
    assert [s.dtype for s in single] == [np.float32] * 2
    assert s2sad.grad(portfolio)(A[:, :3].astype(np.float32), w[:3]).dtype == np.float32
