import numpy as np


def f_grad(xs, limit):
    """Gradient of f (early_exit.py) with respect to xs."""
    s = 1.0
    returned = False
    saved = []
    rounds = 0
    for x in xs:
        saved.append(s)
        rounds += 1
        if x < 0.0:
            continue
        s = s * x
        if s > limit:
            returned = True
            break

    if returned:
        # return np.log(s)
        s_bar = 1.0 / s
    else:
        s_bar = 1.0
    xs_bar = np.zeros_like(xs)
    for t in range(rounds - 1, -1, -1):
        s = saved.pop()
        x = xs[t]
        if not x < 0.0:
            # s = s * x
            xs_bar[t] += s_bar * s
            s_bar = s_bar * x
    return xs_bar
