"""scipy.special: orthogonal polynomials, distributions, means, and some elliptic functions.

Formulas after DLMF chapters 8, 18, 19 and 22. Degrees and counts have no derivative.
"""

import numpy as np
from scipy import special

from s2sad.registry import (
    elementwise,
    library_objects,
    nondifferentiable,
    pullback,
    pushforward,
    refuse,
)
from s2sad.rules.scipy_special import weak

# Box and Cox, backwards


@elementwise(special.inv_boxcox, regular={"out": 0.5, "y": 0.5, "lmbda": 0.5})
def inv_boxcox(out, y, lmbda):
    """From x**lmbda = 1 + lmbda y."""
    return out ** (1.0 - lmbda), out * boxed_slope(y, lmbda)


@elementwise(special.inv_boxcox1p, regular={"out": 0.5, "y": 0.5, "lmbda": 0.5})
def inv_boxcox1p(out, y, lmbda):
    return (1.0 + out) ** (1.0 - lmbda), (1.0 + out) * boxed_slope(y, lmbda)


def boxed_slope(y, lmbda):
    """Return the slope of log(1 + lmbda y) / lmbda by lmbda."""
    at_zero = (lmbda == 0) & (y == y)
    nonzero = np.where(at_zero, 1.0, lmbda)
    slope = (y / (1.0 + nonzero * y) - np.log1p(nonzero * y) / nonzero) / nonzero
    return np.where(at_zero, -0.5 * y * y, slope).astype(np.result_type(y, lmbda))


# orthogonal polynomials

DEGREE = {"out": 0.5, "n": 0.5, "x": 0.5}


def chebyu_slope(n, x, out):
    """Return the derivative of the Chebyshev polynomial of the second kind."""
    return ((n + 1.0) * special.eval_chebyt(n + 1, x) - x * out) / (x * x - 1.0)


@elementwise(special.eval_laguerre, unknown=("n",), regular=DEGREE)
def eval_laguerre(out, n, x):
    return None, -special.eval_genlaguerre(n - 1.0, 1.0, x)


@elementwise(special.eval_chebyu, unknown=("n",), regular=DEGREE)
def eval_chebyu(out, n, x):
    return None, chebyu_slope(n, x, out)


@elementwise(special.eval_chebyc, unknown=("n",), regular=DEGREE)
def eval_chebyc(out, n, x):
    return None, n * special.eval_chebyu(n - 1, 0.5 * x)


@elementwise(special.eval_chebys, unknown=("n",), regular=DEGREE)
def eval_chebys(out, n, x):
    return None, 0.5 * chebyu_slope(n, 0.5 * x, out)


@elementwise(special.eval_sh_legendre, unknown=("n",), regular=DEGREE)
def eval_sh_legendre(out, n, x):
    t = 2.0 * x - 1.0
    return None, 2.0 * n * (t * out - special.eval_legendre(n - 1, t)) / (t * t - 1.0)


@elementwise(special.eval_sh_chebyt, unknown=("n",), regular=DEGREE)
def eval_sh_chebyt(out, n, x):
    return None, 2.0 * n * special.eval_chebyu(n - 1, 2.0 * x - 1.0)


@elementwise(special.eval_sh_chebyu, unknown=("n",), regular=DEGREE)
def eval_sh_chebyu(out, n, x):
    return None, 2.0 * chebyu_slope(n, 2.0 * x - 1.0, out)


@elementwise(special.eval_gegenbauer, unknown=("n", "alpha"), regular=DEGREE | {"alpha": 0.5})
def eval_gegenbauer(out, n, alpha, x):
    return None, None, 2.0 * alpha * special.eval_gegenbauer(n - 1.0, alpha + 1.0, x)


@elementwise(
    special.eval_jacobi,
    unknown=("n", "alpha", "beta"),
    regular=DEGREE | {"alpha": 0.5, "beta": 0.5},
)
def eval_jacobi(out, n, alpha, beta, x):
    lower = special.eval_jacobi(n - 1.0, alpha + 1.0, beta + 1.0, x)
    return None, None, None, 0.5 * (n + alpha + beta + 1.0) * lower


