import math


def option_tree_grad(spot, strike, volatility, steps):
    """Gradient of option_tree (option_tree.py) with respect to spot and volatility."""
    sqrt_steps = math.sqrt(steps)
    up = math.exp(volatility / sqrt_steps)
    chance = 1.0 / (1.0 + up)
    value = {}
    saved = []
    for ups in range(steps + 1):
        t = up ** (2 * ups - steps)
        value[steps, ups] = max(spot * t - strike, 0.0)
        saved.append(t)
    saved_1 = []
    for step in range(steps - 1, -1, -1):
        for ups in range(step + 1):
            value_item = value[step + 1, ups + 1]
            value_item_1 = value[step + 1, ups]
            later = chance * value_item + (1.0 - chance) * value_item_1
            t_1 = up ** (2 * ups - step)
            value[step, ups] = max(later, spot * t_1 - strike)
            saved_1.append((later, t_1, value_item, value_item_1))

    # return value[0, 0]
    value_bar = dict.fromkeys(value, 0.0)
    value_bar[0, 0] += 1.0
    chance_bar = 0.0
    spot_bar = 0.0
    up_bar = 0.0
    for step in reversed(range(steps - 1, -1, -1)):
        for ups in range(step + 1 - 1, -1, -1):
            later, t_1, value_item, value_item_1 = saved_1.pop()
            # value[step, ups] = max(later, spot * up ** (2 * ups - step) - strike)
            max_later_bar = value_bar[step, ups]
            value_bar[step, ups] = 0.0
            later_bar = (
                0.5 * max_later_bar * (later >= spot * t_1 - strike)
                + 0.5 * max_later_bar * (later > spot * t_1 - strike)
            )
            t_bar = 0.5 * max_later_bar * (spot * t_1 - strike >= later) + 0.5 * max_later_bar * (
                spot * t_1 - strike > later
            )
            spot_bar = spot_bar + t_bar * t_1
            up_bar = (
                up_bar
                + t_bar
                * spot
                * (2 * ups - step)
                * (up + (up == 0) * (2 * ups - step == 0)) ** (2 * ups - step - 1)
            )
            # later = chance * value[step + 1, ups + 1] + (1.0 - chance) * value[step + 1, ups]
            chance_bar = chance_bar - later_bar * value_item_1
            value_bar[step + 1, ups] += later_bar * (1.0 - chance)
            chance_bar = chance_bar + later_bar * value_item
            value_bar[step + 1, ups + 1] += later_bar * chance
    for ups in range(steps + 1 - 1, -1, -1):
        t = saved.pop()
        # value[steps, ups] = max(spot * up ** (2 * ups - steps) - strike, 0.0)
        max_t_bar = value_bar[steps, ups]
        t_bar_1 = 0.5 * max_t_bar * (spot * t - strike >= 0.0) + 0.5 * max_t_bar * (
            spot * t - strike > 0.0
        )
        spot_bar = spot_bar + t_bar_1 * t
        up_bar = (
            up_bar
            + t_bar_1
            * spot
            * (2 * ups - steps)
            * (up + (up == 0) * (2 * ups - steps == 0)) ** (2 * ups - steps - 1)
        )
    # chance = 1.0 / (1.0 + up)
    up_bar = up_bar - chance_bar * chance * chance
    # up = math.exp(volatility / math.sqrt(steps))
    volatility_bar = up_bar * up / sqrt_steps
    return spot_bar, volatility_bar
