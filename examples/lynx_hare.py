"""Fit a Lotka-Volterra model to twenty years of lynx and hare pelts: python examples/lynx_hare.py

The records are in lynx_hare.csv, which names their source. The model is integrated by the embedded
Runge-Kutta pair of Bogacki and Shampine: how many steps that takes, and which of them are rejected,
depends on the parameters being fitted. s2sad differentiates the whole program, step control
included, and scipy.optimize uses the gradient.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
OUT = HERE / "out"
NAMES = ("hare birth", "hare eaten", "lynx death", "lynx fed", "hare 1900", "lynx 1900")
GUESS = (0.6, 0.02, 0.7, 0.02, 30.0, 4.0)


def rhs(state, params):
    """Rates of change: hares breed and are eaten, lynx starve and eat."""
    hare, lynx = state
    birth, eaten, death, fed = params
    return np.array([hare * (birth - eaten * lynx), lynx * (fed * hare - death)])


def rk_step(state, slope, h, params):
    """One step of length h from state: the new state, the slope there, and an error estimate."""
    k2 = rhs(state + 0.5 * h * slope, params)
    k3 = rhs(state + 0.75 * h * k2, params)
    new = state + h / 9.0 * (2.0 * slope + 3.0 * k2 + 4.0 * k3)
    k4 = rhs(new, params)
    error = h / 72.0 * (6.0 * k2 + 8.0 * k3 - 5.0 * slope - 9.0 * k4)
    return new, k4, error


def solve(start, params, times, tolerance):
    """The states at the given times, with steps as long as the tolerance allows."""
    t = times[0]
    h = 0.1
    state = start
    slope = rhs(state, params)
    states = [state]
    for target in times[1:]:
        while t < target:
            if h < 1e-9:
                raise ArithmeticError(f"the step became too short at time {t}")
            arrives = t + 1.1 * h >= target
            step = target - t if arrives else h
            new, new_slope, error = rk_step(state, slope, step, params)
            ratio = np.max(np.abs(error) / (1.0 + np.abs(new))) / tolerance
            h = step * max(0.2, 0.9 * max(ratio, 0.001) ** (-1.0 / 3.0))
            if ratio > 1.0:
                continue
            t = target if arrives else t + step
            state = new
            slope = new_slope
        states.append(state)
    return states


def loss(log_params, times, pelts, tolerance):
    """Mean squared error of the logarithms; the six parameters are logarithms too."""
    params = np.exp(log_params)
    states = solve(params[4:], params[:4], times, tolerance)
    residual = np.log(np.array(states)) - np.log(pelts)
    return np.mean(residual**2)


def read_data(path=HERE / "lynx_hare.csv"):
    """The years, counted from the first, and the pelts of hare and lynx, in thousands."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    table = np.loadtxt(lines[1:], delimiter=",")
    return table[:, 0] - table[0, 0], table[:, 1:]


def fit(max_iterations=100, tolerance=1e-4):
    """Fit the six parameters; returns scipy's result, x holding their logarithms."""
    from scipy.optimize import minimize

    import s2sad

    times, pelts = read_data()
    return minimize(
        s2sad.value_and_grad(loss),
        np.log(GUESS),
        args=(times, pelts, tolerance),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations},
    )


def check_gradient(log_params, times, pelts, tolerance=1e-4, eps=1e-6):
    """The derived gradient beside central differences, one row per parameter."""
    import s2sad

    gradient = s2sad.grad(loss)(log_params, times, pelts, tolerance)
    rows = []
    for i, derived in enumerate(gradient):
        shift = np.zeros_like(log_params)
        shift[i] = eps
        plus = loss(log_params + shift, times, pelts, tolerance)
        minus = loss(log_params - shift, times, pelts, tolerance)
        rows.append((NAMES[i], float(derived), float((plus - minus) / (2.0 * eps))))
    return rows


def print_fit(log_params, times, pelts, tolerance=1e-4):
    """Print the parameters and, year by year, data and prediction."""
    params = np.exp(log_params)
    for name, value in zip(NAMES, params, strict=True):
        print(f"  {name:11}{value:10.4f}")
    print("\n  year      hare    fit      lynx    fit")
    states = solve(params[4:], params[:4], times, tolerance)
    for time, seen, state in zip(times, pelts, states, strict=True):
        print(
            f"  {1900 + time:.0f}   {seen[0]:7.1f}{state[0]:7.1f}   {seen[1]:7.1f}{state[1]:7.1f}"
        )


def plot(log_params, times, pelts, path=OUT / "lynx_hare.png", tolerance=1e-4):
    """Save a plot of data and fit; returns its path, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    params = np.exp(log_params)
    fine = np.linspace(times[0], times[-1], 401)
    states = np.array(solve(params[4:], params[:4], fine, tolerance))
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="year", ylabel="pelts, thousands")
    for column, name in enumerate(("hare", "lynx")):
        (line,) = axes.plot(1900 + fine, states[:, column], label=name)
        axes.plot(1900 + times, pelts[:, column], "o", color=line.get_color())
    axes.legend()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    return path


def function_in(text, name):
    """Return the source of one function of a module."""
    return text[text.index(f"def {name}(") :].partition("\n\n\n")[0] + "\n"


def main():
    """Fit, show the derived source, check the gradient, plot."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise SystemExit("This example minimises with SciPy: pip install scipy") from None
    import s2sad

    times, pelts = read_data()
    result = fit()
    start = loss(np.log(GUESS), times, pelts, 1e-4)
    print(f"Loss {start:.4f} before, {result.fun:.4f} after {result.nit} iterations\n")
    print_fit(result.x, times, pelts)
    derivative = OUT / "loss_value_and_grad.py"
    derivative.parent.mkdir(exist_ok=True)
    s2sad.value_and_grad(loss).emit(derivative, result.x, times, pelts, 1e-4)
    print("\nThe derivative of rhs, as s2sad wrote it:\n")
    print(function_in(derivative.read_text(encoding="utf-8"), "rhs_reverse"))
    print(f"The derivative of the whole program: {derivative}\n")
    print("The gradient at the guess, and central differences:\n")
    for name, derived, difference in check_gradient(np.log(GUESS), times, pelts):
        print(f"  {name:11}{derived:+16.9f}{difference:+16.9f}")
    path = plot(result.x, times, pelts)
    print(f"\nPlot: {path}" if path else "\nNo plot: pip install matplotlib")


if __name__ == "__main__":
    main()
