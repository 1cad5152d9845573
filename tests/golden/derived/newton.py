def root_grad(a):
    """Gradient of root (newton.py) with respect to a."""
    x = a
    saved = []
    while abs(x * x - a) > 1e-12:
        saved.append(x)
        x = 0.5 * (x + a / x)

    x_bar = 1.0
    a_bar = 0.0
    while saved:
        x = saved.pop()
        # x = 0.5 * (x + a / x)
        x_bar = 0.5 * x_bar
        a_bar = a_bar + x_bar / x
        x_bar = x_bar - x_bar * a / x / x
    return a_bar + x_bar
