"""Partial differential equations on grids, as people write them: slices, rolls and loops.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import numpy as np


def heat_rod(u0, alpha, dx, dt, steps):
    """Heat in a rod, new array each step, fixed ends."""
    u = u0.copy()
    for n in range(steps):
        un = u.copy()
        u[1:-1] = un[1:-1] + alpha[1:-1] * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return np.sum(u**2) * dx


def heat_rod_args():
    x = np.linspace(0, 1, 200)
    return np.exp(-100 * (x - 0.4) ** 2), 0.5 + 0.3 * np.sin(6 * x), x[1] - x[0], 1e-5, 80


def wave_2d(c, source, nt):
    """Scalar waves on a square, leapfrog, three time levels that swap."""
    n, m = c.shape
    u_prev = np.zeros((n, m))
    u = np.zeros((n, m))
    lam2 = (0.5 * c) ** 2
    seen = 0.0
    for it in range(nt):
        lap = np.zeros((n, m))
        lap[1:-1, 1:-1] = (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u_next = 2.0 * u - u_prev + lam2 * lap
        u_next[n // 2, m // 3] += source[it]
        u_prev, u = u, u_next
        seen += (u[n // 4, m // 2] - 0.01 * it) ** 2
    return seen


def wave_2d_args():
    rng = np.random.default_rng(1)
    t = np.arange(60)
    return 1.0 + 0.1 * rng.random((48, 48)), np.exp(-((t - 12) ** 2) / 20.0), 60


def burgers_upwind(u, nu, dt, dx, nsteps):
    """Viscous Burgers with upwinding by the sign of the speed, periodic."""
    for _ in range(nsteps):
        left = np.roll(u, 1)
        right = np.roll(u, -1)
        dudx = np.where(u > 0, (u - left) / dx, (right - u) / dx)
        d2 = (right - 2 * u + left) / dx**2
        u = u + dt * (-u * dudx + nu * d2)
    return 0.5 * np.mean(u * u)


def burgers_upwind_args():
    x = np.linspace(0, 2 * np.pi, 256, endpoint=False)
    return np.sin(x) + 0.3, 0.02, 2e-3, x[1], 60


def gray_scott(u, v, feed, kill, steps):
    Du, Dv = 0.16, 0.08

    def laplacian(z):
        return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z

    for k in range(steps):
        uvv = u * v * v
        u = u + Du * laplacian(u) - uvv + feed * (1 - u)
        v = v + Dv * laplacian(v) + uvv - (feed + kill) * v
    return np.mean(v) + np.var(u)


def gray_scott_args():
    rng = np.random.default_rng(2)
    u = np.ones((40, 40))
    v = np.zeros((40, 40))
    u[15:25, 15:25] = 0.5
    v[15:25, 15:25] = 0.25 + 0.01 * rng.random((10, 10))
    return u, v, 0.04, 0.06, 30


def poisson_loops(f, left, n, sweeps):
    """Gauss-Seidel with plain loops over the points."""
    phi = np.zeros((n, n))
    for i in range(n):
        phi[i, 0] = left[i]
    h2 = 1.0 / (n - 1) ** 2
    for sweep in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                phi[i, j] = 0.25 * (
                    phi[i + 1, j] + phi[i - 1, j] + phi[i, j + 1] + phi[i, j - 1] - h2 * f[i, j]
                )
    total = 0.0
    for i in range(n):
        total = total + phi[i, n // 2] ** 2
    return total


def poisson_loops_args():
    rng = np.random.default_rng(3)
    return rng.standard_normal((14, 14)), np.sin(np.linspace(0, np.pi, 14)), 14, 8


def minmod(a, b):
    return np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


def euler_flux(rho, mom, ener, gamma):
    vel = mom / rho
    p = (gamma - 1.0) * (ener - 0.5 * rho * vel**2)
    return np.array([mom, mom * vel + p, (ener + p) * vel]), np.abs(vel) + np.sqrt(gamma * p / rho)


def sod_tube(q, gamma, steps):
    """The equations of Euler in a tube: MUSCL with Rusanov fluxes."""
    dx = 1.0 / q.shape[1]
    dt = 0.2 * dx
    for _ in range(steps):
        slope = np.zeros_like(q)
        slope[:, 1:-1] = minmod(q[:, 1:-1] - q[:, :-2], q[:, 2:] - q[:, 1:-1])
        ql = q[:, :-1] + 0.5 * slope[:, :-1]
        qr = q[:, 1:] - 0.5 * slope[:, 1:]
        fl, al = euler_flux(ql[0], ql[1], ql[2], gamma)
        fr, ar = euler_flux(*qr, gamma)
        flux = 0.5 * (fl + fr) - 0.5 * np.maximum(al, ar) * (qr - ql)
        q = q.copy()
        q[:, 1:-1] -= dt / dx * (flux[:, 1:] - flux[:, :-1])
    return np.sum(q[0] ** 2) * dx


def sod_tube_args():
    x = np.linspace(0, 1, 120)
    rho = 0.5625 - 0.4375 * np.tanh((x - 0.5) / 0.05)
    return np.array([rho, 0.01 * np.sin(9 * x), 2.5 * rho]), 1.4, 25


def cahn_hilliard(c, params):
    """Phases separate; parameters in a dict, the potential by a nested function."""
    dt, eps, M = params["dt"], params["eps"], params["M"]

    def lap(a):
        out = -4.0 * a
        for axis in (0, 1):
            out += np.roll(a, 1, axis=axis)
            out += np.roll(a, -1, axis=axis)
        return out

    energy = 0.0
    for step in range(params["steps"]):
        mu = c**3 - c - eps**2 * lap(c)
        c = c + dt * M * lap(mu)
        if step % 5 == 0:
            energy += np.sum(0.25 * (c**2 - 1) ** 2)
    return energy / c.size


def cahn_hilliard_args():
    rng = np.random.default_rng(4)
    params = {"dt": 0.01, "eps": 1.2, "M": 1.0, "steps": 20}
    return 0.2 * rng.standard_normal((32, 32)), params


KERNELS = {
    "heat_rod": (0, 1),
    "wave_2d": (0, 1),
    "burgers_upwind": (0, 1),
    "gray_scott": (0, 1, 2, 3),
    "poisson_loops": (0, 1),
    "sod_tube": (0, 1),
    "cahn_hilliard": (0,),
}
