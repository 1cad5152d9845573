def newton_or_bisection_grad(a, b):
    """Gradient of newton_or_bisection (newton_or_bisection.py) with respect to a and b."""
    low = 0.0
    high = 4.0
    x = 0.0
    saved = []
    for _ in range(5):
        value = x * x * x - a * x - b
        try:
            t = 3.0 * x * x - a
            step = value / t
            y = x - step
            if y < low or y > high:
                raise ArithmeticError("outside")
            x_0 = y
        except ArithmeticError:
            x_0 = 0.5 * (low + high) + 0.1 * a
            t = None
            arm = 1
        else:
            arm = 0
        t_1 = x_0 * x_0 * x_0 - a * x_0 - b > 0.0
        saved.append((t_1, arm, t, value, x))
        if t_1:
            high = x_0
        else:
            low = x_0
        x = x_0

    a_bar = 0.0
    b_bar = 0.0
    x_bar = 1.0
    high_bar = 0.0
    low_bar = 0.0
    while saved:
        t, arm, t_1, value, x = saved.pop()
        if t:
            # high = x
            x_bar = x_bar + high_bar
            high_bar = 0.0
        else:
            # low = x
            x_bar = x_bar + low_bar
            low_bar = 0.0
        if arm == 0:
            # y = x - step
            step_bar = -x_bar
            # step = value / (3.0 * x * x - a)
            value_bar = step_bar / t_1
            t = step_bar * value / t_1 / t_1
            a_bar = a_bar + t
            x_bar = x_bar + 6.0 * -t * x
        else:
            # x = 0.5 * (low + high) + 0.1 * a
            a_bar = a_bar + 0.1 * x_bar
            t = 0.5 * x_bar
            low_bar = low_bar + t
            high_bar = high_bar + t
            x_bar = 0.0
            value_bar = 0.0
        # value = x * x * x - a * x - b
        b_bar = b_bar - value_bar
        t_bar = -value_bar
        a_bar = a_bar + t_bar * x
        x_bar = x_bar + t_bar * a + value_bar * x * x + 2.0 * (value_bar * x) * x
    return a_bar, b_bar
