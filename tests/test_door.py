"""What users see of an error: their call, frames of their functions, and the message."""

import concurrent.futures
import copy
import pickle
import sys
import traceback

import numpy as np
import pytest

import s2sad

HERE = __file__


def refused(x):
    return np.sum(np.sine(x))


def shape_error(x):
    return np.sum(np.ones((2, 4)) @ x)


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def inner(paths):
    """Return the frames inside s2sad but the one that raises last."""
    return [p for p in paths if "s2sad/" in p.replace("\\", "/") and p != HERE]


CALLS = {
    "grad": lambda: s2sad.grad(refused)(np.ones(3)),
    "value_and_grad": lambda: s2sad.value_and_grad(refused)(np.ones(3)),
    "vjp": lambda: s2sad.vjp(refused, np.ones(3)),
    "pullback": lambda: s2sad.vjp(np.sin, 1.0)[1]("a"),
    "rows": lambda: s2sad.vjp(np.sin, 1.0)[1].rows(["a"]),
    "jvp": lambda: s2sad.jvp(refused, (np.ones(3),), (np.ones(3),)),
    "hvp": lambda: s2sad.hvp(refused, (np.ones(3),), (np.ones(3),)),
    "hessian": lambda: s2sad.hessian(refused)(np.ones(3)),
    "jacobian": lambda: s2sad.jacobian(refused)(np.ones(3)),
    "autodiff": lambda: s2sad.autodiff(s2sad.Reverse, refused, s2sad.Active(1.0)),
    "source": lambda: s2sad.source(refused, args=(np.ones(3),)),
    "source of": lambda: s2sad.grad(refused).source(np.ones(3)),
    "explain": lambda: s2sad.explain(refused, args=(np.ones(3),)),
    "wrt": lambda: s2sad.grad(refused, "y"),
    "decorated": lambda: s2sad.differentiate(refused).grad(np.ones(3)),
    "of a method": lambda: s2sad.differentiate(refused).vjp(np.ones(3)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_frame_of_s2sad_is_shown(call, monkeypatch):
    monkeypatch.delenv("S2SAD_TRACEBACK", raising=False)
    with pytest.raises(s2sad.Error) as caught:
        call()
    found = files(caught.value)
    assert found[0] == HERE
    assert len(inner(found)) <= 2, found
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    text = "".join(traceback.format_exception(caught.value))
    assert len(text.splitlines()) <= 20, text


def test_full(monkeypatch):
    monkeypatch.setenv("S2SAD_TRACEBACK", "full")
    with pytest.raises(s2sad.Error) as caught:
        CALLS["grad"]()
    assert len(inner(files(caught.value))) > 4


def test_what_was_handled_stays_the_context():
    with pytest.raises(s2sad.Error) as caught:
        try:
            raise KeyError("mine")
        except KeyError:
            CALLS["grad"]()
    assert isinstance(caught.value.__context__, KeyError)
    assert not caught.value.__suppress_context__


def test_an_error_of_the_users_that_is_raised_from_one():
    with pytest.raises(RuntimeError) as caught:
        try:
            CALLS["grad"]()
        except s2sad.Error as error:
            raise RuntimeError("no gradient") from error
    assert isinstance(caught.value.__cause__, s2sad.UnsupportedError)


def test_copies_and_pickles():
    with pytest.raises(s2sad.Error) as caught:
        CALLS["grad"]()
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(again) is type(caught.value) and str(again) == str(caught.value)


def test_groups():
    found = []
    for name in ("grad", "vjp"):
        try:
            CALLS[name]()
        except s2sad.Error as error:
            found.append(error)
    with pytest.raises(ExceptionGroup) as caught:
        raise ExceptionGroup("both", found)
    assert caught.value.subgroup(s2sad.UnsupportedError).exceptions == tuple(found)


def test_threads():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for task in [pool.submit(CALLS["grad"]) for _ in range(16)]:
            assert isinstance(task.exception(), s2sad.UnsupportedError)
            assert len(inner(files(task.exception()))) <= 2


def test_frames_of_derived_text_stay():
    with pytest.raises(ValueError, match="matmul") as caught:
        s2sad.grad(shape_error)(np.ones(3))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(f.filename.startswith("<s2sad") and "@ x" in (f.line or "") for f in frames)


def test_a_callback_of_the_users_stays():
    def hook(bar):
        raise s2sad.UnsupportedError("of mine")

    def f(x):
        return s2sad.adjoint_hook(x * x, hook)

    with pytest.raises(s2sad.UnsupportedError, match="of mine") as caught:
        s2sad.grad(f)(1.0)
    assert "hook" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "vjp", "jacobian", "hessian"])
