"""Find the resistors of a grid from voltages measured at its nodes: python examples/lu.py

The conductances are put into a matrix entry by entry, and the system is solved by Gaussian
elimination with row exchanges, written out in loops and in place. s2sad differentiates all of it.
"""

import numpy as np

SIDE = 3


def solve(A, b):
    """The solution of A x = b, by an LU factorisation with partial pivoting."""
    A = A.copy()
    x = b.copy()
    n = len(x)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            x[[k, p]] = x[[p, k]]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
            x[i] -= A[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def network(conductance, edges, n):
    """The matrix of a network of resistors; node 0 is held to ground by a resistor of its own."""
    G = np.zeros((n, n))
    G[0, 0] = 1.0
    for e in range(len(edges)):
        i, j = edges[e]
        g = conductance[e]
        G[i, i] += g
        G[j, j] += g
        G[i, j] -= g
        G[j, i] -= g
    return G


def loss(logs, edges, currents, measured):
    """Mean squared error of the voltages over all experiments; logs are of the conductances."""
    G = network(np.exp(logs), edges, currents.shape[1])
    total = 0.0
    for current, seen in zip(currents, measured, strict=True):
        total += np.mean((solve(G, current) - seen) ** 2)
    return total / len(currents)


def problem(side=SIDE, experiments=4):
    """Edges of a square grid, true logarithms, currents fed in, and the voltages they cause."""
    at = np.arange(side * side).reshape(side, side)
    across = zip(at[:, :-1].ravel(), at[:, 1:].ravel(), strict=True)
    down = zip(at[:-1].ravel(), at[1:].ravel(), strict=True)
    edges = np.array([*across, *down])
    rng = np.random.default_rng(0)
    logs = 0.5 * rng.standard_normal(len(edges))
    currents = rng.standard_normal((experiments, side * side))
    voltages = np.linalg.solve(network(np.exp(logs), edges, side * side), currents.T).T
    return edges, logs, currents, voltages


def fit(edges, currents, measured, max_iterations=100):
    """Fit the conductances, starting from equal ones; returns scipy's result."""
    from scipy.optimize import minimize

    import s2sad

    return minimize(
        s2sad.value_and_grad(loss),
        np.zeros(len(edges)),
        args=(edges, currents, measured),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "ftol": 1e-15},
    )


def check_gradient(logs, edges, currents, measured, eps=1e-6):
    """The derived gradient beside central differences, one row per resistor."""
    import s2sad

    gradient = s2sad.grad(loss)(logs, edges, currents, measured)
    rows = []
    for i, derived in enumerate(gradient):
        shift = np.zeros_like(logs)
        shift[i] = eps
        plus = loss(logs + shift, edges, currents, measured)
        minus = loss(logs - shift, edges, currents, measured)
        rows.append((float(derived), float((plus - minus) / (2.0 * eps))))
    return rows


def main():
    """Fit, show the derived source, check the gradient."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise SystemExit("This example minimises with SciPy: pip install scipy") from None
    import s2sad

    edges, logs, currents, measured = problem()
    start = np.zeros_like(logs)
    result = fit(edges, currents, measured)
    before = loss(start, edges, currents, measured)
    print(f"Loss {before:.6f} before, {result.fun:.2e} after {result.nit} iterations")
    print(f"Largest error of {len(logs)} conductances: ", end="")
    print(f"{np.max(np.abs(np.exp(result.x) - np.exp(logs))):.2e}")
    print("\nThe derivative, as s2sad wrote it:\n")
    print(s2sad.value_and_grad(loss).source(start, edges, currents, measured))
    print("The gradient at the guess, and central differences:\n")
    for derived, difference in check_gradient(start, edges, currents, measured)[:5]:
        print(f"  {derived:+16.9f}{difference:+16.9f}")


if __name__ == "__main__":
    main()
