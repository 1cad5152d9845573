def spline_jvp(heights, knots, x, heights_dot, x_dot):
    """Value and tangent of spline (spline.py), given the tangents of heights and x."""
    i = 0
    while i < len(knots) - 2 and x > knots[i + 1]:
        i += 1
    t_0 = knots[i + 1] - knots[i]
    t = (x - knots[i]) / t_0
    t_dot = x_dot / t_0
    t_0 = 1.0 - t
    heights_item = heights[i + 1]
    t_1 = heights_dot[i] * t_0 - t_dot * heights[i] + t_dot * heights_item
    return t_0 * heights[i] + t * heights_item, t_1 + heights_dot[i + 1] * t
