"""Emitted modules: alone in a fresh process, what they say, what they check, what is refused."""

import dataclasses
import importlib
import itertools
import linecache
import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import s2sad
from s2sad import SourceError

MODEL = '''
"""A module of the user's."""

import math
from functools import partial

import numpy as np
import numpy.linalg as la
from emit_other import helper as other_helper, LIMITS

RATE = 0.5
NAMES = ("a", 1, -2.5, None, True)
BIG = float("inf")
TABLE = np.array([1.0, 2.0, 3.0])
HALF = partial(pow, 2.0)


def square(x, n=2, *, shift=RATE):
    return RATE * x**n + shift


def outer(x):
    return square(x) + math.sin(x)


def f(x, k=RATE):
    return outer(x) * k * NAMES[2]


def deep(x: np.ndarray, count=3):
    total = 0.0
    for i in range(count):
        total = total + np.sum(np.tanh(x) * TABLE) * RATE
    return total


def bounded(x):
    if x > BIG:
        return x
    return x * x


def norm(x):
    return la.norm(x) ** 2


def imported(x):
    return other_helper(x) * LIMITS[1]


def make(scale, fn, array):
    def inner(x):
        return scale * fn(x)

    def captures(x):
        return np.sum(array * x)

    return inner, captures


class Model:
    def __init__(self):
        self.scale = 2.0

    def loss(self, w):
        return np.dot(w, w) * self.scale


def default(x, options=[1, 2]):
    return x * x


counter = 0


def counts(x):
    global counter
    counter = counter + 1
    return x * x
'''
OTHER = """
LIMITS = [1.0, 3.0]


def helper(x):
    return x * x
"""


DECORATED = """
from s2sad import differentiate
from emit_other import helper


@differentiate
def decorated(x):
    return helper(x) * x


def uses_decorated(x):
    return decorated(x) * 2.0
"""
NAMES = {"emit_model": MODEL, "emit_other": OTHER, "emit_decorated": DECORATED}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the user's modules in it, on the path."""
    for name, text in NAMES.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture
def model(folder):
    return __import__("emit_model")


