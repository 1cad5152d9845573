"""scipy.stats: densities and distribution functions, as log-likelihoods use them.

In a place, a location and a scale; in the shapes of a distribution where its density tells. With
z = (x - loc) / scale, what is a function of z divided by the scale has the slopes of `placed`.
Outside of the support, where a logarithm is minus infinity, slopes are zero. So they are where a
zero by structure comes in: there a rule finds a density of zero, a probability that is none, or
the standard distribution where that has slopes everywhere.
"""

import numpy as np
from scipy import special, stats

from s2sad.registry import elementwise, pullback, pushforward
from s2sad.rules.decompositions import onto_triangle
from s2sad.runtime import unbroadcast


def placed(slope, z, scale):
    """Return how a log-density moves with x, loc and scale, from its slope in z."""
    return slope / scale, -slope / scale, -(1.0 + z * slope) / scale


STANDARD = {"x": 0.0, "loc": 0.0, "scale": 1.0}
LOG_OF_ZERO = {"out": -np.inf, "scale": 1.0}
DENSITY_OF_ZERO = {"out": 0.0, "scale": 1.0}
NO_PROBABILITY = {"out": -1.0, "scale": 1.0}


def inside(out, slopes):
    """Return slopes where a log-density is finite, zero elsewhere."""
    return tuple(np.where(out > -np.inf, slope, 0.0) for slope in slopes)


def scaled(out, slopes):
    """Return the slopes of a density from the slopes of its logarithm; zero where it is zero."""
    return tuple(np.where(out > 0.0, out * slope, 0.0) for slope in slopes)


def moved(density, z):
    """Return how a distribution function moves with x, loc and scale."""
    return density, -density, -z * density


def reached(out, density, z):
    """Return how a distribution function moves where its value is a probability; zero elsewhere."""
    return moved(np.where(out < 0.0, 0.0, density), np.where(density == 0.0, 0.0, z))


# the normal distribution


@elementwise(stats.norm.logpdf, regular=STANDARD)
def norm_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return -z / scale, z / scale, (z * z - 1.0) / scale


@elementwise(stats.norm.pdf, regular=STANDARD | {"out": 0.0})
def norm_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return -out * z / scale, out * z / scale, out * (z * z - 1.0) / scale


@elementwise(stats.norm.cdf, regular=STANDARD)
def norm_cdf(out, x, loc=0.0, scale=1.0):
    density = stats.norm.pdf(x, loc, scale)
    return density, -density, -density * (x - loc) / scale


@elementwise(stats.norm.sf, regular=STANDARD)
def norm_sf(out, x, loc=0.0, scale=1.0):
    density = stats.norm.pdf(x, loc, scale)
    return -density, density, density * (x - loc) / scale


@elementwise(stats.norm.logcdf, regular=STANDARD | {"out": 0.0})
def norm_logcdf(out, x, loc=0.0, scale=1.0):
    density = np.exp(stats.norm.logpdf(x, loc, scale) - out)
    return density, -density, -density * (x - loc) / scale


@elementwise(stats.norm.logsf, regular=STANDARD | {"out": 0.0})
def norm_logsf(out, x, loc=0.0, scale=1.0):
    density = np.exp(stats.norm.logpdf(x, loc, scale) - out)
    return -density, density, density * (x - loc) / scale


@elementwise(stats.norm.ppf, regular={"q": 0.5, "scale": 1.0})
def norm_ppf(out, q, loc=0.0, scale=1.0):
    z = special.ndtri(q)
    return scale / stats.norm.pdf(z), 1.0, z


@elementwise(stats.norm.isf, regular={"q": 0.5, "scale": 1.0})
def norm_isf(out, q, loc=0.0, scale=1.0):
    z = -special.ndtri(q)
    return -scale / stats.norm.pdf(z), 1.0, z


# other distributions without shapes


@elementwise(stats.expon.logpdf, masks=True, regular=LOG_OF_ZERO)
def expon_logpdf(out, x, loc=0.0, scale=1.0):
    return inside(out, placed(-1.0, (x - loc) / scale, scale))


@elementwise(stats.expon.pdf, masks=True, regular=DENSITY_OF_ZERO)
def expon_pdf(out, x, loc=0.0, scale=1.0):
    return scaled(out, placed(-1.0, (x - loc) / scale, scale))


@elementwise(stats.expon.cdf, masks=True, regular=NO_PROBABILITY)
def expon_cdf(out, x, loc=0.0, scale=1.0):
    return reached(out, stats.expon.pdf(x, loc, scale), (x - loc) / scale)


@elementwise(stats.expon.sf, masks=True, regular=NO_PROBABILITY)
def expon_sf(out, x, loc=0.0, scale=1.0):
    return reached(out, -stats.expon.pdf(x, loc, scale), (x - loc) / scale)


