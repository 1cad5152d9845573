import numpy as np


def gram_schmidt_jvp(A, target, A_dot):
    """Value and tangent of gram_schmidt (gram_schmidt.py), given the tangent of A."""
    Q = A.copy()
    Q_dot = A_dot.copy()
    n = Q.shape[0]
    for i in range(n):
        for j in range(i):
            dot_Q_item = np.dot(Q[j], Q[i])
            Q_dot[i] -= (
                np.dot(Q_dot[j], Q[i]) + np.dot(Q[j], Q_dot[i])
            ) * Q[j] + dot_Q_item * Q_dot[j]
            Q[i] -= dot_Q_item * Q[j]
        dot_Q_item_dot = np.dot(Q_dot[i], Q[i]) + np.dot(Q[i], Q_dot[i])
        sqrt = np.sqrt(np.dot(Q[i], Q[i]))
        # dot_Q_item_dot == 0: zero stays zero where the derivative is infinite
        t = 1.0 if dot_Q_item_dot == 0 else sqrt
        Q_dot[i] = Q_dot[i] / sqrt - 0.5 * dot_Q_item_dot / sqrt / sqrt / t * Q[i]
        Q[i] /= sqrt
    t = Q - target
    return np.sum(t**2), 2.0 * np.sum(Q_dot * t)
