"""First and second derivatives where they are a matter of convention, beside JAX's and PyTorch's.

What s2sad gives is computed by the tests; what the others give was recorded once, with JAX 0.10.2
and PyTorch 2.13.0 in float64, of the same programs in their own words (`jnp.`; `amax`, `clamp`,
`quantile`). Nothing is recorded where PyTorch has no such function.
"""

import linecache

import numpy as np

import s2sad

# what it is, the program, where; the first and second derivative of JAX and of PyTorch
ENTRIES = [
    ("abs at 0", "np.sum(np.abs(x))", (0.0,), ("1", "0"), ("0", "0")),
    ("sign at 0", "np.sum(np.sign(x))", (0.0,), ("0", "0"), ("0", "0")),
    (
        "norm at 0",
        "np.linalg.norm(x)",
        (0.0, 0.0),
        ("[nan, nan]", "all nan"),
        ("[0, 0]", "all nan"),
    ),
    (
        "max, tie",
        "np.max(x) ** 2",
        (1.0, 1.0),
        ("[1, 1]", "[[0.5, 0.5], [0.5, 0.5]]"),
        ("[1, 1]", "[[0.5, 0.5], [0.5, 0.5]]"),
    ),
    (
        "min, tie",
        "np.min(x) ** 2",
        (1.0, 1.0),
        ("[1, 1]", "[[0.5, 0.5], [0.5, 0.5]]"),
        ("[1, 1]", "[[0.5, 0.5], [0.5, 0.5]]"),
    ),
    ("maximum, tie", "np.sum(np.maximum(x, 1.0) ** 2)", (1.0,), ("1", "0.5"), ("1", "0.5")),
    ("minimum, tie", "np.sum(np.minimum(x, 1.0) ** 2)", (1.0,), ("1", "0.5"), ("1", "0.5")),
    (
        "clip at its bounds",
        "np.sum(np.clip(x, 1.0, 2.0) ** 2)",
        (1.0, 2.0),
        ("[1, 2]", "[[0.5, 0], [0, 0.5]]"),
        ("[2, 4]", "[[2, 0], [0, 2]]"),
    ),
    ("relu by maximum at 0", "np.sum(np.maximum(x, 0.0))", (0.0,), ("0.5", "0"), ("0.5", "0")),
    ("relu by where at 0", "np.sum(np.where(x > 0, x, 0.0))", (0.0,), ("0", "0"), ("0", "0")),
    (
        "sort, tie",
        "np.sort(x)[0] ** 2",
        (1.0, 1.0),
        ("[2, 0]", "[[2, 0], [0, 0]]"),
        ("[2, 0]", "[[2, 0], [0, 0]]"),
    ),
    (
        "median, tie",
        "np.median(x) ** 2",
        (1.0, 1.0, 2.0),
        ("[0, 2, 0]", "[[0, 0, 0], [0, 2, 0], [0, 0, 0]]"),
        ("[1, 1, 0]", "[[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]]"),
    ),
    (
        "percentile, tie",
        "np.percentile(x, 50) ** 2",
        (1.0, 1.0, 1.0, 2.0),
        ("[0, 1, 1, 0]", "[[0, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 0]]"),
        ("[0, 1, 1, 0]", "[[0, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 0]]"),
    ),
    ("sqrt at 0", "np.sum(np.sqrt(x))", (0.0,), ("inf", "-inf"), ("inf", "-inf")),
    ("cbrt at 0", "np.sum(np.cbrt(x))", (0.0,), ("inf", "-inf"), ("", "")),
    ("log at 0", "np.sum(np.log(x))", (0.0,), ("inf", "-inf"), ("inf", "-inf")),
    ("1 / x at 0", "np.sum(1.0 / x)", (0.0,), ("-inf", "inf"), ("-inf", "inf")),
    ("x ** 0.5 at 0", "np.sum(x ** 0.5)", (0.0,), ("inf", "-inf"), ("inf", "-inf")),
    ("x ** 1.5 at 0", "np.sum(x ** 1.5)", (0.0,), ("0", "inf"), ("0", "inf")),
    ("x ** 2.0 at 0", "np.sum(x ** 2.0)", (0.0,), ("0", "2"), ("0", "2")),
    ("x ** 0.0 at 0", "np.sum(x ** 0.0)", (0.0,), ("nan", "nan"), ("0", "0")),
    ("0.0 ** y at 2", "np.sum(np.power(0.0, x))", (2.0,), ("0", "0"), ("0", "nan")),
    (
        "x ** y at (0, 2)",
        "np.power(x[0], x[1])",
        (0.0, 2.0),
        ("[0, 0]", "[[2, 0], [0, 0]]"),
        ("[0, 0]", "all nan"),
    ),
    (
        "sqrt masked at 0",
        "np.sum(np.where(x > 0, np.sqrt(x), 0.0))",
        (0.0,),
        ("nan", "nan"),
        ("nan", "nan"),
    ),
    (
        "sqrt of where at -1",
        "np.sum(np.sqrt(np.where(x > 0, x, 0.0)))",
        (-1.0,),
        ("0", "0"),
        ("0", "0"),
    ),
    (
        "sqrt of maximum at -1",
        "np.sum(np.sqrt(np.maximum(x, 0.0)))",
        (-1.0,),
        ("nan", "nan"),
        ("0", "0"),
    ),
    (
        "x log x masked at 0",
        "np.sum(np.where(x > 0, x * np.log(x), 0.0))",
        (0.0,),
        ("nan", "nan"),
        ("nan", "nan"),
    ),
    (
        "nan masked",
        "np.sum(np.where(np.isnan(x), 0.0, x * x))",
        ("nan", 1.0),
        ("[nan, 2]", "[[0, 0], [0, 2]]"),
        ("[nan, 2]", "[[0, 0], [0, 2]]"),
    ),
    (
        "prod, one zero",
        "np.prod(x)",
        (0.0, 2.0, 3.0),
        ("[6, 0, 0]", "[[0, 3, 2], [3, 0, 0], [2, 0, 0]]"),
        ("[6, 0, 0]", "[[0, 3, 2], [3, 0, 0], [2, 0, 0]]"),
    ),
    (
        "prod, two zeros",
        "np.prod(x)",
        (0.0, 0.0, 3.0),
        ("[0, 0, 0]", "[[0, 3, 0], [3, 0, 0], [0, 0, 0]]"),
        ("[0, 0, 0]", "[[0, 3, 0], [3, 0, 0], [0, 0, 0]]"),
    ),
    (
        "cumprod, a zero",
        "np.sum(np.cumprod(x))",
        (2.0, 0.0, 3.0),
        ("[1, 8, 0]", "[[0, 4, 0], [4, 0, 2], [0, 2, 0]]"),
        ("[1, 8, 0]", "[[0, 4, 0], [4, 0, 2], [0, 2, 0]]"),
    ),
    (
        "det, singular",
        "np.linalg.det(np.reshape(x, (2, 2)))",
        (1.0, 2.0, 2.0, 4.0),
        ("[4, -2, -2, 1]", "[[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]]"),
        ("[0, 0, 0, 0]", "[[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]]"),
    ),
    ("heaviside at 0", "np.sum(np.heaviside(x, 0.5))", (0.0,), ("0", "0"), ("", "")),
    ("floor at 1", "np.sum(np.floor(x))", (1.0,), ("0", "0"), ("0", "0")),
    ("round at 0.5", "np.sum(np.round(x))", (0.5,), ("0", "0"), ("0", "0")),
    ("x % 2 at 2", "np.sum(x % 2.0)", (2.0,), ("1", "0"), ("1", "0")),
    (
        "arctan2(0, 0)",
        "np.arctan2(x[0], x[1])",
        (0.0, 0.0),
        ("[nan, nan]", "all nan"),
        ("[0, 0]", "all nan"),
    ),
    (
        "hypot(0, 0)",
        "np.hypot(x[0], x[1])",
        (0.0, 0.0),
        ("[0.5, 0.5]", "[[0, 0], [0, 0]]"),
        ("[nan, nan]", "all nan"),
    ),
    (
        "xlogy(0, 1)",
        "xlogy(x[0], x[1])",
        (0.0, 1.0),
        ("[0, 0]", "[[0, 1], [1, 0]]"),
        ("[0, 0]", "[[0, 1], [1, 0]]"),
    ),
    (
        "xlogy(0, 0)",
        "xlogy(x[0], x[1])",
        (0.0, 0.0),
        ("[-inf, nan]", "nan in places"),
        ("[0, nan]", "nan in places"),
    ),
    (
        "logaddexp(-inf, 0)",
        "np.logaddexp(x[0], x[1])",
        ("-inf", 0.0),
        ("[0, 1]", "[[0, 0], [0, 0]]"),
        ("[0, 1]", "all nan"),
    ),
    (
        "logaddexp(-inf, -inf)",
        "np.logaddexp(x[0], x[1])",
        ("-inf", "-inf"),
        ("[nan, nan]", "all nan"),
        ("[nan, nan]", "all nan"),
    ),
    ("sinc at 0", "np.sum(np.sinc(x))", (0.0,), ("0", "-3.2899"), ("0", "nan")),
    (
        "eigvalsh, degenerate",
        "np.sum(np.linalg.eigvalsh(np.reshape(x, (2, 2))) ** 2)",
        (1.0, 0.0, 0.0, 1.0),
        ("[2, 0, 0, 2]", "all nan"),
        ("[2, 0, 0, 2]", "all nan"),
    ),
    (
        "eigh, degenerate",
        "np.linalg.eigh(np.reshape(x, (2, 2)))[1][0, 0] ** 2",
        (1.0, 0.0, 0.0, 1.0),
        ("[nan, nan, nan, nan]", "all nan"),
        ("[nan, nan, nan, nan]", "all nan"),
    ),
    (
        "singular values, degenerate",
        "np.sum(np.linalg.svd(np.reshape(x, (2, 2)), compute_uv=False) ** 2)",
        (1.0, 0.0, 0.0, 1.0),
        ("[2, 0, 0, 2]", "all nan"),
        ("[2, 0, 0, 2]", "all nan"),
    ),
    (
        "interp at a knot",
        "np.sum(np.interp(x, np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])))",
        (1.0,),
        ("3", "0"),
        ("", ""),
    ),
    (
        "std of what is constant",
        "np.std(x)",
        (1.0, 1.0),
        ("[nan, nan]", "all nan"),
        ("[0, 0]", "[[0, 0], [0, 0]]"),
    ),
    (
        "complex abs at 0",
        "np.abs(x[0] + 1j * x[1])",
        (0.0, 0.0),
        ("[0, 0]", "[[1, 0], [0, 1]]"),
        ("[0, 0]", "[[0, 0], [0, 0]]"),
    ),
    (
        "angle at 0",
        "np.angle(x[0] + 1j * x[1])",
        (0.0, 0.0),
        ("[nan, nan]", "all nan"),
        ("[0, 0]", "all nan"),
    ),
    ("arcsin at 1", "np.sum(np.arcsin(x))", (1.0,), ("inf", "inf"), ("inf", "inf")),
    (
        "even function of sqrt(x**2) at 0",
        "np.sum(np.exp(-np.sqrt(x ** 2) ** 2))",
        (0.0,),
        ("nan", "nan"),
        ("nan", "nan"),
    ),
    ("x sqrt(x) at 0", "np.sum(x * np.sqrt(x))", (0.0,), ("nan", "nan"), ("nan", "nan")),
    ("0 sqrt(x) at 0", "np.sum(0.0 * np.sqrt(x))", (0.0,), ("nan", "nan"), ("nan", "nan")),
    ("sqrt(x) ** 2 at 0", "np.sum(np.sqrt(x) ** 2)", (0.0,), ("nan", "nan"), ("nan", "nan")),
    ("0 log(x) at 0", "np.sum(0.0 * np.log(x))", (0.0,), ("nan", "nan"), ("nan", "nan")),
    (
        "(1 - x) arcsin(x) at 1",
        "np.sum((1.0 - x) * np.arcsin(x))",
        (1.0,),
        ("nan", "nan"),
        ("nan", "nan"),
    ),
    (
        "x arctan2(x, y) at 0",
        "x[0] * np.arctan2(x[0], x[1])",
        (0.0, 0.0),
        ("[nan, nan]", "all nan"),
        ("[0, 0]", "nan in places"),
    ),
]

