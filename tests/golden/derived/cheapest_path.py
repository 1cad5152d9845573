import numpy as np


def pull_min(out_bar, out, x, *others):
    if len(others) != 1:
        return pull_extreme(out_bar, out, x, *others)
    (y,) = others
    x_bar = 0.0 if y < x else out_bar * (1.0 - 0.5 * (y == x))
    y_bar = out_bar * (1.0 - 0.5 * (y == x)) if y <= x else 0.0
    return x_bar, y_bar


def pull_extreme(out_bar, out, *items):
    """Equal share among ties. One sequence, or two items and more."""
    if len(items) == 1:
        return (like(shared(out_bar, out, items[0]), items[0]),)
    return shared(out_bar, out, items)


def like(parts, x):
    """Return the parts in the kind of sequence that x is."""
    if isinstance(x, np.ndarray):
        return np.array(parts, x.dtype)
    return tuple(parts) if isinstance(x, tuple) else list(parts)


def shared(out_bar, out, items):
    """Return what each item gets: nothing where it is not chosen, even of what is infinite."""
    return [out_bar * share if share else 0.0 for share in ties(out, items)]


def ties(out, items):
    """Return each item's share in the result of max or min: equal among those that tie."""
    chosen = [float(item == out) for item in items]
    count = sum(chosen)
    return [one / count for one in chosen]


def cheapest_path_grad(costs):
    """Gradient of cheapest_path (cheapest_path.py) with respect to costs."""
    best = list(costs[0])
    costs_item = costs[1:]
    saved = []
    for row in costs_item:
        new = []
        len_row = len(row)
        for j in range(len_row):
            here = best[j]
            if j > 0:
                saved.append(here)
                here = min(here, best[j - 1])
            new.append(here + row[j])
        saved.append((best, len_row))
        best = new
    value = min(best)

    # return min(best)
    best_bar = list(pull_min(1.0, value, best)[0])
    costs_item_bar = np.zeros_like(costs_item)
    for i in range(len(costs_item) - 1, -1, -1):
        row = costs_item[i]
        best, len_row = saved.pop()
        # best = new
        new_bar = list(best_bar)
        best_bar = [0.0] * len(best)
        row_bar = np.zeros_like(row)
        for j in range(len_row - 1, -1, -1):
            # new.append(here + row[j])
            t_bar = new_bar.pop()
            here_bar = t_bar
            row_bar[j] += t_bar
            if j > 0:
                # here = min(here, best[j - 1])
                here = saved.pop()
                best_bar[j - 1] += 0.5 * here_bar * (best[j - 1] <= here) + 0.5 * here_bar * (
                    best[j - 1] < here
                )
                here_bar = 0.5 * here_bar * (here <= best[j - 1]) + 0.5 * here_bar * (
                    here < best[j - 1]
                )
            # here = best[j]
            best_bar[j] += here_bar
        costs_item_bar[i] += row_bar
    # for row in costs[1:]:
    costs_bar = np.zeros_like(costs)
    costs_bar[1:] = costs_item_bar
    # best = list(costs[0])
    costs_bar[0] = np.array(best_bar)
    return costs_bar
