"""The Thomas algorithm: a tridiagonal system, by elimination in two work arrays."""

import numpy as np

WRT = (0, 1, 2, 3)
ORACLE = "differences"


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x**2)


def arguments():
    rng = np.random.default_rng(3)
    a, c, d = rng.standard_normal((3, 6))
    return a, 4.0 + rng.random(6), c, d
