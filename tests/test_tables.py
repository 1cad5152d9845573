"""The generated pages of docs/ are what the code says now; S2SAD_UPDATE=1 writes them anew."""

import math
import os

import numpy as np
import once
import pytest
import tables

import s2sad

UPDATE = bool(os.environ.get("S2SAD_UPDATE"))
PAGES = {**tables.PAGES, "second.md": once.page}


@pytest.mark.parametrize("name", PAGES)
def test_page(name, capsys):
    if name in ("scipy.md", "second.md"):
        pytest.importorskip("scipy")
    path = tables.DOCS / name
    text = PAGES[name]()
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_a_wrong_gradient_is_no_outcome(monkeypatch):
    assert tables.outcome("return x[0] * x[1]") is None
    refused = "y = x * 2.0\ny.resize(2)\nreturn y[0]"
    assert tables.outcome(refused).startswith("UnsupportedError")
    monkeypatch.setattr(tables.s2sad, "grad", lambda f: lambda x: x)
    with pytest.raises(AssertionError, match="is not"):
        tables.outcome("return x[0] * x[1]")


def test_rules_of_others_are_not_listed():
    def cube(x):
        return x**3

    def shifted(x):
        return x + 1.0

    def pull_shifted(out_bar, out, x):
        return out_bar

    s2sad.elementwise(cube)(lambda out, x: 3.0 * x * x)
    pull_shifted.__module__ = None  # as that of a function run from a text
    s2sad.pullback(shifted)(pull_shifted)
    rows = "\n".join(tables.functions())
    assert "cube" not in rows and "shifted" not in rows and "`np.sin` | elementwise" in rows


@pytest.mark.parametrize("name", tables.SOMETIMES)
def test_newer_functions_have_rules(name):
    home = {"math": math, "np": np}[name.split(".")[0]]
    fn = getattr(home, name.split(".")[1], None)
    assert fn is None or tables.registry.rule_for(fn) is not None


def test_what_is_asked_of_a_result_is_differentiated():
    """`.T` and `.real` of an operation, not of a variable."""
    assert tables.outcome("return np.sum((x.reshape(3, 1) * x).T)") is None
    assert tables.outcome("return np.sum((x * x).real)") is None


def test_all_of_numpy_is_accounted_for():
    assert tables.unaccounted() == []
