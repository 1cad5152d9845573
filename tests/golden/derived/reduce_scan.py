import numpy as np


def lambda__reverse(s, x, decay, value_bar):
    """Adjoint of the lambda (reduce_scan.py) with respect to s, x and decay, given the adjoint of
    its result.
    """
    # return decay * s + x, s * x
    t_bar, t_bar_1 = value_bar
    x_bar = t_bar_1 * s + t_bar
    decay_bar = t_bar * s
    s_bar = t_bar_1 * x + t_bar * decay
    return s_bar, x_bar, decay_bar


def scan_forward(f, state, xs, *, f_decay):
    """scan (reduce_scan.py), with the values that scan_reverse reads."""
    outputs = []
    saved = []
    for x in xs:
        f_state = f(state, x)
        saved.append(state)
        state, out = f_state
        outputs.append(out)
    return (state, outputs), saved


def scan_reverse(saved, xs, f_decay, value_bar):
    """Adjoint of scan (reduce_scan.py) with respect to f_decay and xs, given the adjoint of its
    result.
    """
    # return state, outputs
    state_bar, outputs_bar = value_bar
    outputs_bar = list(outputs_bar)
    f_decay_bar = 0.0
    xs_bar = np.zeros_like(xs)
    for i in range(len(xs) - 1, -1, -1):
        x = xs[i]
        # outputs.append(out)
        out_bar = outputs_bar.pop()
        # state, out = f(state, x)
        state_bar, x_bar, decay_bar = lambda__reverse(saved.pop(), x, f_decay, (state_bar, out_bar))
        f_decay_bar = f_decay_bar + decay_bar
        xs_bar[i] += x_bar
    return f_decay_bar, xs_bar


def reduce_scan_grad(decay, xs):
    """Gradient of reduce_scan (reduce_scan.py) with respect to decay and xs."""
    scan_t, scan_saved = scan_forward(lambda s, x: (decay * s + x, s * x), 0.0, xs, f_decay=decay)
    state, outputs = scan_t

    # return state + sum(outputs)
    f_decay_bar, xs_bar = scan_reverse(scan_saved, xs, decay, (1.0, [1.0] * len(outputs)))
    # state, outputs = scan(lambda s, x: (decay * s + x, s * x), 0.0, xs)
    xs_bar_1 = xs_bar.copy()
    return f_decay_bar, xs_bar_1
