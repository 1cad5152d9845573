import numpy as np


def activate_forward(name, z):
    """activate (activation.py), with the values that activate_reverse reads."""
    arm = None
    exp_t = None
    t = None
    value = None
    match name:
        case "tanh":
            arm = 0
            value = np.tanh(z)
        case "relu":
            arm = 1
            value = np.maximum(z, 0.0)
        case "swish":
            arm = 2
            exp_t = np.exp(-z)
            t = 1.0 + exp_t
            value = z / t
        case _:
            raise ValueError(name)
    return value, (arm, exp_t, t, value)


def activate_reverse(kept, z, value_bar):
    """Adjoint of activate (activation.py) with respect to z, given the adjoint of its result."""
    arm, exp_t, t, value = kept
    if arm == 0:
        # return np.tanh(z)
        z_bar = value_bar * (1.0 - value * value)
    elif arm == 1:
        # return np.maximum(z, 0.0)
        z_bar = value_bar * np.heaviside(z, 0.5)
    elif arm == 2:
        # return z / (1.0 + np.exp(-z))
        z_bar = value_bar / t + value_bar * value * exp_t / t
    return z_bar


def activation_grad(w, x, names):
    """Gradient of activation (activation.py) with respect to w."""
    saved = []
    for name in names:
        t = w * x
        x_0 = x
        x, activate_saved = activate_forward(name, t)
        saved.append((x_0, activate_saved, t))

    # return np.sum(x)
    x_bar = np.broadcast_to(1.0, x.shape)
    w_bar = np.zeros_like(w)
    while saved:
        x, activate_saved, t = saved.pop()
        # x = activate(name, w * x)
        t_bar = activate_reverse(activate_saved, t, x_bar)
        w_bar += t_bar * x
        x_bar = t_bar * w
    return w_bar