@elementwise(stats.uniform.logpdf, masks=True, regular=LOG_OF_ZERO)
def uniform_logpdf(out, x, loc=0.0, scale=1.0):
    """The place counts for nothing inside."""
    return None, None, np.where(out > -np.inf, -1.0 / scale, 0.0)


@elementwise(stats.laplace.logpdf, regular=STANDARD)
def laplace_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return placed(-np.sign(z), z, scale)


@elementwise(stats.laplace.pdf, regular=STANDARD | {"out": 0.0})
def laplace_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(-np.sign(z), z, scale))


@elementwise(stats.logistic.logpdf, regular=STANDARD)
def logistic_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return placed(-np.tanh(0.5 * z), z, scale)


@elementwise(stats.logistic.pdf, regular=STANDARD | {"out": 0.0})
def logistic_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(-np.tanh(0.5 * z), z, scale))


@elementwise(stats.logistic.cdf, regular=STANDARD)
def logistic_cdf(out, x, loc=0.0, scale=1.0):
    return moved(stats.logistic.pdf(x, loc, scale), (x - loc) / scale)


@elementwise(stats.cauchy.logpdf, regular=STANDARD)
def cauchy_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return placed(-2.0 * z / (1.0 + z * z), z, scale)


@elementwise(stats.cauchy.pdf, regular=STANDARD | {"out": 0.0})
def cauchy_pdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return scaled(out, placed(-2.0 * z / (1.0 + z * z), z, scale))


@elementwise(stats.halfnorm.logpdf, masks=True, regular=LOG_OF_ZERO)
def halfnorm_logpdf(out, x, loc=0.0, scale=1.0):
    z = (x - loc) / scale
    return inside(out, placed(-z, z, scale))


# distributions with shapes


def gamma_slopes(x, a, loc, scale):
    """Return the slopes of (a - 1) log z - z - log gamma(a)."""
    z = np.divide(x - loc, scale)
    return np.log(z) - special.digamma(a), *placed((a - 1.0) / z - 1.0, z, scale)


def shape_second(slopes):
    """Return slopes in the order of the arguments: the place, the shapes, loc and scale."""
    *shapes, by_x, by_loc, by_scale = slopes
    return by_x, *shapes, by_loc, by_scale


@elementwise(stats.gamma.logpdf, masks=True, regular=LOG_OF_ZERO | {"a": 1.0})
def gamma_logpdf(out, x, a, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(gamma_slopes(x, a, loc, scale)))


@elementwise(stats.gamma.pdf, masks=True, regular=DENSITY_OF_ZERO | {"a": 1.0})
def gamma_pdf(out, x, a, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(gamma_slopes(x, a, loc, scale)))


@elementwise(
    stats.gamma.cdf, unknown=("a",), masks=True, regular=NO_PROBABILITY | {"a": 1.0}, steep=("x",)
)
def gamma_cdf(out, x, a, loc=0.0, scale=1.0):
    by_x, by_loc, by_scale = reached(out, stats.gamma.pdf(x, a, loc, scale), (x - loc) / scale)
    return by_x, None, by_loc, by_scale


def chi2_slopes(x, df, loc, scale):
    """Return the slopes of (df / 2 - 1) log z - z / 2 - log gamma(df / 2) - df / 2 log 2."""
    z = np.divide(x - loc, scale)
    by_df = 0.5 * (np.log(0.5 * z) - special.digamma(0.5 * df))
    return by_df, *placed((0.5 * df - 1.0) / z - 0.5, z, scale)


@elementwise(stats.chi2.logpdf, masks=True, regular=LOG_OF_ZERO | {"df": 1.0})
def chi2_logpdf(out, x, df, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(chi2_slopes(x, df, loc, scale)))


@elementwise(stats.chi2.pdf, masks=True, regular=DENSITY_OF_ZERO | {"df": 1.0})
def chi2_pdf(out, x, df, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(chi2_slopes(x, df, loc, scale)))


@elementwise(
    stats.chi2.cdf, unknown=("df",), masks=True, regular=NO_PROBABILITY | {"df": 1.0}, steep=("x",)
)
def chi2_cdf(out, x, df, loc=0.0, scale=1.0):
    by_x, by_loc, by_scale = reached(out, stats.chi2.pdf(x, df, loc, scale), (x - loc) / scale)
    return by_x, None, by_loc, by_scale


def beta_slopes(x, a, b, loc, scale):
    """Return the slopes of (a - 1) log z + (b - 1) log(1 - z) - log beta(a, b)."""
    z = np.divide(x - loc, scale)
    both = special.digamma(a + b)
    by_place = placed((a - 1.0) / z - (b - 1.0) / (1.0 - z), z, scale)
    return (
        np.log(z) - special.digamma(a) + both,
        np.log1p(-z) - special.digamma(b) + both,
        *by_place,
    )


