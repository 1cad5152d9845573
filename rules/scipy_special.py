"""scipy.special. Formulas after DLMF, the NIST Digital Library of Mathematical Functions.

The derivatives with respect to the order of a Bessel function, the parameters of an incomplete
gamma or beta function and the like have no simple form; s2sad refuses active values there.
"""

import math

import numpy as np
from scipy import special

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast

nondifferentiable(special.gammasgn, special.round)
nondifferentiable(special.bernoulli, special.euler, special.jn_zeros, special.roots_legendre)
nondifferentiable(special.roots_hermite, special.roots_laguerre, special.roots_chebyt)


def weak(number):
    """Return a NumPy number as Python's, which leaves single precision as it is."""
    return number.item() if isinstance(number, np.generic) else number


# gamma and beta functions, DLMF chapters 5 and 8


COMPLEX = "psi has no derivative of complex numbers here"


@elementwise(special.gamma, regular={"out": 0.5, "x": 0.5}, once=COMPLEX)
def gamma(out, x):
    return out * special.psi(x)


@elementwise(special.gammaln, special.loggamma, regular={"out": 0.5, "x": 0.5}, once=COMPLEX)
def gammaln(out, x):
    return special.psi(x)


@elementwise(special.rgamma, regular={"out": 0.5, "x": 0.5})
def rgamma(out, x):
    return -special.psi(x) * out


@elementwise(special.psi, special.digamma, regular={"out": 0.5, "x": 0.5})
def psi(out, x):
    if np.iscomplexobj(x):
        raise NotImplementedError("psi has a derivative of real numbers only")
    return special.zeta(2.0, x)


@pullback(special.polygamma)
def pull_polygamma(out_bar, out, n, x):
    return None, out_bar * special.polygamma(n + 1, x)


@pushforward(special.polygamma)
def push_polygamma(out, n, x, n_dot, x_dot):
    return x_dot * special.polygamma(n + 1, x)


def far_right(a, *rest):
    """Return an argument for which the function is there whatever the dimension."""
    return (a + 50.0, *rest)


@pullback(special.multigammaln, samples=far_right)
def pull_multigammaln(out_bar, out, a, *, d=1):
    return out_bar * multigammaln_partial(a, d)


def multigammaln_partial(a, d):
    """Return the sum of psi(a - j / 2) for j below d."""
    return np.sum(special.psi(np.expand_dims(np.asarray(a), -1) - np.arange(d) / 2.0), axis=-1)


@pushforward(special.multigammaln)
def push_multigammaln(out, a, a_dot, *, d=1):
    return a_dot * multigammaln_partial(a, d)


@elementwise(special.beta, regular={"out": 0.5, "a": 0.5, "b": 0.5})
def beta(out, a, b):
    psi_sum = special.psi(a + b)
    return out * (special.psi(a) - psi_sum), out * (special.psi(b) - psi_sum)


@elementwise(special.betaln, regular={"out": 0.5, "a": 0.5, "b": 0.5})
def betaln(out, a, b):
    psi_sum = special.psi(a + b)
    return special.psi(a) - psi_sum, special.psi(b) - psi_sum


@elementwise(special.poch, regular={"out": 0.5, "z": 0.5, "m": 0.5})
def poch(out, z, m):
    psi_sum = special.psi(z + m)
    return out * (psi_sum - special.psi(z)), out * psi_sum


@elementwise(special.binom, regular={"out": 0.5, "n": 0.5, "k": 0.5})
def binom(out, n, k):
    psi_rest = special.psi(n - k + 1.0)
    return out * (special.psi(n + 1.0) - psi_rest), out * (psi_rest - special.psi(k + 1.0))


def check_counts(exact, repetition=False):
    """Refuse what counts whole numbers only."""
    if exact or repetition:
        raise NotImplementedError(
            "there is a derivative with exact=False and repetition=False only"
        )


