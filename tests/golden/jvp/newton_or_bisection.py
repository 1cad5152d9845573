def newton_or_bisection_jvp(a, b, a_dot, b_dot):
    """Value and tangent of newton_or_bisection (newton_or_bisection.py), given the tangents of a
    and b.
    """
    low = 0.0
    high = 4.0
    x = 0.0
    x_dot = 0.0
    high_dot = 0.0
    low_dot = 0.0
    for _ in range(5):
        t = x * x
        value = t * x - a * x - b
        value_dot = 2.0 * x_dot * x * x + x_dot * t - a_dot * x - x_dot * a - b_dot
        try:
            t = 3.0 * x
            t_1 = t * x - a
            step = value / t_1
            y = x - step
            y_dot = x_dot - value_dot / t_1 + (3.0 * x_dot * x + x_dot * t - a_dot) * step / t_1
            if y < low or y > high:
                raise ArithmeticError("outside")
            x = y
        except ArithmeticError:
            x = 0.5 * (low + high) + 0.1 * a
            x_dot = 0.5 * (low_dot + high_dot) + 0.1 * a_dot
        else:
            x_dot = y_dot
        if x * x * x - a * x - b > 0.0:
            high = x
            high_dot = x_dot
        else:
            low = x
            low_dot = x_dot
    return x, x_dot
