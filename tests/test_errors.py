"""Every refusal by its whole message: reason, file, line, the line with a caret, remedy."""

import collections
import dataclasses
import functools
import heapq
import importlib
import inspect
import itertools
import linecache
import math
import pickle
import sys
import types
import zlib
from operator import itemgetter

import numpy as np
import pytest
from numpy._core.multiarray import correlate2

import s2sad
from s2sad.errors import Place, shown_file

X = np.array([0.7, -1.3, 0.4])
IN_PLACE = "Build a new value instead: np.where, np.concatenate, or a list and np.array."


def refused(call, cls, also, reason, fn=None, line="", span=None, remedy=""):
    """Check the class and the whole message of what a call raises; `span` is what is underlined."""
    with pytest.raises(s2sad.Error) as caught:
        call()
    assert str(caught.value) == expected(reason, fn, line, span, remedy)
    assert type(caught.value).__name__ == cls
    assert isinstance(caught.value, also)


def expected(reason, fn, line, span, remedy):
    """Return the message for a line of a function, found by its text."""
    lines = [reason]
    if fn is not None:
        source, first = inspect.getsourcelines(fn)
        number = next(i for i, text in enumerate(source) if text.strip() == line)
        span = line if span is None else span
        lines += [
            f'  File "{inspect.getsourcefile(fn)}", line {first + number}, in {fn.__name__}',
            f"    {line}",
            f"    {' ' * line.index(span)}{'^' * len(span)}",
        ]
    return "\n".join([*lines, remedy])


def test_a_place_in_a_notebook_is_that_of_the_cell(monkeypatch):
    """IPython keeps each cell in a file, and knows its number."""
    cells = {"/tmp/ipykernel_7/1162491627.py": ("Cell", "In[2]")}
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=cells.get))
    notebook = types.SimpleNamespace(get_ipython=lambda: shell)
    place = Place(*cells, 3, 4, 9, "    yield x", "f")
    assert place.render().startswith('  File "/tmp/ipykernel_7/1162491627.py", line 3, in f\n')
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert place.render().startswith("  Cell In[2], line 3, in f\n    yield x\n")
    assert [shown_file(file) for file in (*cells, "/home/model.py")] == ["In[2]", "model.py"]
    monkeypatch.setattr(notebook, "get_ipython", lambda: None)
    assert "File" in place.render()


# --- writes in place -----------------------------------------------------------------------------


def fills_a_list(x):
    ys = [x, x * x]
    ys[::2] = [x * 3.0]
    return ys[0] + ys[1]


def writes_a_view(x):
    y = [x * 2.0]
    view = y
    view[::2] = [5.0]
    return y[0] * x


def writes_at(x):
    y = np.zeros(3)
    np.copysign.at(y, [0, 1, 1], x)
    return np.sum(y)


def test_what_reverse_mode_on_the_program_follows():
    assert s2sad.grad(fills_a_list)(3.0) == 9.0
    assert s2sad.grad(writes_a_view)(3.0) == 5.0
    assert s2sad.grad(reads_unbound)(3.0) == pytest.approx(math.log(3.0) + 1.0)
    assert s2sad.grad(reads_unbound)(-2.0) == 3.0
    assert s2sad.grad(rebinds_the_exception)(3.0) == pytest.approx(1.0 / 3.0)
    assert s2sad.grad(rebinds_the_exception)(-2.0) == 1.0


def test_the_place_of_a_number_among_arrays():
    refused(
        lambda: s2sad.grad(outer)(X),
        "UnsupportedError",
        NotImplementedError,
        "This puts a number into a list that held arrays where it was made, and the list changes "
        "its length, or a slice of it is written.",
        inner,
        "b[::2] = [a[1]]",
        remedy="Start with an empty list, or put values of one kind into it.",
    )


def test_a_write_at_places():
    refused(
        lambda: s2sad.grad(writes_at)(X),
        "UnsupportedError",
        NotImplementedError,
        "The result depends on `y`, which is written in place by `np.copysign.at`; s2sad cannot "
        "differentiate this write yet.",
        writes_at,
        "np.copysign.at(y, [0, 1, 1], x)",
        remedy=IN_PLACE,
    )


