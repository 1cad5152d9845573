"""scipy.stats: densities of further distributions, by the slopes of their logarithms.

As in rules/scipy_stats.py, where `placed`, `inside` and `scaled` use the slope in
z = (x - loc) / scale. The formulas follow SciPy's documentation of each distribution.
"""

import numpy as np
from scipy import special, stats

from s2sad.registry import elementwise
from s2sad.rules.scipy_stats import (
    DENSITY_OF_ZERO,
    LOG_OF_ZERO,
    STANDARD,
    inside,
    placed,
    scaled,
    shape_second,
)

# without shapes


@elementwise(stats.uniform.pdf, masks=True, regular=DENSITY_OF_ZERO)
def uniform_pdf(out, x, loc=0.0, scale=1.0):
    """The place counts for nothing inside."""
    return None, None, np.where(out > 0.0, -out / scale, 0.0)


@elementwise(stats.halfnorm.pdf, masks=True, regular=DENSITY_OF_ZERO)
def halfnorm_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(-z, z, scale))


@elementwise(stats.halfcauchy.logpdf, masks=True, regular=LOG_OF_ZERO)
def halfcauchy_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return inside(out, placed(-2.0 * z / (1.0 + z * z), z, scale))


@elementwise(stats.halfcauchy.pdf, masks=True, regular=DENSITY_OF_ZERO)
def halfcauchy_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(-2.0 * z / (1.0 + z * z), z, scale))


@elementwise(stats.rayleigh.logpdf, masks=True, regular=LOG_OF_ZERO)
def rayleigh_logpdf(out, x, loc=0.0, scale=1.0):
    z = np.divide(x - loc, scale)
    with np.errstate(all="ignore"):
        return inside(out, placed(1.0 / z - z, z, scale))


@elementwise(stats.rayleigh.pdf, masks=True, regular=DENSITY_OF_ZERO)
def rayleigh_pdf(out, x, loc=0.0, scale=1.0):
    z = np.divide(x - loc, scale)
    with np.errstate(all="ignore"):
        return scaled(out, placed(1.0 / z - z, z, scale))


@elementwise(stats.gumbel_r.logpdf, regular=STANDARD)
def gumbel_r_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return placed(np.exp(-z) - 1.0, z, scale)


@elementwise(stats.gumbel_r.pdf, regular=STANDARD | {"out": 0.0})
def gumbel_r_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(np.exp(-z) - 1.0, z, scale))


@elementwise(stats.gumbel_l.logpdf, regular=STANDARD)
def gumbel_l_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return placed(1.0 - np.exp(z), z, scale)


@elementwise(stats.gumbel_l.pdf, regular=STANDARD | {"out": 0.0})
def gumbel_l_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(1.0 - np.exp(z), z, scale))


# with a shape


def invgamma_slopes(x, a, loc, scale):
    """Return the slopes of -(a + 1) log z - log gamma(a) - 1 / z."""
    z = np.divide(x - loc, scale)
    return -np.log(z) - special.digamma(a), *placed((1.0 / z - a - 1.0) / z, z, scale)


@elementwise(stats.invgamma.logpdf, masks=True, regular=LOG_OF_ZERO | {"a": 1.0})
def invgamma_logpdf(out, x, a, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(invgamma_slopes(x, a, loc, scale)))


@elementwise(stats.invgamma.pdf, masks=True, regular=DENSITY_OF_ZERO | {"a": 1.0})
def invgamma_pdf(out, x, a, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(invgamma_slopes(x, a, loc, scale)))


def pareto_slopes(x, b, loc, scale):
    """Return the slopes of log b - (b + 1) log z."""
    z = np.divide(x - loc, scale)
    return 1.0 / b - np.log(z), *placed(-(b + 1.0) / z, z, scale)


@elementwise(stats.pareto.logpdf, masks=True, regular=LOG_OF_ZERO | {"b": 1.0})
def pareto_logpdf(out, x, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(pareto_slopes(x, b, loc, scale)))


@elementwise(stats.pareto.pdf, masks=True, regular=DENSITY_OF_ZERO | {"b": 1.0})
def pareto_pdf(out, x, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(pareto_slopes(x, b, loc, scale)))


def skewnorm_slopes(x, a, loc, scale):
    """Return the slopes of -z**2 / 2 + log Phi(a z)."""
    z = (x - loc) / scale
    ratio = np.exp(stats.norm.logpdf(a * z) - special.log_ndtr(a * z))
    return z * ratio, *placed(a * ratio - z, z, scale)