@pullback(special.comb)
def pull_comb(out_bar, out, N, k, *, exact=False, repetition=False):
    check_counts(exact, repetition)
    by_rest = special.psi(N - k + 1.0)
    N_bar = out_bar * out * (special.psi(N + 1.0) - by_rest)
    k_bar = out_bar * out * (by_rest - special.psi(k + 1.0))
    return unbroadcast(N_bar, np.shape(N)), unbroadcast(k_bar, np.shape(k))


@pushforward(special.comb)
def push_comb(out, N, k, N_dot, k_dot, *, exact=False, repetition=False):
    check_counts(exact, repetition)
    by_rest = special.psi(N - k + 1.0)
    moved = 0.0 if N_dot is None else N_dot * (special.psi(N + 1.0) - by_rest)
    if k_dot is not None:
        moved = moved + k_dot * (by_rest - special.psi(k + 1.0))
    return out * moved


@pullback(special.perm)
def pull_perm(out_bar, out, N, k, *, exact=False):
    check_counts(exact)
    by_rest = special.psi(N - k + 1.0)
    N_bar = out_bar * out * (special.psi(N + 1.0) - by_rest)
    return unbroadcast(N_bar, np.shape(N)), unbroadcast(out_bar * out * by_rest, np.shape(k))


@pushforward(special.perm)
def push_perm(out, N, k, N_dot, k_dot, *, exact=False):
    check_counts(exact)
    by_rest = special.psi(N - k + 1.0)
    moved = 0.0 if N_dot is None else N_dot * (special.psi(N + 1.0) - by_rest)
    return out * (moved if k_dot is None else moved + k_dot * by_rest)


@pullback(special.factorial)
def pull_factorial(out_bar, out, n, *, exact=False):
    check_counts(exact)
    return out_bar * out * special.psi(n + 1.0)


@pushforward(special.factorial)
def push_factorial(out, n, n_dot, *, exact=False):
    check_counts(exact)
    return n_dot * out * special.psi(n + 1.0)


@pullback(special.factorial2, unknown=("n",))
def pull_factorial2(out_bar, out, n, *, exact=False):
    return None


@pullback(special.factorialk, unknown=("n",))
def pull_factorialk(out_bar, out, n, *, k=1, exact=False):
    return None


@pullback(special.stirling2, unknown=("N", "K"))
def pull_stirling2(out_bar, out, N, K, *, exact=False):
    return None, None


@elementwise(special.gammainc, unknown=("a",), regular={"x": 1.0}, steep=("x",))
def gammainc(out, a, x):
    return None, np.exp((a - 1.0) * np.log(x) - x - weak(special.gammaln(a)))


@elementwise(special.gammaincc, unknown=("a",), regular={"x": 1.0}, steep=("x",))
def gammaincc(out, a, x):
    return None, -np.exp((a - 1.0) * np.log(x) - x - weak(special.gammaln(a)))


@elementwise(
    special.gammaincinv, unknown=("a",), regular={"out": 0.5, "a": 0.5, "y": 0.5}, steep=("y",)
)
def gammaincinv(out, a, y):
    return None, np.exp(weak(special.gammaln(a)) + out - (a - 1.0) * np.log(out))


@elementwise(
    special.gammainccinv, unknown=("a",), regular={"out": 0.5, "a": 0.5, "y": 0.5}, steep=("y",)
)
def gammainccinv(out, a, y):
    return None, -np.exp(weak(special.gammaln(a)) + out - (a - 1.0) * np.log(out))


@elementwise(
    special.betainc,
    unknown=("a", "b"),
    regular={"out": 0.5, "a": 0.5, "b": 0.5, "x": 0.5},
    steep=("x",),
)
def betainc(out, a, b, x):
    power = (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x)
    return None, None, np.exp(power - weak(special.betaln(a, b)))


@elementwise(
    special.betaincc,
    unknown=("a", "b"),
    regular={"out": 0.5, "a": 0.5, "b": 0.5, "x": 0.5},
    steep=("x",),
)
def betaincc(out, a, b, x):
    power = (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x)
    return None, None, -np.exp(power - weak(special.betaln(a, b)))