def alone(path, expression):
    """Evaluate an expression in a fresh process that has the module and no s2sad."""
    program = f"""
        import sys
        class Nothing:
            def find_spec(self, name, *rest):
                if name.split(".")[0] in ("s2sad", "gast", "astor"):
                    raise ImportError("no " + name + " here")
        sys.meta_path.insert(0, Nothing())
        sys.path.insert(0, {str(path.parent)!r})
        import numpy as np
        import {path.stem} as m
        assert "s2sad" not in sys.modules
        r = {expression}
        print(repr(r.tolist() if isinstance(r, np.ndarray) else r))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr + path.read_text()
    return eval(run.stdout, {"np": np})


# --- in a fresh process --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("f", "0.7"),
        ("f", "0.7, 2.0"),
        ("deep", "np.array([0.1, 0.2, 0.3])"),
        ("bounded", "1.5"),
        ("norm", "np.array([3.0, 4.0])"),
    ],
)
def test_gradients_alone(model, tmp_path, name, args):
    args_ = eval(f"({args},)")
    gradient = s2sad.grad(getattr(model, name))
    path = gradient.emit(tmp_path / f"{name}_emitted.py", *args_)
    assert path == tmp_path / f"{name}_emitted.py"
    assert np.array_equal(alone(path, f"m.{name}_grad({args})"), gradient(*args_))


def test_value_and_grad_alone(model, tmp_path):
    path = s2sad.value_and_grad(model.f, wrt=("x", "k")).emit(tmp_path / "both.py", 0.7, 2.0)
    expected = s2sad.value_and_grad(model.f, wrt=("x", "k"))(0.7, 2.0)
    assert alone(path, "m.f_value_and_grad(0.7, 2.0)") == expected


def test_vjp_alone(model, tmp_path):
    path = s2sad.emit(model.f, tmp_path / "pulled.py", mode="vjp", wrt="x", args=(0.7, 2.0))
    y, pullback = s2sad.vjp(model.f, 0.7, 2.0, wrt="x")
    got = alone(path, "(lambda y, p: (y, p(1.5), p(1.0)))(*m.f_vjp(0.7, 2.0))")
    assert got == (y, pullback(1.5), pullback(1.0))


def test_a_closure_alone(model, tmp_path):
    inner, _ = model.make(3.0, model.square, None)
    path = s2sad.grad(inner).emit(tmp_path / "inner_emitted.py", 2.0)
    assert alone(path, "m.inner_grad(2.0)") == 3.0 * 0.5 * 2 * 2.0


def test_a_lambda_alone(tmp_path):
    square = lambda x: x * x * math.pi
    path = s2sad.grad(square).emit(tmp_path / "square_emitted.py", 2.0)
    assert alone(path, "m.lambda__grad(2.0)") == s2sad.grad(square)(2.0)


def test_the_source_is_the_same_text_each_time(model):
    first = s2sad.grad(model.f).source(0.7)
    assert s2sad.grad(model.f).source(1.7) == first == s2sad.source(model.f, args=(0.1,))


# --- what is in the text -------------------------------------------------------------------------


def test_source_has_no_checks_and_no_heading(model):
    text = s2sad.grad(model.norm).source(np.ones(3))
    assert text.startswith("import numpy")
    assert "TypeError" not in text and "Derived by" not in text


def test_literal_globals_become_constants(model):
    text = s2sad.grad(model.f).source(0.7)
    assert 'NAMES = ("a", 1, -2.5, None, True)\n' in text and "RATE = 0.5\n" in text


def test_infinity_is_written_as_a_call(model):
    assert 'BIG = float("inf")\n' in s2sad.grad(model.bounded).source(0.7)


def test_modules_are_imported_under_the_names_in_use(model):
    assert "import numpy.linalg as la\n" in s2sad.grad(model.norm).source(np.ones(3))


def test_data_is_imported_from_the_module_it_is_in(model):
    assert "from emit_model import TABLE\n" in s2sad.grad(model.deep).source(np.ones(3))


def test_defaults_are_those_in_force(model):
    model.f.__defaults__ = (4.0,)
    assert "def f_grad(x, k=4.0):" in s2sad.grad(model.f).source(0.7)


def test_no_s2sad_in_the_text(model):
    decorated = __import__("emit_decorated")
    for text in (
        s2sad.grad(decorated.uses_decorated).source(0.7),
        decorated.decorated.grad.source(0.7),
    ):
        assert "import s2sad" not in text


def test_names_of_two_modules(model):
    gradient = s2sad.grad(model.imported)
    assert gradient(2.0) == 12.0
    assert "LIMITS" in gradient.source(2.0)


def test_a_method(model, tmp_path):
    path = s2sad.grad(model.Model().loss).emit(tmp_path / "method.py", np.ones(3))
    got = alone(path, "m.loss_grad(__import__('emit_model').Model(), np.ones(3))")
    assert np.array_equal(got, [4.0, 4.0, 4.0])


LINES = """
import numpy as np
from scipy.optimize import fsolve


def step(state, rate):
    for i in range(len(state)):
        if state[i] > rate:
            state[i] = state[i] * rate
    return state


def loss(x, rate):
    twice = lambda v: v * 2.0
    x[1:] = x[:-1] * rate
    x[:2] = x[-1:]
    return np.sum(step(x * x, rate)) + twice(rate) + fsolve(lambda z: z * z - rate, 1.0)[0]
