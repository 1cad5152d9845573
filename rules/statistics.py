"""Covariances, and histograms by their weights and by their edges.

How many values fall between two edges is constant; what they weigh is not, and neither are edges
that were found from the smallest and the largest value.
"""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward

nondifferentiable(np.digitize, np.searchsorted, np.count_nonzero)


def as_variables(m, rowvar, dtype):
    """Return m as np.cov sees it: a row for each variable."""
    rows = np.atleast_2d(np.asarray(m, dtype))
    return rows.T if not rowvar and np.ndim(m) > 1 else rows


def deviations(m, y, rowvar, bias, ddof, fweights, aweights, dtype):
    """Return how far all variables are from their means, the weights, and what sums count for."""
    rows = as_variables(m, rowvar, dtype)
    if y is not None:
        more = np.atleast_2d(np.asarray(y, dtype))
        more = more.T if not rowvar and more.shape[0] != 1 else more
        rows = np.concatenate((rows, more))
    ddof = int(not bias) if ddof is None else ddof
    weights = np.ones(rows.shape[1], np.real(rows).dtype)
    for given in (fweights, aweights):
        if given is not None:
            weights = weights * np.asarray(given, weights.dtype)
    total = np.sum(weights)
    if aweights is None:
        count = total - ddof
    else:
        count = total - ddof * np.sum(weights * np.asarray(aweights, weights.dtype)) / total
    mean = np.sum(rows * weights, axis=1, keepdims=True) / total
    return rows - mean, weights / np.where(count > 0, count, np.nan)


def split_variables(rows_bar, m, y, rowvar):
    """Return the cotangents of the two arguments of np.cov from the cotangent of their rows."""
    if y is None:
        m_bar = rows_bar
    else:
        n = as_variables(m, rowvar, None).shape[0]
        m_bar, y_bar = rows_bar[:n], rows_bar[n:]
    m_bar = np.reshape(m_bar.T if not rowvar and np.ndim(m) > 1 else m_bar, np.shape(m))
    if y is None:
        return m_bar, None
    transposed = not rowvar and np.atleast_2d(y).shape[0] != 1
    return m_bar, np.reshape(y_bar.T if transposed else y_bar, np.shape(y))


def cov_cotangent(c_bar, m, y, rowvar, bias, ddof, fweights, aweights, dtype):
    """Return the cotangents of m and y for their covariances `(d * w) @ conj(d).T`.

    The mean moves nothing: weighed, the deviations sum to zero.
    """
    d, w = deviations(m, y, rowvar, bias, ddof, fweights, aweights, dtype)
    c_bar = np.reshape(c_bar, (len(d), len(d)))
    rows_bar = (c_bar + np.conj(c_bar.T)) @ (np.conj(d) * w)
    return split_variables(rows_bar, m, y, rowvar)


def cov_tangent(out, m, y, m_dot, y_dot, rowvar, bias, ddof, fweights, aweights):
    """Return the tangent of covariances."""
    if m_dot is None:
        m_dot = np.zeros_like(m)
    if y is not None and y_dot is None:
        y_dot = np.zeros_like(y)
    d, w = deviations(m, y, rowvar, bias, ddof, fweights, aweights, out.dtype)
    d_dot, _ = deviations(m_dot, y_dot, rowvar, bias, ddof, fweights, aweights, out.dtype)
    c_dot = (d_dot * w) @ np.conj(d.T)
    return np.reshape(c_dot + np.conj(c_dot.T), np.shape(out))


@pullback(np.cov)
def pull_cov(
    out_bar,
    out,
    m,
    y=None,
    *,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    dtype=None,
):
    return cov_cotangent(out_bar, m, y, rowvar, bias, ddof, fweights, aweights, out.dtype)


@pushforward(np.cov)
def push_cov(
    out,
    m,
    y,
    m_dot,
    y_dot,
    *,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    dtype=None,
):
    return cov_tangent(out, m, y, m_dot, y_dot, rowvar, bias, ddof, fweights, aweights)


