"""Find the shape of a sea floor from tide gauges: python examples/shallow_water.py

A wave crosses a basin: the height of the water and two velocities on a staggered grid, all of them
written in place over hundreds of steps, and the gauges' records filled in as they come. s2sad
differentiates the simulation with respect to the depth at every place, and scipy.optimize fits it.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DT, STEPS, SIZE = 0.05, 300, 24
GAUGES = [(4, 4), (4, 12), (4, 20), (12, 6), (12, 18), (20, 4), (20, 12), (20, 20)]


def simulate(depth, eta, rows, columns, dt, steps):
    """The records of the gauges: the height of the water at their places, a row per step."""
    eta = eta.copy()
    ny, nx = eta.shape
    u = np.zeros((ny, nx + 1))
    v = np.zeros((ny + 1, nx))
    flux_x = np.zeros((ny, nx + 1))
    flux_y = np.zeros((ny + 1, nx))
    records = np.zeros((steps, len(rows)))
    for t in range(steps):
        u[:, 1:-1] -= dt * (eta[:, 1:] - eta[:, :-1])
        v[1:-1, :] -= dt * (eta[1:, :] - eta[:-1, :])
        water = depth + eta
        flux_x[:, 1:-1] = 0.5 * u[:, 1:-1] * (water[:, 1:] + water[:, :-1])
        flux_y[1:-1, :] = 0.5 * v[1:-1, :] * (water[1:, :] + water[:-1, :])
        eta -= dt * (flux_x[:, 1:] - flux_x[:, :-1] + flux_y[1:, :] - flux_y[:-1, :])
        records[t] = eta[rows, columns]
    return records


def loss(x, eta, seen, rows, columns, dt, steps):
    """Mean squared misfit of the records, in units of theirs; x is the depth, flat."""
    records = simulate(x.reshape(eta.shape), eta, rows, columns, dt, steps)
    return np.mean((records - seen) ** 2) / np.mean(seen**2)


def problem(size=SIZE, steps=STEPS):
    """The true depth, with a shoal; the wave at the start; the gauges' places; their records."""
    y, x = np.mgrid[:size, :size] / size
    depth = 1.0 - 0.4 * np.exp(-40.0 * ((x - 0.55) ** 2 + (y - 0.45) ** 2))
    eta = 0.1 * np.exp(-60.0 * ((x - 0.2) ** 2 + (y - 0.25) ** 2))
    rows, columns = (np.array(GAUGES) * size // SIZE).T
    return depth, eta, rows, columns, simulate(depth, eta, rows, columns, DT, steps)


def fit(eta, rows, columns, seen, max_iterations=40):
    """Fit the depth, starting from a flat floor; returns scipy's result."""
    from scipy.optimize import minimize

    import s2sad

    return minimize(
        s2sad.value_and_grad(loss),
        np.ones(eta.size),
        args=(eta, seen, rows, columns, DT, len(seen)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.2, 1.5)] * eta.size,
        options={"maxiter": max_iterations},
    )


def check_gradient(x, eta, rows, columns, seen, eps=1e-6):
    """The derived gradient along three random directions, beside central differences."""
    import s2sad

    rest = (eta, seen, rows, columns, DT, len(seen))
    gradient = s2sad.grad(loss)(x, *rest)
    pairs = []
    for direction in np.random.default_rng(1).standard_normal((3, x.size)):
        plus, minus = loss(x + eps * direction, *rest), loss(x - eps * direction, *rest)
        pairs.append((float(gradient @ direction), float((plus - minus) / (2.0 * eps))))
    return pairs


def plot(true, found, path=HERE / "out" / "shallow_water.png"):
    """Save the true depth and what was found; returns the path, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    for i, (title, depth) in enumerate({"depth": true, "depth, recovered": found}.items()):
        axes = figure.add_subplot(1, 2, i + 1, title=title)
        image = axes.imshow(depth, vmin=0.6, vmax=1.05)
        figure.colorbar(image)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    return path


def main():
    """Fit, show the derived source, check the gradient, plot."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise SystemExit("This example minimises with SciPy: pip install scipy") from None
    import s2sad

    depth, eta, rows, columns, seen = problem()
    flat = np.ones(eta.size)
    rest = (eta, seen, rows, columns, DT, STEPS)
    result = fit(eta, rows, columns, seen)
    found = result.x.reshape(depth.shape)
    print(f"Misfit of the records {loss(flat, *rest):.4f} before, {result.fun:.6f} after")
    print(f"{result.nit} iterations, {result.nfev} gradients of {flat.size} depths, {STEPS} steps")
    shallowest = np.unravel_index(np.argmin(found), found.shape)
    print(f"  shallowest at {tuple(map(int, shallowest))}, {found.min():.2f} deep; ", end="")
    true = np.unravel_index(np.argmin(depth), depth.shape)
    print(f"in truth at {tuple(map(int, true))}, {depth.min():.2f} deep")
    print("\nThe derivative, as s2sad wrote it:\n")
    print(s2sad.value_and_grad(loss).source(flat, *rest))
    print("The gradient along random directions, and central differences:\n")
    for derived, difference in check_gradient(flat, eta, rows, columns, seen):
        print(f"  {derived:+16.9f}{difference:+16.9f}")
    path = plot(depth, found)
    print(f"\nPlot: {path}" if path else "\nNo plot: pip install matplotlib")


if __name__ == "__main__":
    main()
