"""The rules of rules/scipy_stats.py, in every argument, inside and outside of the support."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import load_rules, object_function, positional_names, rule_for
from s2sad.testing import check_rule
from tests import slopes

S = pytest.importorskip("scipy.stats")
load_rules()
rng = np.random.default_rng(21)


def n(*shape):
    return rng.standard_normal(shape)


X = np.array([-1.3, 0.4, 2.2, 0.7])
POSITIVE = np.array([0.3, 1.7, 4.1, 0.9])
UNIT = np.array([0.2, 0.7, 0.45, 0.8])
PLACE = {"loc": 0.4, "scale": 1.7}

ROWS = [
    *[(getattr(S.norm, f), (X,)) for f in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")],
    (S.norm.ppf, (UNIT,)),
    (S.norm.isf, (UNIT,)),
    *[(getattr(S.expon, f), (POSITIVE + 0.5,)) for f in ("pdf", "logpdf", "cdf", "sf")],
    (S.uniform.logpdf, (UNIT + 0.6,)),
    (S.laplace.logpdf, (X - 0.35,)),
    (S.laplace.pdf, (X - 0.35,)),
    *[(getattr(S.logistic, f), (X,)) for f in ("pdf", "logpdf", "cdf")],
    (S.cauchy.logpdf, (X,)),
    (S.cauchy.pdf, (X,)),
    (S.halfnorm.logpdf, (POSITIVE + 0.5,)),
    *[(getattr(S.gamma, f), (POSITIVE + 0.5, 2.3)) for f in ("pdf", "logpdf", "cdf")],
    *[(getattr(S.chi2, f), (POSITIVE + 0.5, 3.1)) for f in ("pdf", "logpdf", "cdf")],
    *[(getattr(S.beta, f), (UNIT + 0.5, 2.3, 1.4)) for f in ("pdf", "logpdf", "cdf")],
    *[(getattr(S.t, f), (X, 3.2)) for f in ("pdf", "logpdf", "cdf")],
    *[(getattr(S.lognorm, f), (POSITIVE + 0.5, 0.8)) for f in ("pdf", "logpdf", "cdf")],
    (S.weibull_min.logpdf, (POSITIVE + 0.5, 1.8)),
    (S.weibull_min.pdf, (POSITIVE + 0.5, 1.8)),
]
COUNTS = np.array([0, 2, 1, 5])
DISCRETE = [
    (S.poisson.logpmf, (COUNTS, POSITIVE)),
    (S.poisson.pmf, (COUNTS, 2.3)),
    (S.bernoulli.logpmf, (np.array([0, 1, 1, 0]), UNIT)),
    (S.binom.logpmf, (COUNTS, 6, UNIT)),
    (S.binom.pmf, (COUNTS, 6, 0.3)),
]


def named(value):
    return f"{type(value.__self__).__name__}.{value.__name__}" if callable(value) else None


@pytest.mark.parametrize("fn, args", ROWS, ids=named)
def test_rule(fn, args):
    check_rule(fn, *args, 0.4, 1.7)
    check_rule(fn, *args, np.array([[0.1], [-0.2]]), np.array(1.8))
    if fn.__self__ not in (S.uniform, S.beta):
        check_rule(fn, *args)


@pytest.mark.parametrize("fn, args", DISCRETE, ids=named)
def test_counts(fn, args):
    check_rule(fn, *args)


OUTSIDE = [
    (S.expon.logpdf, ()),
    (S.expon.pdf, ()),
    (S.gamma.logpdf, (2.0,)),
    (S.gamma.pdf, (2.0,)),
    (S.beta.logpdf, (2.0, 3.0)),
    (S.lognorm.cdf, (0.7,)),
    (S.weibull_min.logpdf, (1.3,)),
]


@pytest.mark.parametrize("fn, shapes", OUTSIDE, ids=named)
def test_outside_of_the_support(fn, shapes):
    def density(x):
        return np.sum(np.exp(fn(x, *shapes)) if fn.__name__ == "logpdf" else fn(x, *shapes))

    assert np.all(s2sad.grad(density)(np.array([-0.7, -2.0])) == 0.0)


# --- in programs ---------------------------------------------------------------------------------


def regression(w, x, y):
    return -np.sum(S.norm.logpdf(y, loc=x @ w[:2], scale=np.exp(w[2])))


def robust(w, x, y):
    return -np.sum(S.t.logpdf(y, np.exp(w[2]) + 1.0, loc=x @ w[:2], scale=2.0))


def censored(w, x, y):
    mean = x @ w[:2]
    seen = S.norm.logpdf(y, mean)
    return -np.sum(np.where(y > 0.0, seen, S.norm.logcdf(0.0, mean)))


def posterior(w, x, y):
    prior = S.gamma.logpdf(np.exp(w[2]), 2.0, scale=0.5)
    return prior + np.sum(S.expon.logpdf(np.abs(y), scale=np.exp(x @ w[:2])))


def counts(w, x, y):
    return -np.sum(S.poisson.logpmf(COUNTS, np.exp(x @ w[:2]))) + w[2] ** 2


PROGRAMS = [regression, robust, censored, posterior, counts]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    slopes.check(f, n(3), n(4, 2), n(4), constant=(1, 2))


def joint(x, mean, factor):
    cov = factor @ factor.T + np.eye(3)
    return np.sum(S.multivariate_normal.logpdf(x, mean, cov)) + S.multivariate_normal.pdf(
        x[0], mean=mean, cov=cov
    )


def spread(x, mean, variances):
    return np.sum(S.multivariate_normal.logpdf(x, mean, variances**2 + 0.5)) + np.sum(
        S.multivariate_normal.logpdf(x[0], cov=variances[0] ** 2 + 0.1)
    )


def test_several_dimensions():
    slopes.check(joint, n(4, 3), n(3), n(3, 3))
    slopes.check(spread, n(4, 3), n(3), n(3))


def test_one_triangle_of_the_covariance_is_read():
    def f(cov, x):
        return S.multivariate_normal.logpdf(x, np.zeros(2), cov)

    found = s2sad.grad(f)(np.array([[2.0, 0.3], [0.3, 1.0]]), n(2))
    assert found[0, 1] == 0.0
    slopes.check(f, np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.4, -1.0]))


def shape_of_gamma(x):
    return np.sum(S.gamma.cdf(np.ones(3), x))


def other(x):
    return np.sum(S.genextreme.logpdf(x, 0.3))


@pytest.mark.parametrize("f", [shape_of_gamma, other])
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(POSITIVE[:3])


# --- estimates of densities ---------------------------------------------------------------------

CLOUD = rng.standard_normal((2, 7))
ESTIMATES = [(S.gaussian_kde(CLOUD[0], 0.4), n(4)), (S.gaussian_kde(CLOUD), n(2, 3))]


@pytest.mark.parametrize("name", ["__call__", "logpdf", "pdf", "evaluate"])
@pytest.mark.parametrize("kde, x", ESTIMATES, ids=["on a line", "on a plane"])
def test_estimates(kde, x, name):
    check_rule(object_function(S.gaussian_kde, name), kde, x)


def estimated(x):
    one = S.gaussian_kde(CLOUD[0], weights=np.arange(7.0))
    plane = S.gaussian_kde(CLOUD)
    whole = np.sum(one(x) ** 2) * one(x[0])[0] + plane(x[:2])[0] + plane.logpdf([x[:2], x[1:]])[1]
    return whole + np.sum(one.pdf([x[0], 2.0 * x[1]]))


def test_estimates_in_programs():
    slopes.check(estimated, n(3))
    assert s2sad.value_and_grad(estimated)(POSITIVE[:3])[0] == estimated(POSITIVE[:3])
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(lambda x: S.gaussian_kde(x)(0.3)[0])(n(4))


# --- zeros by structure --------------------------------------------------------------------------

SEEN = np.array([False, True, False, True])
PLACED = [(fn, (*args, 0.4, 1.7)) for fn, args in ROWS]


def placed_at(fn, args, i):
    """Return what of the i-th argument only some entries count in."""
    before, after = tuple(args[:i]), tuple(args[i + 1 :])

    def f(v):
        return np.sum(np.where(SEEN, fn(*before, v, *after), 0.0))

    return f


@pytest.mark.parametrize("fn, args", [*ROWS, *PLACED, *DISCRETE], ids=named)
def test_what_is_masked_counts_for_nothing(fn, args):
    for i, parameter in enumerate(positional_names(rule_for(fn).partials, 1)[: len(args)]):
        if parameter not in rule_for(fn).unknown:
            slope = s2sad.grad(placed_at(fn, args, i))
            good = np.array(np.broadcast_to(args[i], 4), float)
            for bad in (-np.inf, -2.0, 0.0, 0.4, 1.0, 2.1, np.nan):
                with np.errstate(all="ignore"):
                    found = slope(np.where(SEEN, good, bad))
                np.testing.assert_allclose(found, np.where(SEEN, slope(good), 0.0), rtol=1e-12)


def of_a_root(x):
    return np.sum(S.expon.pdf(np.sqrt(x), 1.0)) + np.sum(S.uniform.logpdf(np.sqrt(x), -1.0, 4.0))


def of_a_logarithm(x):
    return np.sum(np.where(x > 0.0, S.norm.logpdf(np.log(x), scale=2.0), 0.0))


def test_slopes_outside_of_the_support_are_zero_by_structure():
    x = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(s2sad.grad(of_a_root)(x), [0.0, -0.25 * np.exp(-1.0)])
        np.testing.assert_allclose(s2sad.grad(of_a_logarithm)(x), [0.0, -np.log(4.0) / 16.0])


def test_the_edge_of_a_support_is_no_error():
    with np.errstate(all="ignore"):
        for fn, args in ROWS:
            shapes = tuple(args[1:])
            s2sad.grad(lambda x, fn=fn, shapes=shapes: fn(x, *shapes))(0.0)