@elementwise(special.eval_sh_jacobi, unknown=("n", "p", "q"), regular=DEGREE | {"p": 2.5, "q": 0.5})
def eval_sh_jacobi(out, n, p, q, x):
    lower = special.eval_jacobi(n - 1.0, p - q + 1.0, q, 2.0 * x - 1.0)
    return None, None, None, (n + p) * lower / special.binom(2.0 * n + p - 1.0, n)


MADE = (
    *(special.legendre, special.chebyt, special.chebyu, special.chebyc, special.chebys),
    *(special.hermite, special.hermitenorm, special.laguerre, special.sh_legendre),
    *(special.sh_chebyt, special.sh_chebyu),
)
nondifferentiable(*MADE)
ORTHOGONAL = type(special.legendre(1))


def evaluated(p, v):
    """Evaluate as the call of an orthogonal polynomial does."""
    return p(v)


@pullback(evaluated, unknown=("p",))
def pull_evaluated(out_bar, out, p, v):
    return None, out_bar * np.polyval(np.polyder(p.coeffs), v)


@pushforward(evaluated)
def push_evaluated(out, p, v, p_dot, v_dot):
    return np.polyval(np.polyder(p.coeffs), v) * v_dot


def like(p):
    """Return an array of the dtype of an orthogonal polynomial."""
    return np.zeros(())


def sample(cls, array):
    """Return an orthogonal polynomial."""
    return special.legendre(2)


library_objects(ORTHOGONAL, like=like, sample=sample, functions={"__call__": evaluated})


# distributions: what is accumulated has the density for its derivative


def binomial_slope(k, n, p):
    """Return the derivative of the probability of at most k of n, negative, by p."""
    k = weak(np.floor(k))
    return (n - k) * weak(special.binom(n, k)) * p**k * (1.0 - p) ** (n - k - 1.0)


@elementwise(special.bdtr, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "p": 0.5})
def bdtr(out, k, n, p):
    return None, None, -binomial_slope(k, n, p)


@elementwise(special.bdtrc, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "p": 0.5})
def bdtrc(out, k, n, p):
    return None, None, binomial_slope(k, n, p)


@elementwise(special.bdtri, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "y": 0.5})
def bdtri(out, k, n, y):
    return None, None, -1.0 / binomial_slope(k, n, out)


def failures_slope(k, n, p):
    """Return the derivative of the probability of at most k failures before n successes, by p."""
    return p ** (n - 1.0) * (1.0 - p) ** k / weak(special.beta(n, k + 1.0))


@elementwise(special.nbdtr, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "p": 0.5})
def nbdtr(out, k, n, p):
    return None, None, failures_slope(k, n, p)


@elementwise(special.nbdtrc, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "p": 0.5})
def nbdtrc(out, k, n, p):
    return None, None, -failures_slope(k, n, p)


@elementwise(special.nbdtri, unknown=("k", "n"), regular={"out": 0.5, "k": 1.0, "n": 3.0, "y": 0.5})
def nbdtri(out, k, n, y):
    return None, None, 1.0 / failures_slope(k, n, out)


def f_density(dfn, dfd, x):
    """Return the density of the F distribution."""
    a, b = 0.5 * dfn, 0.5 * dfd
    power = a * np.log(dfn * x) + b * weak(np.log(dfd)) - (a + b) * np.log(dfn * x + dfd)
    return np.exp(power - weak(special.betaln(a, b))) / x


OF_F = {"out": 0.5, "dfn": 1.0, "dfd": 1.0}


@elementwise(special.fdtr, unknown=("dfn", "dfd"), regular=OF_F | {"x": 0.5})
def fdtr(out, dfn, dfd, x):
    return None, None, f_density(dfn, dfd, x)


@elementwise(special.fdtrc, unknown=("dfn", "dfd"), regular=OF_F | {"x": 0.5})
def fdtrc(out, dfn, dfd, x):
    return None, None, -f_density(dfn, dfd, x)


@elementwise(special.fdtri, unknown=("dfn", "dfd"), regular=OF_F | {"p": 0.5})
def fdtri(out, dfn, dfd, p):
    return None, None, 1.0 / f_density(dfn, dfd, out)


