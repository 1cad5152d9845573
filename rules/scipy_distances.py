"""scipy.spatial.distance: other distances of two vectors, tables of pairs.

Where entries are equal the slope of an absolute value is zero, of a maximum all have equal shares.
"""

import numpy as np
from scipy import spatial
from scipy.spatial import distance

from s2sad.registry import Kin, pullback, pushforward, refuse
from s2sad.rules.scipy_spatial import by_metric


def cityblock_slopes(out, u, v):
    """Return how the sum of the distances moves with both vectors."""
    slope = np.sign(u - v)
    return slope, -slope


def chebyshev_slopes(out, u, v):
    """Return how the largest distance moves with both vectors."""
    rest = u - v
    largest = np.abs(rest) == out
    slope = np.where(largest, np.sign(rest) / np.sum(largest), 0.0).astype(rest.dtype)
    return slope, -slope


def braycurtis_slopes(out, u, v):
    """Return the slopes of sum(abs(u - v)) / sum(abs(u + v))."""
    total = np.sum(np.abs(u + v))
    apart, both = np.sign(u - v) / total, out * np.sign(u + v) / total
    return apart - both, -apart - both


def canberra_slopes(out, u, v):
    """Return the slopes of the sum of abs(u - v) / (abs(u) + abs(v)); 0 where both are zero."""
    size = np.abs(u) + np.abs(v)
    safe = np.where(size == 0, 1.0, size)
    # Of different signs the quotient is 1: dividing twice leaves exactly nothing then.
    apart, share = np.sign(u - v) / safe, np.abs(u - v) / safe / safe
    return apart - share * np.sign(u), -apart - share * np.sign(v)


def cosine_slopes(out, u, v):
    """Return the slopes of 1 - u @ v / sqrt(u @ u * v @ v)."""
    scale = np.sqrt((u @ u) * (v @ v))
    share = (u @ v) / scale
    return share * u / (u @ u) - v / scale, share * v / (v @ v) - u / scale


def correlation_slopes(out, u, v):
    """Return the slopes of the cosine distance after subtraction of the means."""
    by_u, by_v = cosine_slopes(out, u - np.mean(u), v - np.mean(v))
    return by_u - np.mean(by_u), by_v - np.mean(by_v)


PAIRS = [
    Kin(distance.cityblock, {"slopes": cityblock_slopes}),
    Kin(distance.braycurtis, {"slopes": braycurtis_slopes}),
    Kin(distance.cosine, {"slopes": cosine_slopes}),
    Kin(distance.correlation, {"slopes": correlation_slopes}),
]
# Of chebyshev only the largest entries move it, of canberra only those with one sign in u and v.
MASKING = [
    Kin(distance.chebyshev, {"slopes": chebyshev_slopes}),
    Kin(distance.canberra, {"slopes": canberra_slopes}),
]


@pullback(*MASKING, masks=True)
@pullback(*PAIRS)
def pull_pair(out_bar, out, u, v, *, slopes):
    by_u, by_v = slopes(out, u, v)
    return out_bar * by_u, out_bar * by_v


@pushforward(*PAIRS, *MASKING)
def push_pair(out, u, v, u_dot, v_dot, *, slopes):
    by_u, by_v = slopes(out, u, v)
    moved = 0.0 if u_dot is None else by_u @ u_dot
    return moved if v_dot is None else moved + by_v @ v_dot


def minkowski_slope(out, u, v, p):
    """Return how sum(abs(u - v) ** p) ** (1 / p) moves with u."""
    rest = u - v
    if out == 0:
        return np.zeros_like(rest)
    if p == np.inf:
        return np.sign(rest) * (np.abs(rest) == out)
    return np.sign(rest) * (np.abs(rest) / out) ** (p - 1.0)


@pullback(distance.minkowski, masks=("p",))
def pull_minkowski(out_bar, out, u, v, *, p=2):
    u_bar = out_bar * minkowski_slope(out, u, v, p)
    return u_bar, -u_bar


@pushforward(distance.minkowski)
def push_minkowski(out, u, v, u_dot, v_dot, *, p=2):
    slope = minkowski_slope(out, u, v, p)
    moved = 0.0 if u_dot is None else slope @ u_dot
    return moved if v_dot is None else moved - slope @ v_dot