@elementwise(stats.skewnorm.logpdf, regular=STANDARD | {"a": 1.0})
def skewnorm_logpdf(out, x, a, loc=0.0, scale=1.0):
    return shape_second(skewnorm_slopes(x, a, loc, scale))


@elementwise(stats.skewnorm.pdf, regular=STANDARD | {"out": 0.0, "a": 1.0})
def skewnorm_pdf(out, x, a, loc=0.0, scale=1.0):
    return scaled(out, shape_second(skewnorm_slopes(x, a, loc, scale)))


def vonmises_slopes(x, kappa, loc, scale):
    """Return the slopes of kappa (cos z - 1) - log(i0e(kappa))."""
    z = (x - loc) / scale
    by_kappa = np.cos(z) - special.i1e(kappa) / special.i0e(kappa)
    return by_kappa, *placed(-kappa * np.sin(z), z, scale)


@elementwise(stats.vonmises.logpdf, regular=STANDARD | {"kappa": 1.0})
def vonmises_logpdf(out, x, kappa, loc=0.0, scale=1.0):
    return shape_second(vonmises_slopes(x, kappa, loc, scale))


@elementwise(stats.vonmises.pdf, regular=STANDARD | {"out": 0.0, "kappa": 1.0})
def vonmises_pdf(out, x, kappa, loc=0.0, scale=1.0):
    return scaled(out, shape_second(vonmises_slopes(x, kappa, loc, scale)))


def survival_slopes(x, c, loc, scale):
    """Return the slopes of -z**c, the logarithm of what survives; zero where all does."""
    z = np.divide(x - loc, scale)
    alive = z > 0.0
    z = np.where(alive, z, 1.0)
    slope = np.where(alive, -c * z ** (c - 1.0), 0.0) / scale
    return slope, np.where(alive, -(z**c) * np.log(z), 0.0), -slope, -slope * z


@elementwise(stats.weibull_min.logsf, masks=True, regular={"c": 1.0} | STANDARD)
def weibull_min_logsf(out, x, c, loc=0.0, scale=1.0):
    return survival_slopes(x, c, loc, scale)


@elementwise(stats.weibull_min.sf, masks=True, regular={"c": 1.0} | STANDARD, steep=("x",))
def weibull_min_sf(out, x, c, loc=0.0, scale=1.0):
    by_x, by_c, by_loc, by_scale = survival_slopes(x, c, loc, scale)
    return out * by_x, out * by_c, out * by_loc, out * by_scale


@elementwise(stats.weibull_min.cdf, masks=True, regular={"c": 1.0} | STANDARD, steep=("x",))
def weibull_min_cdf(out, x, c, loc=0.0, scale=1.0):
    by_x, by_c, by_loc, by_scale = survival_slopes(x, c, loc, scale)
    left = out - 1.0
    return left * by_x, left * by_c, left * by_loc, left * by_scale


# with two shapes


def f_slopes(x, dfn, dfd, loc, scale):
    """Return the slopes of dfd / 2 log dfd + dfn / 2 log dfn + (dfn / 2 - 1) log z
    - (dfn + dfd) / 2 log(dfd + dfn z) - log beta(dfn / 2, dfd / 2)."""
    z = np.divide(x - loc, scale)
    both, total = special.digamma(0.5 * (dfn + dfd)), dfd + dfn * z
    half = 0.5 * (dfn + dfd)
    by_dfn = 0.5 * (np.log(dfn) + 1.0 + np.log(z) - np.log(total) + both)
    by_dfd = 0.5 * (np.log(dfd) + 1.0 - np.log(total) + both)
    return (
        by_dfn - half * z / total - 0.5 * special.digamma(0.5 * dfn),
        by_dfd - half / total - 0.5 * special.digamma(0.5 * dfd),
        *placed((0.5 * dfn - 1.0) / z - half * dfn / total, z, scale),
    )


@elementwise(stats.f.logpdf, masks=True, regular=LOG_OF_ZERO | {"dfn": 1.0, "dfd": 1.0})
def f_logpdf(out, x, dfn, dfd, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(f_slopes(x, dfn, dfd, loc, scale)))


@elementwise(stats.f.pdf, masks=True, regular=DENSITY_OF_ZERO | {"dfn": 1.0, "dfd": 1.0})
def f_pdf(out, x, dfn, dfd, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(f_slopes(x, dfn, dfd, loc, scale)))


