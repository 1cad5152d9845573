def cube_root_grad(a, x, limit=50):
    """Gradient of cube_root (cube_root.py) with respect to a."""
    broke = False
    saved = []
    for _ in range(limit):
        t = 3.0 * x**2
        step = (x**3 - a) / t
        saved.append((t, step, x))
        x = x - step
        if abs(step) < 1e-13:
            broke = True
            break
    if not broke:
        raise RuntimeError("no convergence")

    a_bar = 0.0
    x_bar = 1.0
    while saved:
        t, step, x = saved.pop()
        # x = x - step
        step_bar = -x_bar
        # step = (x**3 - a) / (3.0 * x**2)
        t_bar = step_bar / t
        a_bar = a_bar - t_bar
        x_bar = x_bar - 6.0 * step_bar * step * x / t + 3.0 * t_bar * x**2
    return a_bar
