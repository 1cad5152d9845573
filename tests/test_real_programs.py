"""Programs as scientists write them, whole: a network by hand, options, filters, optimisers.

Each has once been refused without need. Gradients and tangents are held beside differences.
"""

import collections
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad

TEXT = "hello held"
CHARS = sorted(set(TEXT))


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_cell(p, x, h, c):
    z = np.vstack((h, x))
    gates = {}
    for g in "ifo":
        gates[g] = sigmoid(p["W" + g] @ z + p["b" + g])
    gates["g"] = np.tanh(p["Wg"] @ z + p["bg"])
    c_next = gates["f"] * c + gates["i"] * gates["g"]
    return gates["o"] * np.tanh(c_next), c_next, gates


def lstm(p, inputs, targets, hidden=3):
    xs, hs, cs, ps = {}, {}, {}, {}
    hs[-1], cs[-1] = np.zeros((hidden, 1)), np.zeros((hidden, 1))
    total, forget = 0, []
    for t in range(len(inputs)):
        xs[t] = p["E"][inputs[t]][:, None]
        hs[t], cs[t], gates = lstm_cell(p, xs[t], hs[t - 1], cs[t - 1])
        y = np.dot(p["Wy"], hs[t])
        ps[t] = np.exp(y - np.max(y)) / np.sum(np.exp(y - np.max(y)))
        total += -np.log(ps[t][targets[t], 0])
        forget.append(gates["f"].mean())
    return total / len(inputs) + 0.1 * (np.mean(forget) - 0.9) ** 2


def lstm_arguments():
    rng = np.random.default_rng(0)
    p = {"E": 0.3 * rng.normal(size=(len(CHARS), 2)), "Wy": 0.3 * rng.normal(size=(len(CHARS), 3))}
    for g in "ifog":
        p["W" + g], p["b" + g] = 0.3 * rng.normal(size=(3, 5)), np.zeros((3, 1))
    numbers = [CHARS.index(c) for c in TEXT]
    return p, numbers[:-1], numbers[1:]


@dataclass(frozen=True)
class Put:
    strike: float
    maturity: float

    def payoff(self, s):
        if self.strike <= 0:
            return np.zeros_like(s)
        return np.maximum(self.strike - s, 0.0)


class MonteCarlo:
    def __init__(self, paths=24, steps=4, seed=0, antithetic=True):
        self.paths, self.steps, self.seed, self.antithetic = paths, steps, seed, antithetic

    def normals(self):
        rng = np.random.default_rng(self.seed)
        half = self.paths // 2 if self.antithetic else self.paths
        z = rng.standard_normal((self.steps, half))
        return np.concatenate([z, -z], axis=1) if self.antithetic else z

    def prices(self, market, maturity):
        z, dt = self.normals(), maturity / self.steps
        logs = np.zeros((self.steps + 1, self.paths))
        logs[0] = np.log(market["spot"])
        for k in range(self.steps):
            drift = (market["rate"] - 0.5 * market["vol"] ** 2) * dt
            logs[k + 1] = logs[k] + drift + market["vol"] * np.sqrt(dt) * z[k]
        return np.exp(logs)


def american(market, contract, degree=2):
    mc = MonteCarlo()
    s = mc.prices(market, contract.maturity)
    discount = np.exp(-market["rate"] * contract.maturity / mc.steps)
    cash = contract.payoff(s[-1])
    for k in range(mc.steps - 1, 0, -1):
        cash = cash * discount
        exercise = contract.payoff(s[k])
        itm = np.flatnonzero(exercise > 0)
        if itm.size <= degree + 1:
            continue
        basis = np.vander(s[k, itm] / contract.strike, degree + 1)
        coef, *_ = np.linalg.lstsq(basis, cash[itm], rcond=None)
        early = itm[exercise[itm] > basis @ coef]
        cash[early] = exercise[early]
    return discount * np.mean(cash)


class Filter:
    """A recursive filter of second order, in the transposed direct form."""

    def __init__(self, b, a):
        self.b, self.a = [c / a[0] for c in b], [c / a[0] for c in a[1:]]
        self.z = [0.0] * len(self.a)

    def __call__(self, x):
        y = self.b[0] * x + self.z[0]
        self.z[0] = self.z[1] + self.b[1] * x - self.a[0] * y
        self.z[1] = self.b[2] * x - self.a[1] * y
        return y


