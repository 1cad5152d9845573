import numpy as np


def pairwise_forward_1(xs):
    """pairwise (halving.py), with the values that pairwise_reverse_1 reads."""
    if len(xs) <= 2:
        value = np.sum(xs * xs)
        pairwise_saved = None
        pairwise_saved_1 = None
    else:
        middle = len(xs) // 2
        pairwise_xs_item, pairwise_saved_1 = pairwise_forward_1(xs[:middle])
        pairwise, pairwise_saved = pairwise_forward_1(xs[middle:])
        value = pairwise_xs_item + pairwise
    return value, (xs, pairwise_saved, pairwise_saved_1)


def pairwise_reverse_1(kept, value_bar):
    """Adjoint of pairwise (halving.py) with respect to xs, given the adjoint of its result."""
    xs, pairwise_saved, pairwise_saved_1 = kept

    if len(xs) <= 2:
        # return np.sum(xs * xs)
        xs_bar = 2.0 * value_bar * xs
    else:
        # return pairwise(xs[:middle]) + pairwise(xs[middle:])
        xs_item_bar = pairwise_reverse_1(pairwise_saved, value_bar)
        xs_bar = np.zeros_like(xs)
        middle = len(xs) // 2
        xs_bar[middle:] = xs_item_bar
        xs_bar[:middle] = pairwise_reverse_1(pairwise_saved_1, value_bar)
    return xs_bar


def pairwise_forward(xs):
    """pairwise (halving.py), with the values that pairwise_reverse reads."""
    if len(xs) <= 2:
        value = np.sum(xs * xs)
        pairwise_saved = None
        pairwise_saved_1 = None
    else:
        middle = len(xs) // 2
        pairwise_xs_item, pairwise_saved_1 = pairwise_forward_1(xs[:middle])
        pairwise, pairwise_saved = pairwise_forward_1(xs[middle:])
        value = pairwise_xs_item + pairwise
    return value, (xs, pairwise_saved, pairwise_saved_1)


def pairwise_reverse(kept, value_bar):
    """Adjoint of pairwise (halving.py) with respect to xs, given the adjoint of its result."""
    xs, pairwise_saved, pairwise_saved_1 = kept

    if len(xs) <= 2:
        # return np.sum(xs * xs)
        xs_bar = 2.0 * value_bar * xs
    else:
        # return pairwise(xs[:middle]) + pairwise(xs[middle:])
        xs_item_bar = pairwise_reverse_1(pairwise_saved, value_bar)
        xs_bar = np.zeros_like(xs)
        middle = len(xs) // 2
        xs_bar[middle:] = xs_item_bar
        xs_bar[:middle] = pairwise_reverse_1(pairwise_saved_1, value_bar)
    return xs_bar


def halving_grad(xs):
    """Gradient of halving (halving.py) with respect to xs."""
    pairwise_xs, pairwise_saved = pairwise_forward(xs)
    return pairwise_reverse(pairwise_saved, 0.5 / np.sqrt(pairwise_xs))
