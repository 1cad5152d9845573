"""A list or dict that is filled where nobody looks: the derivative is right, or refused."""

import numpy as np
import pytest

import s2sad

X = np.array([1.3, 2.1, 0.7])
WAYS = """
def push(v): acc.append(v * v)
push = lambda v: acc.append(v * v)
push = acc.append
def push(v): acc.extend([v, v * v])
def push(v): list(map(acc.append, [v]))
def push(v): [acc.append(w * w) for w in [v, v]]
def push(v): (acc, 1)[0].append(v * v)
""".strip().splitlines()


def program(way, read):
    lines = ["def f(x):", "    acc = []", f"    {way}", "    for v in x:", "        push(v)"]
    lines += [f"    return {read}"]
    return "\n".join(lines) + "\n"


BODIES = {
    "sum": "sum(acc)",
    "sum and more": "sum(acc) + x[0]",
    "array": "np.array(acc).sum() + x[0]",
    "sum of NumPy": "np.sum(acc) * x[1]",
    "max": "max(max(acc), x[0])",
    "default": "max(acc, default=0.0) + x[0]",
    "item": "acc[-1] * x[0]",
    "choice": "max(sum(acc), x[0])",
    "copy": "sum(list(acc)) + x[0]",
    "slice": "sum(acc[1:]) * x[0]",
    "loop": "sum(w * w for w in acc) + x[0]",
    "branch": "x[0] if sum(acc) < 0.0 else sum(acc) * x[1]",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", BODIES)
def test_right_or_refused(way, read, tmp_path):
    path = tmp_path / "filled.py"
    path.write_text(program(way, BODIES[read]))
    space = {"np": np}
    exec(compile(path.read_text(), str(path), "exec"), space)
    f = space["f"]
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    try:
        gradient = s2sad.grad(f)(X)
    except s2sad.Error:
        return
    assert gradient == pytest.approx(slopes, rel=1e-6)
