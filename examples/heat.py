"""Recover where a plate was hot from what is left of it, noise included: python examples/heat.py

The plate is simulated by a five-point stencil that writes its array in place, with insulated edges.
s2sad differentiates the time loop and scipy.optimize finds the temperatures at the start.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ALPHA, STEPS, SIZE, NOISE, WEIGHT = 0.2, 60, 32, 0.01, 1e-4


def simulate(start, alpha, steps):
    """The temperatures after so many steps of explicit diffusion."""
    T = start.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + alpha * (
            Tn[2:, 1:-1] + Tn[:-2, 1:-1] + Tn[1:-1, 2:] + Tn[1:-1, :-2] - 4.0 * Tn[1:-1, 1:-1]
        )
        T[0, :] = T[1, :]
        T[-1, :] = T[-2, :]
        T[:, 0] = T[:, 1]
        T[:, -1] = T[:, -2]
    return T


def loss(x, final, alpha, steps, weight):
    """Mean squared misfit at the end, and a little for roughness at the start."""
    start = x.reshape(final.shape)
    misfit = simulate(start, alpha, steps) - final
    down = start[1:, :] - start[:-1, :]
    across = start[:, 1:] - start[:, :-1]
    return np.mean(misfit**2) + weight * (np.mean(down**2) + np.mean(across**2))


def truth(size=SIZE):
    """A warm disc and a hot bar."""
    y, x = np.mgrid[:size, :size] / size
    T = np.where((x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.02, 1.0, 0.0)
    T[int(0.65 * size) : int(0.75 * size), int(0.3 * size) : int(0.85 * size)] = 1.5
    return T


def observe(start, alpha=ALPHA, steps=STEPS):
    """The temperatures at the end, as a noisy camera sees them."""
    noise = np.random.default_rng(0).standard_normal(start.shape)
    return simulate(start, alpha, steps) + NOISE * noise


def fit(final, alpha=ALPHA, steps=STEPS, max_iterations=100):
    """Find the temperatures at the start; returns scipy's result."""
    from scipy.optimize import minimize

    import s2sad

    return minimize(
        s2sad.value_and_grad(loss),
        np.full(final.size, final.mean()),
        args=(final, alpha, steps, WEIGHT),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations},
    )


def check_gradient(x, final, alpha=ALPHA, steps=STEPS, eps=1e-5):
    """The derived gradient along three random directions, beside central differences."""
    import s2sad

    gradient = s2sad.grad(loss)(x, final, alpha, steps, WEIGHT)
    rows = []
    for direction in np.random.default_rng(1).standard_normal((3, x.size)):
        plus = loss(x + eps * direction, final, alpha, steps, WEIGHT)
        minus = loss(x - eps * direction, final, alpha, steps, WEIGHT)
        rows.append((float(gradient @ direction), float((plus - minus) / (2.0 * eps))))
    return rows


def plot(images, path=HERE / "out" / "heat.png"):
    """Save the named images side by side; returns the path, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(3.0 * len(images), 3.2), layout="constrained")
    for i, (title, image) in enumerate(images.items()):
        axes = figure.add_subplot(1, len(images), i + 1, title=title)
        axes.imshow(image, vmin=0.0, vmax=1.5, cmap="inferno")
        axes.set_axis_off()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    return path


def main():
    """Observe, fit, show the derived source, check the gradient, plot."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise SystemExit("This example minimises with SciPy: pip install scipy") from None
    import s2sad

    start = truth()
    final = observe(start)
    guess = np.full(final.size, final.mean())
    result = fit(final)
    found = result.x.reshape(final.shape)
    print(f"Loss {loss(guess, final, ALPHA, STEPS, WEIGHT):.6f} before, {result.fun:.6f} after")
    print(f"{result.nit} iterations, {result.nfev} gradients of {final.size} temperatures")
    for name, image in (("camera's image", final), ("recovered start", found)):
        error = np.sqrt(np.mean((image - start) ** 2))
        print(f"  root mean square error of the {name:16} {error:.4f}")
    print("\nThe derivative, as s2sad wrote it:\n")
    print(s2sad.value_and_grad(loss).source(guess, final, ALPHA, STEPS, WEIGHT))
    print("The gradient along random directions, and central differences:\n")
    for derived, difference in check_gradient(guess, final):
        print(f"  {derived:+16.9f}{difference:+16.9f}")
    path = plot({"start": start, "end, as seen": final, "start, recovered": found})
    print(f"\nPlot: {path}" if path else "\nNo plot: pip install matplotlib")


if __name__ == "__main__":
    main()
