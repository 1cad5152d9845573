"""Small programs, most of them written to break derivatives: right or refused, never anything else.

`pytest -m full tests/test_small_programs.py` runs all of them, `make test` a few.
"""

import re

import numpy as np
import programs
import pytest
import small_programs

import s2sad
from s2sad.errors import InternalError

VECTOR = np.array([0.5, -0.3, 0.8])
MATRIX = np.array([[0.5, -0.3, 0.8], [0.1, 0.9, -0.4], [0.3, 0.35, -0.2]])
FOUND = re.findall(r"# (\w+) ([xM])\n(.*?)(?=\n# \w+ [xM]\n|\Z)", small_programs.TEXTS, re.DOTALL)
EVERY_DAY = """added_d added_k rounds_a rounds_e language_dictmerge language_mtup held_getloop
    held_getchain held_namedt views_get views_ein views_rowmax views_overlap3
    finally_behind_match""".split()
PROGRAMS = [
    pytest.param(*rest, id=name, marks=[] if name in EVERY_DAY else pytest.mark.full)
    for name, *rest in FOUND
]


def loaded(body):
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return programs.load(f"{small_programs.HEAD}def f(x, y):\n{lines}\n", "small")


def slopes(f, x, y, step=1e-6):
    """Return central differences by all entries of x, and by y."""
    vector = np.append(x.ravel(), y)

    def at(moved):
        return f(moved[:-1].reshape(x.shape).copy(), float(moved[-1]))

    return np.array(
        [(at(vector + e) - at(vector - e)) / (2 * step) for e in step * np.eye(vector.size)]
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind, body", PROGRAMS)
def test_right_or_refused(kind, body):
    module = loaded(body)
    x, y = MATRIX if kind == "M" else VECTOR, 0.7
    wanted = slopes(module.f, x, y)
    along = np.cos(1.7 * np.arange(wanted.size))
    try:
        value, (x_bar, y_bar) = s2sad.value_and_grad(module.f, wrt=(0, 1))(x.copy(), y)
    except s2sad.Error as error:
        assert not isinstance(error, InternalError)
    else:
        assert value == module.f(x.copy(), y)
        assert np.append(x_bar.ravel(), y_bar) == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    try:
        given = along[:-1].reshape(x.shape), along[-1]
        _, slope = s2sad.jvp(module.f, (x.copy(), y), given)
    except s2sad.Error as error:
        assert not isinstance(error, InternalError)
    else:
        assert slope == pytest.approx(wanted @ along, rel=1e-5, abs=1e-6)
    programs.unload(module)
