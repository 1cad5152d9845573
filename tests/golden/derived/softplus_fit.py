import math


def softplus_forward(x, sharpness=1.0):
    """softplus (softplus_fit.py), with the values that softplus_reverse reads."""
    exp_t = math.exp(sharpness * x)
    return math.log(1.0 + exp_t) / sharpness, exp_t


def softplus_reverse(exp_t, sharpness, value_bar):
    """Adjoint of softplus (softplus_fit.py) with respect to x, given the adjoint of its result.
    """
    return value_bar * exp_t * sharpness / sharpness / (1.0 + exp_t)


def softplus_fit_grad(params, xs, ys):
    """Gradient of softplus_fit (softplus_fit.py) with respect to params."""
    scale, shift = params
    predicted = []
    saved = []
    for x in xs:
        softplus_t, softplus_saved = softplus_forward(x - shift, sharpness=2.0)
        saved.append((softplus_t, softplus_saved))
        predicted.append(scale * softplus_t)
    items = []
    saved_1 = []
    for t, (p, y) in enumerate(zip(predicted, ys)):
        t_1 = p - y
        saved_1.append((t_1, t))
        items.append(t_1**2)

    # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
    items_bar = [1.0] * len(items)
    items_bar_1 = [0.0] * len(predicted)
    while saved_1:
        t_1, t_2 = saved_1.pop()
        # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
        p_bar = 2.0 * items_bar.pop() * t_1
        items_bar_1[t_2] += p_bar
    shift_bar = 0.0
    scale_bar = 0.0
    while saved:
        softplus_t, softplus_saved = saved.pop()
        # predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
        t_bar = items_bar_1.pop()
        scale_bar = scale_bar + t_bar * softplus_t
        shift_bar = shift_bar - softplus_reverse(softplus_saved, 2.0, t_bar * scale)
    return scale_bar, shift_bar