"""


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp", "reverse"])
def test_where_a_function_stands_in_its_file_is_not_in_the_text(tmp_path, monkeypatch, mode):
    monkeypatch.syspath_prepend(str(tmp_path))
    texts = []
    for above in ("", "import os\n\n\ndef other():\n    return os\n"):
        (tmp_path / "emit_lines.py").write_text(above + LINES)
        sys.modules.pop("emit_lines", None)
        m = importlib.import_module("emit_lines")
        args = (np.ones(3), 0.5)
        if mode == "reverse":
            args = (s2sad.Duplicated(np.ones(3), np.zeros(3)), 0.5)
        texts.append(s2sad.source(m.loss, mode=mode, args=args))
        linecache.cache.pop(m.__file__, None)
    sys.modules.pop("emit_lines")
    assert texts[0] == texts[1]
    assert "loss (emit_lines.py)" in texts[0]


# --- checks on entry -----------------------------------------------------------------------------


def emitted(f, args, folder, **options):
    """Emit, import, and return the entry function."""
    path = s2sad.grad(f, **options).emit(folder / "checked.py", *args)
    namespace = {}
    exec(path.read_text(), namespace)
    return namespace[f"{f.__name__}_grad"], path.read_text()


def test_checks_of_an_array(model, tmp_path):
    grad, text = emitted(model.norm, (np.ones(3),), tmp_path)
    assert (
        '    if not (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == "float64"):\n'
        '        raise kind_error("norm_grad was derived for x: a 1-d array of float64", x)\n'
    ) in text
    assert np.array_equal(grad(np.array([3.0, 4.0])), [6.0, 8.0])
    assert np.array_equal(grad(np.array([3.0])), [6.0])
    for wrong in (np.ones((2, 2)), np.ones(2, "float32"), [1.0, 2.0], 1.0, None):
        with pytest.raises(TypeError, match=r"^norm_grad was derived for x: a 1-d array"):
            grad(wrong)


def product(x, y):
    return np.sum(x * y)


def test_checks_of_lengths(tmp_path):
    grad, text = emitted(product, (np.ones((3, 2)), np.ones((3, 1))), tmp_path)
    assert "derived for x: a 2-d array of float64, not of length 1 along axis 0" in text
    assert "y: a 2-d array of float64 with length 1 along axis 1 only" in text
    assert grad(np.ones((4, 5)), np.ones((4, 1))).shape == (4, 5)
    with pytest.raises(TypeError):
        grad(np.ones((4, 5)), np.ones((4, 5)))
    with pytest.raises(TypeError):
        grad(np.ones((1, 5)), np.ones((4, 1)))


def residuals(w, X, y):
    r = X @ w - y
    return r @ r


def outer_sum(x, y):
    return np.sum((x * y) ** 2)


def test_lengths_of_one_are_taken_where_the_text_is_the_same(tmp_path):
    grad, _ = emitted(residuals, (np.ones(3), np.ones((4, 3)), np.ones(4)), tmp_path)
    rng = np.random.default_rng(0)
    for m, n, k in ((4, 1, 4), (4, 3, 1), (4, 1, 1), (5, 2, 5)):
        args = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=k)
        assert grad(*args) == pytest.approx(s2sad.grad(residuals)(*args))
    with pytest.raises(TypeError, match="not of length 1 along axis 0"):
        grad(np.ones(3), np.ones((1, 3)), np.ones(1))
    grad, _ = emitted(outer_sum, (np.ones(3), np.ones(3)), tmp_path)
    assert grad(np.ones(3), np.ones(1)) == pytest.approx([2.0, 2.0, 2.0])
    with pytest.raises(TypeError, match="not of length 1"):
        grad(np.ones(1), np.ones(3))


def scaled(x, n, flag, name, nothing=None):
    return x * x * n


def test_checks_of_scalars(tmp_path):
    grad, _ = emitted(scaled, (2.0, 3, True, "a"), tmp_path)
    assert grad(2.0, 3, True, "b") == 12.0
    assert grad(2, 3, False, "b", None) == 12.0
    words = {0: "x: a float", 1: "n: an int", 2: "flag: a bool", 3: "name: a string"}
    given = "ndarray of float64 with shape (2,)"
    for position, said in {**words, 4: "nothing: None"}.items():
        args = [2.0, 3, True, "b", None]
        args[position] = np.ones(2)
        with pytest.raises(TypeError) as caught:
            grad(*args)
        assert str(caught.value) == f"scaled_grad was derived for {said}; given: {given}"


def nested(params, x):
    return params["a"] * x + params["b"][0] * x


def test_checks_of_structures(tmp_path):
    grad, _ = emitted(nested, ({"a": 1.0, "b": (2.0, 3)}, 2.0), tmp_path, wrt="x")
    assert grad({"a": 1.0, "b": (2.0, 3)}, 2.0) == 3.0
    two = 'params: a dict with the keys "a", "b"'
    for params, said in (
        ({"a": 1.0}, f"{two}; given: a dict with the keys ['a']"),
        ({"a": 1.0, "b": (2.0,)}, 'params["b"]: a tuple of 2; given: (2.0,)'),
        ({"a": 1.0, "b": (2.0, 3.0)}, 'params["b"][1]: an int; given: 3.0'),
        ({"a": "1", "b": (2.0, 3)}, "params[\"a\"]: a float; given: '1'"),
        ([1.0], f"{two}; given: [1.0]"),
        ({}, f"{two}; given: an empty dict"),
    ):
        with pytest.raises(TypeError) as caught:
            grad(params, 2.0)
        assert str(caught.value) == f"nested_grad was derived for {said}"


@dataclasses.dataclass
class Layer:
    W: np.ndarray
    rate: float


def layered(net, by_step):
    total = 0.0
    for layer in net["layers"]:
        total = total + layer.rate * np.sum(layer.W)
    for step in by_step:
        total = total + by_step[step] * net["it's {0}"]
    return total


def test_a_part_that_is_not_as_derived_for_is_named(tmp_path):
    def given(**changes):
        layers = [Layer(np.ones((2, 2)), 0.5), Layer(np.ones((3, 2)), 1)]
        net = {"layers": layers, "it's {0}": 2.0}
        return {**net, **changes}, {1: 1.0, 2: 3.0}

    grad, text = emitted(layered, given(), tmp_path)
    assert grad(*given())["it's {0}"] == 4.0
    assert max(map(len, text[text.index("import") :].splitlines())) <= 100
    W = "a 2-d array of float64"
    layer = Layer(np.ones((2, 2)), 0.5)
    for args, said in (
        (given(layers=[layer, Layer(np.ones((2, 2), "float32"), 0.5)]), f'["layers"][1].W: {W}'),
        (given(layers=[layer, Layer(np.ones(2), 0.5)]), f'["layers"][1].W: {W}'),
        (given(layers=[Layer(np.ones((2, 2)), "a")]), "[\"layers\"][0].rate: a float; given: 'a'"),
        (given(layers=[1.0]), '["layers"][0]: an instance of Layer; given: 1.0'),
        (given(layers=None), '["layers"]: a list; given: None'),
        (given(**{"it's {0}": None}), '["it\'s {0}"]: a float; given: None'),
    ):
        with pytest.raises(TypeError) as caught:
            grad(*args)
        assert f"layered_grad was derived for net{said}" in str(caught.value)
    with pytest.raises(TypeError, match=r"derived for by_step\[2\]: a float; given: 'x'"):
        grad(given()[0], {1: 2.0, 2: "x"})


def test_a_table_is_shown_on_one_line(tmp_path):
    class Table:
        def __repr__(self):
            return "a    1.0\nb    2.0"

    grad, _ = emitted(product, (np.ones(2), np.ones(2)), tmp_path)
    with pytest.raises(TypeError, match="given: a 1.0 b 2.0$"):
        grad(Table(), np.ones(2))


def by_name(p):
    return np.sum(np.tanh(p["w"])) * p["b"] + p["c"]


def in_order(p):
    total = 0.0
    for key in p:
        total = total * 2.0 + np.sum(p[key])
    return total


def the_middle_one(p):
    return np.sum(p[list(p)[1]])


PARTS = {"w": np.ones(3), "b": 2.0, "c": 1.0}
ORDERS = [dict(zip(o, map(PARTS.get, o), strict=True)) for o in itertools.permutations(PARTS)]


@pytest.mark.parametrize("mode", ["grad", "vjp", "value_and_grad"])
def test_keys_that_are_read_by_name_may_stand_in_any_order(mode, tmp_path):
    operator = getattr(s2sad, mode)
    path = s2sad.emit(by_name, tmp_path / "by_name.py", args=(PARTS,), mode=mode)
    assert 'p.keys() == {"w", "b", "c"}' in path.read_text()
    space = {}
    exec(path.read_text(), space)
    for p in ORDERS:
        found = space[f"by_name_{mode}"](p)
        expected = operator(by_name)(p) if mode != "vjp" else operator(by_name, p)
        if mode == "vjp":
            found, expected = found[1](1.0), expected[1](1.0)
        elif mode == "value_and_grad":
            found, expected = found[1], expected[1]
        assert found.keys() == expected.keys() == p.keys() and list(expected) == list(p)
        for key in p:
            assert np.array_equal(found[key], expected[key])


def test_keys_that_are_looked_up_when_it_runs_may_stand_in_any_order(tmp_path):
    grad, _ = emitted(the_middle_one, (PARTS,), tmp_path)
    for p in ORDERS:
        expected = {key: float(key == list(p)[1]) for key in p}
        for found in (grad(p), s2sad.grad(the_middle_one)(p)):
            assert {key: np.max(part) for key, part in found.items()} == expected


def test_keys_that_are_read_by_their_place_stand_in_the_order_derived_for(tmp_path):
    f = in_order
    grad, text = emitted(f, (PARTS,), tmp_path)
    assert "refused: another order of the keys in p" in text
    assert list(grad(PARTS)) == list(PARTS)
    said = 'p: a dict with the keys "w", "b", "c" in this order; given: a dict with the keys '
    for p in ORDERS[1:]:
        with pytest.raises(TypeError) as caught:
            grad(p)
        assert str(caught.value) == f"{f.__name__}_grad was derived for {said}{list(p)}"
        assert list(s2sad.grad(f)(p)) == list(p)


FUNCTIONS = """
import numpy as np