HEAD = """# At the boundary

This page is generated by tests/boundaries.py from the programs in its table. To change it, change
these and run `S2SAD_UPDATE=1 pytest tests/test_boundaries.py`.

The table compares s2sad's first and second derivatives with JAX 0.10.2 and PyTorch 2.13.0 (float64)
at the points where docs/conventions.md makes a choice. If x has several elements, the second
derivative is a matrix. "Refused", or the name of an exception, means that s2sad returns no
derivative at that point.

| where | f(x) | x | s2sad | JAX | PyTorch | s2sad, second | JAX, second | PyTorch, second |
|---|---|---|---|---|---|---|---|---|
"""


def shown(value):
    """Return an array as the table has it: four digits, and one number bare."""
    value = np.asarray(value, float)
    if value.size == 1 and value.ndim:
        return shown(value.ravel()[0])
    if value.ndim > 1 and np.any(np.isnan(value)):
        return "all nan" if np.all(np.isnan(value)) else "nan in places"
    if value.ndim:
        return "[" + ", ".join(map(shown, value)) + "]"
    if not np.isfinite(value):
        return str(value)
    rounded = round(float(value), 4) + 0.0
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def program(number, text):
    """Return f(x)."""
    from scipy.special import xlogy

    source = f"def f(x):\n    return {text}\n"
    filename = f"<boundary {number}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    space = {"np": np, "xlogy": xlogy}
    exec(compile(source, filename, "exec"), space)
    return space["f"]


def derivatives(number):
    """Return s2sad's first and second derivative of an entry, as shown."""
    _, text, point, _, _ = ENTRIES[number]
    f, x = program(number, text), np.array([float(v) for v in point])
    found = []
    for derivative in (s2sad.grad(f), s2sad.hessian(f)):
        try:
            with np.errstate(all="ignore"):
                found.append(shown(derivative(x)))
        except s2sad.Error:
            found.append("refused")
        except np.linalg.LinAlgError:
            found.append("LinAlgError")
    return found


def page():
    """Return docs/boundaries.md."""
    out = HEAD
    for number, (what, text, point, jax, torch) in enumerate(ENTRIES):
        first, second = derivatives(number)
        where = ", ".join(str(v) for v in point)
        cells = [what, f"`{text}`", where, first, jax[0], torch[0], second, jax[1], torch[1]]
        out += "| " + " | ".join(cells) + " |\n"
    return out
