import numpy as np


def gram_schmidt_grad(A, target):
    """Gradient of gram_schmidt (gram_schmidt.py) with respect to A."""
    Q = A.copy()
    n = Q.shape[0]
    saved = []
    for i in range(n):
        for j in range(i):
            dot_Q_item = np.dot(Q[j], Q[i])
            Q_0 = Q[i].copy()
            Q[i] -= dot_Q_item * Q[j]
            saved.append((Q_0, dot_Q_item))
        sqrt = np.sqrt(np.dot(Q[i], Q[i]))
        t = Q[i] / sqrt
        Q_0 = Q[i].copy()
        Q[i] /= sqrt
        saved.append((Q_0, sqrt, t))

    # return np.sum((Q - target) ** 2)
    Q_bar = 2.0 * (Q - target)
    for i in range(n - 1, -1, -1):
        Q_0, sqrt, t = saved.pop()
        # Q[i] /= np.sqrt(np.dot(Q[i], Q[i]))
        Q[i] = Q_0
        sqrt_bar = -np.dot(Q_bar[i], t) / sqrt
        Q_bar[i] = Q_bar[i] / sqrt
        # sqrt_bar == 0: zero stays zero where the derivative is infinite
        dot_Q_item_bar = 0.5 * sqrt_bar / (1.0 if sqrt_bar == 0 else sqrt)
        Q_bar[i] += dot_Q_item_bar * Q[i]
        Q_bar[i] += dot_Q_item_bar * Q[i]
        for j in range(i - 1, -1, -1):
            Q_0, dot_Q_item = saved.pop()
            # Q[i] -= np.dot(Q[j], Q[i]) * Q[j]
            t_bar = -Q_bar[i]
            Q[i] = Q_0
            dot_Q_item_bar_1 = np.dot(t_bar, Q[j])
            Q_bar[j] += dot_Q_item * t_bar
            Q_bar[j] += dot_Q_item_bar_1 * Q[i]
            Q_bar[i] += dot_Q_item_bar_1 * Q[j]
    return Q_bar
