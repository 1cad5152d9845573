"""What a notebook and a prompt show: derivatives as source, reports as pages, public names."""

import html
import linecache
import pickle
import re
import sys
import types

import numpy as np
import pytest

import s2sad

X = np.array([0.3, 1.2])


def energy(x, k=2.0):
    return np.sum(np.sin(x) ** 2) * k


def typed(x: float):
    return x * x


@s2sad.differentiate
def decorated(w, x):
    return np.sum(w * x)


class Model:
    @s2sad.differentiate(wrt="w")
    def loss(self, w):
        return np.sum(w * w)


def source_in(shown):
    return html.unescape(re.sub(r"<[^>]+>", "", shown))


@pytest.fixture(params=["pygments", "plain"])
def colours(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "pygments", None)
    else:
        pytest.importorskip("pygments")
    return request.param


DERIVED = {
    "energy_grad": lambda: s2sad.grad(energy),
    "energy_value_and_grad": lambda: s2sad.value_and_grad(energy),
    "energy_jvp": lambda: s2sad.jacobian(energy, mode="forward"),
    "energy_vjp": lambda: s2sad.jacobian(energy, mode="reverse"),
    "energy_grad_jvp": lambda: s2sad.hessian(energy),
    "sum_grad": lambda: s2sad.grad(np.sum),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_derivative_shows_its_source(name, colours):
    g = DERIVED[name]()
    assert "Nothing is derived yet" in g._repr_html_()
    g(X)
    shown = g._repr_html_()
    assert f"def {name}(" in source_in(shown)
    assert html.escape(repr(g)) in shown
    assert ("<span style" in shown) == (colours == "pygments")


def test_what_was_derived_last_is_shown():
    g = s2sad.grad(energy)
    g(X)
    g(0.5)
    assert "math.sin" in source_in(g._repr_html_()) or "np.sin" in source_in(g._repr_html_())
    g(X.astype("float32"))
    assert source_in(g._repr_html_()).count("def energy_grad") == 1


def test_decorated_functions_and_methods():
    decorated.grad(X, X)
    assert "def decorated_grad(" in source_in(decorated.grad._repr_html_())
    model = Model()
    model.loss.grad(X)
    assert "def loss_grad(" in source_in(model.loss.grad._repr_html_())


def test_annotations_that_decide_show_the_source_before_a_call():
    assert "def typed_grad(" in source_in(s2sad.grad(typed)._repr_html_())


def refused(x):
    yield x


def test_what_is_refused_is_shown_without_a_source():
    assert "Nothing is derived yet" in s2sad.grad(refused)._repr_html_()


OPERATORS = [
    *(make() for make in DERIVED.values()),
    decorated.grad,
    Model().loss.grad,
    s2sad.grad(s2sad.grad(typed)),
]


@pytest.mark.parametrize("g", OPERATORS, ids=lambda g: getattr(g, "__name__", "bound"))
def test_completion_offers_public_names(g):
    offered = [name for name in dir(g) if not name.startswith("__")]
    assert {"emit", "source"} <= set(offered)
    assert not [name for name in offered if name.startswith("_")]
    assert not [name for name in dir(g) if "s2sad" in name]


def test_a_report_is_text_at_a_prompt_and_a_page_in_a_notebook():
    report = s2sad.explain(energy, args=(X,))
    assert repr(report) == str(report) and "Explained(" not in repr(report)
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.endswith("</iframe>")
    page = html.unescape(shown.partition('srcdoc="')[2].partition('" style=')[0])
    assert page.startswith("<!DOCTYPE html>") and "energy and its derivative" in page
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again._repr_html_() == f"<pre>{html.escape(str(report))}</pre>"


CELL = "def area(r):\n    return 3.0 * r**2\n\ndef stops(r):\n    yield r\n"


@pytest.fixture
def cell(monkeypatch):
    """What a notebook's second cell defines."""
    file = "/tmp/ipykernel_31/1162491627.py"
    linecache.cache[file] = (len(CELL), None, CELL.splitlines(True), file)
    numbers = {file: ("Cell", "In[2]")}
    compiler = types.SimpleNamespace(format_code_name=numbers.get)
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    space = {"__name__": "__main__"}
    exec(compile(CELL, file, "exec"), space)
    return space


def test_places_in_a_notebook(cell):
    area = cell["area"]
    assert "Gradient of area (In[2]) with respect to r." in s2sad.grad(area).source(2.0)
    assert str(s2sad.explain(area, args=(2.0,))).startswith("area (In[2]:1), with respect to r")
    with pytest.raises(s2sad.Error, match=r"Cell In\[2\], line 4"):
        s2sad.grad(cell["stops"])(2.0)


def test_a_file_from_a_notebook_says_that_no_command_makes_it(cell, tmp_path, capsys):
    from s2sad import cli

    path = s2sad.grad(cell["area"]).emit(tmp_path / "area_grad.py", 2.0)
    assert "# command: none, s2sad cannot name area as a function of a module" in path.read_text()
    assert cli.main(["emit", "--check", str(path)]) == 2
    assert "area_grad.py cannot be compared" in capsys.readouterr().err
