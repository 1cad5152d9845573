"""scipy.stats: densities that are estimated from a constant sample, at the points of evaluation.

The estimate is a sum of normal densities around the points of the sample; its slope is the sum of
their slopes. The width of all of them depends on the sample, so the sample has no rule.
"""

import numpy as np
from scipy import stats

from s2sad.registry import library_objects, pullback, pushforward

ONCE = "s2sad does not know the types of the attributes of an estimate"


def like(kde):
    """Return what tells points on a line from others."""
    return np.zeros(()) if kde.d == 1 else np.zeros((1,))


def sample(cls, array):
    """Return an estimate on a line, or on a plane."""
    rows = np.array([[0.0, 1.0, 2.5, 0.3], [0.1, 1.3, 0.4, 2.2]])
    return cls(rows if array.ndim else rows[0])


def density(kde, points):
    """Evaluate as the call of the object, and its method pdf, do."""
    return kde(points)


def log_density(kde, x):
    """Evaluate as the method does."""
    return kde.logpdf(x)


def like_densities(kde, points):
    """Return one number for each of the points."""
    whole = np.ndim(points) == 0 or (np.ndim(points) == 1 and kde.d > 1)
    return np.zeros(1 if whole else np.shape(points)[-1])


def steepness(kde, points):
    """Return how the logarithms of the densities move with all coordinates of the points."""
    at = np.reshape(points, (kde.d, -1))
    apart = at[:, None, :] - kde.dataset[:, :, None]
    pulls = np.reshape(kde.inv_cov @ np.reshape(apart, (kde.d, -1)), apart.shape)
    energy = 0.5 * np.sum(apart * pulls, axis=0)
    shares = kde.weights[:, None] * np.exp(np.min(energy, axis=0) - energy)
    return -np.sum(shares / np.sum(shares, axis=0) * pulls, axis=1)


@pullback(density, unknown=("kde",), result=like_densities, once=ONCE)
def pull_density(out_bar, out, kde, points):
    return None, np.reshape(out_bar * out * steepness(kde, points), np.shape(points))


@pushforward(density)
def push_density(out, kde, points, kde_dot, points_dot):
    moved = steepness(kde, points) * np.reshape(points_dot, (kde.d, -1))
    return out * np.sum(moved, axis=0)


@pullback(log_density, unknown=("kde",), result=like_densities, once=ONCE)
def pull_log_density(out_bar, out, kde, x):
    return None, np.reshape(out_bar * steepness(kde, x), np.shape(x))


@pushforward(log_density)
def push_log_density(out, kde, x, kde_dot, x_dot):
    return np.sum(steepness(kde, x) * np.reshape(x_dot, (kde.d, -1)), axis=0)


library_objects(
    stats.gaussian_kde,
    like=like,
    check="min({0}.d - 1, 1) == {1}",
    sample=sample,
    functions={
        "__call__": density,
        "evaluate": density,
        "logpdf": log_density,
        "pdf": density,
    },
)


def estimate(dataset, *rest, **settings):
    """Return an estimate on a line, or on a plane, as the data say."""
    return sample(stats.gaussian_kde, np.zeros((1,) * (np.ndim(dataset) - 1)))


@pullback(stats.gaussian_kde, unknown=("dataset",), result=estimate, view="maybe")
def pull_gaussian_kde(out_bar, out, dataset, *, bw_method=None, weights=None):
    return None