@elementwise(
    special.betaincinv,
    unknown=("a", "b"),
    regular={"out": 0.5, "a": 0.5, "b": 0.5, "y": 0.5},
    steep=("y",),
)
def betaincinv(out, a, b, y):
    power = (a - 1.0) * np.log(out) + (b - 1.0) * np.log1p(-out)
    return None, None, np.exp(weak(special.betaln(a, b)) - power)


@pullback(special.zeta, unknown=("x",))
def pull_zeta(out_bar, out, x, q=None):
    if q is None:
        return None, None
    return None, -out_bar * x * special.zeta(x + 1.0, q)


@pushforward(special.zeta)
def push_zeta(out, x, q, x_dot, q_dot):
    return -q_dot * x * special.zeta(x + 1.0, q)


# error functions and the normal distribution, DLMF chapter 7


@elementwise(special.erf)
def erf(out, x):
    return 2.0 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(out, x):
    return -2.0 / math.sqrt(math.pi) * np.exp(-x * x)


@elementwise(special.erfcx)
def erfcx(out, x):
    return 2.0 * x * out - 2.0 / math.sqrt(math.pi)


@elementwise(special.erfi)
def erfi(out, x):
    return 2.0 / math.sqrt(math.pi) * np.exp(x * x)


@elementwise(special.erfinv, regular={"out": 0.5, "y": 0.5})
def erfinv(out, y):
    return math.sqrt(math.pi) / 2.0 * np.exp(out * out)


@elementwise(special.erfcinv, regular={"out": 0.5, "y": 0.5})
def erfcinv(out, y):
    return -math.sqrt(math.pi) / 2.0 * np.exp(out * out)


@elementwise(special.dawsn)
def dawsn(out, x):
    return 1.0 - 2.0 * x * out


@elementwise(special.wofz)
def wofz(out, z):
    return 2.0j / math.sqrt(math.pi) - 2.0 * z * out


@elementwise(special.ndtr)
def ndtr(out, x):
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


@elementwise(special.log_ndtr)
def log_ndtr(out, x):
    return np.exp(-0.5 * x * x - out) / math.sqrt(2.0 * math.pi)


@elementwise(special.ndtri, regular={"out": 0.5, "p": 0.5})
def ndtri(out, p):
    return math.sqrt(2.0 * math.pi) * np.exp(0.5 * out * out)


@elementwise(special.ndtri_exp, regular={"out": 0.5, "y": 0.5})
def ndtri_exp(out, y):
    return math.sqrt(2.0 * math.pi) * np.exp(0.5 * out * out + y)


@elementwise(special.voigt_profile, regular={"out": 0.5, "x": 0.5, "sigma": 0.5, "gamma": 0.5})
def voigt_profile(out, x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * math.sqrt(2.0))
    w = special.wofz(z)
    slope = (2.0j / math.sqrt(math.pi) - 2.0 * z * w) / (2.0 * math.sqrt(math.pi) * sigma * sigma)
    x_partial = np.real(slope)
    return x_partial, -(out + np.real(z * math.sqrt(2.0) * sigma * slope)) / sigma, -np.imag(slope)


# logistic and information functions


@elementwise(special.expit)
def expit(out, x):
    return out * (1.0 - out)


@elementwise(special.log_expit)
def log_expit(out, x):
    return special.expit(-x)


@elementwise(special.logit, regular={"out": 0.5, "x": 0.5})
def logit(out, x):
    return 1.0 / (x * (1.0 - x))


if hasattr(special, "softplus"):  # SciPy 1.15

    @elementwise(special.softplus)
    def softplus(out, x):
        return special.expit(x)


@elementwise(special.xlogy, regular={"y": 1.0}, steep=("x", "y"))
def xlogy(out, x, y):
    return np.log(y), x / y


@elementwise(special.xlog1py, regular={"y": 0.0}, steep=("x", "y"))
def xlog1py(out, x, y):
    return np.log1p(y), x / (1.0 + y)


