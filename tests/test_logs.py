"""S2SAD_LOGS: what is printed as functions are derived, and what is refused."""

import linecache

import numpy as np
import pytest

import s2sad
from s2sad.errors import SettingError


def made():
    """A function of its own, which nothing was derived from before."""
    number = np.random.default_rng().random()
    namespace = {"np": np}
    text = f"def f(x, y={number}):\n    z = x * np.sin(y)\n    x = z * z + x\n    return x * y\n"
    name = f"<logged {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def logged(monkeypatch, capsys, what, run):
    monkeypatch.setenv("S2SAD_LOGS", what)
    run(made())
    out, err = capsys.readouterr()
    assert not out
    return err


def test_source(monkeypatch, capsys):
    err = logged(monkeypatch, capsys, "source", lambda f: s2sad.grad(f)(0.5))
    assert err.startswith("s2sad source: f_grad\n") and "def f_grad(x, y=" in err
    assert "activity" not in err


def test_activity_and_saved(monkeypatch, capsys):
    err = logged(monkeypatch, capsys, "activity, saved", lambda f: s2sad.grad(f, ("x", "y"))(0.5))
    assert "s2sad activity: f (" in err and "derived as f_grad\n" in err
    assert "    z            active   line 2 makes it depend on x and y" in err
    assert "    x            x as x: the backward sweep reads it for line 2, and line 3" in err
    assert "def f_grad" not in err


@pytest.mark.parametrize(
    "run",
    [
        lambda f: s2sad.vjp(f, 0.5),
        lambda f: s2sad.jvp(f, (0.5,), (1.0,)),
        lambda f: s2sad.source(f, args=(0.5,)),
        lambda f: s2sad.autodiff(s2sad.Reverse, f, s2sad.Active(0.5)),
    ],
)
def test_all_modes(monkeypatch, capsys, run):
    err = logged(monkeypatch, capsys, "activity", run)
    assert err.count("s2sad activity") == 1 and "z            active" in err


def test_once_and_not_without(monkeypatch, capsys):
    g = s2sad.grad(made())
    g(0.5)
    monkeypatch.setenv("S2SAD_LOGS", "source,activity,saved")
    g(0.7)
    assert capsys.readouterr().err == ""


def test_nothing_saved(monkeypatch, capsys):
    monkeypatch.setenv("S2SAD_LOGS", "saved")
    number = np.random.default_rng().random()
    s2sad.grad(lambda x: x * number)(2.0)
    assert capsys.readouterr().err.splitlines()[1] == "    nothing"


def test_unknown_names_are_refused(monkeypatch):
    monkeypatch.setenv("S2SAD_LOGS", "source,actvity")
    with pytest.raises(SettingError, match="does not know 'actvity'; did you mean 'activity'") as e:
        s2sad.grad(made())(0.5)
    assert isinstance(e.value, s2sad.Error) and isinstance(e.value, ValueError)
    assert "source, activity, saved" in str(e.value)
