import numpy as np


def activate_forward(name, z):
    """activate (activation.py), with the values that activate_reverse reads."""
    match name:
        case "tanh":
            value = np.tanh(z)
            t = None
            exp_t = None
            arm = 0
        case "relu":
            value = np.maximum(z, 0.0)
            t = None
            exp_t = None
            arm = 1
        case "swish":
            exp_t = np.exp(-z)
            t = 1.0 + exp_t
            value = z / t
            arm = 2
        case _:
            raise ValueError(name)
    return value, (arm, value, z, t, exp_t)


def activate_reverse(kept, value_bar):
    """Adjoint of activate (activation.py) with respect to z, given the adjoint of its result."""
    arm, value, z, t, exp_t = kept

    if arm == 0:
        # return np.tanh(z)
        z_bar = value_bar * (1.0 - value * value)
    elif arm == 1:
        # return np.maximum(z, 0.0)
        z_bar = value_bar * np.heaviside(z, 0.5)
    else:
        # return z / (1.0 + np.exp(-z))
        z_bar = value_bar / t
        z_bar += value_bar * value * exp_t / t
    return z_bar


def activation_grad(w, x, names):
    """Gradient of activation (activation.py) with respect to w."""
    saved = []
    for name in names:
        x_0, activate_saved = activate_forward(name, w * x)
        saved.append((activate_saved, x))
        x = x_0

    x_bar = np.full_like(x, 1.0)
    w_bar = np.zeros_like(w)
    while saved:
        activate_saved, x = saved.pop()
        # x = activate(name, w * x)
        t_bar = activate_reverse(activate_saved, x_bar)
        x_bar = t_bar * w
        w_bar += t_bar * x
    return w_bar
