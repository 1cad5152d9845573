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
        t_1 = spot * t - strike
        value[steps, ups] = max(t_1, 0.0)
        saved.append((t_1, t))
    saved_1 = []
    for step in range(steps - 1, -1, -1):
        for ups in range(step + 1):
            value_item = value[step + 1, ups + 1]
            value_item_1 = value[step + 1, ups]
            later = chance * value_item + (1.0 - chance) * value_item_1
            t = up ** (2 * ups - step)
            t_1 = spot * t - strike
            value[step, ups] = max(later, t_1)
            saved_1.append((t_1, later, t, value_item_1, value_item))

    # return value[0, 0]
    value_bar = dict.fromkeys(value, 0.0)
    value_bar[0, 0] += 1.0
    chance_bar = 0.0
    up_bar = 0.0
    spot_bar = 0.0
    for step in range(steps):
        for ups in range(step, -1, -1):
            t, later, t_1, value_item, value_item_1 = saved_1.pop()
            # value[step, ups] = max(later, spot * up ** (2 * ups - step) - strike)
            max_later_bar = value_bar[step, ups]
            value_bar[step, ups] = 0.0
            later_bar = 0.0 if t > later else max_later_bar * (1.0 - 0.5 * (t == later))
            t_bar = max_later_bar * (1.0 - 0.5 * (t == later)) if t >= later else 0.0
            # value[step, ups] = max(later, spot * up ** (2 * ups - step) - strike)
            spot_bar = spot_bar + t_bar * t_1
            t = (up + (up == 0) * (2 * ups - step == 0)) ** (2 * ups - step - 1)
            up_bar = up_bar + t_bar * spot * (2 * ups - step) * t
            # later = chance * value[step + 1, ups + 1] + (1.0 - chance) * value[step + 1, ups]
            value_bar[step + 1, ups] += later_bar * (1.0 - chance)
            chance_bar = chance_bar - later_bar * value_item + later_bar * value_item_1
            value_bar[step + 1, ups + 1] += later_bar * chance
    for ups in range(steps, -1, -1):
        t, t_1 = saved.pop()
        # value[steps, ups] = max(spot * up ** (2 * ups - steps) - strike, 0.0)
        max_t_bar = value_bar[steps, ups]
        value_bar[steps, ups] = 0.0
        t_bar_1 = 0.0 if 0.0 > t else max_t_bar * (1.0 - 0.5 * (0.0 == t))
        # value[steps, ups] = max(spot * up ** (2 * ups - steps) - strike, 0.0)
        spot_bar = spot_bar + t_bar_1 * t_1
        t = (up + (up == 0) * (2 * ups - steps == 0)) ** (2 * ups - steps - 1)
        up_bar = up_bar + t_bar_1 * spot * (2 * ups - steps) * t
    return spot_bar, (up_bar - chance_bar * chance * chance) * up / sqrt_steps
