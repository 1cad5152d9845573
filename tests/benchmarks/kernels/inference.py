"""Statistics: mixtures, hidden states, filters, alignments, likelihoods.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import numpy as np


def logsumexp(a, axis=None):
    m = np.max(a, axis=axis, keepdims=True)
    s = np.log(np.sum(np.exp(a - m), axis=axis)) + np.squeeze(m, axis=axis)
    return s


def gaussian_mixture(logits, means, chols, X):
    """Log likelihood of a mixture of Gaussians with full covariances, component by component."""
    K, D = means.shape
    N = X.shape[0]
    log_w = logits - logsumexp(logits, axis=0)
    terms = np.zeros((N, K))
    for k in range(K):
        L = np.tril(chols[k], -1) + np.diag(np.exp(np.diag(chols[k])))
        z = np.linalg.solve(L, (X - means[k]).T)
        logdet = np.sum(np.diag(chols[k]))
        terms[:, k] = log_w[k] - 0.5 * np.sum(z**2, axis=0) - logdet - 0.5 * D * np.log(2 * np.pi)
    return -np.sum(logsumexp(terms, axis=1))


def gaussian_mixture_args():
    rng = np.random.default_rng(0)
    K, D = 4, 3
    return (
        rng.standard_normal(K),
        rng.standard_normal((K, D)),
        0.2 * rng.standard_normal((K, D, D)),
        rng.standard_normal((300, D)),
    )


def hmm_forward(log_pi, log_A, log_B, obs):
    """The forward algorithm in logarithms."""
    alpha = log_pi + log_B[:, obs[0]]
    for o in obs[1:]:
        m = alpha.max()
        alpha = np.log(np.exp(alpha - m) @ np.exp(log_A)) + m + log_B[:, o]
    top = alpha.max()
    return top + np.log(np.exp(alpha - top).sum())


def hmm_forward_args():
    rng = np.random.default_rng(1)
    S, V = 6, 10

    def logs(*shape):
        p = rng.random(shape) + 0.1
        return np.log(p / p.sum(axis=-1, keepdims=True))

    return logs(S), logs(S, S), logs(S, V), rng.integers(0, V, 100)


def kalman_filter(F, H, Q, R, ys):
    """Negative log likelihood of observations under a linear Gaussian model."""
    n = F.shape[0]
    x = np.zeros(n)
    P = np.eye(n)
    nll = 0.0
    for y in ys:
        x = F @ x
        P = F @ P @ F.T + Q
        v = y - H @ x
        S = H @ P @ H.T + R
        Sinv = np.linalg.inv(S)
        K = P @ H.T @ Sinv
        x = x + K @ v
        P = (np.eye(n) - K @ H) @ P
        sign, logdet = np.linalg.slogdet(S)
        nll += 0.5 * (logdet + v @ Sinv @ v)
    return nll


def kalman_filter_args():
    rng = np.random.default_rng(2)
    n, m = 4, 2
    F = 0.9 * np.eye(n) + 0.05 * rng.standard_normal((n, n))
    return F, rng.standard_normal((m, n)), 0.1 * np.eye(n), np.eye(m), rng.standard_normal((40, m))


def soft_dtw(x, y, gamma):
    """Soft dynamic time warping with a table that is filled entry by entry."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), 1e10)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            a, b, c = -D[i - 1, j] / gamma, -D[i, j - 1] / gamma, -D[i - 1, j - 1] / gamma
            top = max(a, b, c)
            total = np.exp(a - top) + np.exp(b - top) + np.exp(c - top)
            D[i, j] = cost - gamma * (np.log(total) + top)
    return D[n, m]


def soft_dtw_args():
    t = np.linspace(0, 3, 22)
    return np.sin(t), np.sin(t[:20] * 1.1 + 0.2), 0.1


def gp_marginal(theta, X, y):
    """Marginal likelihood of a Gaussian process with one length a dimension."""
    amp, noise = np.exp(theta[0]), np.exp(theta[1])
    ls = np.exp(theta[2:])
    Z = X / ls
    sq = np.sum(Z**2, 1)[:, None] + np.sum(Z**2, 1)[None, :] - 2 * Z @ Z.T
    K = amp * np.exp(-0.5 * np.maximum(sq, 0.0)) + noise * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum()


def gp_marginal_args():
    rng = np.random.default_rng(3)
    X = rng.random((60, 3))
    return np.array([0.1, -2.0, -0.5, 0.0, 0.3]), X, np.sin(3 * X[:, 0]) + X[:, 1]


def garch(params, returns):
    omega, alpha, beta, mu = params
    var = np.var(returns)
    nll = 0.0
    for r in returns:
        eps = r - mu
        nll += 0.5 * (np.log(2 * np.pi * var) + eps**2 / var)
        var = omega + alpha * eps**2 + beta * var
    return nll / len(returns)


def garch_args():
    rng = np.random.default_rng(4)
    return np.array([0.05, 0.1, 0.8, 0.01]), rng.standard_normal(500)


def correlation_loss(X, target, ridge):
    """Sample correlation against a target, with shrinkage."""
    n, d = X.shape
    Xc = X - X.mean(axis=0)
    cov = Xc.T @ Xc / (n - 1)
    cov = (1 - ridge) * cov + ridge * np.trace(cov) / d * np.eye(d)
    sd = np.sqrt(np.diag(cov))
    corr = cov / np.outer(sd, sd)
    upper = np.triu_indices(d, k=1)
    return np.sum((corr[upper] - target[upper]) ** 2)


def correlation_loss_args():
    rng = np.random.default_rng(5)
    return rng.standard_normal((500, 12)), 0.3 * np.ones((12, 12)), 0.1


def cox_partial(beta, X, times, events):
    """Cox's partial likelihood, risk sets by sorting and a running sum from the end."""
    order = np.argsort(-times)
    eta = (X @ beta)[order]
    happened = events[order]
    risk = np.cumsum(np.exp(eta))
    return -np.sum((eta - np.log(risk)) * happened)


def cox_partial_args():
    rng = np.random.default_rng(6)
    n = 3000
    return (
        0.1 * rng.standard_normal(5),
        rng.standard_normal((n, 5)),
        rng.random(n),
        rng.integers(0, 2, n),
    )


def hierarchical_model(q, data):
    """Log posterior of groups; the groups are a dict of name to observations."""
    mu, log_tau, log_sigma = q["mu"], q["log_tau"], q["log_sigma"]
    tau, sigma = np.exp(log_tau), np.exp(log_sigma)
    lp = -0.5 * mu**2 / 100 - 0.5 * log_tau**2 - 0.5 * log_sigma**2
    for j, (name, obs) in enumerate(data.items()):
        theta = mu + tau * q["z"][j]
        lp += -0.5 * q["z"][j] ** 2
        resid = (obs - theta) / sigma
        lp += -0.5 * np.sum(resid**2) - len(obs) * log_sigma
    return -lp


def hierarchical_model_args():
    rng = np.random.default_rng(7)
    data = {f"school_{j}": rng.standard_normal(5 + j) + 0.3 * j for j in range(40)}
    q = {"mu": 0.1, "log_tau": -0.2, "log_sigma": 0.1, "z": rng.standard_normal(40)}
    return q, data


KERNELS = {
    "gaussian_mixture": (0, 1, 2),
    "hmm_forward": (0, 1, 2),
    "kalman_filter": (0, 1, 2, 3),
    "soft_dtw": (0, 1),
    "gp_marginal": (0,),
    "garch": (0,),
    "correlation_loss": (0,),
    "cox_partial": (0,),
    "hierarchical_model": (0,),
}
