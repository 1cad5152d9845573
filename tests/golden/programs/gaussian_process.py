"""The marginal likelihood of a Gaussian process: kernel, Cholesky, solve."""

import numpy as np

WRT = (0, 1)
ORACLE = "differences"


def gaussian_process(scale, noise, x, y):
    d = x[:, None] - x[None, :]
    K = np.exp(-0.5 * (d / scale) ** 2) + noise * np.eye(len(x))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(K, y)
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(L)))


def arguments():
    normal = np.random.default_rng(16).standard_normal
    return 0.9, 0.3, normal(5), normal(5)
