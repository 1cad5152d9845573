"""scipy.spatial.distance: distances of points, zero slopes where two points are the same."""

import numpy as np
from scipy.spatial import distance

from s2sad.registry import pullback, pushforward


def direction(out, u, v, squared):
    """Return how a distance moves with its first point, along the last axis."""
    rest = u - v
    if squared:
        return 2.0 * rest
    return rest / np.where(out == 0, 1, out)[..., None]


def along(direction, u_dot, v_dot):
    """Return the tangent of distances that move like this."""
    moved = (0.0 if u_dot is None else u_dot) - (0.0 if v_dot is None else v_dot)
    return np.sum(direction * moved, axis=-1)


@pullback(distance.euclidean)
def pull_euclidean(out_bar, out, u, v):
    u_bar = out_bar * direction(np.asarray(out), u, v, False)
    return u_bar, -u_bar


@pushforward(distance.euclidean)
def push_euclidean(out, u, v, u_dot, v_dot):
    return along(direction(np.asarray(out), u, v, False), u_dot, v_dot)


@pullback(distance.sqeuclidean)
def pull_sqeuclidean(out_bar, out, u, v):
    u_bar = out_bar * direction(out, u, v, True)
    return u_bar, -u_bar


@pushforward(distance.sqeuclidean)
def push_sqeuclidean(out, u, v, u_dot, v_dot):
    return along(direction(out, u, v, True), u_dot, v_dot)


def by_metric(name, out, u, v, metric, p):
    """Return how distances move with their first points; with the second ones they do opposite."""
    if metric in ("euclidean", "sqeuclidean"):
        return direction(out, u, v, metric == "sqeuclidean")
    rest = u - v
    if metric in ("cityblock", "manhattan"):
        return np.sign(rest)
    if metric == "minkowski" and np.isfinite(p) and p >= 1:
        return np.sign(rest) * (np.abs(rest) / np.where(out == 0, 1, out)[..., None]) ** (p - 1)
    raise NotImplementedError(
        f"{name}: a derivative of the metrics euclidean, sqeuclidean, cityblock and minkowski; "
        "cosines are products of rows that are divided by their norms"
    )


def pair_directions(out, XA, XB, metric, p):
    """Return how the distances of all pairs move with the first point of each."""
    return by_metric("cdist", out, XA[:, None], XB, metric, 2 if p is None else p)


def alike(XA, XB, *settings):
    """Return samples of points in one space."""
    size = min(XA.shape[1], XB.shape[1])
    return XA[:, :size], XB[:, :size], *settings


@pullback(distance.cdist, samples=alike)
def pull_cdist(out_bar, out, XA, XB, *, metric="euclidean", p=None):
    bars = out_bar[..., None] * pair_directions(out, XA, XB, metric, p)
    return np.sum(bars, axis=1).astype(XA.dtype), -np.sum(bars, axis=0).astype(XB.dtype)


@pushforward(distance.cdist)
def push_cdist(out, XA, XB, XA_dot, XB_dot, *, metric="euclidean", p=None):
    XA_dot = None if XA_dot is None else XA_dot[:, None]
    return along(pair_directions(out, XA, XB, metric, p), XA_dot, XB_dot)
