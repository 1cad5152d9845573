"""Ordinary differential equations and particles, with steppers of several kinds.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import math
from dataclasses import dataclass

import numpy as np

G = 1.0


def accelerations(pos, mass, soft):
    diff = pos[None, :, :] - pos[:, None, :]
    r2 = (diff**2).sum(axis=-1) + soft**2
    inv3 = r2**-1.5
    return G * (diff * inv3[:, :, None] * mass[None, :, None]).sum(axis=1)


def nbody(pos, vel, mass, dt, steps):
    """Kick-drift-kick; energy at the end."""
    acc = accelerations(pos, mass, 0.1)
    for _ in range(steps):
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = accelerations(pos, mass, 0.1)
        vel = vel + 0.5 * dt * acc
    kinetic = 0.5 * np.sum(mass[:, None] * vel**2)
    return kinetic + np.sum(pos[:, 0] ** 2)


def nbody_args():
    rng = np.random.default_rng(0)
    n = 24
    return rng.standard_normal((n, 3)), 0.1 * rng.standard_normal((n, 3)), rng.random(n), 0.01, 20


def nbody_pairs(x, y, vx, vy, m, dt, steps):
    """Particles in lists, the forces by a loop over pairs."""
    n = len(m)
    for _ in range(steps):
        fx = [0.0] * n
        fy = [0.0] * n
        for i in range(n):
            for j in range(i + 1, n):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                d = math.sqrt(dx * dx + dy * dy + 0.01)
                f = m[i] * m[j] / (d * d * d)
                fx[i] += f * dx
                fy[i] += f * dy
                fx[j] -= f * dx
                fy[j] -= f * dy
        for i in range(n):
            vx[i] += dt * fx[i] / m[i]
            vy[i] += dt * fy[i] / m[i]
            x[i] += dt * vx[i]
            y[i] += dt * vy[i]
    return sum(0.5 * m[i] * (vx[i] ** 2 + vy[i] ** 2) for i in range(n))


def nbody_pairs_args():
    rng = np.random.default_rng(1)
    lists = [rng.standard_normal(8).tolist() for _ in range(2)]
    return *lists, [0.0] * 8, [0.0] * 8, (0.5 + rng.random(8)).tolist(), 0.01, 12


def lorenz(state, t, sigma, rho, beta):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4(f, y, t, h, *args):
    k1 = f(y, t, *args)
    k2 = f(y + h / 2 * k1, t + h / 2, *args)
    k3 = f(y + h / 2 * k2, t + h / 2, *args)
    k4 = f(y + h * k3, t + h, *args)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz_fit(y0, sigma, rho, beta, data):
    """Least squares of a trajectory; a general stepper that is handed a function."""
    y, t, h = y0, 0.0, 0.01
    loss = 0.0
    for row in data:
        y = rk4(lorenz, y, t, h, sigma, rho, beta)
        t += h
        loss += np.sum((y - row) ** 2)
    return loss / len(data)


def lorenz_fit_args():
    rng = np.random.default_rng(2)
    return np.array([1.0, 1.0, 20.0]), 10.0, 28.0, 8.0 / 3.0, rng.standard_normal((60, 3))


@dataclass
class Spring:
    i: int
    j: int
    k: float
    rest: float


class Cloth:
    """Masses and springs; the state is kept in attributes, forces are summed spring by spring."""

    def __init__(self, pos, springs, damping):
        self.pos = pos
        self.vel = np.zeros_like(pos)
        self.springs = springs
        self.damping = damping

    def forces(self):
        f = np.zeros_like(self.pos)
        f[:, 1] -= 9.81
        for s in self.springs:
            d = self.pos[s.j] - self.pos[s.i]
            length = np.sqrt(d @ d)
            pull = s.k * (length - s.rest) * d / length
            f[s.i] += pull
            f[s.j] -= pull
        return f - self.damping * self.vel

    def step(self, dt):
        self.vel = self.vel + dt * self.forces()
        self.vel[0] = 0.0
        self.pos = self.pos + dt * self.vel


def cloth_energy(pos, stiffness, damping, steps):
    n = len(pos)
    springs = [Spring(i, i + 1, stiffness, 0.1) for i in range(n - 1)]
    cloth = Cloth(pos, springs, damping)
    for _ in range(steps):
        cloth.step(0.01)
    return float(np.sum(cloth.pos[:, 1])) + 0.5 * np.sum(cloth.vel**2)


def cloth_energy_args():
    pos = np.stack([np.linspace(0, 1.2, 12), np.zeros(12)], axis=1)
    return pos, 40.0, 0.3, 12


def heun_adaptive(k, y0, t_end, tol):
    """A stiff-ish reaction with step control: the number of steps depends on the data."""
    a, b = y0
    t, h = 0.0, 0.01
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        da, db = -k[0] * a + k[1] * a * b, k[0] * a - k[1] * a * b - k[2] * b
        a1, b1 = a + h * da, b + h * db
        da2, db2 = -k[0] * a1 + k[1] * a1 * b1, k[0] * a1 - k[1] * a1 * b1 - k[2] * b1
        err = 0.5 * h * max(abs(da2 - da), abs(db2 - db))
        if err > tol:
            h *= 0.5
            continue
        a = a + 0.5 * h * (da + da2)
        b = b + 0.5 * h * (db + db2)
        t = t + h
        if err < 0.1 * tol:
            h *= 1.5
    return a * a + b


def heun_adaptive_args():
    return np.array([1.2, 0.4, 0.3]), (1.0, 0.2), 3.0, 1e-4


def double_pendulum(theta1, theta2, lengths, masses, nsteps, dt=0.005):
    l1, l2 = lengths
    m1, m2 = masses
    g = 9.81
    w1 = w2 = 0.0
    path = []
    for _ in range(nsteps):
        d = theta1 - theta2
        den = 2 * m1 + m2 - m2 * np.cos(2 * d)
        a1 = (
            -g * (2 * m1 + m2) * np.sin(theta1)
            - m2 * g * np.sin(theta1 - 2 * theta2)
            - 2 * np.sin(d) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(d))
        ) / (l1 * den)
        a2 = (
            2
            * np.sin(d)
            * (
                w1**2 * l1 * (m1 + m2)
                + g * (m1 + m2) * np.cos(theta1)
                + w2**2 * l2 * m2 * np.cos(d)
            )
        ) / (l2 * den)
        w1 += a1 * dt
        w2 += a2 * dt
        theta1 += w1 * dt
        theta2 += w2 * dt
        path.append((l1 * np.sin(theta1) + l2 * np.sin(theta2), l1 * np.cos(theta1)))
    path = np.array(path)
    return np.mean(path[:, 0] ** 2) + path[-1, 1]


def double_pendulum_args():
    return 1.2, 0.7, (1.0, 0.8), (1.0, 1.5), 150


def seir(params, s0, days, contact):
    """An epidemic in age groups: state in a dict, history in lists."""
    state = {"S": s0, "E": 0.01 * s0, "I": 0.0 * s0, "R": 0.0 * s0}
    history = {name: [] for name in state}
    for day in range(days):
        force = params["beta"] * contact @ state["I"]
        new_e = force * state["S"]
        new_i = params["sigma"] * state["E"]
        new_r = params["gamma"] * state["I"]
        state["S"] = state["S"] - new_e
        state["E"] = state["E"] + new_e - new_i
        state["I"] = state["I"] + new_i - new_r
        state["R"] = state["R"] + new_r
        for name in state:
            history[name].append(state[name])
    infected = np.array(history["I"])
    return infected.sum(axis=1).max() + 0.1 * np.sum(history["R"][-1])


def seir_args():
    rng = np.random.default_rng(3)
    params = {"beta": 0.4, "sigma": 0.2, "gamma": 0.1}
    return params, 0.2 + 0.05 * rng.random(5), 80, rng.random((5, 5))


KERNELS = {
    "nbody": (0, 1, 2),
    "nbody_pairs": (0, 1, 4),
    "lorenz_fit": (0, 1, 2, 3),
    "cloth_energy": (0, 1, 2),
    "heun_adaptive": (0,),
    "double_pendulum": (0, 1),
    "seir": (0, 1),
}
