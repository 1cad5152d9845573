"""A package of rules announces itself in the entry-point group `s2sad.rules`, and is found."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LIBRARY = """
import numpy as np


def smooth(x, *, width=1.0):
    return x * x / width


def steps(x):
    return np.floor(x)


def swap(pair):
    return np.flip(pair, 0)


def curve(x):
    return np.exp(-x * x)
"""

RULES = '''
"""The derivatives of a library, in a package of their own."""

import numpy as np
from s2sad import elementwise, nondifferentiable, pullback, pushforward

import some_library


@pullback(some_library.smooth)
def pull_smooth(out_bar, out, x, *, width=1.0):
    return 2.0 / width * out_bar * x


@pushforward(some_library.smooth)
def push_smooth(out, x, x_dot, *, width=1.0):
    return 2.0 / width * x * x_dot


@elementwise(some_library.curve)
def curve(out, x):
    return -2.0 * x * out


@pullback(some_library.swap)
def pull_swap(out_bar, out, pair):
    return out_bar[::-1]


nondifferentiable(some_library.steps)
'''

PROGRAM = """
import numpy as np
import s2sad
import some_library
from s2sad.testing import check_rule


def f(x):
    y = some_library.curve(x) * some_library.smooth(x, width=2.0)
    return np.sum(some_library.swap(y) * x) + np.sum(some_library.steps(x))


x = np.array([0.3, -0.7, 1.1])
moved = lambda e: (f(x + e) - f(x - e)) / 2e-6
assert np.allclose(s2sad.grad(f)(x), [moved(1e-6 * e) for e in np.eye(3)], atol=1e-8)
check_rule(some_library.smooth, x, width=2.0)
check_rule(some_library.curve, x)
check_rule(some_library.steps, x)
print(s2sad.source(f, args=(x,)))
"""


def installed(folder):
    """Lay out a library and a package of rules for it as pip leaves them in a folder."""
    (folder / "some_library.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "some_rules").mkdir()
    (folder / "some_rules" / "__init__.py").write_text(RULES, encoding="utf-8")
    info = folder / "some_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[s2sad.rules]\nsome_library = some_rules\n")
    return folder


def run(folder, program):
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    (folder / "program.py").write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(folder / "program.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_package_of_rules(tmp_path):
    done = run(installed(tmp_path), PROGRAM)
    assert done.returncode == 0, done.stderr
    assert (
        "np.exp" not in done.stdout and "* curve_x" in done.stdout
    )  # the rule, not what could be derived


def test_without_it(tmp_path):
    folder = installed(tmp_path)
    (folder / "some_rules-1.0.dist-info" / "entry_points.txt").unlink()
    done = run(folder, PROGRAM)
    assert "s2sad has no rule for it" in done.stderr
