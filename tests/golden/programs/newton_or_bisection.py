"""A Newton step where there is one, a bisection step where the slope vanishes or leads away."""

WRT = (0, 1)


def newton_or_bisection(a, b):
    low = 0.0
    high = 4.0
    x = 0.0
    for _ in range(5):
        value = x * x * x - a * x - b
        try:
            step = value / (3.0 * x * x - a)
            y = x - step
            if y < low or y > high:
                raise ArithmeticError("outside")
            x = y
        except ArithmeticError:
            x = 0.5 * (low + high) + 0.1 * a
        if x * x * x - a * x - b > 0.0:
            high = x
        else:
            low = x
    return x


def arguments():
    return 2.0, 1.0
