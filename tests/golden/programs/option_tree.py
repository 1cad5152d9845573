"""Dynamic programming over a dict of pairs: the price of an option, backward through a tree."""

import math

WRT = (0, 2)


def option_tree(spot, strike, volatility, steps):
    up = math.exp(volatility / math.sqrt(steps))
    chance = 1.0 / (1.0 + up)
    value = {}
    for ups in range(steps + 1):
        value[steps, ups] = max(spot * up ** (2 * ups - steps) - strike, 0.0)
    for step in range(steps - 1, -1, -1):
        for ups in range(step + 1):
            later = chance * value[step + 1, ups + 1] + (1.0 - chance) * value[step + 1, ups]
            value[step, ups] = max(later, spot * up ** (2 * ups - step) - strike)
    return value[0, 0]


def arguments():
    return 1.1, 1.0, 0.4, 4
