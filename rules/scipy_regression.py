"""scipy.stats: correlations and lines through points; what they say of significance has no rule."""

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from s2sad.registry import Outcome, pullback, pushforward


class Correlation(NamedTuple):
    """What of the result of scipy.stats.pearsonr is known."""

    statistic: Any
    pvalue: Any


class CorrelationOutcome(Correlation, Outcome):
    """The rest of it."""


class Line(NamedTuple):
    """What of the result of scipy.stats.linregress is known."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class LineOutcome(Line, Outcome):
    """The rest of it."""


def check_significance(fn, *bars):
    """Refuse what depends on a probability or an error."""
    if any(bar is not None and np.any(bar) for bar in bars):
        raise NotImplementedError(f"{fn} has no derivative of the p-value and of errors")


def about_means(x, y):
    """Return points about their mean, and the lengths of both coordinates."""
    x, y = x - np.mean(x), y - np.mean(y)
    return x, y, np.sqrt(np.sum(x * x)), np.sqrt(np.sum(y * y))


def correlation_slopes(r, x, y):
    """Return how a correlation moves with the coordinates."""
    x, y, width, height = about_means(x, y)
    return (y / height - r * x / width) / width, (x / width - r * y / height) / height


def line_slopes(slope, x, y):
    """Return how the slope of a line moves with the coordinates of points."""
    x, y, width, _ = about_means(x, y)
    return (y - 2.0 * slope * x) / width**2, x / width**2


def check_plain(x, y):
    """Refuse several lines at once."""
    if np.ndim(x) != 1 or np.shape(x) != np.shape(y):
        raise NotImplementedError("there is a derivative of two vectors of one length only")


@pullback(stats.pearsonr, result=lambda x, y: CorrelationOutcome(np.float64(0.5), np.float64(0.5)))
def pull_pearsonr(out_bar, out, x, y):
    check_significance("pearsonr", out_bar[1])
    check_plain(x, y)
    by_x, by_y = correlation_slopes(out[0], x, y)
    return out_bar[0] * by_x, out_bar[0] * by_y


@pushforward(stats.pearsonr)
def push_pearsonr(out, x, y, x_dot, y_dot):
    check_plain(x, y)
    by_x, by_y = correlation_slopes(out[0], x, y)
    found = 0.0 if x_dot is None else by_x @ x_dot
    return found + (0.0 if y_dot is None else by_y @ y_dot), np.nan


@pullback(
    stats.linregress,
    result=lambda x, y: LineOutcome(*(np.float64(0.5) for _ in range(5))),
)
def pull_linregress(out_bar, out, x, y):
    slope_bar, intercept_bar, r_bar, p_bar, stderr_bar = out_bar[:5]
    check_significance("linregress", p_bar, stderr_bar)
    check_plain(x, y)
    slope_bar = slope_bar - intercept_bar * np.mean(x)
    by_x, by_y = line_slopes(out[0], x, y)
    r_by_x, r_by_y = correlation_slopes(out[2], x, y)
    x_bar = slope_bar * by_x + r_bar * r_by_x - intercept_bar * out[0] / len(x)
    return x_bar, slope_bar * by_y + r_bar * r_by_y + intercept_bar / len(y)


@pushforward(stats.linregress)
def push_linregress(out, x, y, x_dot, y_dot):
    check_plain(x, y)
    x_dot = np.zeros_like(x) if x_dot is None else x_dot
    y_dot = np.zeros_like(y) if y_dot is None else y_dot
    by_x, by_y = line_slopes(out[0], x, y)
    r_by_x, r_by_y = correlation_slopes(out[2], x, y)
    slope_dot = by_x @ x_dot + by_y @ y_dot
    level = np.mean(y_dot) - slope_dot * np.mean(x) - out[0] * np.mean(x_dot)
    return slope_dot, level, r_by_x @ x_dot + r_by_y @ y_dot, np.nan, np.nan