@pullback(np.corrcoef)
def pull_corrcoef(out_bar, out, x, y=None, *, rowvar=True, dtype=None):
    """A coefficient is a covariance over two standard deviations; on the diagonal it is 1."""
    c = np.atleast_2d(np.cov(x, y, rowvar, dtype=out.dtype))
    s = np.sqrt(np.real(np.diagonal(c)))
    c_bar = np.reshape(out_bar, c.shape) * (1 - np.eye(len(c), dtype=s.dtype))
    c_bar = c_bar / s[:, None] / s
    turn = np.real(c_bar * c)
    variance_bar = -0.5 * (np.sum(turn, axis=0) + np.sum(turn, axis=1)) / (s * s)
    c_bar = c_bar + np.diag(variance_bar)
    return cov_cotangent(c_bar, x, y, rowvar, False, None, None, None, out.dtype)


@pushforward(np.corrcoef)
def push_corrcoef(out, x, y, x_dot, y_dot, *, rowvar=True, dtype=None):
    """A coefficient is a covariance over two standard deviations; on the diagonal it is 1."""
    c = np.atleast_2d(np.cov(x, y, rowvar, dtype=out.dtype))
    s = np.sqrt(np.real(np.diagonal(c)))
    c_dot = cov_tangent(c, x, y, x_dot, y_dot, rowvar, False, None, None, None)
    share = 0.5 * np.real(np.diagonal(c_dot)) / (s * s)
    out_dot = c_dot / s[:, None] / s - (share[:, None] + share) * np.reshape(out, c.shape)
    return np.reshape(out_dot * (1 - np.eye(len(c), dtype=s.dtype)), np.shape(out))


@pullback(np.bincount)
def pull_bincount(out_bar, out, x, weights=None, *, minlength=0):
    return None, None if weights is None else out_bar[x]


@pushforward(np.bincount)
def push_bincount(out, x, weights, x_dot, weights_dot, *, minlength=0):
    return np.bincount(x, weights_dot, minlength)


def bin_of(x, edges):
    """Return the bin of each x, or -1; the last bin includes both its edges."""
    k = np.searchsorted(edges, x, side="right") - 1
    k = np.where(x == edges[-1], len(edges) - 2, k)
    return np.where(k < len(edges) - 1, k, -1)


def in_bins(columns, edges):
    """Return the index of each point in a histogram, and whether it is in it."""
    index = tuple(bin_of(x, e) for x, e in zip(columns, edges, strict=True))
    inside = index[0] >= 0
    for k in index[1:]:
        inside = inside & (k >= 0)
    return index, inside


def is_single(bins):
    """Return whether bins are a number of bins, or the name of a method, rather than edges."""
    return np.isscalar(bins) or getattr(bins, "ndim", None) == 0


def ends_found(bins, range):
    """Return whether the edges run from the smallest value to the largest."""
    return range is None and is_single(bins)


def edges_back(edges_bar, x):
    """Return the cotangent of values whose minimum and maximum are the ends of even edges."""
    t = np.linspace(0, 1, len(edges_bar), dtype=edges_bar.dtype)
    low, high = x == np.min(x), x == np.max(x)
    low_bar = np.sum(edges_bar * (1 - t)) / np.sum(low, dtype=t.dtype)
    high_bar = np.sum(edges_bar * t) / np.sum(high, dtype=t.dtype)
    return np.where(low, low_bar, 0) + np.where(high, high_bar, 0)


def edges_forward(edges, x, x_dot):
    """Return the tangent of even edges that run from the smallest to the largest of x."""
    t = np.linspace(0, 1, len(edges), dtype=edges.dtype)
    low, high = x == np.min(x), x == np.max(x)
    low_dot = np.sum(np.where(low, x_dot, 0)) / np.sum(low, dtype=x.dtype)
    high_dot = np.sum(np.where(high, x_dot, 0)) / np.sum(high, dtype=x.dtype)
    return (1 - t) * low_dot + t * high_dot


