import math


def pong_forward(x, n):
    """pong (ping_pong.py), with the values that pong_reverse reads."""
    t = n == 0
    if t:
        value = 2.0 * x
        ping_saved = None
    else:
        value, ping_saved = ping_forward(x * x + 0.5, n - 1)
    return value, (t, ping_saved, x)


def pong_reverse(kept, value_bar):
    """Adjoint of pong (ping_pong.py) with respect to x, given the adjoint of its result."""
    t, ping_saved, x = kept

    if t:
        # return 2.0 * x
        x_bar = 2.0 * value_bar
    else:
        # return ping(x * x + 0.5, n - 1)
        x_bar = 2.0 * ping_reverse(ping_saved, value_bar) * x
    return x_bar


def ping_forward(x, n):
    """ping (ping_pong.py), with the values that ping_reverse reads."""
    t = n == 0
    if t:
        value = x
        pong_saved = None
    else:
        value, pong_saved = pong_forward(math.sin(x), n - 1)
    return value, (t, pong_saved, x)


def ping_reverse(kept, value_bar):
    """Adjoint of ping (ping_pong.py) with respect to x, given the adjoint of its result."""
    t, pong_saved, x = kept

    if not t:
        # return pong(math.sin(x), n - 1)
        value_bar = pong_reverse(pong_saved, value_bar) * math.cos(x)
    return value_bar


def ping_pong_grad(x, n):
    """Gradient of ping_pong (ping_pong.py) with respect to x."""
    ping_x, ping_saved = ping_forward(x, n)
    return 1.0 + ping_reverse(ping_saved, 1.0)
