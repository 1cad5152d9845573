def newton_or_bisection_grad(a, b):
    """Gradient of newton_or_bisection (newton_or_bisection.py) with respect to a and b."""
    low = 0.0
    high = 4.0
    x = 0.0
    saved = []
    for _ in range(5):
        value = x * x * x - a * x - b
        arm = 0
        try:
            t = 3.0 * x
            step = value / (t * x - a)
            y = x - step
            if y < low or y > high:
                raise ArithmeticError("outside")
            x_0 = x
            x = y
            saved.append((x_0, step, t))
        except ArithmeticError:
            arm = 1
            saved.append(x)
            x = 0.5 * (low + high) + 0.1 * a
        if x * x * x - a * x - b > 0.0:
            arm_1 = 0
            high = x
        else:
            arm_1 = 1
            low = x
        saved.append((arm, arm_1))

    # return x
    x_bar = 1.0
    a_bar = 0.0
    b_bar = 0.0
    high_bar = 0.0
    low_bar = 0.0
    while saved:
        arm, arm_1 = saved.pop()
        if arm_1 == 0:
            # high = x
            x_bar = x_bar + high_bar
            high_bar = 0.0
        else:
            # low = x
            x_bar = x_bar + low_bar
            low_bar = 0.0
        if arm == 0:
            x, step, t = saved.pop()
            # y = x - step
            step_bar = -x_bar
            # step = value / (3.0 * x * x - a)
            value_bar = step_bar / (t * x - a)
            t_bar = -step_bar * step / (t * x - a)
            a_bar = a_bar - t_bar
            x_bar = x_bar + 3.0 * t_bar * x
            x_bar = x_bar + 3.0 * t_bar * x
        else:
            # x = 0.5 * (low + high) + 0.1 * a
            x = saved.pop()
            a_bar = a_bar + 0.1 * x_bar
            t_bar_1 = 0.5 * x_bar
            low_bar = low_bar + t_bar_1
            high_bar = high_bar + t_bar_1
            value_bar = 0.0
            x_bar = 0.0
        # value = x * x * x - a * x - b
        b_bar = b_bar - value_bar
        t_bar_2 = -value_bar
        a_bar = a_bar + t_bar_2 * x
        x_bar = x_bar + t_bar_2 * a
        t_bar_3 = value_bar * x
        x_bar = x_bar + value_bar * x * x
        x_bar = x_bar + t_bar_3 * x
        x_bar = x_bar + t_bar_3 * x
    return a_bar, b_bar