def density_back(hist_bar, hist, edges, weight):
    """Return the cotangents of what fell into each bin, and of the edges, for densities."""
    lengths = [np.diff(e) for e in edges]
    edges_bars = []
    for k, length in enumerate(lengths):
        others = tuple(i for i in range(hist.ndim) if i != k)
        length_bar = -np.sum(hist_bar * hist, axis=others) / length
        edge_bar = np.zeros(len(length) + 1, length_bar.dtype)
        edge_bar[1:] += length_bar
        edge_bar[:-1] -= length_bar
        edges_bars.append(edge_bar)
    count_bar = hist_bar
    for k, length in enumerate(lengths):
        shape = [-1 if i == k else 1 for i in range(hist.ndim)]
        count_bar = count_bar / np.reshape(length, shape)
    return (count_bar - np.sum(hist_bar * hist)) / weight, edges_bars


def density_forward(count_dot, hist, edges, edges_dot, weight):
    """Return the tangent of densities."""
    hist_dot = count_dot
    stretch = np.sum(count_dot) / weight
    for k, (e, e_dot) in enumerate(zip(edges, edges_dot, strict=True)):
        shape = [-1 if i == k else 1 for i in range(hist.ndim)]
        hist_dot = hist_dot / np.reshape(np.diff(e), shape)
        if e_dot is not None:
            stretch = stretch + np.reshape(np.diff(e_dot) / np.diff(e), shape)
    return hist_dot / weight - hist * stretch


def histogram_back(out_bar, out, columns, weights, found, density):
    """Return the cotangents of points, coordinate by coordinate, and of their weights.

    `found` says of each axis whether its edges run from the smallest to the largest value.
    """
    (hist_bar, edges_bars), (hist, edges) = out_bar, out
    index, inside = in_bins(columns, edges)
    if hist_bar is None:
        hist_bar = np.zeros(hist.shape)
    count_bar, moved = hist_bar, [None] * len(edges)
    if density:
        weight = np.sum(inside if weights is None else np.where(inside, weights, 0))
        count_bar, moved = density_back(hist_bar, hist, edges, weight)
    weights_bar = np.where(inside, count_bar[index], 0)
    bars = []
    for x, e_bar, more, free in zip(columns, edges_bars, moved, found, strict=True):
        if e_bar is None or more is None:
            total = more if e_bar is None else e_bar
        else:
            total = e_bar + more
        bar = edges_back(total, x) if free and total is not None else np.zeros(x.shape)
        bars.append(bar.astype(x.dtype))
    return bars, weights_bar if weights is None else weights_bar.astype(weights.dtype)


def histogram_forward(out, columns, columns_dot, weights, weights_dot, found, density):
    """Return the tangents of a histogram and of its edges."""
    hist, edges = out
    index, inside = in_bins(columns, edges)
    count_dot = np.zeros(hist.shape, np.result_type(hist, np.float32))
    if weights_dot is not None:
        kept = tuple(k[inside] for k in index)
        np.add.at(count_dot, kept, weights_dot[inside])
    edges_dot = [
        edges_forward(e, x, x_dot) if free and x_dot is not None else np.zeros_like(e)
        for e, x, x_dot, free in zip(edges, columns, columns_dot, found, strict=True)
    ]
    if density:
        weight = np.sum(inside if weights is None else np.where(inside, weights, 0))
        count_dot = density_forward(count_dot, hist, edges, edges_dot, weight)
    return count_dot, [e_dot.astype(e.dtype) for e_dot, e in zip(edges_dot, edges, strict=True)]


@pullback(np.histogram, masks=True, once="only the run shows how many bins there are")
def pull_histogram(out_bar, out, a, weights=None, *, bins=10, range=None, density=None):
    hist_bar, edges_bar = out_bar
    hist, edges = out
    columns = [np.ravel(a)]
    w = None if weights is None else np.ravel(weights)
    bars, w_bar = histogram_back(
        (hist_bar, [edges_bar]), (hist, [edges]), columns, w, [ends_found(bins, range)], density
    )
    a_bar = np.reshape(bars[0], np.shape(a))
    return a_bar, None if weights is None else np.reshape(w_bar, np.shape(weights))