# --- statements ----------------------------------------------------------------------------------


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return kind is ValueError


def leaves_with(x):
    with Swallowing():
        y = x * x
    return y


def quiet(x):
    with np.errstate(all="ignore"):
        y = x * x
    return y * y


def test_a_manager_that_only_sets_warnings_is_no_obstacle():
    assert s2sad.grad(quiet)(3.0) == 108.0


def test_a_manager_that_may_swallow_exceptions():
    refused(
        lambda: s2sad.grad(leaves_with)(3.0),
        "UnsupportedError",
        NotImplementedError,
        "This context manager may swallow an exception that leaves its block; s2sad cannot tell "
        "then how far the block got, and it binds `y`, on which the result depends.",
        leaves_with,
        "with Swallowing():",
        remedy="Let its __exit__ return None, or catch exceptions with try.",
    )


def binds_half(x):
    y = x
    try:
        y = y * 2.0
        z = math.log(y)
    except ValueError:
        z = y
    return z * x


def test_a_try_that_is_left_half_done():
    refused(
        lambda: s2sad.grad(binds_half)(3.0),
        "UnsupportedError",
        NotImplementedError,
        "An exception may leave this try after it has bound `y`: s2sad cannot tell how far the try "
        "got, and the result depends on the names that it binds.",
        binds_half,
        "try:",
        remedy="Bind `y` before the try or in a try of its own, or use another name there.",
    )


def reads_unbound(x):
    if x > 0.0:
        y = math.log(x)
    try:
        z = y * x
    except NameError:
        z = x * 3.0
    return z


def test_a_try_that_reads_what_may_be_unbound():
    for x, slope in ((3.0, math.log(3.0) + 1.0), (-1.0, 3.0)):
        value, tangent = s2sad.jvp(reads_unbound, (x,), (1.0,))
        assert value == reads_unbound(x) and abs(tangent - slope) < 1e-12
        assert abs(s2sad.grad(reads_unbound)(x) - slope) < 1e-12


def rebinds_the_exception(x):
    error = x * 2.0
    try:
        y = math.log(x)
    except ValueError as error:  # noqa: F811
        y = x + len(str(error))
    return y


def test_a_name_that_is_an_exception_too():
    for x, slope in ((3.0, 1.0 / 3.0), (-1.0, 1.0)):
        value, tangent = s2sad.jvp(rebinds_the_exception, (x,), (1.0,))
        assert value == rebinds_the_exception(x) and abs(tangent - slope) < 1e-12
        assert abs(s2sad.grad(rebinds_the_exception)(x) - slope) < 1e-12


def writes_half(x):
    out = np.zeros(2)
    try:
        out[0] = x[0]
        out[1] = math.log(x[1])
    except ValueError:
        out[1] = x[1]
    return np.sum(out * out)


def fill_or_raise(out, x):
    out[0] = x[0]
    if x[1] < 0.0:
        raise ValueError("negative")
    out[1] = x[1]


def calls_what_writes_and_raises(x):
    out = np.zeros(2)
    try:
        fill_or_raise(out, x)
    except ValueError:
        out[1] = 3.0
    return np.sum(out * out)


@pytest.mark.parametrize(
    "fn, line",
    [(writes_half, "out[0] = x[0]"), (calls_what_writes_and_raises, "fill_or_raise(out, x)")],
    ids=["item", "call"],
)
def test_memory_that_a_try_leaves_half_written(fn, line):
    refused(
        lambda: s2sad.grad(fn)(np.array([1.0, -2.0])),
        "UnsupportedError",
        NotImplementedError,
        "The derivative depends on `out`, which is written in place in a try: an exception may "
        "leave the try after this write, and s2sad cannot tell how far it got.",
        fn,
        line,
        remedy="Compute the new values in the try, and write them after it.",
    )


def returns_in_finally(x):
    try:
        math.log(x)
    finally:
        return x * x  # noqa: B012


def test_return_in_finally():
    refused(
        lambda: s2sad.grad(returns_in_finally)(3.0),
        "UnsupportedError",
        NotImplementedError,
        "return, break or continue in a finally block drops the exception that is being raised; "
        "s2sad does not support that.",
        returns_in_finally,
        "return x * x  # noqa: B012",
        span="return x * x",
        remedy="Leave after the try statement, not in its finally block.",
    )