def gamma_density(a, b, x):
    """Return the density of the gamma distribution with the rate a and the shape b."""
    return np.exp(b * weak(np.log(a)) + (b - 1.0) * np.log(x) - a * x - weak(special.gammaln(b)))


OF_GAMMA = {"out": 0.5, "a": 1.0, "b": 1.0}


@elementwise(special.gdtr, unknown=("b",), regular=OF_GAMMA | {"x": 0.5})
def gdtr(out, a, b, x):
    density = gamma_density(a, b, x)
    return density * x / a, None, density


@elementwise(special.gdtrc, unknown=("b",), regular=OF_GAMMA | {"x": 0.5})
def gdtrc(out, a, b, x):
    density = gamma_density(a, b, x)
    return -density * x / a, None, -density


@elementwise(special.gdtrix, unknown=("b",), regular=OF_GAMMA | {"p": 0.5})
def gdtrix(out, a, b, p):
    return -out / a, None, 1.0 / gamma_density(a, b, out)


@elementwise(special.chdtri, unknown=("v",), regular={"out": 0.5, "v": 1.0, "p": 0.5})
def chdtri(out, v, p):
    return None, -1.0 / gamma_density(0.5, 0.5 * v, out)


@elementwise(special.stdtrit, unknown=("df",), regular={"out": 0.5, "df": 1.0, "p": 0.5})
def stdtrit(out, df, p):
    power = -0.5 * (df + 1.0) * np.log1p(out * out / df)
    return None, weak(np.sqrt(df)) / np.exp(power - weak(special.betaln(0.5, 0.5 * df)))


@elementwise(special.pdtri, unknown=("k",), regular={"out": 0.5, "k": 1.0, "y": 0.5})
def pdtri(out, k, y):
    k = weak(np.floor(k))
    return None, -np.exp(out + weak(special.gammaln(k + 1.0)) - k * np.log(out))


# means, elliptic functions, and others


@elementwise(special.agm, regular={"out": 1.0, "a": 1.0, "b": 1.0})
def agm(out, a, b):
    """From out = pi / 2 * a / K(m) with m = 1 - (b / a)**2."""
    m = 1.0 - (b / a) ** 2
    whole = special.ellipk(m)
    nonzero = np.where(m == 0, 0.5, m)
    bend = (special.ellipe(nonzero) / (1.0 - nonzero) - special.ellipk(nonzero)) / (2.0 * nonzero)
    bend = np.where(m == 0, np.pi / 8.0, bend).astype(np.asarray(whole).dtype)
    by_m = -out / whole * bend
    return out / a + by_m * 2.0 * b * b / (a * a * a), -by_m * 2.0 * b / (a * a)


def ellipj_slopes(out, u, m):
    """Return the derivatives of sn, cn, dn and the amplitude by u, and by m. DLMF 22.13, 19.4."""
    sn, cn, dn, ph = out
    flat = np.equal(m, 0)
    part = np.where(flat, 0.5, m)
    by_m = special.ellipeinc(ph, part) / (2.0 * part * (1.0 - part)) - u / (2.0 * part)
    by_m = by_m - sn * cn / (2.0 * (1.0 - part) * dn)
    by_m = np.where(flat, 0.25 * (u - sn * cn), by_m)
    turn = -by_m * dn
    first = cn * dn, -sn * dn, -m * sn * cn, dn
    return first, (cn * turn, -sn * turn, -(0.5 * sn * sn + m * sn * cn * turn) / dn, turn)


@pullback(special.ellipj)
def pull_ellipj(out_bar, out, u, m):
    by_u, by_m = ellipj_slopes(out, u, m)
    given = [(bar, k) for k, bar in enumerate(out_bar) if bar is not None]
    u_bar = sum(bar * by_u[k] for bar, k in given)
    m_bar = sum(bar * by_m[k] for bar, k in given)
    return reduced(u_bar, u), reduced(m_bar, m)


