"""Modified Gram-Schmidt on the rows of a matrix; the distance to a target."""

import numpy as np

WRT = (0,)
ORACLE = "differences"


def gram_schmidt(A, target):
    Q = A.copy()
    n = Q.shape[0]
    for i in range(n):
        for j in range(i):
            Q[i] -= np.dot(Q[j], Q[i]) * Q[j]
        Q[i] /= np.sqrt(np.dot(Q[i], Q[i]))
    return np.sum((Q - target) ** 2)


def arguments():
    rng = np.random.default_rng(3)
    return rng.standard_normal((3, 5)), rng.standard_normal((3, 5))