@elementwise(stats.beta.logpdf, masks=True, regular=LOG_OF_ZERO | {"a": 1.0, "b": 1.0})
def beta_logpdf(out, x, a, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(beta_slopes(x, a, b, loc, scale)))


@elementwise(stats.beta.pdf, masks=True, regular=DENSITY_OF_ZERO | {"a": 1.0, "b": 1.0})
def beta_pdf(out, x, a, b, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(beta_slopes(x, a, b, loc, scale)))


@elementwise(
    stats.beta.cdf, unknown=("a", "b"), masks=True, regular=NO_PROBABILITY | {"a": 1.0, "b": 1.0}
)
def beta_cdf(out, x, a, b, loc=0.0, scale=1.0):
    by_x, by_loc, by_scale = reached(out, stats.beta.pdf(x, a, b, loc, scale), (x - loc) / scale)
    return by_x, None, None, by_loc, by_scale


def t_slopes(x, df, loc, scale):
    """Return the slopes of log gamma((df + 1) / 2) - log gamma(df / 2) - log(df) / 2
    - (df + 1) / 2 log(1 + z**2 / df)."""
    z = np.divide(x - loc, scale)
    square = z * z / df
    by_df = (
        special.digamma(0.5 * (df + 1.0)) - special.digamma(0.5 * df) - 1.0 / df - np.log1p(square)
    )
    by_df = by_df + (df + 1.0) / df * square / (1.0 + square)
    return 0.5 * by_df, *placed(-(df + 1.0) * z / (df + z * z), z, scale)


@elementwise(stats.t.logpdf, regular=STANDARD | {"df": 1.0})
def t_logpdf(out, x, df, loc=0.0, scale=1.0):
    return shape_second(t_slopes(x, df, loc, scale))


@elementwise(stats.t.pdf, regular=STANDARD | {"out": 0.0, "df": 1.0})
def t_pdf(out, x, df, loc=0.0, scale=1.0):
    return scaled(out, shape_second(t_slopes(x, df, loc, scale)))


@elementwise(stats.t.cdf, unknown=("df",), regular=STANDARD | {"df": 1.0})
def t_cdf(out, x, df, loc=0.0, scale=1.0):
    by_x, by_loc, by_scale = moved(stats.t.pdf(x, df, loc, scale), (x - loc) / scale)
    return by_x, None, by_loc, by_scale


def lognorm_slopes(x, s, loc, scale):
    """Return the slopes of -log(s z) - log(z)**2 / (2 s**2)."""
    z = np.divide(x - loc, scale)
    ratio = np.log(z) / s
    return (ratio * ratio - 1.0) / s, *placed(-(1.0 + ratio / s) / z, z, scale)


@elementwise(stats.lognorm.logpdf, masks=True, regular=LOG_OF_ZERO | {"s": 1.0})
def lognorm_logpdf(out, x, s, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(lognorm_slopes(x, s, loc, scale)))


@elementwise(stats.lognorm.pdf, masks=True, regular=DENSITY_OF_ZERO | {"s": 1.0})
def lognorm_pdf(out, x, s, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(lognorm_slopes(x, s, loc, scale)))


@elementwise(stats.lognorm.cdf, masks=True, regular=NO_PROBABILITY | {"s": 1.0})
def lognorm_cdf(out, x, s, loc=0.0, scale=1.0):
    density = np.where(out < 0.0, 0.0, stats.lognorm.pdf(x, s, loc, scale))
    z = (x - loc) / scale
    with np.errstate(all="ignore"):
        by_s = np.where(density > 0.0, -density * scale * z * np.log(z) / s, 0.0)
    by_x, by_loc, by_scale = reached(out, density, z)
    return by_x, by_s, by_loc, by_scale


def weibull_slopes(x, c, loc, scale):
    """Return the slopes of log c + (c - 1) log z - z**c."""
    z = np.divide(x - loc, scale)
    power = z**c
    by_c = 1.0 / c + np.log(z) * (1.0 - power)
    return by_c, *placed((c - 1.0 - c * power) / z, z, scale)


