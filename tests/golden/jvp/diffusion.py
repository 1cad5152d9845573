import numpy as np


def diffusion_jvp(u, r, steps, u_dot, r_dot):
    """Value and tangent of diffusion (diffusion.py), given the tangents of u and r."""
    u = u.copy()
    u_dot = u_dot.copy()
    for _ in range(steps):
        t = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u[1:-1] += r * t
        u_dot[1:-1] += r_dot * t + r * (u_dot[2:] - 2.0 * u_dot[1:-1] + u_dot[:-2])
    return np.sum(u**2), 2.0 * np.dot(u_dot, u)
