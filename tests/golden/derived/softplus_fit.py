import math


def softplus_forward(x, sharpness=1.0):
    """softplus (softplus_fit.py), with the values that softplus_reverse reads."""
    exp_t = math.exp(sharpness * x)
    t = 1.0 + exp_t
    return math.log(t) / sharpness, (exp_t, t)


def softplus_reverse(kept, sharpness, value_bar):
    """Adjoint of softplus (softplus_fit.py) with respect to x, given the adjoint of its result.
    """
    exp_t, t = kept
    # return math.log(1.0 + math.exp(sharpness * x)) / sharpness
    x_bar = value_bar * exp_t * sharpness / sharpness / t
    return x_bar


def softplus_fit_grad(params, xs, ys):
    """Gradient of softplus_fit (softplus_fit.py) with respect to params."""
    scale, shift = params
    items = []
    saved = []
    for x in xs:
        softplus_t, softplus_saved = softplus_forward(x - shift, sharpness=2.0)
        items.append(scale * softplus_t)
        saved.append((softplus_saved, softplus_t))
    predicted = items
    items_1 = []
    for p, y in zip(predicted, ys):
        items_1.append((p - y) ** 2)

    # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
    items_bar = [1.0] * len(items_1)
    predicted_bar = [0.0] * len(predicted)
    for i_1 in range(min(len(predicted), len(ys)) - 1, -1, -1):
        # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
        predicted_bar[i_1] += 2.0 * items_bar.pop() * (predicted[i_1] - ys[i_1])
    # predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
    items_bar_1 = list(predicted_bar)
    scale_bar = 0.0
    shift_bar = 0.0
    while saved:
        softplus_saved, softplus_t = saved.pop()
        # predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
        t_bar = items_bar_1.pop()
        scale_bar = scale_bar + t_bar * softplus_t
        shift_bar = shift_bar - softplus_reverse(softplus_saved, 2.0, t_bar * scale)
    return scale_bar, shift_bar