class Particles:
    def __init__(self, n, sigma_x, sigma_y, a):
        rng = np.random.default_rng(0)
        self.noise, self.x = rng.standard_normal((30, n)), rng.standard_normal(n)
        self.logw = np.full(n, -np.log(n))
        self.sigma_x, self.sigma_y, self.a = sigma_x, sigma_y, a
        self.loglik = 0.0

    def step(self, k, y):
        self.x = self.a * self.x + self.sigma_x * self.noise[k]
        self.logw = self.logw - 0.5 * ((y - self.x) / self.sigma_y) ** 2 - np.log(self.sigma_y)
        norm = np.log(np.sum(np.exp(self.logw)))
        self.loglik += norm
        self.logw -= norm
        w = np.exp(self.logw)
        if 1.0 / np.sum(w**2) < 0.5 * len(w):
            idx = np.searchsorted(np.cumsum(w), (np.arange(len(w)) + 0.5) / len(w))
            self.x, self.logw = self.x[idx], self.logw[idx]
            self.logw = self.logw - np.log(np.exp(self.logw).sum())
        return np.exp(self.logw) @ self.x


def tracked(theta, raw):
    c, alpha = np.cos(theta["w"]), np.sin(theta["w"]) / (2 * np.exp(theta["q"]))
    smooth = Filter([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + alpha, -2 * c, 1 - alpha])
    clean = np.array([smooth(v) for v in raw])
    particles = Particles(12, np.exp(theta["sx"]), np.exp(theta["sy"]), np.tanh(theta["a"]))
    means = [particles.step(k, y) for k, y in enumerate(clean)]
    rough = 0.0
    for level in range(2):
        step = 2**level
        rough += np.sum(np.diff(clean[::step]) ** 2) / step
    missed = np.mean((np.array(means) - raw) ** 2)
    return -particles.loglik / len(raw) + 0.1 * missed + 0.01 * rough


def tracked_arguments():
    theta = {"w": 0.9, "q": -0.2, "sx": -0.5, "sy": -0.3, "a": 1.0}
    return theta, np.sin(0.5 * np.arange(12)) + 0.1 * np.cos(7.0 * np.arange(12))


class Optimizer:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr
        self.v = {k: np.zeros_like(p) for k, p in params.items()}

    def step(self, grads):
        for key in self.params:
            self.params[key] = self.update(key, self.params[key], grads[key])


class Momentum(Optimizer):
    def update(self, key, p, g):
        self.v[key] = 0.8 * self.v[key] - self.lr * g
        return p + self.v[key]


class RMSProp(Optimizer):
    def update(self, key, p, g):
        self.v[key] = 0.8 * self.v[key] + 0.2 * g**2
        return p - self.lr * g / (np.sqrt(self.v[key]) + 0.1)


def train(hyper, x, y, kind):
    params = {"w": np.zeros(x.shape[1]), "b": 0.0}
    cls = Momentum if kind == "momentum" else RMSProp
    opt = cls(params, np.exp(hyper["log_lr"]))
    base = opt.lr
    for k in range(3):
        opt.lr = base * 0.5 * (1 + np.cos(np.pi * k / 3))
        r = x @ opt.params["w"] + opt.params["b"] - y
        decay = np.exp(hyper["log_decay"])
        opt.step({"w": x.T @ r / len(y) + decay * opt.params["w"], "b": np.mean(r)})
    return opt.params


def tuned(hyper, x, y):
    total = 0.0
    for kind in ("momentum", "rmsprop"):
        params = train(hyper, x[:5], y[:5], kind)
        total += np.mean((x[5:] @ params["w"] + params["b"] - y[5:]) ** 2)
    return total


