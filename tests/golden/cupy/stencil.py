def stencil_grad(u, c):
    """Gradient of stencil (device_programs.py) with respect to u."""
    u = u.copy(order="K")
    for _ in range(3):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])

    # return cp.sum(u * u)
    u_bar = 2.0 * u
    for _ in range(3):
        # u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        t_bar = c * u_bar[1:-1]
        u_bar[:-2] += t_bar
        u_bar[2:] += t_bar
        u_bar[1:-1] -= 2.0 * t_bar
    return u_bar
