"""Prices, graphs and scalar programs.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import math

import numpy as np


def option_tree(S, K, r, sigma, T, n):
    """An American put on a binomial tree, level by level."""
    dt = T / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)
    prices = S * u ** np.arange(n, -n - 1, -2, dtype=float)
    values = np.maximum(K - prices, 0.0)
    for level in range(n - 1, -1, -1):
        values = disc * (p * values[:-1] + (1 - p) * values[1:])
        prices = prices[:-1] * d
        values = np.maximum(values, K - prices)
    return values[0]


def option_tree_args():
    return 100.0, 105.0, 0.03, 0.25, 1.0, 80


def option_tree_lists(S, K, r, sigma, T, n):
    """A European call on a tree, with lists of numbers."""
    dt = T / n
    up = math.exp(sigma * math.sqrt(dt))
    q = (math.exp(r * dt) - 1 / up) / (up - 1 / up)
    values = []
    for i in range(n + 1):
        price = S * up ** (2 * i - n)
        values.append(max(price - K, 0.0))
    while len(values) > 1:
        nxt = []
        for i in range(len(values) - 1):
            nxt.append(math.exp(-r * dt) * (q * values[i + 1] + (1 - q) * values[i]))
        values = nxt
    return values[0]


def option_tree_lists_args():
    return 100.0, 95.0, 0.02, 0.3, 0.5, 60


def black_scholes_book(spot, vol, rate, strikes, maturities, kinds):
    """The value of a book of options, one after another, with scalars."""
    total = 0.0
    for K, T, kind in zip(strikes, maturities, kinds):
        sq = vol * math.sqrt(T)
        d1 = (math.log(spot / K) + (rate + 0.5 * vol * vol) * T) / sq
        d2 = d1 - sq
        N1 = 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
        N2 = 0.5 * (1 + math.erf(d2 / math.sqrt(2)))
        if kind == "call":
            total += spot * N1 - K * math.exp(-rate * T) * N2
        elif kind == "put":
            total += K * math.exp(-rate * T) * (1 - N2) - spot * (1 - N1)
        else:
            raise ValueError(kind)
    return total


def black_scholes_book_args():
    n = 300
    strikes = [80.0 + 0.1 * i for i in range(n)]
    return 100.0, 0.2, 0.01, strikes, [0.1 + 0.01 * i for i in range(n)], ["call", "put"] * 150


def heston_paths(kappa, theta, xi, rho, z1, z2):
    """Monte Carlo with stochastic volatility, all paths at once; an Asian payoff."""
    n_steps, n_paths = z1.shape
    dt = 1.0 / n_steps
    s = np.full(n_paths, 100.0)
    v = np.full(n_paths, 0.04)
    average = np.zeros(n_paths)
    for t in range(n_steps):
        vp = np.maximum(v, 0.0)
        w = rho * z1[t] + np.sqrt(1 - rho**2) * z2[t]
        s = s * np.exp(-0.5 * vp * dt + np.sqrt(vp * dt + 1e-12) * z1[t])
        v = v + kappa * (theta - vp) * dt + xi * np.sqrt(vp * dt + 1e-12) * w
        average += s / n_steps
    return np.mean(np.maximum(average - 100.0, 0.0))


def heston_paths_args():
    rng = np.random.default_rng(0)
    return 2.0, 0.04, 0.3, -0.7, *rng.standard_normal((2, 50, 300))


def yield_curve(rates, knots, cash, times, market):
    """Bonds priced from a curve with np.interp; relative errors."""
    loss = 0.0
    for flows, ts, price in zip(cash, times, market):
        y = np.interp(ts, knots, rates)
        pv = np.sum(flows * np.exp(-y * ts))
        loss += ((pv - price) / price) ** 2
    return loss


def yield_curve_args():
    rng = np.random.default_rng(1)
    cash = [np.full(n, 2.0) for n in range(4, 24)]
    times = [np.arange(1, n + 1) * 0.5 for n in range(4, 24)]
    return 0.02 + 0.01 * rng.random(8), np.linspace(0, 12, 8), cash, times, 30 + 5 * rng.random(20)


def soft_shortest(W, gamma):
    """Floyd and Warshall with a soft minimum."""
    n = W.shape[0]
    D = W.copy()
    for k in range(n):
        through = D[:, k : k + 1] + D[k : k + 1, :]
        low = np.minimum(D, through)
        D = low - gamma * np.log(np.exp(-(D - low) / gamma) + np.exp(-(through - low) / gamma))
    return np.mean(D)


def soft_shortest_args():
    return 0.5 + np.random.default_rng(2).random((40, 40)), 0.1


def page_rank(weights, src, dst, n, damping, iters):
    """Page rank with edges in lists; sums by np.bincount."""
    out = np.bincount(src, weights=weights, minlength=n)
    rank = np.full(n, 1.0 / n)
    for _ in range(iters):
        flow = weights * rank[src] / out[src]
        rank = (1 - damping) / n + damping * np.bincount(dst, weights=flow, minlength=n)
    return np.sum(rank**2)


def page_rank_args():
    rng = np.random.default_rng(3)
    n, m = 200, 1000
    src = np.concatenate([np.arange(n), rng.integers(0, n, m - n)])
    return 0.2 + rng.random(m), src, rng.integers(0, n, m), n, 0.85, 15


def graph_network(H, edges, W_msg, W_self, rounds):
    """Messages along edges, an adjacency kept as a dict of lists."""
    neighbours = {}
    for a, b in edges:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    for _ in range(rounds):
        new = []
        for node in range(len(H)):
            msg = np.zeros(H.shape[1])
            for other in neighbours.get(node, []):
                msg = msg + H[other] @ W_msg
            new.append(np.tanh(H[node] @ W_self + msg / max(1, len(neighbours.get(node, [])))))
        H = np.vstack(new)
    return np.sum(H[0] * H[-1])


def graph_network_args():
    rng = np.random.default_rng(4)
    edges = [(int(a), int(b)) for a, b in rng.integers(0, 16, (30, 2)) if a != b]
    return rng.standard_normal((16, 6)), edges, *(0.4 * rng.standard_normal((2, 6, 6))), 3


def kepler_orbit(e, M0, n, count):
    """Kepler's equation by Newton at many times, in plain numbers."""
    total = 0.0
    for k in range(count):
        M = (M0 + n * k) % (2 * math.pi)
        E = M if e < 0.8 else math.pi
        for _ in range(50):
            step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
            E -= step
            if abs(step) < 1e-12:
                break
        x = math.cos(E) - e
        y = math.sqrt(1 - e * e) * math.sin(E)
        total += math.hypot(x, y) * x
    return total / count