def value_of_an_exception(x):
    try:
        if x > 1.0:
            raise ValueError(x * x)
        y = x
    except ValueError as e:
        y = e.args[0]
    return y * 1.0


def test_a_value_that_an_exception_carries():
    with pytest.raises(s2sad.UnsupportedError, match="cannot tell the type of a value"):
        s2sad.grad(value_of_an_exception)(3.0)


def rebinds_outside(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v * v

    for step in [add]:
        step(x)
    return s


def test_nonlocal():
    refused(
        lambda: s2sad.grad(rebinds_outside)(3.0),
        "UnsupportedError",
        NotImplementedError,
        "The result depends on `s`, and an inner function rebinds it; s2sad cannot follow such a "
        "variable yet.",
        rebinds_outside,
        "nonlocal s",
        remedy="Return the new value, and assign it where the function is called.",
    )


def test_nonlocal_is_never_wrong():
    with pytest.raises(s2sad.Error):
        s2sad.grad(rebinds_outside)(3.0)


# --- calls ---------------------------------------------------------------------------------------


def has_no_rule(x):
    y = correlate2(x, x)
    return np.sum(y)


def test_no_rule_and_no_source():
    refused(
        lambda: s2sad.grad(has_no_rule)(X),
        "MissingRuleError",
        NotImplementedError,
        "s2sad has no derivative rule for correlate2, and no Python source to derive one from.",
        has_no_rule,
        "y = correlate2(x, x)",
        "correlate2(x, x)",
        remedy="Write one with @s2sad.pullback(correlate2), or make its inputs Const.",
    )


def by_an_object(x):
    p = np.asmatrix(x)
    return np.sum(p)


def by_bytes(x):
    y = x.view(np.float32)
    return np.sum(y)


def by_a_loop(x):
    y = np.vectorize(abs, signature="()->()")(x)
    return np.sum(y)


def by_a_mask(x):
    y = np.ma.masked_less(x, 0.0)
    return y.sum()


REASONS = [
    (by_a_mask, "np.ma.masked_less has no derivative: masked arrays", "Use where="),
    (by_an_object, "np.asmatrix has no derivative: np.matrix is not a plain", "Use arrays with @"),
    (by_bytes, "The array method .view() has no derivative: it reads", "Use .real and .imag"),
    (
        by_a_loop,
        "np.vectorize has no derivative: it calls a function of yours",
        "Write np.vectorize(f)(x)",
    ),
]


@pytest.mark.parametrize("f, why, advice", REASONS)
def test_what_is_refused_by_name_says_why(f, why, advice):
    with pytest.raises(s2sad.MissingRuleError) as error:
        s2sad.grad(f)(X)
    assert error.value.reason.startswith(why) and advice in str(error.value)


def gives_it_away(x):
    zlib.crc32(x)
    return np.sum(x)


def test_a_call_that_nobody_can_see_into():
    refused(
        lambda: s2sad.grad(gives_it_away)(X),
        "MissingRuleError",
        NotImplementedError,
        "The result depends on `x`, which is passed to a function that may change it: the function "
        "has no derivative rule and no readable source.",
        gives_it_away,
        "zlib.crc32(x)",
        remedy="Write a rule for the function with @s2sad.pullback, or pass it a copy.",
    )


def calls_with_a_signature(x):
    y = np.sin(x, signature="d->d")
    return np.sum(y)


def test_a_keyword_that_the_rule_does_not_list():
    refused(
        lambda: s2sad.grad(calls_with_a_signature)(X),
        "UnsupportedError",
        NotImplementedError,
        "This call of sin cannot be differentiated: the rule has no parameter `signature`.",
        calls_with_a_signature,
        'y = np.sin(x, signature="d->d")',
        'np.sin(x, signature="d->d")',
        remedy="Leave that argument out, or make the inputs of the call Const.",
    )


# --- kinds ---------------------------------------------------------------------------------------


def scales(x, q):
    s = x * 2.0
    return q * s


def test_operators_that_kinds_do_not_decide():
    refused(
        lambda: s2sad.grad(scales)(1.0, iter(())),
        "MissingRuleError",
        NotImplementedError,
        "s2sad cannot tell what `q * s` gives: it knows nothing of a tuple_iterator.",
        scales,
        "return q * s",
        "q * s",
        remedy="Compute it outside the function and pass it in as an argument.",
    )


def square(x):
    return np.sum(x * x)


def test_source_without_arguments_or_annotations():
    refused(
        lambda: s2sad.grad(square).source(),
        "UnsupportedError",
        NotImplementedError,
        "The annotations of square do not say which kind of value x is.",
        square,
        "def square(x):",
        remedy="Give example arguments.",
    )


# --- arguments and results -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, what, remedy",
    [
        (np.arange(3), "a 1-d array of int64, which has no derivative", "Pass x.astype(float)."),
        (
            np.array([True]),
            "a 1-d array of bool, which has no derivative",
            "Pass x.astype(float).",
        ),
        (True, "a bool, which has no derivative", "Pass a float, or leave it out."),
        (
            "text",
            "a string, which has no derivative",
            "Leave x out of what is differentiated.",
        ),
        (
            X.astype(object),
            "an array of objects or of records, which s2sad cannot differentiate",
            "Pass a float, a plain NumPy array, or a structure of these.",
        ),
        (
            np.ma.array(X),
            "a MaskedArray, a subclass of ndarray, which s2sad cannot differentiate",
            "Pass a float, a plain NumPy array, or a structure of these.",
        ),
    ],
    ids=["int", "bool", "flag", "str", "object", "masked"],
)
def test_an_argument_without_derivative(value, what, remedy):
    refused(
        lambda: s2sad.grad(square)(value),
        "ActivityError",
        TypeError,
        f"Argument x is {what}.",
        square,
        "def square(x):",
        remedy=remedy,
    )