@pushforward(np.histogram)
def push_histogram(out, a, weights, a_dot, weights_dot, *, bins=10, range=None, density=None):
    hist_dot, edges_dot = histogram_forward(
        (out[0], [out[1]]),
        [np.ravel(a)],
        [None if a_dot is None else np.ravel(a_dot)],
        None if weights is None else np.ravel(weights),
        None if weights_dot is None else np.ravel(weights_dot),
        [ends_found(bins, range)],
        density,
    )
    return hist_dot, edges_dot[0]


@pullback(np.histogram_bin_edges, masks=True, linear=True)
def pull_histogram_bin_edges(out_bar, out, a, *, bins=10, range=None, weights=None):
    if not ends_found(bins, range):
        return np.zeros_like(a)
    return edges_back(out_bar, a).astype(a.dtype)


@pushforward(np.histogram_bin_edges)
def push_histogram_bin_edges(out, a, a_dot, *, bins=10, range=None, weights=None):
    if not ends_found(bins, range):
        return np.zeros_like(out)
    return edges_forward(out, a, a_dot)


def found_on_axes(bins, range, n):
    """Return, for each of n axes, whether its edges run from the smallest to the largest value."""
    bins = (bins,) * n if is_single(bins) else bins
    range = (range,) * n if range is None else range
    return [ends_found(b, r) for b, r in zip(bins, range, strict=True)]


def edges_of_both(bins, range):
    """Return which of the two axes of np.histogram2d have edges that run from end to end."""
    if not is_single(bins) and len(bins) != 2:
        return [False, False]
    return found_on_axes(bins, range, 2)


@pullback(np.histogram2d, masks=True, once="only the run shows how many bins there are")
def pull_histogram2d(out_bar, out, x, y, weights=None, *, bins=10, range=None, density=None):
    (x_bar, y_bar), weights_bar = histogram_back(
        (out_bar[0], out_bar[1:]),
        (out[0], out[1:]),
        (x, y),
        weights,
        edges_of_both(bins, range),
        density,
    )
    return x_bar, y_bar, None if weights is None else weights_bar


@pushforward(np.histogram2d)
def push_histogram2d(
    out, x, y, weights, x_dot, y_dot, weights_dot, *, bins=10, range=None, density=None
):
    hist_dot, edges_dot = histogram_forward(
        (out[0], out[1:]),
        (x, y),
        (x_dot, y_dot),
        weights,
        weights_dot,
        edges_of_both(bins, range),
        density,
    )
    return hist_dot, *edges_dot


@pullback(np.histogramdd, masks=True, once="only the run shows how many bins there are")
def pull_histogramdd(out_bar, out, sample, weights=None, *, bins=10, range=None, density=None):
    columns = list(sample.T) if isinstance(sample, np.ndarray) else list(sample)
    edges_bars = [None] * len(columns) if out_bar[1] is None else out_bar[1]
    bars, weights_bar = histogram_back(
        (out_bar[0], edges_bars),
        out,
        columns,
        weights,
        found_on_axes(bins, range, len(columns)),
        density,
    )
    if isinstance(sample, np.ndarray):
        bars = np.stack(bars, axis=-1)
    sample_bar = tuple(bars) if isinstance(sample, tuple) else bars
    return sample_bar, None if weights is None else weights_bar


@pushforward(np.histogramdd)
def push_histogramdd(
    out, sample, weights, sample_dot, weights_dot, *, bins=10, range=None, density=None
):
    columns = list(sample.T) if isinstance(sample, np.ndarray) else list(sample)
    columns_dot = [None] * len(columns)
    if sample_dot is not None:
        columns_dot = list(sample_dot.T) if isinstance(sample, np.ndarray) else list(sample_dot)
    hist_dot, edges_dot = histogram_forward(
        out,
        columns,
        columns_dot,
        weights,
        weights_dot,
        found_on_axes(bins, range, len(columns)),
        density,
    )
    return hist_dot, type(out[1])(edges_dot)
