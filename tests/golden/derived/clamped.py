import math


def clamped_grad(x, gain, low=-1.0, high=1.0):
    """Gradient of clamped (clamped.py) with respect to x and gain."""
    y = gain * x
    t = not low <= y <= high
    if t:
        if not y < low:
            tanh_y = math.tanh(y)
    else:
        if x > 0.0:
            s = y
        else:
            s = -0.1 * y
        exp_t = math.exp(-s)

    if t:
        if y < low:
            s_bar = 0.0
        else:
            # return low if y < low else high * math.tanh(y)
            s_bar = high * (1.0 - tanh_y * tanh_y)
    else:
        # return s * math.exp(-s)
        s_bar = exp_t - s * exp_t
        if not x > 0.0:
            # s = y if x > 0.0 else -0.1 * y
            s_bar = -0.1 * s_bar
    return s_bar * gain, s_bar * x
