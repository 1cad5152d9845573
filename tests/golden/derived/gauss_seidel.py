import numpy as np


def gauss_seidel_grad(A, b, sweeps):
    """Gradient of gauss_seidel (gauss_seidel.py) with respect to A and b."""
    n = len(b)
    x = np.zeros(n)
    saved = []
    for _ in range(sweeps):
        for i in range(n):
            s = b[i]
            for j in range(n):
                if j != i:
                    arm = 0
                    s -= A[i, j] * x[j]
                else:
                    arm = 1
                saved.append(arm)
            saved.append((x[i], s))
            x[i] = s / A[i, i]

    # return np.sum(x**2)
    x_bar = 2.0 * x
    A_bar = np.zeros_like(A)
    b_bar = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(n - 1, -1, -1):
            x_0, s = saved.pop()
            # x[i] = s / A[i, i]
            t_bar = x_bar[i]
            x_bar[i] = 0.0
            x[i] = x_0
            # t_bar == 0: zero stays zero where the derivative is infinite
            A_item_safe = 1.0 if t_bar == 0 else A[i, i]
            s_bar = t_bar / A_item_safe
            A_bar[i, i] -= t_bar * (1.0 if t_bar == 0 else s / A[i, i]) / A_item_safe
            for j in range(n - 1, -1, -1):
                arm = saved.pop()
                if arm == 0:
                    # s -= A[i, j] * x[j]
                    t_bar_1 = -s_bar
                    x_bar[j] += t_bar_1 * A[i, j]
                    A_bar[i, j] += t_bar_1 * x[j]
            # s = b[i]
            b_bar[i] += s_bar
    return A_bar, b_bar