def truncnorm_slopes(x, a, b, loc, scale):
    """Return the slopes of -z**2 / 2 - log(Phi(b) - Phi(a)), which is in scipy's own density."""
    z = (x - loc) / scale
    by_a = stats.truncnorm.pdf(a, a, b)
    return by_a, -stats.truncnorm.pdf(b, a, b), *placed(-z, z, scale)


@elementwise(stats.truncnorm.logpdf, masks=True, regular=LOG_OF_ZERO | {"a": -1.0, "b": 1.0})
def truncnorm_logpdf(out, x, a, b, loc=0.0, scale=1.0):
    return inside(out, shape_second(truncnorm_slopes(x, a, b, loc, scale)))


@elementwise(stats.truncnorm.pdf, masks=True, regular=DENSITY_OF_ZERO | {"a": -1.0, "b": 1.0})
def truncnorm_pdf(out, x, a, b, loc=0.0, scale=1.0):
    return scaled(out, shape_second(truncnorm_slopes(x, a, b, loc, scale)))


def loguniform_slopes(x, a, b, loc, scale):
    """Return the slopes of -log z - log(log(b / a))."""
    z = np.divide(x - loc, scale)
    width = np.log(b / a)
    return 1.0 / (a * width), -1.0 / (b * width), *placed(-1.0 / z, z, scale)


@elementwise(
    stats.loguniform.logpdf,
    stats.reciprocal.logpdf,
    masks=True,
    regular=LOG_OF_ZERO | {"a": 1.0, "b": 2.0},
)
def loguniform_logpdf(out, x, a, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(loguniform_slopes(x, a, b, loc, scale)))


@elementwise(
    stats.loguniform.pdf,
    stats.reciprocal.pdf,
    masks=True,
    regular=DENSITY_OF_ZERO | {"a": 1.0, "b": 2.0},
)
def loguniform_pdf(out, x, a, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(loguniform_slopes(x, a, b, loc, scale)))


# counts


@elementwise(stats.bernoulli.pmf, unknown=("k", "loc"), regular={"p": 0.5})
def bernoulli_pmf(out, k, p, loc=0):
    return None, np.where(k == loc, -1.0, np.where(k == loc + 1, 1.0, 0.0)), None


@elementwise(
    stats.nbinom.logpmf,
    unknown=("k", "loc"),
    regular={"k": 0.0, "n": 1.0, "p": 0.5, "loc": 0.0},
)
def nbinom_logpmf(out, k, n, p, loc=0):
    inside_ = out > -np.inf
    found = np.where(inside_, k - loc, 0.0)
    by_n = special.digamma(found + n) - special.digamma(n) + np.log(p)
    slope = n / p - found / (1.0 - p)
    return None, np.where(inside_, by_n, 0.0), np.where(inside_, slope, 0.0), None


@elementwise(stats.nbinom.pmf, unknown=("k", "loc"), regular={"out": 0.0, "n": 1.0, "p": 0.5})
def nbinom_pmf(out, k, n, p, loc=0):
    found = np.where(out > 0.0, k - loc, 0.0)
    by_n = special.digamma(found + n) - special.digamma(n) + np.log(p)
    return None, out * by_n, out * (n / p - found / (1.0 - p)), None


@elementwise(stats.geom.logpmf, unknown=("k", "loc"), regular={"p": 0.5})
def geom_logpmf(out, k, p, loc=0):
    slope = 1.0 / p - (k - loc - 1.0) / (1.0 - p)
    return None, np.where(out > -np.inf, slope, 0.0), None


@elementwise(stats.geom.pmf, unknown=("k", "loc"), regular={"out": 0.0, "p": 0.5})
def geom_pmf(out, k, p, loc=0):
    return None, out * (1.0 / p - (k - loc - 1.0) / (1.0 - p)), None


@elementwise(stats.poisson.cdf, unknown=("k", "loc"), regular={"mu": 1.0})
def poisson_cdf(out, k, mu, loc=0):
    """Each probability passes on to the next count: those within lose the last one."""
    return None, -stats.poisson.pmf(np.floor(k), mu, loc), None


@elementwise(stats.poisson.sf, unknown=("k", "loc"), regular={"mu": 1.0})
def poisson_sf(out, k, mu, loc=0):
    return None, stats.poisson.pmf(np.floor(k), mu, loc), None
