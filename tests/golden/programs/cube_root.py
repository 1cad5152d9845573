"""Newton's method with a limit on its iterations: for, break, else."""

WRT = (0,)


def cube_root(a, x, limit=50):
    for _ in range(limit):
        step = (x**3 - a) / (3.0 * x**2)
        x = x - step
        if abs(step) < 1e-13:
            break
    else:
        raise RuntimeError("no convergence")
    return x


def arguments():
    return 5.0, 1.0
