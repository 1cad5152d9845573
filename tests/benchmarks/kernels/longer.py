"""Longer programs: a landing, a house with a heating, a robot that maps, networks that are trained.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import math

import numpy as np

R_GAS = 287.05
G0 = 9.80665


def atmosphere(h):
    """Temperature, pressure and density of the standard atmosphere."""
    if h < 11000.0:
        T = 288.15 - 0.0065 * h
        p = 101325.0 * (T / 288.15) ** 5.2559
    elif h < 25000.0:
        T = 216.65
        p = 22632.0 * math.exp(-G0 * (h - 11000.0) / (R_GAS * T))
    else:
        T = 216.65 + 0.003 * (h - 25000.0)
        p = 2488.0 * (T / 216.65) ** -11.388
    return T, p, p / (R_GAS * T)


class Rocket:
    """Stages with thrust, mass and a pitch program."""

    def __init__(self, thrusts, burn_times, isps, dry_masses, payload):
        self.thrusts = thrusts
        self.burn_times = burn_times
        self.isps = isps
        self.dry = dry_masses
        self.payload = payload
        self.stage = 0
        self.burnt = 0.0

    @property
    def has_fuel(self):
        return self.stage < len(self.thrusts)

    def mass(self):
        m = self.payload
        for k in range(self.stage, len(self.thrusts)):
            flow = self.thrusts[k] / (self.isps[k] * G0)
            left = self.burn_times[k]
            if k == self.stage:
                left = left - self.burnt
            m += self.dry[k] + flow * left
        return m

    def thrust(self, dt):
        if not self.has_fuel:
            return 0.0
        force = self.thrusts[self.stage]
        self.burnt += dt
        if self.burnt >= self.burn_times[self.stage]:
            self.stage += 1
            self.burnt = 0.0
        return force


def rocket_ascent(thrusts, isps, pitch, payload, steps):
    """Altitude and speed of a rocket after some time, against a goal."""
    dry = [2.0e4, 4.0e3]
    rocket = Rocket(thrusts, [60.0, 80.0], isps, dry, payload)
    x, h = 0.0, 0.0
    vx, vh = 0.0, 1.0
    dt = 1.0
    q_max = 0.0
    for k in range(steps):
        T, p, rho = atmosphere(h)
        speed = math.sqrt(vx * vx + vh * vh)
        mach = speed / math.sqrt(1.4 * R_GAS * T)
        if mach < 0.8:
            cd = 0.2
        elif mach < 1.2:
            cd = 0.2 + 0.5 * (mach - 0.8)
        else:
            cd = 0.4 / mach**0.5
        q = 0.5 * rho * speed * speed
        q_max = max(q_max, q)
        drag = q * cd * 8.0
        m = rocket.mass()
        angle = math.pi / 2 - pitch[0] * (1.0 - math.exp(-k / pitch[1]))
        force = rocket.thrust(dt)
        gravity = G0 * (6.371e6 / (6.371e6 + h)) ** 2
        ax = (force * math.cos(angle) - drag * vx / speed) / m
        ah = (force * math.sin(angle) - drag * vh / speed) / m - gravity
        vx += dt * ax
        vh += dt * ah
        x += dt * vx
        h += dt * vh
        if h < 0.0:
            break
    miss = ((h - 1.0e5) / 1.0e5) ** 2 + ((math.hypot(vx, vh) - 3000.0) / 3000.0) ** 2
    return miss + 1e-10 * q_max**1.5


def rocket_ascent_args():
    return [2.2e6, 4.0e5], [280.0, 330.0], np.array([0.9, 40.0]), 3000.0, 120


def house_heating(walls, windows, capacities, gains, weather, setpoint):
    """Rooms that exchange heat, a floor heating with a controller, and what it costs."""
    n_rooms = len(capacities)
    temps = np.full(n_rooms, 18.0)
    floor = np.full(n_rooms, 20.0)
    integral = np.zeros(n_rooms)
    energy = 0.0
    discomfort = 0.0
    peak = 0.0
    log = {"air": [], "power": []}
    kp, ki = gains["kp"], gains["ki"]
    for hour in range(weather.shape[0]):
        outside, sun, price = weather[hour]
        occupied = 6 <= hour % 24 < 22
        goal = setpoint if occupied else setpoint - 3.0
        for quarter in range(4):
            # exchange between rooms, row by row
            exchange = np.zeros(n_rooms)
            for i in range(n_rooms):
                for j in range(n_rooms):
                    if i != j and walls[i, j] > 0:
                        exchange[i] += walls[i, j] * (temps[j] - temps[i])
            losses = windows * (temps - outside)
            solar = 0.6 * windows * sun
            error = goal - temps
            integral = np.clip(integral + 0.25 * error, -20.0, 20.0)
            power = np.clip(kp * error + ki * integral, 0.0, 2000.0)
            floor_flow = gains["floor"] * (floor - temps)
            floor = floor + 900.0 * (power - floor_flow) / (4.0 * capacities)
            temps = temps + 900.0 * (exchange - losses + solar + floor_flow) / capacities
            total = power.sum()
            energy += 0.25 * total / 1000.0 * price
            peak = max(peak, total)
            if occupied:
                cold = np.maximum(goal - 1.0 - temps, 0.0)
                warm = np.maximum(temps - goal - 2.0, 0.0)
                discomfort += np.sum(cold**2 + warm**2)
        log["air"].append(temps.mean())
        log["power"].append(total)
    air = np.array(log["air"])
    swing = air[24:].max() - air[24:].min()
    return energy + 0.01 * discomfort + 1e-3 * peak + 0.1 * swing


def house_heating_args():
    rng = np.random.default_rng(0)
    walls = 20.0 + 10.0 * rng.random((4, 4))
    walls[0, 3] = walls[3, 0] = -1.0  # none
    hours = np.arange(36)
    weather = np.stack(
        [
            3.0 + 4.0 * np.sin(2 * np.pi * (hours - 9) / 24),
            np.maximum(0.0, 300.0 * np.sin(2 * np.pi * (hours - 6) / 24)),
            0.25 + 0.1 * (hours % 24 > 16),
        ],
        axis=1,
    )
    gains = {"kp": 300.0, "ki": 20.0, "floor": 60.0}
    return walls, 15.0 + 5.0 * rng.random(4), 1e6 * (1.0 + rng.random(4)), gains, weather, 21.0


def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


class Slam:
    """An extended Kalman filter over a robot's pose and the landmarks it has seen."""

    def __init__(self, noise, sensor):
        self.mu = np.zeros(3)
        self.cov = 1e-3 * np.eye(3)
        self.noise = noise
        self.sensor = sensor
        self.where = {}
        self.score = 0.0

    def predict(self, v, w, dt):
        x, y, th = self.mu[:3]
        moved = np.array([v * dt * np.cos(th), v * dt * np.sin(th), w * dt])
        self.mu = np.concatenate([self.mu[:3] + moved, self.mu[3:]])
        n = self.mu.size
        F = np.eye(n)
        F[0, 2] = -v * dt * np.sin(th)
        F[1, 2] = v * dt * np.cos(th)
        Q = np.zeros((n, n))
        Q[:3, :3] = np.diag(self.noise**2) * dt
        self.cov = F @ self.cov @ F.T + Q

    def add(self, name, dist, bearing):
        x, y, th = self.mu[:3]
        spot = np.array([x + dist * np.cos(th + bearing), y + dist * np.sin(th + bearing)])
        self.where[name] = self.mu.size
        self.mu = np.append(self.mu, spot)
        n = self.cov.shape[0]
        grown = np.zeros((n + 2, n + 2))
        grown[:n, :n] = self.cov
        grown[n:, n:] = 10.0 * np.eye(2)
        self.cov = grown

    def update(self, name, dist, bearing):
        if name not in self.where:
            self.add(name, dist, bearing)
            return
        at = self.where[name]
        d = self.mu[at : at + 2] - self.mu[:2]
        q = d @ d
        r = np.sqrt(q)
        H = np.zeros((2, self.mu.size))
        H[0, :2], H[0, at : at + 2] = -d / r, d / r
        H[1, 0], H[1, 1], H[1, 2] = d[1] / q, -d[0] / q, -1.0
        H[1, at], H[1, at + 1] = -d[1] / q, d[0] / q
        seen = np.array([r, np.arctan2(d[1], d[0]) - self.mu[2]])
        innovation = np.array([dist, bearing]) - seen
        innovation[1] = wrap(innovation[1])
        S = H @ self.cov @ H.T + np.diag(self.sensor**2)
        K = np.linalg.solve(S, H @ self.cov).T
        self.mu = self.mu + K @ innovation
        self.cov = (np.eye(self.mu.size) - K @ H) @ self.cov
        self.score += innovation @ np.linalg.solve(S, innovation) + np.log(np.linalg.det(S))