def kepler_orbit_args():
    return 0.3, 0.1, 0.17, 120


def projectile(v0, angle, drag, wind):
    """A shot with drag until it lands, the last step interpolated."""
    x, y = 0.0, 1.0
    vx, vy = v0 * math.cos(angle), v0 * math.sin(angle)
    dt = 0.01
    while True:
        rel = vx - wind
        speed = math.sqrt(rel * rel + vy * vy)
        ax, ay = -drag * speed * rel, -9.81 - drag * speed * vy
        vx, vy = vx + dt * ax, vy + dt * ay
        x_new, y_new = x + dt * vx, y + dt * vy
        if y_new < 0:
            f = y / (y - y_new)
            return x + f * (x_new - x)
        x, y = x_new, y_new


def projectile_args():
    return 80.0, 0.7, 0.001, -2.0


def simpson_integrals(a, b, n):
    """A composite rule over a function of a parameter, summed over parameters in a generator."""

    def f(t, p):
        return math.exp(-p * t * t) * math.cos(t) / (1.0 + p)

    def simpson(p):
        h = (b - a) / n
        s = f(a, p) + f(b, p)
        for i in range(1, n):
            s += (4 if i % 2 else 2) * f(a + i * h, p)
        return s * h / 3

    return sum(simpson(0.5 + 0.1 * k) for k in range(8))


def simpson_integrals_args():
    return 0.0, 2.0, 60


KERNELS = {
    "option_tree": (0, 1, 2, 3),
    "option_tree_lists": (0, 1, 2, 3),
    "black_scholes_book": (0, 1, 2),
    "heston_paths": (0, 1, 2, 3),
    "yield_curve": (0,),
    "soft_shortest": (0,),
    "page_rank": (0,),
    "graph_network": (0, 2, 3),
    "kepler_orbit": (0, 1, 2),
    "projectile": (0, 1, 2, 3),
    "simpson_integrals": (0, 1),
}