@elementwise(special.entr, regular={"x": 1.0}, steep=("x",))
def entr(out, x):
    return -np.log(x) - 1.0


@elementwise(special.rel_entr, regular={"x": 1.0, "y": 1.0}, steep=("x",))
def rel_entr(out, x, y):
    return np.log(x / y) + 1.0, -x / y


@elementwise(special.kl_div, regular={"x": 1.0, "y": 1.0}, steep=("x",))
def kl_div(out, x, y):
    return np.log(x / y), 1.0 - x / y


@elementwise(special.huber, regular={"out": 0.5, "delta": 0.5, "r": 0.5})
def huber(out, delta, r):
    inside = np.abs(r) <= delta
    return np.where(inside, 0.0, np.abs(r) - delta), np.where(inside, r, delta * np.sign(r))


@elementwise(special.pseudo_huber, regular={"out": 0.5, "delta": 0.5, "r": 0.5})
def pseudo_huber(out, delta, r):
    root = np.sqrt(1.0 + (r / delta) ** 2)
    return 2.0 * delta * (root - 1.0) - r * r / (delta * root), r / root


# Taylor coefficients of the derivative of (exp(x) - 1) / x
EXPREL_SERIES = tuple((n + 1) / math.factorial(n + 2) for n in range(14))


def exprel_slope(x):
    """Return the derivative of (exp(x) - 1) / x; by its series near 0."""
    near = np.abs(x) < 0.5
    close, away = np.where(near, x, 0.0), np.where(near, 1.0, x)
    series = 0.0 * close
    for c in reversed(EXPREL_SERIES):
        series = series * close + c
    return np.where(near, series, (np.exp(away) * (away - 1.0) + 1.0) / (away * away))


@elementwise(special.boxcox, regular={"out": 0.5, "x": 0.5, "lmbda": 0.5}, steep=("x",))
def boxcox(out, x, lmbda):
    """log(x) * exprel(lmbda * log(x))."""
    log_x = np.log(x)
    return np.power(x, lmbda) / x, log_x * log_x * exprel_slope(lmbda * log_x)


@elementwise(special.boxcox1p, regular={"out": 0.5, "x": 0.5, "lmbda": 0.5}, steep=("x",))
def boxcox1p(out, x, lmbda):
    log_x = np.log1p(x)
    slope = log_x * log_x * exprel_slope(lmbda * log_x)
    return np.power(1.0 + x, lmbda) / (1.0 + x), slope


@elementwise(special.exprel)
def exprel(out, x):
    return exprel_slope(x)


@elementwise(special.cosm1)
def cosm1(out, x):
    return -np.sin(x)


@elementwise(special.powm1, regular={"out": 0.5, "x": 0.5, "y": 0.5}, steep=("x",))
def powm1(out, x, y):
    return y * np.power(x, y - 1.0), (out + 1.0) * np.log(x)


@elementwise(special.log1p, regular={"out": 0.5, "x": 0.5})
def log1p(out, x):
    return 1.0 / (1.0 + x)


@elementwise(special.expm1)
def expm1(out, x):
    return out + 1.0


@elementwise(special.exp2)
def exp2(out, x):
    return math.log(2.0) * out


@elementwise(special.exp10)
def exp10(out, x):
    return math.log(10.0) * out


@elementwise(special.cbrt, regular={"out": 1.0}, steep=("x",))
def cbrt(out, x):
    return 1.0 / (3.0 * out * out)


@elementwise(special.sindg)
def sindg(out, x):
    return math.pi / 180.0 * special.cosdg(x)


@elementwise(special.cosdg)
def cosdg(out, x):
    return -math.pi / 180.0 * special.sindg(x)


@elementwise(special.tandg)
def tandg(out, x):
    return math.pi / 180.0 * (1.0 + out * out)


@elementwise(special.cotdg, regular={"out": 0.5, "x": 0.5})
def cotdg(out, x):
    return -math.pi / 180.0 * (1.0 + out * out)


# integrals


