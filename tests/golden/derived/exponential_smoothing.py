def exponential_smoothing_grad(alpha, series):
    """Gradient of exponential_smoothing (exponential_smoothing.py) with respect to alpha."""
    level = series[0]
    series_item = series[1:]
    saved = []
    for y in series_item:
        saved.append(level)
        level = alpha * y + (1.0 - alpha) * level
    t = len(series) - 1

    # return error / (len(series) - 1)
    error_bar = 1.0 / t
    alpha_bar = 0.0
    level_bar = 0.0
    for i in range(len(series_item) - 1, -1, -1):
        # level = alpha * y + (1.0 - alpha) * level
        t_bar = level_bar
        level = saved.pop()
        alpha_bar = alpha_bar - level_bar * level
        level_bar = level_bar * (1.0 - alpha)
        alpha_bar = alpha_bar + t_bar * series_item[i]
        # error += (y - level) ** 2
        level_bar = level_bar - 2.0 * error_bar * (series_item[i] - level)
    return alpha_bar
