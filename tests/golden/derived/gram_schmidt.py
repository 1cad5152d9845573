import numpy as np


def gram_schmidt_grad(A, target):
    """Gradient of gram_schmidt (gram_schmidt.py:9) with respect to A."""
    Q = A.copy()
    n = Q.shape[0]
    saved = []
    for i in range(n):
        for j in range(i):
            Q_item = Q[j]
            Q_item_1 = Q[i]
            dot_Q_item = np.dot(Q_item, Q_item_1)
            Q_item_2 = Q[j]
            Q_0 = Q[i].copy()
            Q[i] -= dot_Q_item * Q_item_2
            saved.append((Q_0, Q_item, Q_item_1, Q_item_2, dot_Q_item))
        Q_item_3 = Q[i]
        Q_item_4 = Q[i]
        sqrt = np.sqrt(np.dot(Q_item_3, Q_item_4))
        Q_1 = Q[i].copy()
        Q[i] /= sqrt
        saved.append((Q_1, Q_item_3, Q_item_4, sqrt))
    t = Q - target

    # return np.sum((Q - target) ** 2)
    Q_bar = 2.0 * t
    for i in range(n - 1, -1, -1):
        Q_1, Q_item_3, Q_item_4, sqrt = saved.pop()
        # Q[i] /= np.sqrt(np.dot(Q[i], Q[i]))
        sqrt_bar = -np.sum(Q_bar[i] * Q[i]) / sqrt
        Q[i] = Q_1
        Q_bar[i] *= 1.0 / sqrt
        dot_Q_item_bar = 0.5 * sqrt_bar / (1.0 if sqrt_bar == 0 else sqrt)
        Q_bar[i] += dot_Q_item_bar * Q_item_3
        Q_bar[i] += dot_Q_item_bar * Q_item_4
        for j in range(i - 1, -1, -1):
            Q_0, Q_item, Q_item_1, Q_item_2, dot_Q_item = saved.pop()
            # Q[i] -= np.dot(Q[j], Q[i]) * Q[j]
            Q[i] = Q_0
            t_bar = -Q_bar[i]
            dot_Q_item_bar_1 = np.dot(t_bar, Q_item_2)
            Q_bar[j] += dot_Q_item * t_bar
            Q_bar[i] += dot_Q_item_bar_1 * Q_item
            Q_bar[j] += dot_Q_item_bar_1 * Q_item_1
    # Q = A.copy()
    A_bar = Q_bar
    return A_bar
