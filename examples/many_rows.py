"""Fit two models to 10 million rows that no memory holds: python examples/many_rows.py [rows]

The rows are made partition by partition, on worker processes, whenever a fit wants them. Dask adds
up the derivatives of the partitions, and scipy.optimize minimises: a logistic regression, and a
mixture of two normal distributions.
"""

import sys
import time

import numpy as np

ROWS, PARTITION = 10_000_000, 250_000
WEIGHTS = np.array([0.5, -1.0, 2.0, 0.25])  # of a constant and three features
MIXTURE = {"share": 0.3, "means": np.array([-1.0, 2.0]), "widths": np.array([0.5, 1.0])}


# --- data ----------------------------------------------------------------------------------------


def answers(number, count):
    """One partition of the regression: features with a constant, and yes or no."""
    rng = np.random.default_rng([0, number])
    X = np.ones((count, WEIGHTS.size))
    X[:, 1:] = rng.standard_normal((count, WEIGHTS.size - 1))
    return X, (rng.random(count) < 1.0 / (1.0 + np.exp(-X @ WEIGHTS))).astype(float)


def draws(number, count):
    """One partition of what is drawn from the mixture."""
    rng = np.random.default_rng([1, number])
    which = (rng.random(count) > MIXTURE["share"]).astype(int)
    return MIXTURE["means"][which] + MIXTURE["widths"][which] * rng.standard_normal(count)


def partitions(make, rows):
    """All partitions, as delayed values: nothing is made yet."""
    import dask

    counts = [min(PARTITION, rows - start) for start in range(0, rows, PARTITION)]
    return [dask.delayed(make, pure=True)(i, count) for i, count in enumerate(counts)]


# --- models: plain NumPy functions of one partition ----------------------------------------------


def logistic(w, part):
    """Minus the logarithm of the likelihood of the answers."""
    X, yes = part
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - yes * z)


def mixture(params, x):
    """Minus the logarithm of the likelihood of the draws."""
    share, means, logs = params[0], params[1:3], params[3:5]
    first = -np.logaddexp(0.0, -share) - logs[0] - 0.5 * ((x - means[0]) * np.exp(-logs[0])) ** 2
    second = -np.logaddexp(0.0, share) - logs[1] - 0.5 * ((x - means[1]) * np.exp(-logs[1])) ** 2
    return -np.sum(np.logaddexp(first, second)) + 0.5 * np.log(2.0 * np.pi) * len(x)


# --- fits ----------------------------------------------------------------------------------------


def fit(loss, start, parts, rows, max_iterations=20):
    """Minimise a loss, summed over all rows and divided by their number; returns scipy's result."""
    from scipy.optimize import minimize

    import s2sad

    summed = s2sad.dask.value_and_grad(loss, over=1)

    def mean(x):
        value, gradient = summed(x, parts)
        return value / rows, gradient / rows

    options = {"maxiter": max_iterations, "ftol": 1e-9}
    return minimize(mean, start, jac=True, method="L-BFGS-B", options=options)


def fitted(rows, report=print):
    """Fit both models; returns the weights, and the parameters of the mixture by their names."""
    found = []
    for loss, make, start in (
        (logistic, answers, np.zeros(4)),
        (mixture, draws, np.array([0.0, -0.5, 0.5, 0.0, 0.0])),
    ):
        begun = time.perf_counter()
        result = fit(loss, start, partitions(make, rows), rows)
        seconds = time.perf_counter() - begun
        report(f"{loss.__name__}: {result.nfev} gradients of {rows:,} rows, {seconds:.1f} seconds")
        found.append(result.x)
    weights, x = found
    share = 1.0 / (1.0 + np.exp(-x[0]))
    return weights, {"share": share, "means": x[1:3], "widths": np.exp(x[3:5])}


def peak():
    """The most memory that this process has held, in megabytes."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def main():
    """Fit on worker processes of this machine; print what is true and what is found."""
    try:
        import scipy  # noqa: F401
        from distributed import Client, LocalCluster
    except ImportError:
        raise SystemExit(
            "This example needs Dask and SciPy: pip install s2sad[dask] scipy"
        ) from None
    import s2sad

    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with (
        LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as c,
    ):
        weights, found = fitted(rows)
        workers = [f"{most:.0f}" for most in c.run(peak).values()]
    print(f"peak memory: {peak():.0f} MB here, {', '.join(workers)} MB on the workers")
    print(f"(all rows together: {rows * 6 * 8 / 1e6:.0f} MB)\n")
    print(f"weights, true   {WEIGHTS}\nweights, fitted {np.round(weights, 4)}\n")
    for name, true in MIXTURE.items():
        print(f"{name:6} true {true}, fitted {np.round(found[name], 4)}")
    print("\nThe derivative of one partition, as s2sad wrote it:\n")
    print(s2sad.value_and_grad(logistic).source(np.zeros(4), answers(0, 3)))


if __name__ == "__main__":
    main()
