def exponential_smoothing_grad(alpha, series):
    """Gradient of exponential_smoothing (exponential_smoothing.py) with respect to alpha."""
    level = series[0]
    series_item = series[1:]
    saved = []
    for y in series_item:
        saved.append((level, y - level))
        level = alpha * y + (1.0 - alpha) * level

    # return error / (len(series) - 1)
    t = 1.0 / (len(series) - 1)
    alpha_bar = 0.0
    level_bar = 0.0
    for i in range(len(series_item) - 1, -1, -1):
        level, t_1 = saved.pop()
        # level = alpha * y + (1.0 - alpha) * level
        t_bar = level_bar * level
        y = series_item[i]
        alpha_bar = alpha_bar - t_bar + level_bar * y
        # error += (y - level) ** 2
        level_bar = level_bar * (1.0 - alpha) - 2.0 * t * t_1
    return alpha_bar
