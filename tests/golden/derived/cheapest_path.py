import numpy as np


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
        for j in range(len(row)):
            here = best[j]
            here_0 = here
            if j > 0:
                best_item = best[j - 1]
                here = min(here, best_item)
            else:
                best_item = None
            new.append(here + row[j])
            saved.append((best_item, here_0))
        saved.append(best)
        best = new

    # return min(best)
    best_bar = list(pull_extreme(1.0, min(best), best)[0])
    costs_item_bar = np.zeros_like(costs_item)
    for t in range(len(costs_item) - 1, -1, -1):
        best = saved.pop()
        best_bar_1 = [0.0] * len(best)
        row = costs_item[t]
        row_bar = np.zeros_like(row)
        for j in range(len(row) - 1, -1, -1):
            best_item, here = saved.pop()
            # new.append(here + row[j])
            t_bar = best_bar.pop()
            row_bar[j] += t_bar
            if j > 0:
                here_bar = 0.0 if best_item < here else t_bar * (1.0 - 0.5 * (best_item == here))
                # here = min(here, best[j - 1])
                best_bar_1[j - 1] += (
                    t_bar * (1.0 - 0.5 * (best_item == here)) if best_item <= here else 0.0
                )
            else:
                here_bar = t_bar
            # here = best[j]
            best_bar_1[j] += here_bar
        costs_item_bar[t] += row_bar
        best_bar = best_bar_1
    costs_bar = np.zeros_like(costs)
    costs_bar[1:] = costs_item_bar
    # best = list(costs[0])
    costs_bar[0] = np.array(best_bar)
    return costs_bar
