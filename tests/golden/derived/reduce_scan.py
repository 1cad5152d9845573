import numpy as np


def lambda__forward(s, x, *, decay):
    """The lambda (reduce_scan.py), with the values that lambda__reverse reads."""
    return (decay * s + x, s * x), (x, s, decay)


def lambda__reverse(kept, value_bar):
    """Adjoint of the lambda (reduce_scan.py) with respect to s, x and decay, given the adjoint of
    its result.
    """
    x, s, decay = kept

    # return decay * s + x, s * x
    t_bar, t_bar_1 = value_bar
    return t_bar_1 * x + t_bar * decay, t_bar_1 * s + t_bar, t_bar * s


def scan_forward(f, state, xs, *, f_decay):
    """scan (reduce_scan.py), with the values that scan_reverse reads."""
    outputs = []
    saved = []
    for x in xs:
        f_state, lambda__saved = lambda__forward(state, x, decay=f_decay)
        state, out = f_state
        outputs.append(out)
        saved.append(lambda__saved)
    return (state, outputs), (xs, saved)


def scan_reverse(kept, value_bar):
    """Adjoint of scan (reduce_scan.py) with respect to xs and f_decay, given the adjoint of its
    result (overwritten).
    """
    xs, saved = kept

    # return state, outputs
    state_bar, outputs_bar = value_bar
    outputs_bar = list(outputs_bar)
    xs_bar = np.zeros_like(xs)
    f_decay_bar = 0.0
    for t in range(len(xs) - 1, -1, -1):
        # state, out = f(state, x)
        state_bar, x_bar, t_1 = lambda__reverse(saved.pop(), (state_bar, outputs_bar.pop()))
        f_decay_bar = f_decay_bar + t_1
        xs_bar[t] += x_bar
    return xs_bar, f_decay_bar


def reduce_scan_grad(decay, xs):
    """Gradient of reduce_scan (reduce_scan.py) with respect to decay and xs."""
    scan_t, scan_saved = scan_forward(lambda s, x: (decay * s + x, s * x), 0.0, xs, f_decay=decay)
    state, outputs = scan_t

    # state, outputs = scan(lambda s, x: (decay * s + x, s * x), 0.0, xs)
    xs_bar, decay_bar = scan_reverse(scan_saved, (1.0, [1.0] * len(outputs)))
    return decay_bar, xs_bar
