"""The examples of docstrings run, and `help` teaches: each public name has a meaning."""

import doctest
import inspect

import numpy as np
import pytest

import s2sad

MODULES = ("control", "sparse", "testing")
IN_MODULES = [
    *(f"control.{n}" for n in "cond fori_loop map scan select switch while_loop".split()),
    *(f"sparse.{n}" for n in "groups hessian jacobian pattern".split()),
    *(f"testing.{n}" for n in "check_rule differences".split()),
]
EXAMPLES = ["s2sad", *s2sad.__all__, *MODULES, *IN_MODULES]
NEEDS = {"checkpointed": "checkpoint_schedules", "sparse": "networkx"}
WITH_EXAMPLES = [
    *"grad value_and_grad vjp jvp hvp hessian jacobian differentiate autodiff source".split(),
    *"explain check_grads checkpoint checkpointed stop_gradient within_gradient".split(),
    *"adjoint_hook ravel tree_map elementwise pullback nondifferentiable".split(),
    *IN_MODULES,
]


def named(name):
    """Return what a dotted name below s2sad denotes."""
    value = s2sad
    for part in () if name == "s2sad" else name.split("."):
        value = getattr(value, part)
    return value


def text_of(value):
    return inspect.getdoc(value) or ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name):
    if (needed := NEEDS.get(name.partition(".")[0])) is not None:
        pytest.importorskip(needed)
    value = named(name)
    names = {"np": np, "s2sad": s2sad, "__name__": "__main__"}
    found = doctest.DocTestParser().get_doctest(text_of(value), names, name, None, 0)
    told = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(found, out=told.append)
    assert not runner.failures, "".join(told)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_operators_have_examples(name):
    assert ">>> " in text_of(named(name))


@pytest.mark.parametrize("name", s2sad.__all__)
def test_public_names_say_what_they_are(name):
    assert len(text_of(getattr(s2sad, name)).split()) >= 4


def test_the_overview_names_what_there_is():
    text = text_of(s2sad)
    missing = [n for n in s2sad.__all__ if n not in text and not n.endswith(("Error", "Warning"))]
    assert not missing
    for module in ("s2sad.control", "s2sad.dask", "s2sad.testing", "s2sad.sparse"):
        assert module in text


def test_help_of_grad():
    text = text_of(s2sad.grad)
    for word in ("wrt", "has_aux", "debug_nans", "ActivityError", ".emit(", ".source("):
        assert word in text


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jvp", "hvp"])
def test_examples_over_partitions_run(name):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.array")
    text = text_of(getattr(s2sad.dask, name))
    names = {"np": np, "s2sad": s2sad, "dask": dask, "__name__": "__main__"}
    found = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    told = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(found, out=told.append)
    assert not told, "".join(told)
    assert len(text.split()) >= 4
