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
    """Return how distances move with their first points, and with their second ones."""
    if metric in ("cosine", "correlation"):
        return by_angles(out, u, v, metric == "correlation")
    found = by_differences(name, out, u - v, metric, p)
    return found, -found


def by_differences(name, out, rest, metric, p):
    """Return how distances move that are lengths of differences."""
    if metric in ("euclidean", "sqeuclidean"):
        return direction(out, rest, 0.0, metric == "sqeuclidean")
    if metric in ("cityblock", "manhattan"):
        return np.sign(rest)
    if metric == "minkowski" and np.isfinite(p) and p >= 1:
        return np.sign(rest) * (np.abs(rest) / np.where(out == 0, 1, out)[..., None]) ** (p - 1)
    raise NotImplementedError(
        f"{name} has a derivative of the metrics euclidean, sqeuclidean, cityblock, minkowski, "
        "cosine and correlation"
    )


def by_angles(out, u, v, centred):
    """Return how 1 - u @ v / (|u| |v|) moves with both points, perhaps about their means."""
    if centred:
        u, v = u - np.mean(u, -1, keepdims=True), v - np.mean(v, -1, keepdims=True)
    share = 1.0 - out[..., None]
    first = np.sqrt(np.sum(u * u, axis=-1, keepdims=True))
    second = np.sqrt(np.sum(v * v, axis=-1, keepdims=True))
    by_u = (share * (u / first) - v / second) / first
    by_v = (share * (v / second) - u / first) / second
    if not centred:
        return by_u, by_v
    return by_u - np.mean(by_u, -1, keepdims=True), by_v - np.mean(by_v, -1, keepdims=True)


def pair_directions(out, XA, XB, metric, p):
    """Return how the distances of all pairs move with both points of each."""
    return by_metric("cdist", out, XA[:, None], XB, metric, 2 if p is None else p)


def alike(XA, XB, *settings):
    """Return samples of points in one space."""
    size = min(XA.shape[1], XB.shape[1])
    return XA[:, :size], XB[:, :size], *settings


@pullback(distance.cdist, samples=alike)
def pull_cdist(out_bar, out, XA, XB, *, metric="euclidean", p=None):
    by_a, by_b = pair_directions(out, XA, XB, metric, p)
    bars = out_bar[..., None]
    XA_bar, XB_bar = np.sum(bars * by_a, axis=1), np.sum(bars * by_b, axis=0)
    return XA_bar.astype(XA.dtype), XB_bar.astype(XB.dtype)


@pushforward(distance.cdist)
def push_cdist(out, XA, XB, XA_dot, XB_dot, *, metric="euclidean", p=None):
    by_a, by_b = pair_directions(out, XA, XB, metric, p)
    found = np.zeros_like(out)
    if XA_dot is not None:
        found = found + np.sum(by_a * XA_dot[:, None], axis=-1)
    return found if XB_dot is None else found + np.sum(by_b * XB_dot, axis=-1)