def check_apart(out):
    """Refuse the distance of a point from itself by weights: its slope is not known."""
    return np.where(out == 0, 1, out)


@pullback(distance.mahalanobis)
def pull_mahalanobis(out_bar, out, u, v, VI):
    """For sqrt((u - v) @ VI @ (u - v)); zero where u and v are the same."""
    rest, half_bar, VI = u - v, 0.5 * out_bar / check_apart(out), 1.0 * VI
    u_bar = half_bar * ((VI + VI.T) @ rest)
    return u_bar, -u_bar, half_bar * np.outer(rest, rest)


@pushforward(distance.mahalanobis)
def push_mahalanobis(out, u, v, VI, u_dot, v_dot, VI_dot):
    rest, moved, VI = u - v, np.zeros_like(u), 1.0 * VI
    if u_dot is not None:
        moved = moved + u_dot
    if v_dot is not None:
        moved = moved - v_dot
    total = moved @ (VI + VI.T) @ rest
    if VI_dot is not None:
        total = total + rest @ VI_dot @ rest
    return 0.5 * total / check_apart(out)


@pullback(distance.seuclidean)
def pull_seuclidean(out_bar, out, u, v, V):
    """For sqrt(sum((u - v) ** 2 / V))."""
    scaled = (u - v) / V
    bar = out_bar / check_apart(out)
    return bar * scaled, -bar * scaled, -0.5 * bar * scaled * scaled


@pushforward(distance.seuclidean)
def push_seuclidean(out, u, v, V, u_dot, v_dot, V_dot):
    scaled = (u - v) / V
    moved = np.zeros_like(scaled)
    if u_dot is not None:
        moved = moved + u_dot
    if v_dot is not None:
        moved = moved - v_dot
    if V_dot is not None:
        moved = moved - 0.5 * scaled * V_dot
    return (scaled @ moved) / check_apart(out)


# tables of pairs


def pairs(n):
    """Return the first and the second of each pair, in pdist's order."""
    return np.triu_indices(n, 1)


def pdist_directions(out, X, metric, p):
    """Return how the distances of all pairs move with both points of each."""
    first, second = pairs(len(X))
    return by_metric("pdist", out, X[first], X[second], metric, 2 if p is None else p)


@pullback(distance.pdist)
def pull_pdist(out_bar, out, X, *, metric="euclidean", p=None):
    by_first, by_second = pdist_directions(out, X, metric, p)
    first, second = pairs(len(X))
    X_bar = np.zeros_like(X)
    np.add.at(X_bar, first, out_bar[:, None] * by_first)
    np.add.at(X_bar, second, out_bar[:, None] * by_second)
    return X_bar


@pushforward(distance.pdist)
def push_pdist(out, X, X_dot, *, metric="euclidean", p=None):
    first, second = pairs(len(X))
    by_first, by_second = pdist_directions(out, X, metric, p)
    moved = by_first * X_dot[first] + by_second * X_dot[second]
    return np.sum(moved, axis=1).astype(out.dtype)


@pullback(distance.squareform, masks=True)
def pull_squareform(out_bar, out, X, *, force="no", checks=True):
    """A vector is copied above and below the diagonal; in a matrix only the upper part is read."""
    if X.ndim == 1:
        first, second = pairs(len(out))
        return out_bar[first, second] + out_bar[second, first]
    X_bar = np.zeros_like(X)
    X_bar[pairs(len(X))] = out_bar
    return X_bar


@pushforward(distance.squareform)
def push_squareform(out, X, X_dot, *, force="no", checks=True):
    return distance.squareform(X_dot, force, checks=False)


refuse(
    distance,
    "dice directed_hausdorff hamming jaccard rogerstanimoto russellrao sokalsneath yule",
    because="it compares or counts",
    instead="Make its inputs Const, or compute its result outside the function.",
)
refuse(
    distance,
    "jensenshannon",
    because="s2sad has no rule for it",
    instead="Use np.sqrt of scipy.special.rel_entr with the mean of both.",
)
refuse(
    spatial,
    "ConvexHull Delaunay HalfspaceIntersection KDTree cKDTree Rectangle SphericalVoronoi Voronoi "
    "tsearch geometric_slerp procrustes minkowski_distance minkowski_distance_p distance_matrix",
    because="s2sad has no rule for it",
    instead="Use spatial.distance.cdist, or np.linalg.norm of differences.",
)