@elementwise(special.expi, regular={"x": 1.0})
def expi(out, x):
    return np.exp(x) / x


@elementwise(special.exp1, regular={"x": 1.0})
def exp1(out, x):
    return -np.exp(-x) / x


@elementwise(special.expn, unknown=("n",), regular={"out": 0.5, "n": 0.5, "x": 0.5})
def expn(out, n, x):
    return None, -special.expn(n - 1, x)


@elementwise(special.spence, regular={"out": 0.5, "z": 0.5}, steep=("z",))
def spence(out, z):
    """Minus log(z) / (z - 1), which is 1 at 1, and there the series, for its derivatives."""
    at_one = np.equal(z, 1)
    away = np.where(at_one, 2.0, z)
    off = z - 1.0
    return np.where(at_one, off / 2.0 - off * off / 3.0 - 1.0, np.log(away) / (1.0 - away))


@pullback(special.lambertw)
def pull_lambertw(out_bar, out, z, *, k=0, tol=1e-8):
    return out_bar / (np.exp(out) * (1.0 + out))


@pushforward(special.lambertw)
def push_lambertw(out, z, z_dot, *, k=0, tol=1e-8):
    return z_dot / (np.exp(out) * (1.0 + out))


@elementwise(special.wrightomega)
def wrightomega(out, z):
    return out / (1.0 + out)


@elementwise(special.ellipk, regular={"out": 0.5, "m": 0.5})
def ellipk(out, m):
    return (special.ellipe(m) - (1.0 - m) * out) / (2.0 * m * (1.0 - m))


@elementwise(special.ellipkm1, regular={"out": 0.5, "p": 0.5})
def ellipkm1(out, p):
    return -(special.ellipe(1.0 - p) - p * out) / (2.0 * (1.0 - p) * p)


@elementwise(special.ellipe, regular={"out": 0.5, "m": 0.5}, steep=("m",))
def ellipe(out, m):
    return (out - special.ellipk(m)) / (2.0 * m)


@elementwise(special.ellipkinc, regular={"out": 0.5, "phi": 0.5, "m": 0.5})
def ellipkinc(out, phi, m):
    """DLMF 19.4.5."""
    sine, root = np.sin(phi), np.sqrt(1.0 - m * np.sin(phi) ** 2)
    by_m = special.ellipeinc(phi, m) / (2.0 * m * (1.0 - m)) - out / (2.0 * m)
    return 1.0 / root, by_m - sine * np.cos(phi) / (2.0 * (1.0 - m) * root)


@elementwise(special.ellipeinc, regular={"out": 0.5, "phi": 0.5, "m": 0.5}, steep=("m",))
def ellipeinc(out, phi, m):
    root = np.sqrt(1.0 - m * np.sin(phi) ** 2)
    return root, (out - special.ellipkinc(phi, m)) / (2.0 * m)


@elementwise(special.owens_t)
def owens_t(out, h, a):
    by_h = -np.exp(-0.5 * h * h) * special.erf(a * h / math.sqrt(2.0))
    by_a = np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))
    return by_h / math.sqrt(8.0 * math.pi), by_a


# Bessel functions, DLMF chapter 10


@elementwise(special.j0)
def j0(out, x):
    return -special.j1(x)


@elementwise(special.j1)
def j1(out, x):
    return 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.y0, regular={"out": 0.5, "x": 0.5})
def y0(out, x):
    return -special.y1(x)


@elementwise(special.y1, regular={"out": 0.5, "x": 0.5})
def y1(out, x):
    return 0.5 * (special.y0(x) - special.yv(2, x))


@elementwise(special.i0)
def i0(out, x):
    return special.i1(x)


@elementwise(special.i1)
def i1(out, x):
    return 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.i0e)
def i0e(out, x):
    return special.i1e(x) - np.sign(x) * out


@elementwise(special.i1e)
def i1e(out, x):
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out


@elementwise(special.k0, regular={"out": 0.5, "x": 0.5})
def k0(out, x):
    return -special.k1(x)