def test_a_wrapped_argument():
    refused(
        lambda: s2sad.grad(square)(s2sad.Active(X)),
        "ActivityError",
        TypeError,
        "Argument x is wrapped in Active(...), which only autodiff accepts.",
        square,
        "def square(x):",
        remedy="Pass the value itself, and use wrt= or an annotation `x: Active` to say what is "
        "differentiated.",
    )


def doubled(x):
    return x * 2.0


def both(x):
    return x, x


def rotated(x):
    return x * 1j


def nothing(x):
    x * 2.0


@pytest.mark.parametrize(
    "fn, x, what",
    [
        (doubled, X, "returns a 1-d array of float64"),
        (both, 1.0, "returns a tuple of 2"),
        (rotated, 1.0, "returns a complex"),
        (nothing, 1.0, "has no `return`"),
    ],
)
@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
def test_a_result_that_is_no_real_scalar(fn, x, what, mode):
    remedy = {
        doubled: "Use s2sad.jacobian or s2sad.vjp, or return a scalar, such as the sum of the "
        "result.",
        both: "Pass has_aux=True: then the first item is differentiated, and the rest is returned "
        "unchanged.",
        rotated: "Return its real part, np.real(...), or use s2sad.jacobian or s2sad.vjp.",
        nothing: "Return the value to differentiate.",
    }[fn]
    refused(
        lambda: getattr(s2sad, mode)(fn)(x),
        "ActivityError",
        TypeError,
        f"{mode} needs a real scalar, but {fn.__name__} {what}.",
        fn,
        f"def {fn.__name__}(x):",
        remedy=remedy,
    )


STEPS = """
is_large a bool: x[0] > 0.2
any_large a bool: np.any(x > 0.5)
all_large a bool: all(v > 0.0 for v in x)
made_bool a bool: np.bool_(x[0] > 0.0)
length an int: len(x)
counted an int: np.sum(x > 0.4)
place an int: np.argmax(x)
floored an int: math.floor(x[0])
rounded an int: np.int64(np.round(x[0]))
chosen an int: 1 if x[0] > 0.0 else 0
whole a 0-d array of int64: np.array(3)
truth a 0-d array of bool: np.array(x[0] > 0.2)
on_one_path a bool: False if x[0] > 5.0 else np.sum(x)
at_the_end a bool: np.max(x) if x[0] < 5.0 else np.any(x > 0.5)
""".strip().splitlines()


