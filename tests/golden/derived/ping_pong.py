import math


def pong_forward(x, n):
    """pong (ping_pong.py), with the values that pong_reverse reads."""
    ping_saved = None
    if n == 0:
        value = 2.0 * x
    else:
        value, ping_saved = ping_forward(x * x + 0.5, n - 1)
    return value, ping_saved


def pong_reverse(ping_saved, x, n, value_bar):
    """Adjoint of pong (ping_pong.py) with respect to x, given the adjoint of its result."""
    if n == 0:
        # return 2.0 * x
        x_bar = 2.0 * value_bar
    else:
        # return ping(x * x + 0.5, n - 1)
        x_bar = 2.0 * x * ping_reverse(ping_saved, value_bar)
    return x_bar


def ping_forward(x, n):
    """ping (ping_pong.py), with the values that ping_reverse reads."""
    pong_saved = None
    sin_x = None
    t = None
    if n == 0:
        value = x
    else:
        sin_x = math.sin(x)
        t = n - 1
        value, pong_saved = pong_forward(sin_x, t)
    return value, (n, pong_saved, sin_x, t, x)


def ping_reverse(kept, value_bar):
    """Adjoint of ping (ping_pong.py) with respect to x, given the adjoint of its result."""
    n, pong_saved, sin_x, t, x = kept
    if n == 0:
        # return x
        x_bar = value_bar
    else:
        # return pong(math.sin(x), n - 1)
        x_bar = math.cos(x) * pong_reverse(pong_saved, sin_x, t, value_bar)
    return x_bar


def ping_pong_grad(x, n):
    """Gradient of ping_pong (ping_pong.py) with respect to x."""
    ping_x, ping_saved = ping_forward(x, n)

    # return ping(x, n) + x
    x_bar = 1.0 + ping_reverse(ping_saved, 1.0)
    return x_bar
