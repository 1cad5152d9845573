import numpy as np


def thomas_grad(a, b, c, d):
    """Gradient of thomas (thomas.py) with respect to a, b, c and d."""
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    b_item = b[0]
    t = c[0] / b_item
    cp[0] = t
    b_item_1 = b[0]
    t_1 = d[0] / b_item_1
    dp[0] = t_1
    saved = []
    for i in range(1, n):
        cp_item = cp[i - 1]
        m = b[i] - a[i] * cp_item
        t_2 = c[i] / m
        cp[i] = t_2
        dp_item = dp[i - 1]
        t_3 = (d[i] - a[i] * dp_item) / m
        saved.append((t_3, m, dp_item, t_2, cp_item))
        dp[i] = t_3
    x = np.zeros(n)
    x[-1] = dp[-1]
    saved_1 = []
    for i in range(n - 2, -1, -1):
        x_item = x[i + 1]
        x[i] = dp[i] - cp[i] * x_item
        saved_1.append(x_item)

    # return np.sum(x**2)
    x_bar = 2.0 * x
    dp_bar = np.zeros_like(dp)
    cp_bar = np.zeros_like(cp)
    for i in range(n - 1):
        x_item = saved_1.pop()
        # x[i] = dp[i] - cp[i] * x[i + 1]
        t_bar = x_bar[i]
        x_bar[i] = 0.0
        t_bar_1 = -t_bar
        x_bar[i + 1] += t_bar_1 * cp[i]
        cp_bar[i] += t_bar_1 * x_item
        dp_bar[i] += t_bar
    # x[-1] = dp[-1]
    dp_bar[-1] += x_bar[-1]
    b_bar = np.zeros_like(b)
    a_bar = np.zeros_like(a)
    c_bar = np.zeros_like(c)
    d_bar = np.zeros_like(d)
    for i in range(n - 1, 0, -1):
        t_2, m, dp_item, t_3, cp_item = saved.pop()
        # dp[i] = (d[i] - a[i] * dp[i - 1]) / m
        t_bar_2 = dp_bar[i]
        # t_bar_2 == 0: zero stays zero where the derivative is infinite
        t_4 = 1.0 if t_bar_2 == 0 else m
        d_item_bar = t_bar_2 / t_4
        t_bar_3 = -d_item_bar
        dp_bar[i - 1] += t_bar_3 * a[i]
        a_bar[i] += t_bar_3 * dp_item
        d_bar[i] += d_item_bar
        # cp[i] = c[i] / m
        t_bar_4 = cp_bar[i]
        t_5 = 1.0 if t_bar_4 == 0 else m
        t_2 = -t_bar_2 * (1.0 if t_bar_2 == 0 else t_2) / t_4
        m_bar = t_2 - t_bar_4 * (1.0 if t_bar_4 == 0 else t_3) / t_5
        c_bar[i] += t_bar_4 / t_5
        # m = b[i] - a[i] * cp[i - 1]
        t_bar_5 = -m_bar
        cp_bar[i - 1] += t_bar_5 * a[i]
        a_bar[i] += t_bar_5 * cp_item
        b_bar[i] += m_bar
    # dp[0] = d[0] / b[0]
    t_bar_6 = dp_bar[0]
    t_2 = 1.0 if t_bar_6 == 0 else b_item_1
    b_bar[0] = -t_bar_6 * (1.0 if t_bar_6 == 0 else t_1) / t_2
    d_bar[0] = t_bar_6 / t_2
    # cp[0] = c[0] / b[0]
    t_bar_7 = cp_bar[0]
    t_1 = 1.0 if t_bar_7 == 0 else b_item
    b_bar[0] -= t_bar_7 * (1.0 if t_bar_7 == 0 else t) / t_1
    c_bar[0] = t_bar_7 / t_1
    return a_bar, b_bar, c_bar, d_bar
