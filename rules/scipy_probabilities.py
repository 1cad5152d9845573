"""scipy.stats: distribution functions and their inverses, for all distributions.

The slope of a distribution function is the density; a function of z = (x - loc) / scale moves with
loc and scale as z does. SciPy has no slopes for the shapes of a distribution. Outside of the
support, and where a logarithm is minus infinity, slopes are zero.
"""

import numpy as np
from scipy import stats

from s2sad.registry import Kin, elementwise, rule_for
from s2sad.rules.scipy_stats import NO_PROBABILITY

NAMES = {
    0: "cauchy expon gumbel_l gumbel_r halfcauchy halfnorm laplace logistic rayleigh uniform",
    1: "chi2 gamma invgamma lognorm pareto skewnorm t weibull_min",
    2: "beta f loguniform reciprocal truncnorm",
}


def kin(method, shapes):
    """Return a method of all distributions with so many shapes that have no rule of their own."""
    found = [getattr(stats, name) for name in NAMES[shapes].split()]
    return [
        Kin(
            getattr(one, method),
            {"density": one.pdf, "log_density": one.logpdf, "quantile": one.ppf},
        )
        for one in found
        if rule_for(getattr(one, method)) is None
    ]


ONE = {"shape": 1.0}
TWO = {"first": 1.0, "second": 2.0}
LOG_OF_NONE = {"out": -np.inf, "scale": 1.0}
MEDIAN = {"q": 0.5, "scale": 1.0}


def where_some(out, density):
    """Return a density where the value is a probability; zero elsewhere."""
    return np.where(out < 0.0, 0.0, density)


def ratio(out, log_density):
    """Return the slope of the logarithm of a probability; zero where there is none."""
    some = out > -np.inf
    return np.where(some, np.exp(log_density - np.where(some, out, 0.0)), 0.0)


def drift(slope, x, loc, scale):
    """Return slope * z; zero where the slope is zero."""
    return np.where(slope == 0.0, 0.0, (x - loc) / scale) * slope


# without shapes


@elementwise(*kin("cdf", 0), masks=True, regular=NO_PROBABILITY)
def cdf(out, x, loc=0.0, scale=1.0, *, density):
    slope = where_some(out, density(x, loc, scale))
    return slope, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("sf", 0), masks=True, regular=NO_PROBABILITY)
def sf(out, x, loc=0.0, scale=1.0, *, density):
    slope = -where_some(out, density(x, loc, scale))
    return slope, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logcdf", 0), masks=True, regular=LOG_OF_NONE)
def logcdf(out, x, loc=0.0, scale=1.0, *, log_density):
    slope = ratio(out, log_density(x, loc, scale))
    return slope, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logsf", 0), masks=True, regular=LOG_OF_NONE)
def logsf(out, x, loc=0.0, scale=1.0, *, log_density):
    slope = -ratio(out, log_density(x, loc, scale))
    return slope, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("ppf", 0), regular=MEDIAN)
def ppf(out, q, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(q)
    return scale / density(z), 1.0, z


@elementwise(*kin("isf", 0), regular=MEDIAN)
def isf(out, q, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(1.0 - q)
    return -scale / density(z), 1.0, z


# with one shape


@elementwise(
    *kin("cdf", 1), unknown=("shape",), masks=True, regular=NO_PROBABILITY | ONE, steep=("x",)
)
def cdf_of_one(out, x, shape, loc=0.0, scale=1.0, *, density):
    slope = where_some(out, density(x, shape, loc, scale))
    return slope, None, -slope, -drift(slope, x, loc, scale)


@elementwise(
    *kin("sf", 1), unknown=("shape",), masks=True, regular=NO_PROBABILITY | ONE, steep=("x",)
)
def sf_of_one(out, x, shape, loc=0.0, scale=1.0, *, density):
    slope = -where_some(out, density(x, shape, loc, scale))
    return slope, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logcdf", 1), unknown=("shape",), masks=True, regular=LOG_OF_NONE | ONE)
def logcdf_of_one(out, x, shape, loc=0.0, scale=1.0, *, log_density):
    slope = ratio(out, log_density(x, shape, loc, scale))
    return slope, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logsf", 1), unknown=("shape",), masks=True, regular=LOG_OF_NONE | ONE)
def logsf_of_one(out, x, shape, loc=0.0, scale=1.0, *, log_density):
    slope = -ratio(out, log_density(x, shape, loc, scale))
    return slope, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("ppf", 1), unknown=("shape",), regular=MEDIAN | ONE, steep=("q",))
def ppf_of_one(out, q, shape, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(q, shape)
    return scale / density(z, shape), None, 1.0, z


@elementwise(*kin("isf", 1), unknown=("shape",), regular=MEDIAN | ONE, steep=("q",))
def isf_of_one(out, q, shape, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(1.0 - q, shape)
    return -scale / density(z, shape), None, 1.0, z


# with two


@elementwise(
    *kin("cdf", 2),
    unknown=("first", "second"),
    masks=True,
    regular=NO_PROBABILITY | TWO,
    steep=("x",),
)
def cdf_of_two(out, x, first, second, loc=0.0, scale=1.0, *, density):
    slope = where_some(out, density(x, first, second, loc, scale))
    return slope, None, None, -slope, -drift(slope, x, loc, scale)


@elementwise(
    *kin("sf", 2),
    unknown=("first", "second"),
    masks=True,
    regular=NO_PROBABILITY | TWO,
    steep=("x",),
)
def sf_of_two(out, x, first, second, loc=0.0, scale=1.0, *, density):
    slope = -where_some(out, density(x, first, second, loc, scale))
    return slope, None, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logcdf", 2), unknown=("first", "second"), masks=True, regular=LOG_OF_NONE | TWO)
def logcdf_of_two(out, x, first, second, loc=0.0, scale=1.0, *, log_density):
    slope = ratio(out, log_density(x, first, second, loc, scale))
    return slope, None, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("logsf", 2), unknown=("first", "second"), masks=True, regular=LOG_OF_NONE | TWO)
def logsf_of_two(out, x, first, second, loc=0.0, scale=1.0, *, log_density):
    slope = -ratio(out, log_density(x, first, second, loc, scale))
    return slope, None, None, -slope, -drift(slope, x, loc, scale)


@elementwise(*kin("ppf", 2), unknown=("first", "second"), regular=MEDIAN | TWO, steep=("q",))
def ppf_of_two(out, q, first, second, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(q, first, second)
    return scale / density(z, first, second), None, None, 1.0, z


@elementwise(*kin("isf", 2), unknown=("first", "second"), regular=MEDIAN | TWO, steep=("q",))
def isf_of_two(out, q, first, second, loc=0.0, scale=1.0, *, density, quantile):
    z = quantile(1.0 - q, first, second)
    return -scale / density(z, first, second), None, None, 1.0, z