def slam(noise, sensor, controls, sightings):
    """How likely what a robot sees is, under the noise of its wheels and of its sensor."""
    f = Slam(noise, sensor)
    for (v, w), seen in zip(controls, sightings):
        f.predict(v, w, 0.1)
        for name, dist, bearing in seen:
            f.update(name, dist, bearing)
    return f.score + 0.01 * np.trace(f.cov[:3, :3])


def slam_args():
    rng = np.random.default_rng(1)
    marks = {f"m{k}": 4.0 * rng.standard_normal(2) for k in range(5)}
    pose = np.zeros(3)
    controls, sightings = [], []
    for _ in range(15):
        v, w = 1.0, 0.3
        pose = pose + 0.1 * np.array([v * np.cos(pose[2]), v * np.sin(pose[2]), w])
        controls.append((v, w))
        seen = []
        for name in sorted(marks)[: 1 + int(rng.integers(0, 3))]:
            d = marks[name] - pose[:2]
            bearing = float(np.arctan2(d[1], d[0]) - pose[2])
            seen.append((name, float(np.hypot(*d)) + 0.01, bearing + 0.01))
        sightings.append(seen)
    return np.array([0.1, 0.1, 0.05]), np.array([0.2, 0.1]), controls, sightings


def train_network(hyper, W1, W2, X, y, Xv, yv, epochs):
    """Validation loss after training by Adam with gradients by hand, by its settings."""
    lr, decay = hyper["lr"], hyper["decay"]
    beta1, beta2, eps = 0.9, 0.999, 1e-8
    params = [W1, W2]
    m = [np.zeros_like(p) for p in params]
    v = [np.zeros_like(p) for p in params]
    for epoch in range(1, epochs + 1):
        W1, W2 = params
        hidden = np.tanh(X @ W1)
        pred = hidden @ W2
        delta = 2 * (pred - y) / len(y)
        gW2 = hidden.T @ delta
        back = (delta @ W2.T) * (1 - hidden**2)
        gW1 = X.T @ back
        grads = [gW1 + decay * W1, gW2 + decay * W2]
        for k, g in enumerate(grads):
            m[k] = beta1 * m[k] + (1 - beta1) * g
            v[k] = beta2 * v[k] + (1 - beta2) * g * g
            m_hat = m[k] / (1 - beta1**epoch)
            v_hat = v[k] / (1 - beta2**epoch)
            params[k] = params[k] - lr * m_hat / (np.sqrt(v_hat) + eps)
    W1, W2 = params
    return np.mean((np.tanh(Xv @ W1) @ W2 - yv) ** 2)


def train_network_args():
    rng = np.random.default_rng(2)
    X, Xv = rng.standard_normal((2, 40, 6))
    y, yv = np.sin(X[:, :1]), np.sin(Xv[:, :1])
    hyper = {"lr": 0.02, "decay": 1e-3}
    return hyper, 0.5 * rng.standard_normal((6, 10)), rng.standard_normal((10, 1)), X, y, Xv, yv, 25


KERNELS = {
    "rocket_ascent": (0, 1, 2, 3),
    "house_heating": (0, 1, 2, 3),
    "slam": (0, 1),
    "train_network": (0, 1, 2),
}