@elementwise(special.k1, regular={"out": 0.5, "x": 0.5})
def k1(out, x):
    return -0.5 * (special.k0(x) + special.kv(2, x))


@elementwise(special.k0e, regular={"out": 0.5, "x": 0.5})
def k0e(out, x):
    return out - special.k1e(x)


@elementwise(special.k1e, regular={"out": 0.5, "x": 0.5})
def k1e(out, x):
    return out - 0.5 * (special.k0e(x) + special.kve(2, x))


@elementwise(special.jv, special.jn, unknown=("v",))
def jv(out, v, z):
    return None, 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z))


@elementwise(special.yv, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def yv(out, v, z):
    return None, 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z))


@elementwise(special.yn, unknown=("n",), regular={"out": 0.5, "n": 0.5, "x": 0.5})
def yn(out, n, x):
    return None, 0.5 * (special.yv(n - 1, x) - special.yv(n + 1, x))


@elementwise(special.iv, unknown=("v",))
def iv(out, v, z):
    return None, 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))


@elementwise(special.kv, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def kv(out, v, z):
    return None, -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))


@elementwise(special.kn, unknown=("n",), regular={"out": 0.5, "n": 0.5, "x": 0.5})
def kn(out, n, x):
    return None, -0.5 * (special.kv(n - 1, x) + special.kv(n + 1, x))


@elementwise(special.ive, unknown=("v",))
def ive(out, v, z):
    slope = 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z))
    return None, slope - np.sign(z) * out


@elementwise(special.kve, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def kve(out, v, z):
    return None, out - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z))


@elementwise(special.hankel1, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def hankel1(out, v, z):
    return None, 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z))


@elementwise(special.hankel2, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def hankel2(out, v, z):
    return None, 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z))


# hypergeometric functions, DLMF chapters 13 and 15


@elementwise(special.hyp0f1, unknown=("v",), regular={"out": 0.5, "v": 0.5, "z": 0.5})
def hyp0f1(out, v, z):
    return None, special.hyp0f1(v + 1.0, z) / v


@elementwise(special.hyp1f1, unknown=("a", "b"), regular={"out": 0.5, "a": 0.5, "b": 0.5, "x": 0.5})
def hyp1f1(out, a, b, x):
    return None, None, a / b * special.hyp1f1(a + 1.0, b + 1.0, x)


@elementwise(special.hyperu, unknown=("a", "b"), regular={"out": 0.5, "a": 0.5, "b": 0.5, "x": 0.5})
def hyperu(out, a, b, x):
    return None, None, -a * special.hyperu(a + 1.0, b + 1.0, x)


@elementwise(
    special.hyp2f1,
    unknown=("a", "b", "c"),
    regular={"out": 0.5, "a": 0.5, "b": 0.5, "c": 0.5, "z": 0.5},
)
def hyp2f1(out, a, b, c, z):
    return None, None, None, a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


# orthogonal polynomials, DLMF chapter 18


@elementwise(special.eval_legendre, unknown=("n",), regular={"out": 0.5, "n": 0.5, "x": 0.5})
def eval_legendre(out, n, x):
    return None, n * (x * out - special.eval_legendre(n - 1, x)) / (x * x - 1.0)


@elementwise(
    special.eval_chebyt,
    unknown=("n",),
    regular={"out": 0.5, "n": 0.5, "x": 0.5},
    once="s2sad does not know the type of a polynomial of the second kind",
)
def eval_chebyt(out, n, x):
    return None, n * special.eval_chebyu(n - 1, x)


@elementwise(special.eval_hermite, unknown=("n",))
def eval_hermite(out, n, x):
    return None, 2.0 * n * special.eval_hermite(np.maximum(n - 1, 0), x)


@elementwise(special.eval_hermitenorm, unknown=("n",))
def eval_hermitenorm(out, n, x):
    return None, 1.0 * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)


