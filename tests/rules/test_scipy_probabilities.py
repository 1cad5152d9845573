"""The rules of rules/scipy_densities.py and rules/scipy_probabilities.py, in and out of support."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule

S = pytest.importorskip("scipy.stats")

X = np.array([-1.3, 0.4, 2.2, 0.7])
POSITIVE = np.array([0.3, 1.7, 4.1, 0.9])
UNIT = np.array([0.2, 0.7, 0.45, 0.8])
PLACES = {
    **dict.fromkeys("t skewnorm cauchy gumbel_l gumbel_r laplace logistic".split(), X),
    **dict.fromkeys("beta uniform truncnorm".split(), UNIT),
    "pareto": POSITIVE + 1.0,
}
SHAPES = {
    **dict.fromkeys("chi2 gamma invgamma lognorm pareto skewnorm t weibull_min".split(), (1.8,)),
    **dict.fromkeys(("loguniform", "reciprocal"), (0.2, 6.0)),
    "beta": (2.3, 1.4),
    "f": (3.1, 4.2),
    "truncnorm": (-1.1, 2.3),
}
FLAT = (
    "cauchy expon gumbel_l gumbel_r halfcauchy halfnorm laplace logistic rayleigh uniform".split()
)
ROWS = [
    (name, method)
    for name in [*FLAT, *SHAPES]
    for method in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
] + [("vonmises", "pdf"), ("vonmises", "logpdf")]


def row(name, method):
    shapes = (1.3,) if name == "vonmises" else SHAPES.get(name, ())
    place = UNIT if method in ("ppf", "isf") else PLACES.get(name, POSITIVE) * 1.7 + 0.4
    return getattr(getattr(S, name), method), place, shapes


EVERY_DAY = [r for i, r in enumerate(ROWS) if i % 7 == 0]


@pytest.mark.parametrize(
    "fn, x, shapes", [row(*r) for r in EVERY_DAY], ids=map(".".join, EVERY_DAY)
)
def test_some_of_the_rules(fn, x, shapes):
    check_rule(fn, x, *shapes, 0.4, 1.7)


@pytest.mark.full
@pytest.mark.parametrize("fn, x, shapes", [row(*r) for r in ROWS], ids=map(".".join, ROWS))
def test_rule(fn, x, shapes):
    check_rule(fn, x, *shapes, 0.4, 1.7)


@pytest.mark.full
@pytest.mark.parametrize("fn, x, shapes", [row(*r) for r in ROWS], ids=map(".".join, ROWS))
def test_many_places(fn, x, shapes):
    check_rule(fn, x, *shapes, np.array([[0.1], [-0.02]]), np.array(1.8))


@pytest.mark.parametrize("method", ["cdf", "sf", "logsf"])
def test_survival_in_the_shape(method):
    fn = getattr(S.weibull_min, method)
    check_rule(fn, POSITIVE, np.array([1.8, 0.7, 1.0, 2.0]), -0.1, 1.7)
    gradient = s2sad.grad(lambda c: np.sum(fn(np.array([-1.0, 0.0]), c)))(1.3)
    assert gradient == 0.0


COUNTS = np.array([1, 2, 1, 5])
DISCRETE = [
    (S.bernoulli.pmf, (np.array([0, 1, 1, 0]), UNIT)),
    (S.nbinom.logpmf, (COUNTS, 3.5, UNIT)),
    (S.nbinom.pmf, (COUNTS, POSITIVE, 0.3)),
    (S.geom.logpmf, (COUNTS, UNIT)),
    (S.geom.pmf, (COUNTS, 0.3)),
    (S.poisson.cdf, (COUNTS, POSITIVE)),
    (S.poisson.sf, (COUNTS, POSITIVE)),
]


def named(value):
    return f"{type(value.__self__).__name__}.{value.__name__}" if callable(value) else None


@pytest.mark.parametrize("fn, args", DISCRETE, ids=named)
def test_counts(fn, args):
    check_rule(fn, *args)


@pytest.mark.parametrize("name", ["expon", "pareto", "invgamma", "uniform", "loguniform"])
@pytest.mark.parametrize("method", ["cdf", "sf", "pdf"])
def test_outside_of_the_support(name, method):
    fn, _, shapes = row(name, method)
    gradient = s2sad.grad(lambda x: np.sum(fn(x, *shapes)))(np.array([-0.7, -2.0]))
    assert np.all(gradient == 0.0)


def test_a_logarithm_of_no_probability_has_slope_zero():
    found = s2sad.grad(lambda x: np.sum(S.expon.logcdf(x)))(np.array([-0.7, 2.0]))
    assert found == pytest.approx([0.0, 1.0 / np.expm1(2.0)])


def test_no_slope_in_shapes_is_known():
    with pytest.raises(s2sad.UnsupportedError, match="gamma.ppf|ppf") as caught:
        s2sad.grad(lambda a: S.gamma.ppf(0.3, a))(2.0)
    assert caught.value.place is not None


def test_derived_text_names_the_distribution():
    text = s2sad.source(lambda x: S.invgamma.sf(x, 2.0), args=(0.5,))
    assert "stats.invgamma.pdf(x, 2.0" in text