def square(v):
    return v * v


def cube(v):
    return v * v * v


class Layer:
    def __init__(self, act):
        self.act = act

    def __call__(self, v):
        return self.act(v)


class Twice(Layer):
    def __call__(self, v):
        return self.act(self.act(v))


def apply(fn, x):
    return np.sum(fn(x))


def in_a_dict(d, x):
    return np.sum(d["fn"](x))


def in_an_object(o, x):
    return np.sum(o(x))


def by_default(x, fn=square):
    return np.sum(fn(x))


def each(fns, x):
    for fn in fns:
        x = fn(x) if fn is not square else fn(x) * 2.0
    return np.sum(x)
"""
NAMES["emit_functions"] = FUNCTIONS


@pytest.mark.parametrize(
    ("name", "args", "other"),
    [
        ("apply", "m.square, x", "m.cube, x"),
        ("apply", "np.sin, x", "np.cos, x"),
        ("apply", "np.sum, x", "np.prod, x"),
        ("in_a_dict", "{'fn': m.square}, x", "{'fn': m.cube}, x"),
        ("in_an_object", "m.Layer(m.square), x", "m.Layer(m.cube), x"),
        ("in_an_object", "m.Layer(m.square), x", "m.Twice(m.square), x"),
        ("by_default", " x", "x, m.cube"),
        ("each", "(m.square, m.cube), x", "(m.cube, m.square), x"),
        ("each", "[m.square, m.cube], x", "[m.square, m.by_default], x"),
    ],
)
def test_checks_of_functions(folder, name, args, other):
    m = __import__("emit_functions")
    given, others = ([*eval(f"({a},)", {"m": m, "np": np, "x": X})] for a in (args, other))
    gradient = s2sad.grad(getattr(m, name), wrt="x")
    path = gradient.emit(folder / f"{name}_grad.py", *given)
    expected = gradient(*given).tolist()
    x, start = f"np.array({X.tolist()!r})", "__import__('emit_functions')"
    called = args.replace(" x", x).replace("m.", f"{start}.")
    assert alone(path, f"m.{name}_grad({called})") == expected
    space = {}
    exec(path.read_text(), space)
    with pytest.raises(TypeError, match="derived for"):
        space[f"{name}_grad"](*others)


X = np.array([1.0, 2.0])


def test_a_function_without_a_name(tmp_path):
    def apply(fn, x):
        return np.sum(fn(x))

    with pytest.raises(SourceError, match="without a name in a module"):
        s2sad.grad(apply, wrt="x").emit(tmp_path / "a.py", lambda v: v * v, X)


# --- refusals ------------------------------------------------------------------------------------


@pytest.fixture
def refusal(tmp_path):
    def refused(f, *args):
        with pytest.raises(SourceError) as caught:
            s2sad.grad(f).emit(tmp_path / "refused.py", *args)
        assert not (tmp_path / "refused.py").exists()
        return str(caught.value)

    return refused


def test_a_captured_array(model, folder, refusal):
    _, captures = model.make(1.0, None, np.ones(2))
    assert s2sad.grad(captures)(np.ones(2)).tolist() == [1.0, 1.0]
    line = captures.__code__.co_firstlineno
    assert refusal(captures, np.ones(2)) == (
        "captures captures array, an array: an emitted module cannot import it.\n"
        f'  File "{folder}/emit_model.py", line {line}, in captures\n'
        "    def captures(x):\n"
        "    ^^^^^^^^^^^^^^^^\n"
        "Make it a parameter, or a global of a module that can be imported. `.source()` prints the "
        "derivative as it is."
    )
    text = s2sad.grad(captures).source(np.ones(2))
    assert text.startswith("# array: captured by captures\n\n")


def test_data_of_a_script(refusal):
    namespace = {"__name__": "__main__", "table": np.ones(2), "np": np}
    text = "def f(x):\n    return np.sum(table * x)\n"
    linecache.cache["<script>"] = (len(text), None, text.splitlines(True), "<script>")
    exec(compile(text, "<script>", "exec"), namespace)
    assert refusal(namespace["f"], np.ones(2)).startswith(
        "f uses table, an array defined in __main__: an emitted module cannot import it.\n"
    )
    text = s2sad.grad(namespace["f"]).source(np.ones(2))
    assert text.startswith("# table: defined in __main__\n")
    exec(text, namespace)
    assert namespace["f_grad"](np.ones(2)).tolist() == [1.0, 1.0]


CLASSES = """
class Missed(Exception):
    pass


