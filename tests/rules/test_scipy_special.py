"""The rules of rules/scipy_special.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule

special = pytest.importorskip("scipy.special")

U = np.array([[0.2, 0.35, 0.5], [0.62, 0.77, 0.9]])  # within 0 and 1
P = 3.0 * U + 0.4  # positive
S = P * np.array([1.0, -1.0, 1.0])
A, B = np.array([0.7, 1.5, 2.5]), np.array([1.1, 0.8, 3.0])
Z = S + 0.4j * P

ANYWHERE = [
    *[special.erf, special.erfc, special.erfcx, special.erfi, special.dawsn, special.ndtr],
    *[special.log_ndtr, special.expit, special.log_expit, special.exprel, special.cosm1],
    *[special.expm1, special.exp2, special.exp10, special.cbrt, special.sindg, special.cosdg],
    *[special.tandg, special.cotdg, special.j0, special.j1, special.i0, special.i1],
    *[special.i0e, special.i1e, special.expi, special.gamma, special.rgamma, special.psi],
    *[special.wrightomega],
]
POSITIVE = [
    *[special.gammaln, special.loggamma, special.digamma, special.y0, special.y1, special.k0],
    *[special.k1, special.k0e, special.k1e, special.exp1, special.entr, special.log1p],
    *[special.spence],
]
UNIT = [
    *[special.erfinv, special.erfcinv, special.ndtri, special.logit, special.ellipk],
    *[special.ellipkm1, special.ellipe],
]


@pytest.mark.parametrize("x", [S, S[0], S[:0], 0.3, np.float64(-1.3)], ids=str)
@pytest.mark.parametrize("fn", ANYWHERE, ids=lambda fn: fn.__name__)
def test_of_any_number(fn, x):
    check_rule(fn, x)


@pytest.mark.parametrize("x", [P, P[0], 0.3], ids=str)
@pytest.mark.parametrize("fn", POSITIVE, ids=lambda fn: fn.__name__)
def test_of_positive_numbers(fn, x):
    check_rule(fn, x)


@pytest.mark.parametrize("fn", UNIT, ids=lambda fn: fn.__name__)
def test_within_zero_and_one(fn):
    check_rule(fn, U)
    check_rule(fn, 0.3)


ROWS = [
    (special.inv_boxcox, (U, 0.3), {}),
    (special.inv_boxcox, (U, np.array([0.5, -0.4, 1.5])), {}),
    (special.inv_boxcox1p, (U, A), {}),
    *[(fn, (U,), {}) for fn in (special.airy, special.fresnel, special.sici, special.shichi)],
    (special.airy, (Z,), {}),
    (special.kelvin, (P,), {}),
    *[(fn, (P,), {}) for fn in (special.berp, special.beip, special.kerp, special.keip)],
    *[(fn, (1, P), {}) for fn in (special.struve, special.modstruve, special.jve, special.yve)],
    *[(fn, (1, P), {}) for fn in (special.hankel1e, special.hankel2e)],
    *[
        (getattr(special, f"{k}p"), (1, P), {"n": n})
        for k in ("jv", "yv", "iv", "kv", "h1v", "h2v")
        for n in (1, 2)
    ],
    *[
        (getattr(special, f"spherical_{k}n"), (2, P), {"derivative": derivative})
        for k in "jyik"
        for derivative in (False, True)
    ],
    *[
        (getattr(special, f"eval_{name}"), (3, U), {})
        for name in (
            "laguerre",
            "chebyu",
            "chebyc",
            "chebys",
            "sh_legendre",
            "sh_chebyt",
            "sh_chebyu",
        )
    ],
    (special.eval_gegenbauer, (3, 0.4, U), {}),
    (special.eval_jacobi, (2, 0.4, 0.7, U), {}),
    (special.eval_sh_jacobi, (2, 1.4, 0.7, U), {}),
    *[(fn, (2, 5, U), {}) for fn in (special.bdtr, special.bdtrc, special.bdtri)],
    *[(fn, (2, 5, U), {}) for fn in (special.nbdtr, special.nbdtrc, special.nbdtri)],
    *[(fn, (2.0, 3.0, U), {}) for fn in (special.fdtr, special.fdtrc, special.fdtri)],
    *[(fn, (A, 2.0, U), {}) for fn in (special.gdtr, special.gdtrc, special.gdtrix)],
    (special.chdtri, (3.0, U), {}),
    (special.stdtrit, (3.0, U), {}),
    (special.pdtri, (2, U), {}),
    (special.agm, (A, B), {}),
    (special.agm, (P, 0.7), {}),
    (special.ellipj, (P, U), {}),
    (special.ellipj, (P, 0.3), {}),
    (special.ellipj, (0.4, U), {}),
    (special.elliprc, (A, B), {}),
    (special.elliprf, (A, B, P), {}),
    (special.diric, (P,), {"n": 5}),
    (special.radian, (A, B, P), {}),
    (special.wright_bessel, (1.5, 2.0, P), {}),
    (special.logsumexp, (P,), {"axis": 1, "return_sign": True}),
    (special.logsumexp, (P,), {"return_sign": True}),
    (special.erfinv, (-U,), {}),
    (special.ndtri_exp, (-P,), {}),
    (special.polygamma, (1, P), {}),
    (special.polygamma, (3, P), {}),
    (special.multigammaln, (P + 1.0,), {"d": 2}),
    (special.multigammaln, (3.4,), {"d": 3}),
    (special.beta, (A, B), {}),
    (special.betaln, (A, B), {}),
    (special.poch, (A, B), {}),
    (special.binom, (A + 3.0, B), {}),
    (special.gammainc, (1.7, P), {}),
    (special.gammaincc, (A, P), {}),
    (special.gammaincinv, (1.7, U), {}),
    (special.gammainccinv, (1.7, U), {}),
    (special.betainc, (1.7, 2.5, U), {}),
    (special.betaincc, (1.7, 2.5, U), {}),
    (special.betaincinv, (1.7, 2.5, U), {}),
    (special.zeta, (2.5, P), {}),
    (special.xlogy, (A, B), {}),
    (special.xlog1py, (A, B), {}),
    (special.rel_entr, (A, B), {}),
    (special.kl_div, (A, B), {}),
    (special.huber, (1.0, S), {}),
    (special.pseudo_huber, (A, S[0]), {}),
    (special.boxcox, (P + 0.2, 0.7), {}),
    (special.boxcox, (P[0] + 0.2, A), {}),
    (special.boxcox1p, (P[0], A), {}),
    (special.powm1, (A, B), {}),
    (special.exprel, (np.array([1e-3, -2e-5, 0.0]),), {}),
    (special.expn, (2, P), {}),
    (special.lambertw, (P + 0j,), {}),
    (special.lambertw, (P + 0j,), {"k": 1}),
    (special.ellipkinc, (A, 0.3), {}),
    (special.ellipkinc, (np.array([0.3, 0.9, 1.4]), np.array([0.2, 0.5, 0.8])), {}),
    (special.ellipeinc, (np.array([0.3, 0.9, 1.4]), np.array([0.2, 0.5, 0.8])), {}),
    (special.owens_t, (A, B), {}),
    (special.voigt_profile, (S[0], A, B), {}),
    *[(fn, (1.5, P), {}) for fn in (special.jv, special.yv, special.iv, special.kv)],
    *[(fn, (2, P), {}) for fn in (special.jv, special.yn, special.kn, special.ive, special.kve)],
    (special.jv, (0, S), {}),
    (special.hankel1, (1.5, P + 0.3j), {}),
    (special.hankel2, (0, P + 0.3j), {}),
    (special.hyp0f1, (1.5, S), {}),
    (special.hyp1f1, (0.7, 1.5, S), {}),
    (special.hyperu, (0.7, 1.5, P), {}),
    (special.hyp2f1, (0.7, 1.5, 2.2, U), {}),
    (special.eval_legendre, (3, U), {}),
    (special.eval_chebyt, (4, U), {}),
    (special.eval_hermite, (3, S * 1.1), {}),
    (special.eval_hermitenorm, (3, S * 1.1), {}),
    (special.eval_genlaguerre, (3, 0.5, P), {}),
    (special.stdtr, (4.0, S), {}),
    (special.chdtr, (3.0, P), {}),
    (special.chdtrc, (3.0, P), {}),
    (special.pdtr, (2.0, P), {}),
    (special.pdtrc, (2.0, P), {}),
    (special.comb, (5.5, 2.2), {}),
    (special.comb, (P + 3.0, 2.2), {}),
    (special.comb, (4.3, U), {}),
    (special.perm, (P + 3.0, 2.2), {}),
    (special.perm, (4.3, U), {}),
    (special.factorial, (P,), {}),
    (special.wofz, (Z,), {}),
    (special.loggamma, (Z,), {}),
    (special.gamma, (Z,), {}),
    (special.erf, (Z,), {}),
    (special.logsumexp, (S,), {}),
    (special.logsumexp, (S,), {"axis": 1}),
    (special.logsumexp, (S,), {"axis": (0, 1), "keepdims": True}),
    (special.logsumexp, (S,), {"axis": -1, "b": P}),
    (special.softmax, (S,), {}),
    (special.softmax, (S,), {"axis": 1}),
    (special.log_softmax, (S,), {}),
    (special.log_softmax, (S,), {"axis": -1}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_nothing_times_a_logarithm():
    check_rule(special.xlogy, 0.0, B)


def test_a_polynomial_of_degree_zero():
    check_rule(special.eval_hermite, 0, S)


def density(a, x):
    return np.sum(special.gammainc(a, x))


erf = special.erf


def by_name(x):
    return np.sum(erf(x) ** 2)


def loss(w, x, y):
    return -np.sum(special.log_expit(y * (x @ w))) + special.logsumexp(w) * np.sum(
        special.softmax(w) ** 2
    )


@pytest.mark.parametrize("fn", [special.factorial2, special.factorialk, special.stirling2])
def test_products_of_whole_numbers_are_refused(fn):
    more = () if fn is special.factorial2 else (2,)
    with pytest.raises(
        s2sad.UnsupportedError, match="s2sad cannot tell the type|fails for a float"
    ):
        s2sad.grad(lambda x: x * fn(x, *more))(4.0)


def test_repetitions_are_not_counted():
    with pytest.raises(NotImplementedError, match="repetition=False"):
        s2sad.grad(lambda x: x * special.comb(x, 2, repetition=True))(4.0)


def test_what_is_not_known_is_refused():
    assert np.allclose(
        s2sad.grad(density, wrt="x")(1.5, P), P**0.5 * np.exp(-P) / special.gamma(1.5)
    )
    with pytest.raises(s2sad.UnsupportedError, match="no derivative of .* with respect to `a`"):
        s2sad.grad(density, wrt="a")(1.5, P)


def test_a_file_names_what_it_uses():
    text = s2sad.grad(by_name).source(P)
    assert "from scipy.special import erf" in text
    namespace = {}
    exec(compile(text, "derived", "exec"), namespace)
    assert np.allclose(namespace["by_name_grad"](P), s2sad.grad(by_name)(P))


def test_in_a_program():
    rng = np.random.default_rng(0)
    x, y, w = rng.standard_normal((5, 3)), np.array([1.0, -1, 1, 1, -1]), rng.standard_normal(3)
    gradient = s2sad.grad(loss)(w, x, y)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-6
        assert abs((loss(w + step, x, y) - loss(w - step, x, y)) / 2e-6 - gradient[k]) < 1e-7


def slope_of_spence(z):
    return np.sum(rule_for(special.spence).partials(special.spence(z), z))


def test_spence_at_one_to_second_order():
    def slope(z):  # the rule, as a function that can be derived
        away = np.where(z == 1, 2.0, z)
        off = z - 1.0
        return np.sum(
            np.where(z == 1, off / 2.0 - off * off / 3.0 - 1.0, np.log(away) / (1.0 - away))
        )

    z = np.array([1.0, 0.4, 2.0])
    expected = [0.5, *(1 / v / (1 - v) + np.log(v) / (1 - v) ** 2 for v in z[1:])]
    assert slope(z) == slope_of_spence(z)
    assert np.allclose(s2sad.grad(slope)(z), expected, rtol=1e-12)


def test_parameters_in_lists():
    def f(x):
        return np.sum(special.pseudo_huber([1, 2], x) + special.gammaincc([1.0, 2.5], x**2))

    x = np.array([0.4, -1.3])
    want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
    assert np.allclose(s2sad.grad(f)(x), want, rtol=1e-6)
    assert s2sad.jvp(f, (x,), (x,))[1] == pytest.approx(np.dot(want, x), rel=1e-6)