def tuned_arguments():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(8, 3))
    return {"log_lr": -2.0, "log_decay": -3.0}, x, x @ np.array([0.5, -1.0, 0.3]) + 0.4


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (lstm, lstm_arguments),
        (american, lambda: ({"spot": 96.0, "rate": 0.03, "vol": 0.25}, Put(100.0, 1.0))),
        (tracked, tracked_arguments),
        (tuned, tuned_arguments),
    ],
    ids=["lstm", "american", "tracked", "tuned"],
)
def test_real_programs(f, arguments):
    given, *rest = arguments()
    vector, unravel = s2sad.ravel(given)
    dot = np.random.default_rng(1).normal(size=vector.size) * np.maximum(np.abs(vector), 0.1)

    def at(s):
        return f(unravel(vector + s * dot), *arguments()[1:])

    slope = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    got = s2sad.ravel(s2sad.grad(f)(given, *rest))[0] @ dot
    _, tangent = s2sad.jvp(f, (given, *rest), (unravel(dot), *(None for _ in rest)))
    np.testing.assert_allclose([got, tangent], slope, rtol=1e-6)


def a_length_beside_an_integer(p, n):
    z = np.vstack((np.zeros((n, 1)), p["E"][0][:, None]))
    return np.sum(p["W"] @ z) ** 2


def slices_by_a_computed_step(p, n):
    return sum(np.sum(p["W"][:: 2**k] ** 2) for k in range(n))


def dicts_that_are_made_together(p, n):
    xs, hs = {}, {-1: np.ones(3)}
    for t in range(n):
        xs[t] = p["E"][t][:, None]
        hs[t] = np.tanh(hs[t - 1] * np.sum(xs[t]))
    return np.sum(hs[n - 1])


def square(v):
    return v * v


STEPS = {"a": (2.0, np.sin), "b": (3.0, lambda v: v**3)}


class Activation:
    table = {"tanh": np.tanh, "square": lambda v: v * v}

    def __init__(self, word):
        self.word = word

    def __call__(self, v):
        return self.table[self.word](v)


def functions_in_nested_tables(p, n):
    total = 0.0
    for _, (weight, f) in STEPS.items():
        total += weight * f(p["W"][0, 1])
    for layer in (Activation("tanh"), Activation("square")):
        total += np.sum(layer(p["E"]))
    return total


def adds_to_the_first(v, w):
    if v is not None:
        v[0] += w


def writes_into_what_may_be_none(p, n):
    total = 0.0
    for k in range(n):
        v = None if k == 1 else p["E"][k] * 2.0
        adds_to_the_first(v, p["W"][0, 0])
        if v is not None:
            total += np.sum(v**2)
    return total


def two_loop(g, pairs):
    q, weights = g.copy(), []
    for s, y in reversed(pairs):
        a = np.dot(s, q) / np.dot(s, y)
        q -= a * y
        weights.append(a)
    if pairs:
        q *= np.dot(*pairs[-1])
    for (s, y), a in zip(pairs, reversed(weights)):  # noqa: B905
        q += (a - np.dot(y, q) / np.dot(s, y)) * s
    return -q


def hands_over_a_deque(p, n):
    pairs = collections.deque(maxlen=n - 1)
    x = p["E"][0]
    for k in range(n):
        step = 0.1 * two_loop(x**3 + k, pairs)
        pairs.append((step, 3.0 * step * x**2))
        x = x + step
    return np.sum(x**2)


def keeps_what_it_gets(kept, pairs):
    kept.append(pairs)


def hands_over_a_deque_that_is_kept(x):
    pairs, kept = collections.deque(maxlen=2), []
    for k in range(3):
        keeps_what_it_gets(kept, pairs)
        pairs.append(x * k)
    return kept[0][0] * kept[0][1]


class Quaternion:
    def __init__(self, q):
        self.q = q

    def __abs__(self):
        return np.sqrt(np.sum(self.q**2))

    def __float__(self):
        return float(self.q[0])


def asks_an_object(p, n):
    q = Quaternion(p["E"][0])
    return abs(q) * float(q)


@pytest.mark.parametrize(
    "f",
    [
        a_length_beside_an_integer,
        slices_by_a_computed_step,
        dicts_that_are_made_together,
        functions_in_nested_tables,
        writes_into_what_may_be_none,
        hands_over_a_deque,
        asks_an_object,
    ],
)
def test_what_real_programs_do(f):
    test_real_programs(f, lambda: ({"E": 0.3 + np.eye(3, 2), "W": 0.1 * np.eye(4, 5) + 0.2}, 3))


