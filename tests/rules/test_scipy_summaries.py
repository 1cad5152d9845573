"""The rules of rules/scipy_summaries.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

S = pytest.importorskip("scipy.stats")
rng = np.random.default_rng(8)
A = rng.standard_normal((4, 5))
P = np.abs(A) + 0.3
Q = rng.uniform(0.4, 2.0, size=(4, 5))
ALONG = [{}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": None}]

ROWS = [
    *[(f, (P,), along) for f in (S.gmean, S.hmean, S.entropy) for along in ALONG],
    *[(f, (A,), along) for f in (S.skew, S.kurtosis, S.sem, S.tmean) for along in ALONG],
    *[(S.trim_mean, (A,), along | {"proportiontocut": 0.25}) for along in ALONG],
    *[(S.moment, (A,), along | {"order": k}) for along in ALONG for k in (1, 2, 3)],
    *[(S.variation, (P,), along) for along in ALONG],
    *[(f, (P[0],), {"weights": Q[0]}) for f in (S.gmean, S.hmean)],
    (S.gmean, (P,), {"weights": Q, "axis": 1}),
    (S.gmean, (P,), {"axis": (0, 1)}),
    (S.skew, (A,), {"bias": False, "axis": 1}),
    (S.kurtosis, (A,), {"bias": False, "axis": 1}),
    (S.kurtosis, (A,), {"fisher": False}),
    (S.sem, (A,), {"ddof": 0}),
    (S.variation, (P,), {"ddof": 1}),
    (S.moment, (A,), {"order": 3, "center": 0.3}),
    (S.moment, (A,), {"order": 0}),
    (S.tmean, (A,), {"limits": (-1.0, None), "axis": 1}),
    (S.tmean, (A,), {"limits": (None, 1.0), "inclusive": (True, False)}),
    *[(S.zscore, (A,), s) for s in ({}, {"axis": 1, "ddof": 1}, {"axis": None})],
    *[(S.entropy, (P, Q), s) for s in ({}, {"axis": 1, "base": 2}, {"axis": 1, "keepdims": True})],
    (S.entropy, (P[0],), {"base": 10}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize("fn", [S.zscore, S.gmean, S.skew, S.kurtosis, S.sem, S.entropy, S.tmean])
def test_values_are_scipys(fn):
    def f(x):
        return np.sum(fn(x) * 2.0)

    assert s2sad.value_and_grad(f)(P[0])[0] == f(P[0])
    assert s2sad.jvp(f, (P[0],), (Q[0],))[0] == f(P[0])


def test_nans_taken_out_are_refused():
    with pytest.raises(s2sad.UnsupportedError, match="nan_policy"):
        s2sad.grad(lambda x: S.gmean(x, nan_policy="omit"))(P[0])


def test_equal_entries_of_a_trimmed_mean_stay_in_their_order():
    x = np.array([2.0, 1.0, 1.0, 3.0])
    assert s2sad.grad(lambda x: S.trim_mean(x, 0.25))(x).tolist() == [0.5, 0.0, 0.5, 0.0]


def test_dirichlet_and_iqr():
    x, alpha = np.array([0.2, 0.3, 0.1, 0.4]), np.array([1.5, 2.0, 1.2, 3.0])

    def shares(a, alpha):
        whole = a / np.sum(a)
        last_left_out = S.dirichlet.pdf(whole[:3], alpha)
        return S.dirichlet.logpdf(whole, alpha) + last_left_out

    slopes.check(shares, x, alpha)
    slopes.check(lambda x: S.iqr(x) ** 2 + np.sum(S.iqr(np.outer(x, x), axis=1)), x)
    slopes.check(lambda x: S.iqr(x, scale="normal") + S.iqr(x, rng=(10, 80), scale=x[0]), x)
    slopes.check(lambda x: np.sum(S.iqr(np.outer(x, x), 1, scale=2.0, keepdims=True)), x)
    v = np.cos(np.arange(4.0))
    bars = s2sad.grad(shares, wrt=(0, 1))(x, alpha)
    assert s2sad.jvp(shares, (x, alpha), (v, x))[1] == pytest.approx(bars[0] @ v + bars[1] @ x)
