"""The rules of rules/scipy_spatial.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule

D = pytest.importorskip("scipy.spatial.distance")
rng = np.random.default_rng(5)


def n(*shape):
    return rng.standard_normal(shape)


ROWS = [
    (D.euclidean, (n(4), n(4)), {}),
    (D.sqeuclidean, (n(4), n(4)), {}),
    *[
        (getattr(D, name), (n(4), n(4)), {})
        for name in "cityblock chebyshev braycurtis canberra cosine correlation".split()
    ],
    (D.minkowski, (n(4), n(4)), {}),
    (D.minkowski, (n(4), n(4)), {"p": 3.5}),
    (D.minkowski, (n(4), n(4)), {"p": np.inf}),
    (D.mahalanobis, (n(3), n(3), np.eye(3) + 0.1 * n(3, 3)), {}),
    (D.seuclidean, (n(3), n(3), n(3) ** 2 + 0.5), {}),
    (D.pdist, (n(4, 2),), {}),
    (D.pdist, (n(4, 2),), {"metric": "sqeuclidean"}),
    (D.squareform, (n(6),), {}),
    (D.cdist, (n(4, 3), n(5, 3)), {}),
    (D.cdist, (n(4, 1), n(5, 1)), {"metric": "sqeuclidean"}),
    (D.cdist, (n(4, 3), n(5, 3)), {"metric": "cityblock"}),
    (D.cdist, (n(4, 3), n(5, 3)), {"metric": "minkowski", "p": 3}),
    (D.pdist, (n(4, 3),), {"metric": "minkowski", "p": 1.5}),
    *[(D.cdist, (n(4, 3), n(5, 3)), {"metric": m}) for m in ("cosine", "correlation")],
    *[(D.pdist, (n(4, 3),), {"metric": m}) for m in ("cosine", "correlation")],
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_points_in_a_program():
    """A point is at no distance of itself, and there the slope is zero."""
    points = n(4, 2)

    def f(x):
        return np.sum(D.cdist(x, x) ** 3) + D.euclidean(x[0], x[1])

    s2sad.check_grads(f, (points,), order=1)
    assert s2sad.value_and_grad(f)(points)[0] == f(points)


def test_other_metrics_are_refused():
    for fn in (lambda x: D.cdist(x, x, "canberra"), lambda x: D.cdist(x, x, "euclidean", w=x[0])):
        with pytest.raises(s2sad.Error):
            s2sad.vjp(fn, n(3, 2))[1](np.ones((3, 3)))
