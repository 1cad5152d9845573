"""Dynamic programming: the cheapest way through a table, row by row, in lists."""

import numpy as np

WRT = (0,)


def cheapest_path(costs):
    best = list(costs[0])
    for row in costs[1:]:
        new = []
        for j in range(len(row)):
            here = best[j]
            if j > 0:
                here = min(here, best[j - 1])
            new.append(here + row[j])
        best = new
    return min(best)


def arguments():
    return (np.random.default_rng(8).random((4, 3)),)
