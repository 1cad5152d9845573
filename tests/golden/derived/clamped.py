import math


def clamped_grad(x, gain, low=-1.0, high=1.0):
    """Gradient of clamped (clamped.py) with respect to x and gain."""
    y = gain * x
    if not low <= y <= high:
        if not y < low:
            tanh_y = math.tanh(y)
    else:
        if x > 0.0:
            chosen = y
        else:
            chosen = -0.1 * y
        s = chosen
        exp_t = math.exp(-s)

    if not low <= y <= high:
        # return low if y < low else high * math.tanh(y)
        if y < low:
            y_bar = 0.0
        else:
            # return low if y < low else high * math.tanh(y)
            y_bar = high * (1.0 - tanh_y * tanh_y)
    else:
        # return s * math.exp(-s)
        s_bar = exp_t - s * exp_t
        # s = y if x > 0.0 else -0.1 * y
        if x > 0.0:
            # s = y if x > 0.0 else -0.1 * y
            y_bar = s_bar
        else:
            # s = y if x > 0.0 else -0.1 * y
            y_bar = -0.1 * s_bar
    # y = gain * x
    gain_bar = y_bar * x
    x_bar = y_bar * gain
    return x_bar, gain_bar
