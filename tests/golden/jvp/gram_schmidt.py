import numpy as np


def gram_schmidt_jvp(A, target, A_dot):
    """Value and tangent of gram_schmidt (gram_schmidt.py), given the tangent of A."""
    Q = A.copy()
    Q_dot = A_dot.copy()
    n = Q.shape[0]
    for i in range(n):
        for j in range(i):
            Q_item = Q[j]
            Q_item_1 = Q[i]
            dot_Q_item = np.dot(Q_item, Q_item_1)
            Q_item_2 = Q[j]
            t_dot = (
                np.dot(Q_dot[j], Q_item_1) + np.dot(Q_item, Q_dot[i])
            ) * Q_item_2 + dot_Q_item * Q_dot[j]
            Q[i] -= dot_Q_item * Q_item_2
            Q_dot[i] -= t_dot
        Q_item = Q[i]
        Q_item_1 = Q[i]
        dot_Q_item_dot = np.dot(Q_dot[i], Q_item_1) + np.dot(Q_item, Q_dot[i])
        sqrt = np.sqrt(np.dot(Q_item, Q_item_1))
        # dot_Q_item_dot == 0: zero stays zero where the derivative is infinite
        Q_dot[i] = (
            Q_dot[i] / sqrt
            - 0.5 * dot_Q_item_dot / (1.0 if dot_Q_item_dot == 0 else sqrt) / sqrt / sqrt * Q[i]
        )
        Q[i] /= sqrt
    t = Q - target
    return np.sum(t**2), 2.0 * np.sum(Q_dot.copy() * t)