@pytest.mark.parametrize("line", STEPS)
@pytest.mark.parametrize("mode", ["grad", "value_and_grad"])
def test_a_result_that_changes_by_steps(line, mode):
    head, text = line.split(": ")
    name, what = head.split(" ", 1)
    fn = spelled(f"def {name}(x):\n    return {text}\n", name)
    refused(
        lambda: getattr(s2sad, mode)(fn)(X),
        "ActivityError",
        TypeError,
        f"{mode} needs a real scalar, but {name} returns {what}, which changes in steps: its "
        "derivative is zero or does not exist.",
        fn,
        f"def {name}(x):",
        remedy="Return the float that it is computed from, or a smooth function instead.",
    )
    with pytest.raises(s2sad.ActivityError, match="changes in steps"):
        s2sad.hessian(fn)(X)


def spelled(text, name):
    file = f"<steps {zlib.crc32(text.encode())}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"np": np, "math": math}
    exec(compile(text, file, "exec"), space)
    return space[name]


def zero_at_the_start(x):
    return np.sum(x) if x[0] > 0.0 else 0


def from_an_integer(x):
    s = 0
    for v in x:
        s = s + v
    return s


def constant(x):
    return 1.0


@pytest.mark.parametrize(
    "fn, slope", [(zero_at_the_start, 1.0), (from_an_integer, 1.0), (constant, 0.0)]
)
def test_a_float_that_is_an_integer_on_some_path_has_a_gradient(fn, slope):
    assert np.array_equal(s2sad.grad(fn)(X + 10.0), np.full(len(X), slope))


def declared(x: s2sad.Active, n: s2sad.Const):
    return x * n


SQUARE = ("def square(x):", square)
DECLARED = ("def declared(x: s2sad.Active, n: s2sad.Const):", declared)


@pytest.mark.parametrize(
    "wrt, where, reason, remedy",
    [
        ("y", SQUARE, "wrt='y' names no parameter of square.", "The parameters of square are x."),
        (4, SQUARE, "wrt=4 names no parameter: square has 1.", "The parameters of square are x."),
        (
            "n",
            DECLARED,
            "wrt names n, which declared declares Const.",
            "Drop n from wrt, or annotate it Active.",
        ),
        (
            True,
            SQUARE,
            "wrt needs a position, a name, or a tuple of these, not True.",
            "The parameters of square are x.",
        ),
        (
            1.5,
            SQUARE,
            "wrt needs a position, a name, or a tuple of these, not 1.5.",
            "The parameters of square are x.",
        ),
        (("x", 0), SQUARE, "wrt=('x', 0) names x twice.", "Name it once."),
        (
            (),
            SQUARE,
            "wrt=() names no parameter.",
            "The parameters of square are x: name at least one.",
        ),
    ],
)
def test_wrt(wrt, where, reason, remedy):
    line, fn = where
    refused(
        lambda: s2sad.grad(fn, wrt=wrt), "ActivityError", TypeError, reason, fn, line, remedy=remedy
    )


# --- the function itself -------------------------------------------------------------------------


def generator(x):
    yield x * x


async def coroutine(x):
    return x * x


@pytest.mark.parametrize(
    "fn, what, line",
    [
        (generator, "a generator function", "def generator(x):"),
        (coroutine, "an async function", "async def coroutine(x):"),
    ],
)
def test_generators_and_coroutines(fn, what, line):
    refused(
        lambda: s2sad.grad(fn)(1.0),
        "UnsupportedError",
        NotImplementedError,
        f"{fn.__name__} is {what}, which s2sad cannot differentiate.",
        fn,
        line,
        remedy="Write a plain function that returns its result: collect the yielded or "
        "awaited values in a list, or await them outside and pass them in.",
    )


def test_a_function_without_source():
    space = {}
    exec(compile("def typed(x):\n    return x * x\n", "<none>", "exec"), space)
    with pytest.raises(s2sad.SourceError) as caught:
        s2sad.grad(space["typed"])(1.0)
    assert isinstance(caught.value, OSError)
    assert str(caught.value) == (
        "The source of typed cannot be found: <none> is neither a file that can be read nor "
        "text that linecache knows.\n"
        '  File "<none>", line 1, in typed\n'
        "Define the function in a file or a notebook cell, or put the text into linecache.cache "
        "before it is executed."
    )