def test_the_keyword_of_jax(name):
    with pytest.raises(TypeError, match=r"'argnums'; s2sad calls it wrt") as caught:
        getattr(s2sad, name)(refused, argnums=0)
    assert str(caught.value).startswith(f"{name}() got an unexpected keyword argument")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        getattr(s2sad, name)(lambda x: x, nonsense=1)


def no_return(x):
    np.sum(x)


def pair(x):
    return np.sum(x), x


def three(x):
    return np.sum(x), x, 1


def none_on_a_path(x):
    if x is None:
        return x
    return None


RESULTS = [
    (no_return, "but no_return has no `return`.", "Return the value"),
    (pair, "but pair returns a tuple of 2.", "Pass has_aux=True"),
    (three, "but three returns a tuple of 3.", "Return (loss, (the rest))."),
    (none_on_a_path, "but none_on_a_path returns None.", "Return the value"),
]


@pytest.mark.parametrize("fn, reason, remedy", RESULTS, ids=lambda v: getattr(v, "__name__", ""))
def test_results_that_are_no_scalars(fn, reason, remedy):
    with pytest.raises(s2sad.ActivityError) as caught:
        s2sad.grad(fn)(np.ones(2))
    assert reason in caught.value.reason and remedy in caught.value.remedy


class Tensor:
    def __init__(self):
        self.data = None

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __iter__(self):
        return iter([1.0])


def test_an_array_of_another_library():
    with pytest.raises(s2sad.ActivityError, match=r"is an Iterator|is a Tensor") as caught:
        s2sad.grad(lambda x: np.sum(x))(Tensor())
    assert caught.value.remedy == "Pass np.asarray(x)."


def test_errors_that_are_raised_are_exported():
    for name in ("MismatchError", "SettingError", "NotFiniteError", "DerivativeWarning"):
        assert name in s2sad.__all__ and getattr(s2sad, name).__module__ == "s2sad.errors"


def test_guards_say_what_was_given(tmp_path):
    path = s2sad.grad(lambda x, n: np.sum(x**n)).emit(tmp_path / "made.py", np.ones(3), 2)
    text = path.read_text()
    space = {}
    exec(compile(text, "made.py", "exec"), space)
    name = next(n for n in space if n.endswith("_grad"))
    with pytest.raises(TypeError, match=r"; given: ndarray of float64 with shape \(1, 2\)"):
        space[name](np.ones((1, 2)), 2)
    with pytest.raises(TypeError, match="given: 'two'"):
        space[name](np.ones(3), "two")
    with pytest.raises(TypeError) as caught:
        space[name]("x" * 1000, 2)
    assert len(str(caught.value)) < 200


def test_the_frames_of_tools_are_found():
    assert "s2sad.operators.door" in sys.modules


def scaled(x, y=2.0, *, table=np.ones(40)):  # noqa: B008
    return x * y * table[0]


MISTAKEN = {
    "grad": lambda: s2sad.grad(scaled)(),
    "value_and_grad": lambda: s2sad.value_and_grad(scaled)(),
    "vjp": lambda: s2sad.vjp(scaled),
    "jacobian": lambda: s2sad.jacobian(scaled)(),
    "autodiff": lambda: s2sad.autodiff(s2sad.Reverse, scaled),
    "source": lambda: s2sad.grad(scaled).source(y=1.0),
}


@pytest.mark.parametrize("call", MISTAKEN.values(), ids=MISTAKEN)
def test_arguments_that_a_function_does_not_take_are_one_error(call, monkeypatch):
    monkeypatch.delenv("S2SAD_TRACEBACK", raising=False)
    with pytest.raises(TypeError) as caught:
        call()
    said = "scaled() missing 1 required positional argument: 'x'"
    error = caught.value
    assert str(error) == f"{said}; scaled takes (x, y=2.0, *, table=...)"
    assert len(inner(files(error))) == 1 and not any("inspect" in p for p in files(error))
    assert error.__context__ is None and error.__cause__ is None
    assert traceback.format_exception_only(error)[0].startswith("TypeError: scaled()")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is TypeError and str(again) == str(error)


def test_other_arguments_that_a_function_does_not_take():
    with pytest.raises(TypeError, match=r"from 1 to 2 positional arguments but 3 .*; scaled takes"):
        s2sad.grad(scaled)(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'z'; scaled takes \(x, "):
        s2sad.grad(scaled)(1.0, z=3.0)
    try:
        raise KeyError("before")
    except KeyError as before:
        with pytest.raises(TypeError) as caught:
            s2sad.grad(scaled)()
        assert caught.value.__context__ is before


def test_the_line_that_raises_has_no_comment():
    with pytest.raises(s2sad.Error) as caught:
        s2sad.grad(refused)(np.ones(3))
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lines[-1] == "raise shortened(error)"