def reduced(bar, given):
    """Return a cotangent in the shape of what was given: a number, or all of it."""
    return np.sum(bar) if np.ndim(given) == 0 else np.broadcast_to(bar, np.shape(given))


@pushforward(special.ellipj)
def push_ellipj(out, u, m, u_dot, m_dot):
    by_u, by_m = ellipj_slopes(out, u, m)
    u_dot, m_dot = 0.0 if u_dot is None else u_dot, 0.0 if m_dot is None else m_dot
    return tuple(a * u_dot + b * m_dot for a, b in zip(by_u, by_m, strict=True))


@elementwise(
    special.elliprc,
    regular={"out": 0.5, "x": 0.5, "y": 1.0},
    once="where its numbers are equal is found in place",
)
def elliprc(out, x, y):
    return -special.elliprd(y, y, x) / 6.0, -special.elliprd(x, y, y) / 3.0


@elementwise(
    special.elliprf,
    regular={"out": 0.5, "x": 0.5, "y": 1.0, "z": 1.5},
    once="where its numbers are equal is found in place",
)
def elliprf(out, x, y, z):
    by_x, by_y = special.elliprd(y, z, x), special.elliprd(x, z, y)
    return -by_x / 6.0, -by_y / 6.0, -special.elliprd(x, y, z) / 6.0


@pullback(special.diric)
def pull_diric(out_bar, out, x, *, n=None):
    return out_bar * diric_slope(out, x, n)


@pushforward(special.diric)
def push_diric(out, x, x_dot, *, n=None):
    return x_dot * diric_slope(out, x, n)


def diric_slope(out, x, n):
    """Return the derivative of sin(n x / 2) / (n sin(x / 2)): zero where it is 1 or -1."""
    sine, apart = np.sin(0.5 * x), np.abs(np.sin(0.5 * x)) > 1e-7
    slope = 0.5 * (np.cos(0.5 * n * x) - out * np.cos(0.5 * x)) / np.where(apart, sine, 1.0)
    return np.where(apart, slope, 0.0)


@elementwise(special.radian)
def radian(out, d, m, s):
    return np.pi / 180.0, np.pi / 10800.0, np.pi / 648000.0


@elementwise(special.wright_bessel, unknown=("a", "b"), regular={"a": 0.5, "b": 0.5, "x": 0.5})
def wright_bessel(out, a, b, x):
    return None, None, special.wright_bessel(a, a + b, x)


NOT_THERE = """
zetac kolmogorov kolmogi smirnov smirnovi tklmbda elliprd elliprg elliprj
assoc_laguerre assoc_legendre_p assoc_legendre_p_all lpmv lqn lqmn legendre_p legendre_p_all
sph_harm_y sph_harm_y_all sph_legendre_p sph_legendre_p_all log_wright_bessel
bdtrik bdtrin nbdtrik nbdtrin pdtrik fdtridfd gdtria gdtrib chdtriv stdtridf btdtria btdtrib
betainccinv ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit
chndtr chndtridf chndtrinc chndtrix nrdtrimn nrdtrisd
gegenbauer genlaguerre jacobi sh_jacobi roots_gegenbauer roots_genlaguerre roots_jacobi
roots_sh_jacobi cg_roots la_roots j_roots js_roots
"""
refuse(
    special,
    NOT_THERE,
    because="SciPy has no function for its derivative, or s2sad has no rule for it",
    instead="Use functions that have one, or write one with @s2sad.pullback.",
)
refuse(
    special,
    "errstate geterr seterr test",
    because="it is about SciPy itself",
    instead="Make its inputs Const, or compute its result outside the function.",
)
OF_WHOLE_NUMBERS = """
ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros erf_zeros fresnel_zeros fresnelc_zeros
fresnels_zeros jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros y0_zeros
y1_zeros y1p_zeros yn_zeros ynp_zeros roots_chebyc roots_chebys roots_chebyu roots_hermitenorm
roots_sh_chebyt roots_sh_chebyu roots_sh_legendre c_roots he_roots ps_roots s_roots ts_roots
u_roots us_roots
"""
nondifferentiable(*(getattr(special, n) for n in OF_WHOLE_NUMBERS.split() if hasattr(special, n)))
