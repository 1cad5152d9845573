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
                    x_item = x[j]
                    s -= A[i, j] * x_item
                else:
                    x_item = None
                saved.append(x_item)
            t = s / A[i, i]
            x[i] = t
            saved.append(t)

    # return np.sum(x**2)
    x_bar = 2.0 * x
    b_bar = np.zeros_like(b)
    A_bar = np.zeros_like(A)
    for _ in range(sweeps):
        for i in range(n - 1, -1, -1):
            t = saved.pop()
            # x[i] = s / A[i, i]
            t_bar = x_bar[i]
            x_bar[i] = 0.0
            # t_bar == 0: zero stays zero where the derivative is infinite
            t_1 = 1.0 if t_bar == 0 else A[i, i]
            # x[i] = s / A[i, i]
            s_bar = t_bar / t_1
            A_bar[i, i] -= t_bar * (1.0 if t_bar == 0 else t) / t_1
            for j in range(n - 1, -1, -1):
                x_item = saved.pop()
                if j != i:
                    # s -= A[i, j] * x[j]
                    t_bar_1 = -s_bar
                    x_bar[j] += t_bar_1 * A[i, j]
                    A_bar[i, j] += t_bar_1 * x_item
            # s = b[i]
            b_bar[i] += s_bar
    return A_bar, b_bar
