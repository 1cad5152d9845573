import numpy as np


def f_grad(xs, limit):
    """Gradient of f (early_exit.py) with respect to xs."""
    s = 1.0
    returned = False
    rounds = 0
    saved = []
    for x in xs:
        rounds += 1
        if x < 0.0:
            continue
        saved.append(s)
        s = s * x
        if s > limit:
            returned = True
            break

    if returned:
        # return np.log(s)
        s_bar = 1.0 / s
    else:
        # return s
        s_bar = 1.0
    xs_bar = np.zeros_like(xs)
    for i in range(rounds - 1, -1, -1):
        if xs[i] < 0.0:
            continue
        # s = s * x
        xs_bar[i] += s_bar * saved.pop()
        s_bar = s_bar * xs[i]
    return xs_bar
