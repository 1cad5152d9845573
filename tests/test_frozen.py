"""Frozen distributions: their parameters stand for them where a function makes them itself."""

import numpy as np
import pytest

import s2sad
from tests.slopes import check

S = pytest.importorskip("scipy.stats")
norm = S.norm

X = np.array([0.5, 1.2, 0.8, 1.9])
COV = np.array([[2.0, 0.3], [0.3, 1.5]])
PRIOR = norm(0.3, scale=1.2)
PRIORS = {"rate": S.gamma(2.0, scale=0.5), "shift": S.norm(0.0, 2.0)}


def at_once(x, loc, scale):
    return np.sum(norm(loc, scale).logpdf(x)) + np.sum(S.gamma(2.0, scale=scale).logpdf(x))


def held(x, loc, scale):
    d = S.norm(loc=loc, scale=scale * scale)
    return np.sum(d.pdf(x) * d.cdf(x + 0.1)) + d.ppf(0.3)


def in_a_loop(x, loc, scale):
    total = 0.0
    for k in range(len(x)):
        d = S.t(4.0, loc * k, scale)
        total += d.logpdf(x[k]) * d.cdf(x[0])
    return total


def one_or_the_other(x, loc, scale):
    if scale > 1.0:
        d = S.cauchy(loc, scale)
    else:
        d = S.cauchy(scale, loc)
    return np.sum(d.logpdf(x))


def by_keyword(x, loc, scale):
    return np.sum(S.gamma.sf(x, scale=scale, a=2.0)) + np.sum(S.lognorm(s=0.7).logsf(x))


def counts(x, loc, scale):
    return np.sum(S.poisson(x).logpmf(np.arange(4))) + S.binom(5, loc).logpmf(2) * scale


def several(x, loc, scale):
    d = S.multivariate_normal(x[:2] * loc, scale * COV)
    total = d.logpdf(x[2:])
    total += S.multivariate_normal(cov=scale * COV).pdf(x[:2])
    return total


def changed_afterwards(x, loc, scale):
    """What the parameters are counts when they are given, as far as a reader can tell."""
    d = S.norm(loc, scale)
    loc = 3.0 * scale
    return np.sum(d.logpdf(x)) * loc


PROGRAMS = [
    *(at_once, held, in_a_loop, one_or_the_other, by_keyword, counts, several),
    changed_afterwards,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    check(f, X, 0.4, 1.3)
    value, _ = s2sad.value_and_grad(f)(X, 0.4, 1.3)
    assert value == f(X, 0.4, 1.3)


def from_outside(x, loc, scale):
    return np.sum(PRIOR.logpdf(x)) * PRIOR.cdf(loc) + PRIOR.ppf(loc) * scale


def in_a_dict(x, loc, scale):
    return PRIORS["rate"].logpdf(scale) + PRIORS["shift"].logpdf(loc) + np.sum(x)


def in_a_dict_by_name(x, loc, scale):
    at = {"rate": scale, "shift": loc}
    total = np.sum(x)
    for key, prior in PRIORS.items():
        total += prior.logpdf(at[key])
    return total


class Model:
    def __init__(self, prior):
        self.prior = prior

    def loss(self, x, loc, scale):
        return np.sum(self.prior.logsf(x * scale)) + loc


def several_from_outside(x, loc, scale):
    return PLANE.logpdf(x[:2] * loc) * scale


PLANE = S.multivariate_normal(np.array([0.1, 0.2]), COV)
OUTSIDE = [from_outside, in_a_dict, in_a_dict_by_name, Model(PRIOR).loss, several_from_outside]


@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_gradient_from_outside(f):
    check(f, X, 0.4, 1.3)
    value, _ = s2sad.value_and_grad(f)(X, 0.4, 1.3)
    assert value == f(X, 0.4, 1.3)


def test_arguments_and_what_takes_their_place():
    gradient = s2sad.grad(lambda x, d: np.sum(d.logpdf(x)))
    assert gradient(X, PRIOR) == pytest.approx(-(X - 0.3) / 1.44)
    assert gradient(X, S.norm(0.0, 2.0)) == pytest.approx(-X / 4.0)
    assert gradient(X, S.expon(scale=2.0)) == pytest.approx(np.full(4, -0.5))


def test_another_one_under_the_same_name(monkeypatch):
    gradient = s2sad.grad(from_outside, wrt=2)
    assert gradient(X, 0.4, 1.3) == pytest.approx(PRIOR.ppf(0.4))
    other = S.t(3.0, loc=1.0)
    monkeypatch.setitem(globals(), "PRIOR", other)
    assert gradient(X, 0.4, 1.3) == pytest.approx(other.ppf(0.4))


def test_text_is_that_of_the_distribution_itself():
    text = s2sad.source(held, args=(X, 0.4, 1.3))
    assert "stats.norm.pdf(x, loc=d_loc, scale=d_scale)" in text
    assert "d = " not in text


def test_what_is_asked_otherwise_stays_and_is_refused():
    def f(loc):
        d = S.norm(loc, 2.0)
        return d.mean() + d.logpdf(0.3)

    with pytest.raises(s2sad.Error) as caught:
        s2sad.grad(f)(0.5)
    assert "d = S.norm(loc, 2.0)" in str(caught.value) or "d.mean()" in str(caught.value)


def test_a_matrix_that_is_written_later_is_not_taken_for_the_one_given():
    def f(x):
        C = np.array(COV)
        d = S.multivariate_normal(np.zeros(2), C)
        C[0, 0] = 7.0
        return d.logpdf(x)

    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X[:2])