def test_a_deque_that_a_function_keeps():
    assert s2sad.grad(hands_over_a_deque_that_is_kept)(0.3) == pytest.approx(1.2)
    assert s2sad.jvp(hands_over_a_deque_that_is_kept, (0.3,), (1.0,))[1] == pytest.approx(1.2)


def square_or_none(x):
    return None if x is None else x * x


def skips_what_is_missing(readings):
    total = 0.0
    for x in readings:
        if x is not None:
            total += x * x
    return total


def skips_missing_arrays(readings):
    return sum(np.sum(x * x) for x in readings if x is not None)


def skips_missing_parts_of_pairs(readings):
    total = 0.0
    for x in readings:
        pair = (2.0, x)
        weight, y = pair
        total += weight if y is None else weight * y * y
    return total


def asks_functions_of_the_missing(readings):
    squares = [square_or_none(x) for x in readings]
    return sum(y * y for y in squares if y is not None)


def loses_what_it_has_read(readings):
    total = 0.0
    for i in range(len(readings)):
        if readings[i] is not None:
            total += readings[i] ** 2
            readings[i] = None
    return total * total


@pytest.mark.parametrize(
    "f, some",
    [
        (skips_what_is_missing, 1.5),
        (skips_missing_arrays, np.array([1.5, 0.5])),
        (skips_missing_parts_of_pairs, 1.5),
        (asks_functions_of_the_missing, 1.5),
        (loses_what_it_has_read, 1.5),
    ],
)
def test_what_may_be_missing_has_no_cotangent(f, some):
    found = s2sad.grad(f)([some, None, 2.0 * some])
    assert found[1] is None
    step = 1e-6
    beside = [f([some + s, None, 2.0 * some]) for s in (step, -step)]
    assert np.sum(found[0]) == pytest.approx((beside[0] - beside[1]) / (2.0 * step), rel=1e-6)


class Process:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def at(self, t):
        return self.scale * self.mean(t)


def calls_what_a_field_holds(x):
    p = Process(lambda t: 2.0 * t * t, x)
    return p.at(x) + sum(p.mean(x * k) for k in range(3))


class Gains:
    def __init__(self, first, second=0.5, third=0.25, *, fourth=2.0):
        self.first, self.second, self.third = first, second, third
        self.fourth = fourth

    def all(self):
        return self.first * self.second + self.third * self.fourth


def makes_an_object_of_an_array(x):
    two, three = (Gains(*np.exp(x * np.arange(1.0, n))) for n in (3, 4))
    return two.all() * Gains(*[x], fourth=x).all() + three.all()


class Star:
    def __init__(self, **table):
        for word, value in table.items():
            setattr(self, word, value)


def makes_an_object_of_keywords(x):
    a, b = Star(mass=x, radius=np.sin(x)), Star(**{"mass": x * x, "radius": 3.0})
    return a.mass * b.mass + a.radius * b.radius


class Ball:
    def __init__(self, centre, radius):
        self.centre, self.radius = centre, radius

    def size(self):
        return self.radius**2 * self.centre


def nearest(balls, bound):
    hit = None
    for b in balls:
        if b.centre < bound:
            hit = b
    return bound, hit


def asks_an_object_or_none(x):
    balls, total = [Ball(x, 1.0), Ball(x * x, x), Ball(x**3, 3.0)], 0.0
    for t in (0.1, 0.45, 0.6):
        bound, hit = nearest(balls, t)
        if hit is None:
            total += x * bound
        else:
            total += hit.size() * hit.centre
            hit.centre = hit.centre * x
    return total + sum(b.size() for b in balls) + nearest(balls, 0.6)[1].radius


@pytest.mark.parametrize(
    "f",
    [
        calls_what_a_field_holds,
        makes_an_object_of_an_array,
        makes_an_object_of_keywords,
        asks_an_object_or_none,
    ],
)
def test_objects_that_are_made_and_asked(f):
    test_real_programs(f, lambda: (0.7,))


def test_a_sequence_that_fills_too_many_parameters_fails_as_the_call_does():
    with pytest.raises(TypeError):
        s2sad.grad(lambda x: Gains(*(x * np.arange(5.0))).all())(0.7)