@elementwise(
    special.eval_genlaguerre,
    unknown=("n", "alpha"),
    regular={"out": 0.5, "n": 0.5, "alpha": 0.5, "x": 0.5},
)
def eval_genlaguerre(out, n, alpha, x):
    return None, None, -special.eval_genlaguerre(n - 1.0, alpha + 1.0, x)


# distributions


@elementwise(special.stdtr, unknown=("df",), regular={"out": 0.5, "df": 0.5, "t": 0.5})
def stdtr(out, df, t):
    power = -0.5 * (df + 1.0) * np.log1p(t * t / df)
    return None, np.exp(power - weak(special.betaln(0.5, 0.5 * df))) / weak(np.sqrt(df))


@elementwise(special.chdtr, unknown=("v",), regular={"out": 0.5, "v": 0.5, "x": 0.5})
def chdtr(out, v, x):
    half = 0.5 * v
    return None, 0.5 * np.exp(
        (half - 1.0) * np.log(0.5 * x) - 0.5 * x - weak(special.gammaln(half))
    )


@elementwise(special.chdtrc, unknown=("v",), regular={"out": 0.5, "v": 0.5, "x": 0.5})
def chdtrc(out, v, x):
    half = 0.5 * v
    return None, -0.5 * np.exp(
        (half - 1.0) * np.log(0.5 * x) - 0.5 * x - weak(special.gammaln(half))
    )


@elementwise(special.pdtr, unknown=("k",), regular={"out": 0.5, "k": 0.5, "m": 0.5})
def pdtr(out, k, m):
    return None, -np.exp(k * np.log(m) - m - weak(special.gammaln(k + 1.0)))


@elementwise(special.pdtrc, unknown=("k",), regular={"out": 0.5, "k": 0.5, "m": 0.5})
def pdtrc(out, k, m):
    return None, np.exp(k * np.log(m) - m - weak(special.gammaln(k + 1.0)))


# reductions


@pullback(special.logsumexp)
def pull_logsumexp(out_bar, out, a, b=None, *, axis=None, keepdims=False, return_sign=False):
    if return_sign:
        bar = np.zeros_like(out[0]) if out_bar[0] is None else out_bar[0]
        return pull_logsumexp(bar * out[1], out[0], a, b, axis=axis, keepdims=keepdims)
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
        out = np.expand_dims(out, axis)
    if b is None:
        return out_bar * np.exp(a - out), None
    weight_bar = out_bar * np.exp(a - out)
    return unbroadcast(weight_bar * b, a.shape), unbroadcast(weight_bar, np.shape(b))


@pushforward(special.logsumexp)
def push_logsumexp(out, a, b, a_dot, b_dot, *, axis=None, keepdims=False, return_sign=False):
    if return_sign:
        moved = push_logsumexp(out[0], a, b, a_dot, b_dot, axis=axis, keepdims=keepdims)
        return moved * out[1], np.zeros_like(out[1])
    whole = np.expand_dims(out, axis) if axis is not None and not keepdims else out
    share = np.exp(a - whole)
    out_dot = np.zeros_like(out)
    if a_dot is not None:
        weight = share if b is None else b * share
        out_dot = out_dot + np.sum(weight * a_dot, axis=axis, keepdims=keepdims)
    if b_dot is not None:
        out_dot = out_dot + np.sum(share * b_dot, axis=axis, keepdims=keepdims)
    return out_dot


@pullback(special.softmax)
def pull_softmax(out_bar, out, x, *, axis=None):
    return out * (out_bar - np.sum(out_bar * out, axis=axis, keepdims=True))


@pushforward(special.softmax)
def push_softmax(out, x, x_dot, *, axis=None):
    return out * (x_dot - np.sum(x_dot * out, axis=axis, keepdims=True))


@pullback(special.log_softmax)
def pull_log_softmax(out_bar, out, x, *, axis=None):
    return out_bar - np.exp(out) * np.sum(out_bar, axis=axis, keepdims=True)


@pushforward(special.log_softmax)
def push_log_softmax(out, x, x_dot, *, axis=None):
    return x_dot - np.sum(np.exp(out) * x_dot, axis=axis, keepdims=True)