class Rates:
    def __init__(self, a):
        self.a = a


def f(x):
    if x > 10.0:
        raise Missed(x)
    return Rates(x * x).a


def with_default(x, rates=[1.0, 2.0]):
    return x * rates[1]
"""


def test_classes_of_a_script_are_printed(refusal):
    namespace = {"__name__": "__main__"}
    linecache.cache["<classes>"] = (len(CLASSES), None, CLASSES.splitlines(True), "<classes>")
    exec(compile(CLASSES, "<classes>", "exec"), namespace)
    assert refusal(namespace["f"], 2.0).startswith(
        "f uses Missed, a class defined in __main__: an emitted module cannot import it.\n"
    )
    for mode in ("grad", "value_and_grad", "vjp", "jvp"):
        text = s2sad.source(namespace["f"], mode=mode, args=(2.0,))
        assert text.startswith("# Missed: defined in __main__\n")
        assert "import __main__" not in text and "from __main__" not in text
    exec(s2sad.grad(namespace["f"]).source(2.0), namespace)
    assert namespace["f_grad"](3.0) == 6.0
    text = s2sad.grad(namespace["with_default"]).source(2.0)
    assert "def with_default_grad(x, rates=[1.0, 2.0]):" in text


def test_a_default_that_cannot_be_written(model, refusal):
    assert refusal(model.default, 1.0).startswith(
        "s2sad cannot write the default [1, 2] of a parameter of default as text.\n"
    )
    assert s2sad.grad(model.default)(3.0) == 6.0


def test_a_global_that_is_assigned(model):
    with pytest.raises(s2sad.Error):
        s2sad.grad(model.counts).source(1.0)


def test_what_an_emit_refuses_leaves_no_file(model, tmp_path):
    _, captures = model.make(1.0, None, np.ones(2))
    with pytest.raises(SourceError):
        s2sad.grad(captures).emit(tmp_path / "none.py", np.ones(2))
    assert not (tmp_path / "none.py").exists()


def descended(f, df, x, n):
    for _ in range(n):
        x = x - f(x) / df(x)
    return x


def cubic(z):
    return z**3 - 2.0


def root_of_captured(x):
    g = lambda z: z**3 + np.sum(x) * z - 2.0
    return descended(g, s2sad.grad(g), 1.0, 4) * x[0]


def root_of_global(x):
    return descended(cubic, df=s2sad.grad(cubic), x=np.sum(x), n=2)


@pytest.mark.parametrize("f", [root_of_captured, root_of_global])
def test_derivatives_that_a_function_is_handed(f):
    """The called function's text names the derivative itself, so nobody has to make it."""
    x = np.array([0.7, 1.1])
    text = s2sad.source(f, args=(x,))
    space = {}
    exec(text, space)
    assert "import s2sad" not in text
    assert space[f"{f.__name__}_grad"](x) == pytest.approx(s2sad.grad(f)(x), rel=1e-15)
    s2sad.check_grads(f, (x,), order=1)
