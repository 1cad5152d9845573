"""The module statistics of the standard library, for lists, tuples and arrays of numbers."""

import math
import statistics

from s2sad.registry import pullback, pushforward, refuse
from s2sad.rules.scalars import like, numbers, weighted


@pullback(statistics.mode, statistics.multimode, unknown=("data",))
def pull_mode(out_bar, out, data):
    """Which number is the most common changes as soon as one of them moves."""
    return None


def even_weights(data):
    """Return the weights of a mean."""
    return [1.0 / len(data)] * len(data)


def middle_weights(data, low, high):
    """Return the weights of a median: of those in the middle, the lower one's and the higher's."""
    n = len(data)
    order = sorted(range(n), key=data.__getitem__)
    weights = [0.0] * n
    if n % 2:
        weights[order[n // 2]] = 1.0
    else:
        weights[order[n // 2 - 1]] = low
        weights[order[n // 2]] = high
    return weights


def of_one_length(x, y=None):
    """Return samples as long as one another, of numbers that differ."""
    if y is None:
        return x, y
    n = min(len(x), len(y))
    return tuple(like([v + k for k, v in enumerate(part[:n])], part) for part in (x, y))


def deviations(data):
    """Return the differences to the mean."""
    mean = math.fsum(data) / len(data)
    return [x - mean for x in data]


@pullback(statistics.mean, linear=True)
def pull_mean(out_bar, out, data):
    return like([out_bar * w for w in even_weights(data)], data)


@pushforward(statistics.mean)
def push_mean(out, data, data_dot):
    return weighted(even_weights(data), data_dot, data)


OF_TUPLES = "only the run shows how many cotangents a tuple gets"


@pullback(statistics.fmean, samples=of_one_length, once=OF_TUPLES)
def pull_fmean(out_bar, out, data, weights=None):
    if weights is None:
        return like([out_bar * w for w in even_weights(data)], data), None
    total = math.fsum(weights)
    weights_bar = [out_bar * (x - out) / total for x in data]
    return like([out_bar * w / total for w in weights], data), like(weights_bar, weights)


@pushforward(statistics.fmean)
def push_fmean(out, data, weights, data_dot, weights_dot):
    if weights is None:
        return weighted(even_weights(data), data_dot, data)
    total = math.fsum(weights)
    moved = weighted([w / total for w in weights], data_dot, data)
    return moved + weighted([(x - out) / total for x in data], weights_dot, weights)


@pullback(statistics.geometric_mean, once=OF_TUPLES)
def pull_geometric_mean(out_bar, out, data):
    return like([out_bar * out / (len(data) * x) for x in data], data)


@pushforward(statistics.geometric_mean)
def push_geometric_mean(out, data, data_dot):
    return weighted([out / (len(data) * x) for x in data], data_dot, data)


@pullback(statistics.harmonic_mean, samples=of_one_length, once=OF_TUPLES)
def pull_harmonic_mean(out_bar, out, data, weights=None):
    known = [1.0] * len(data) if weights is None else weights
    total = math.fsum(known)
    data_bar = [out_bar * out * out * w / (total * x * x) for w, x in zip(known, data, strict=True)]
    if weights is None:
        return like(data_bar, data), None
    weights_bar = [out_bar * out * (1.0 - out / x) / total for x in data]
    return like(data_bar, data), like(weights_bar, weights)


@pushforward(statistics.harmonic_mean)
def push_harmonic_mean(out, data, weights, data_dot, weights_dot):
    known = [1.0] * len(data) if weights is None else weights
    total = math.fsum(known)
    slopes = [out * out * w / (total * x * x) for w, x in zip(known, data, strict=True)]
    moved = weighted(slopes, data_dot, data)
    if weights is None:
        return moved
    return moved + weighted([out * (1.0 - out / x) / total for x in data], weights_dot, weights)


@pullback(statistics.median, masks=True, linear=True)
def pull_median(out_bar, out, data):
    return like([out_bar * w for w in middle_weights(data, 0.5, 0.5)], data)


@pushforward(statistics.median)
def push_median(out, data, data_dot):
    return weighted(middle_weights(data, 0.5, 0.5), data_dot, data)


@pullback(statistics.median_low, masks=True, linear=True)
def pull_median_low(out_bar, out, data):
    return like([out_bar * w for w in middle_weights(data, 1.0, 0.0)], data)


@pushforward(statistics.median_low)
def push_median_low(out, data, data_dot):
    return weighted(middle_weights(data, 1.0, 0.0), data_dot, data)


@pullback(statistics.median_high, masks=True, linear=True)
def pull_median_high(out_bar, out, data):
    return like([out_bar * w for w in middle_weights(data, 0.0, 1.0)], data)


@pushforward(statistics.median_high)
def push_median_high(out, data, data_dot):
    return weighted(middle_weights(data, 0.0, 1.0), data_dot, data)


def spread_back(bar, data, center):
    """Return the cotangents of numbers and of the center they are measured from, if it is given.

    `bar` times a difference is what a number gets: of the mean they are 0 in sum.
    """
    d = differences(data, center)
    return like([bar * x for x in d], data), None if center is None else -bar * math.fsum(d)


def spread_forward(data, center, data_dot, center_dot):
    """Return half of what the sum of squared differences changes by."""
    d = differences(data, center)
    moved = weighted(d, data_dot, data)
    return moved if center_dot is None else moved - center_dot * math.fsum(d)


def differences(data, center):
    """Return the differences to a center, or to the mean."""
    return deviations(data) if center is None else [x - center for x in data]


@pullback(statistics.variance, once=OF_TUPLES)
def pull_variance(out_bar, out, data, xbar=None):
    return spread_back(2.0 * out_bar / (len(data) - 1), data, xbar)


@pushforward(statistics.variance)
def push_variance(out, data, xbar=None, data_dot=None, xbar_dot=None):
    return 2.0 * spread_forward(data, xbar, data_dot, xbar_dot) / (len(data) - 1)


@pullback(statistics.pvariance, once=OF_TUPLES)
def pull_pvariance(out_bar, out, data, mu=None):
    return spread_back(2.0 * out_bar / len(data), data, mu)


@pushforward(statistics.pvariance)
def push_pvariance(out, data, mu=None, data_dot=None, mu_dot=None):
    return 2.0 * spread_forward(data, mu, data_dot, mu_dot) / len(data)


@pullback(statistics.stdev, once=OF_TUPLES)
def pull_stdev(out_bar, out, data, xbar=None):
    """Zero where all numbers are equal, like the norm."""
    return spread_back(out_bar / ((len(data) - 1) * (out + (out == 0))), data, xbar)


@pushforward(statistics.stdev)
def push_stdev(out, data, xbar=None, data_dot=None, xbar_dot=None):
    scale = (len(data) - 1) * (out + (out == 0))
    return spread_forward(data, xbar, data_dot, xbar_dot) / scale


@pullback(statistics.pstdev, once=OF_TUPLES)
def pull_pstdev(out_bar, out, data, mu=None):
    return spread_back(out_bar / (len(data) * (out + (out == 0))), data, mu)


@pushforward(statistics.pstdev)
def push_pstdev(out, data, mu=None, data_dot=None, mu_dot=None):
    return spread_forward(data, mu, data_dot, mu_dot) / (len(data) * (out + (out == 0)))


refuse(
    statistics,
    "NormalDist",
    because="it is an object that holds a mean and a deviation",
    instead="Use math.erf and math.exp, or scipy.stats.norm.",
)
refuse(
    statistics,
    "kde kde_random",
    because="it returns a function that holds the data",
    instead="Write the mean of the kernels: statistics.fmean([math.exp(...) for v in data]).",
)
refuse(
    statistics,
    "median_grouped",
    because="the count of numbers in an interval changes in steps",
    instead="Use statistics.median.",
)


@pullback(statistics.covariance, samples=of_one_length)
def pull_covariance(out_bar, out, x, y):
    scale = out_bar / (len(x) - 1)
    x_bar, y_bar = [scale * d for d in deviations(y)], [scale * d for d in deviations(x)]
    return like(x_bar, x), like(y_bar, y)


@pushforward(statistics.covariance)
def push_covariance(out, x, y, x_dot, y_dot):
    moved = weighted(deviations(y), x_dot, x) + weighted(deviations(x), y_dot, y)
    return moved / (len(x) - 1)


def correlation_slopes(out, x, y):
    """Return the derivatives of a correlation by x."""
    dx, dy = deviations(x), deviations(y)
    sxx, syy = math.fsum(d * d for d in dx), math.fsum(d * d for d in dy)
    return [b / math.sqrt(sxx * syy) - out * a / sxx for a, b in zip(dx, dy, strict=True)]


@pullback(statistics.correlation, samples=of_one_length)
def pull_correlation(out_bar, out, x, y):
    x_bar = [out_bar * slope for slope in correlation_slopes(out, x, y)]
    return like(x_bar, x), like([out_bar * slope for slope in correlation_slopes(out, y, x)], y)


@pushforward(statistics.correlation)
def push_correlation(out, x, y, x_dot, y_dot):
    moved = weighted(correlation_slopes(out, x, y), x_dot, x)
    return moved + weighted(correlation_slopes(out, y, x), y_dot, y)


def cuts(count, n, method):
    """Return, for each cut point, the place of the lower number in order, and both weights."""
    found = []
    for i in range(1, n):
        if method == "inclusive":
            low, beyond = divmod(i * (count - 1), n)
        else:
            low = min(max(i * (count + 1) // n, 1), count - 1) - 1
            beyond = i * (count + 1) - (low + 1) * n
        found.append((low, 1.0 - beyond / n, beyond / n))
    return found


@pullback(statistics.quantiles, masks=True, linear=True)
def pull_quantiles(out_bar, out, data, *, n=4, method="exclusive"):
    order = sorted(range(len(data)), key=data.__getitem__)
    bars = [0.0] * len(data)
    for (k, low, high), bar in zip(cuts(len(data), n, method), numbers(out_bar, out), strict=True):
        bars[order[k]] += low * bar
        if high != 0.0:
            bars[order[k + 1]] += high * bar
    return like(bars, data)


@pushforward(statistics.quantiles)
def push_quantiles(out, data, data_dot, *, n=4, method="exclusive"):
    order = sorted(range(len(data)), key=data.__getitem__)
    moved = numbers(data_dot, data)
    found = []
    for k, low, high in cuts(len(data), n, method):
        above = 0.0 if high == 0.0 else high * moved[order[k + 1]]
        found.append(low * moved[order[k]] + above)
    return found


def regression_slopes(slope, x, y, proportional):
    """Return the derivatives of the slope of a line, by x and by y."""
    dx, dy = (x, y) if proportional else (deviations(x), deviations(y))
    sxx = math.fsum(d * d for d in dx)
    by_x = [(b - 2.0 * slope * a) / sxx for a, b in zip(dx, dy, strict=True)]
    return by_x, [a / sxx for a in dx]


@pullback(statistics.linear_regression, samples=of_one_length)
def pull_linear_regression(out_bar, out, x, y, *, proportional=False):
    slope = out[0]
    slope_bar, intercept_bar = numbers(out_bar, out)
    by_x, by_y = regression_slopes(slope, x, y, proportional)
    each = 0.0 if proportional else intercept_bar / len(x)
    if not proportional:
        slope_bar = slope_bar - intercept_bar * math.fsum(x) / len(x)
    x_bar = [slope_bar * b - slope * each for b in by_x]
    return like(x_bar, x), like([slope_bar * b + each for b in by_y], y)


@pushforward(statistics.linear_regression)
def push_linear_regression(out, x, y, x_dot, y_dot, *, proportional=False):
    slope = out[0]
    by_x, by_y = regression_slopes(slope, x, y, proportional)
    slope_dot = weighted(by_x, x_dot, x) + weighted(by_y, y_dot, y)
    if proportional:
        return slope_dot, 0.0
    mean_dot = weighted(even_weights(y), y_dot, y) - slope * weighted(even_weights(x), x_dot, x)
    return slope_dot, mean_dot - slope_dot * math.fsum(x) / len(x)