def test_a_file_that_was_edited(tmp_path, monkeypatch):
    path = tmp_path / "edited_model.py"
    path.write_text("def f(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("edited_model")
    path.write_text("def f(x):\n    return x * x * x\n")
    try:
        with pytest.raises(s2sad.SourceError) as caught:
            s2sad.grad(module.f)(1.0)
    finally:
        del sys.modules["edited_model"]
    lines = str(caught.value).split("\n")
    assert lines[:2] == [
        f"The source of f is not the source of the running code: {path} was edited after it was "
        "imported.",
        f'  File "{path}", line 1, in f',
    ]
    assert lines[2].startswith("Import the file again, or start a new process.")
    assert len(lines) == 3


def test_a_function_that_is_not_python():
    refused(
        lambda: s2sad.grad(itemgetter(0)),
        "SourceError",
        OSError,
        "operator.itemgetter(0) is not written in Python: there is no source to derive from.",
        remedy="Wrap it in a function: `lambda x: operator.itemgetter(0)(x)`.",
    )


def test_no_function_at_all():
    with pytest.raises(TypeError, match=r"^grad needs a function, not 3\.0$"):
        s2sad.grad(3.0)


def test_jit():
    for operator in (s2sad.grad, s2sad.value_and_grad):
        refused(
            lambda: operator(square, jit=True),
            "UnsupportedError",
            NotImplementedError,
            "s2sad does not support jit=True yet: it does not compile derived code.",
            remedy="Leave jit out; the derived source is plain Python and NumPy.",
        )


# --- a refusal inside a callee names the callee --------------------------------------------------


def inner(a):
    b = [a * 2.0]
    b[::2] = [a[1]]
    return np.sum(b[0])


def outer(x):
    return inner(x * x)


# --- off the active path anything goes -----------------------------------------------------------


def counts_aside(x):
    seen = {}
    log = np.zeros(2)
    try:
        seen["x"] = 1
    except KeyError:
        seen["x"] = 2
    with np.errstate(all="ignore"):
        log[0] = 1.0
    return x * x


def test_off_the_active_path_nothing_is_refused():
    assert s2sad.grad(counts_aside)(3.0) == 6.0


# --- the errors themselves -----------------------------------------------------------------------


def test_the_caret_stands_under_the_span():
    place = Place("model.py", 3, 8, 13, "    y = x + z", "f")
    shown = '  File "model.py", line 3, in f\n    y = x + z\n        ^^^^^'
    assert place.render() == shown
    assert str(s2sad.UnsupportedError("No.", remedy="Do.", place=place)) == f"No.\n{shown}\nDo."
    assert str(s2sad.UnsupportedError("No.")) == "No."


def test_errors_can_be_pickled():
    place = Place("model.py", 3, 8, 13, "    y = x + z", "f")
    for cls in (s2sad.UnsupportedError, s2sad.SourceError, s2sad.ActivityError, s2sad.AliasError):
        error = cls("No.", remedy="Do.", place=place)
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is cls and str(again) == str(error)


def test_a_place_is_given_once():
    first, second = Place("a.py", 1, 0, 1, "x"), Place("b.py", 2, 0, 1, "y")
    error = s2sad.UnsupportedError("No.").at(first)
    assert error.at(second).place is first


# --- what cannot be read is refused where it stands, and by what it is ----------------------------


def makes_a_class(x):
    class Two:
        value = float("2.0")

    return x * Two.value


def makes_a_tuple(x):
    P = collections.namedtuple("P", "a b")
    return P(x, x * x).b


def makes_a_dataclass(x):
    P = dataclasses.make_dataclass("P", ["a"])
    return P(x).a ** 2


MAKES = "{} has no derivative: it makes a new class in every call."


@pytest.mark.parametrize(
    "fn, cls, reason, line, span, remedy",
    [
        (
            makes_a_class,
            "UnsupportedError",
            "s2sad cannot tell the type of a value that is used here: a class that is defined "
            "inside a function (Two), or an instance of it.",
            "return x * Two.value",
            "x * Two.value",
            "Define Two at module level, outside all functions.",
        ),
        (
            makes_a_tuple,
            "MissingRuleError",
            MAKES.format("collections.namedtuple"),
            'P = collections.namedtuple("P", "a b")',
            'collections.namedtuple("P", "a b")',
            "Make the class at module level, outside all functions.",
        ),
        (
            makes_a_dataclass,
            "MissingRuleError",
            MAKES.format("dataclasses.make_dataclass"),
            'P = dataclasses.make_dataclass("P", ["a"])',
            'dataclasses.make_dataclass("P", ["a"])',
            "Make the class at module level, outside all functions.",
        ),
    ],
)
def test_a_class_that_a_function_makes(fn, cls, reason, line, span, remedy):
    for derive in (lambda: s2sad.grad(fn)(2.0), lambda: s2sad.jvp(fn, (2.0,), (1.0,))):
        refused(derive, cls, NotImplementedError, reason, fn, line, span, remedy)


def squares(x):
    for v in x:
        yield v * v


def counted(x):
    items = squares(x)
    return np.sum(np.array([v for v in items])) + len(list(items))


def counts(x):
    yield 1.0
    yield 2.0


def counts_constants(x):
    total, items = 0.0, counts(3)
    for v in items:
        total += v * x[0]
    return total + len(list(items))


@pytest.mark.parametrize("fn, read", [(counted, squares), (counts_constants, counts)])
def test_what_cannot_be_read_is_shown_there(fn, read):
    reason = f"{read.__name__} is a generator function, which s2sad cannot differentiate."
    remedy = "Write a plain function that returns its result: collect the yielded or awaited "
    remedy += "values in a list, or await them outside and pass them in."
    for derive in (lambda: s2sad.grad(fn)(X), lambda: s2sad.jvp(fn, (X,), (X,))):
        line = f"def {read.__name__}(x):"
        refused(derive, "UnsupportedError", NotImplementedError, reason, read, line, None, remedy)


NOWHERE = {}
exec(compile("def of_no_file(x):\n    return x * x", "<none>", "exec"), NOWHERE)


def calls_what_has_no_source(x):
    return NOWHERE_FN(x) * 2.0


NOWHERE_FN = NOWHERE["of_no_file"]


def test_a_called_function_without_source():
    reason = (
        "The source of of_no_file cannot be found: <none> is neither a file that can be read nor "
        "text that linecache knows."
    )
    remedy = (
        "Define the function in a file or a notebook cell, or put the text into linecache.cache "
        "before it is executed."
    )
    for derive in (
        lambda: s2sad.grad(calls_what_has_no_source)(2.0),
        lambda: s2sad.jvp(calls_what_has_no_source, (2.0,), (1.0,)),
    ):
        line = "return NOWHERE_FN(x) * 2.0"
        refused(
            derive,
            "MissingRuleError",
            NotImplementedError,
            reason,
            calls_what_has_no_source,
            line,
            "NOWHERE_FN(x)",
            remedy,
        )


class Scaled:
    def _scaled(self, factor, x):
        return factor * x

    twice = functools.partialmethod(_scaled, 2.0)

    @functools.singledispatchmethod
    def either(self, x):
        return x


def test_what_chooses_functions_is_named():
    for fn, reason in (
        (lambda x: Scaled().twice(x) * x, r"\.twice\(\), which is a partialmethod of Scaled\."),
        (lambda x: Scaled().either(x) * x, "is a singledispatchmethod of Scaled"),
    ):
        with pytest.raises(s2sad.UnsupportedError, match=reason):
            s2sad.grad(fn)(2.0)


def merges(x):
    return sum(heapq.merge(list(x), [0.5]))


def in_part(x):
    items = itertools.islice(x, 2)
    return next(items) * next(items)


def around(x):
    turns, total = itertools.cycle([1.0, -1.0]), 0.0
    for v in x:
        total += next(turns) * v
    return total


def groups(x):
    total = 0.0
    for _, g in itertools.groupby([(0, x[0]), (0, x[1])], key=lambda t: t[0]):
        total += sum(v for _, v in g) + sum(v for _, v in g)
    return total


@pytest.mark.parametrize(
    "fn, reason",
    [
        (merges, r"heapq.merge has no derivative: it is read .*\n.*\n.*\n.*\nSort a list"),
        (in_part, r"islice has no derivative: only the .*\n.*\n.*\n.*\nMake it a list"),
        (around, r"itertools.cycle has no derivative: it is .*\n.*\n.*\n.*\nIndex what it"),
        (
            groups,
            r"itertools.groupby has no derivative: each of its groups .*\n.*\n.*\n.*\nWrite a loop",
        ),
    ],
)
def test_of_the_standard_library(fn, reason):
    with pytest.raises(s2sad.Error, match=reason):
        s2sad.grad(fn)(X)


def writes_through_a_reshape(x):
    A = np.outer(x, x)
    row = np.reshape(A, -1, order="F")
    row *= x[0]
    return np.sum(A**2)


def test_second_derivatives_of_memory_with_several_names():
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.hvp(writes_through_a_reshape, (X,), (X,))
    assert "a shadow that must be found by its memory" in caught.value.reason
    assert caught.value.remedy.startswith("Copy a possible view where its memory is written")
    assert caught.value.place.function == "writes_through_a_reshape"


def star(*args):
    return args[0] * args[1]


def named_and_gathered(a, *rest, **settings):
    return a * rest[0] * settings["k"]


@pytest.mark.parametrize(
    ("call", "reason", "remedy"),
    [
        (
            lambda: s2sad.grad(star, wrt=7)(1.0, 2.0),
            "star(*args) was given 2 arguments; wrt=7 is not one of their positions 0, 1.",
            "Name one of these positions.",
        ),
        (
            lambda: s2sad.vjp(star, 1.0, wrt=-2),
            "star(*args) was given 1 argument; wrt=-2 is not one of their positions 0.",
            "Name one of these positions.",
        ),
        (
            lambda: s2sad.grad(named_and_gathered, wrt="q")(1.0, 2.0, k=3.0),
            "wrt='q' names no parameter of named_and_gathered.",
            "named_and_gathered(a, *rest, **settings) was given 3 arguments: a, rest[0], k.",
        ),
    ],
)
def test_arguments_that_a_function_gathers_are_called_what_the_user_calls_them(
    call, reason, remedy
):
    with pytest.raises(s2sad.ActivityError) as caught:
        call()
    assert (caught.value.reason, caught.value.remedy) == (reason, remedy)


class Column:
    """Stands for a column of a table, as pandas.Series."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __array__(self, *args, **kwargs):
        return self.values

    def to_numpy(self):
        return self.values


class Table(Column):
    """Stands for a table, as pandas.DataFrame."""

    __slots__ = ()
    columns = ("x",)

    def __getitem__(self, name):
        return Column(self.values)


def weighted_table(w, df):
    return np.sum(w * df["x"])


def weighted_column(w, x):
    return np.sum(w * x)


def test_tables_are_given_by_to_numpy(monkeypatch):
    monkeypatch.setattr(Column, "__module__", "pandas.core.series")
    monkeypatch.setattr(Table, "__module__", "pandas.core.frame")
    for f, given, remedy in (
        (weighted_table, Table, 'Pass each column that is used, as df["x"].to_numpy().'),
        (weighted_column, Column, "Pass its values, by its method to_numpy()."),
    ):
        with pytest.raises(s2sad.UnsupportedError) as caught:
            s2sad.grad(f)(2.0, given(np.ones(3)))
        assert caught.value.remedy == remedy
    with pytest.raises(s2sad.ActivityError) as caught:
        s2sad.grad(weighted_column, "x")(2.0, Column(np.ones(3)))
    assert caught.value.remedy == "Pass x.to_numpy()."


def test_a_suggestion_of_pythons_ends_the_sentence():
    def misspelt(x):
        return np.sum(x, axs=0)

    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(misspelt)(np.ones(3))
    assert caught.value.reason.endswith(("'axs'.", "'axis'?"))


@pytest.mark.skipif("cupy" in sys.modules, reason="CuPy is there")
def test_the_rules_of_cupy_need_cupy():
    sys.modules.pop("s2sad.rules.cupy", None)
    with pytest.raises(ImportError, match="has the rules of CuPy: import cupy before it"):
        importlib.import_module("s2sad.rules.cupy")