@elementwise(stats.weibull_min.logpdf, masks=True, regular=LOG_OF_ZERO | {"c": 1.0})
def weibull_min_logpdf(out, x, c, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return inside(out, shape_second(weibull_slopes(x, c, loc, scale)))


@elementwise(stats.weibull_min.pdf, masks=True, regular=DENSITY_OF_ZERO | {"c": 1.0})
def weibull_min_pdf(out, x, c, loc=0.0, scale=1.0):
    with np.errstate(all="ignore"):
        return scaled(out, shape_second(weibull_slopes(x, c, loc, scale)))


# counts, which have no slope: their place is an integer


@elementwise(stats.poisson.logpmf, unknown=("k", "loc"), regular={"mu": 1.0})
def poisson_logpmf(out, k, mu, loc=0):
    return None, np.where(out > -np.inf, (k - loc) / mu - 1.0, 0.0), None


@elementwise(stats.poisson.pmf, unknown=("k", "loc"), regular={"out": 0.0, "mu": 1.0})
def poisson_pmf(out, k, mu, loc=0):
    return None, out * ((k - loc) / mu - 1.0), None


@elementwise(stats.bernoulli.logpmf, unknown=("k", "loc"), regular={"p": 0.5})
def bernoulli_logpmf(out, k, p, loc=0):
    return None, np.where(k == loc, -1.0 / (1.0 - p), (k == loc + 1) / p), None


@elementwise(stats.binom.logpmf, unknown=("k", "n", "loc"), regular={"p": 0.5})
def binom_logpmf(out, k, n, p, loc=0):
    slope = (k - loc) / p - (n - k + loc) / (1.0 - p)
    return None, None, np.where(out > -np.inf, slope, 0.0), None


@elementwise(stats.binom.pmf, unknown=("k", "n", "loc"), regular={"out": 0.0, "p": 0.5})
def binom_pmf(out, k, n, p, loc=0):
    return None, None, out * ((k - loc) / p - (n - k + loc) / (1.0 - p)), None


# several dimensions


def covariance(cov, size):
    """Return the matrix that a covariance stands for: one number, a diagonal, or a triangle."""
    given = np.asarray(cov)
    if given.ndim == 0:
        return given * np.eye(size)
    return np.diag(given) if given.ndim == 1 else np.tril(given) + np.tril(given, -1).T


def about_mean(x, mean, cov):
    """Return the places about the mean, in rows, and the matrix of covariances."""
    size = np.size(mean) if mean is not None else np.atleast_2d(cov).shape[0]
    if mean is None and np.ndim(cov) < 2:
        size = 1
    rest = np.reshape(x, (-1, size)) - (0.0 if mean is None else np.reshape(mean, size))
    return rest, covariance(cov, size)


def normal_cotangents(out_bar, x, mean, cov):
    """Return the cotangents of x, mean and cov for the logarithm of a density.

    After Petersen and Pedersen, "The matrix cookbook", 2012, section 8. One triangle is read.
    """
    given = np.asarray(cov)
    rest, whole = about_mean(x, mean, cov)
    bars = np.reshape(out_bar, (-1, 1))
    solved = np.linalg.solve(whole, rest.T).T
    x_bar = np.reshape(-bars * solved, np.shape(x))
    spread = (bars * solved).T @ solved - np.sum(bars) * np.linalg.inv(whole)
    cov_bar = 0.5 * spread
    if given.ndim == 2:
        cov_bar = onto_triangle(cov_bar, "L")
    else:
        cov_bar = unbroadcast(np.diag(cov_bar), given.shape)
    mean_bar = None if mean is None else np.reshape(np.sum(bars * solved, axis=0), np.shape(mean))
    return x_bar, mean_bar, cov_bar


def normal_tangent(out, x, mean, cov, x_dot, mean_dot, cov_dot):
    """Return the tangent of the logarithm of a density."""
    rest, whole = about_mean(x, mean, cov)
    size = rest.shape[1]
    solved = np.linalg.solve(whole, rest.T).T
    rest_dot = np.zeros_like(rest)
    if x_dot is not None:
        rest_dot = rest_dot + np.reshape(x_dot, rest.shape)
    if mean_dot is not None:
        rest_dot = rest_dot - np.reshape(mean_dot, size)
    found = -np.sum(solved * rest_dot, axis=1)
    if cov_dot is not None:
        whole_dot = covariance(cov_dot, size)
        found = found + 0.5 * np.sum(solved @ whole_dot * solved, axis=1)
        found = found - 0.5 * np.trace(np.linalg.solve(whole, whole_dot))
    return np.reshape(found, np.shape(out))


@pullback(stats.multivariate_normal.logpdf)
def pull_multivariate_normal_logpdf(out_bar, out, x, mean=None, cov=1.0):
    return normal_cotangents(out_bar, x, mean, cov)


@pushforward(stats.multivariate_normal.logpdf)
def push_multivariate_normal_logpdf(out, x, mean, cov, x_dot, mean_dot, cov_dot):
    return normal_tangent(out, x, mean, cov, x_dot, mean_dot, cov_dot)


@pushforward(stats.multivariate_normal.pdf)
def push_multivariate_normal_pdf(out, x, mean, cov, x_dot, mean_dot, cov_dot):
    return out * normal_tangent(out, x, mean, cov, x_dot, mean_dot, cov_dot)


@pullback(stats.multivariate_normal.pdf)
def pull_multivariate_normal_pdf(out_bar, out, x, mean=None, cov=1.0):
    return normal_cotangents(out_bar * out, x, mean, cov)
