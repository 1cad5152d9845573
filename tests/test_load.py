"""load: derived functions live in the user's namespaces, live, and leave nothing behind there."""

import inspect
import linecache
import sys
import traceback
from types import CellType

import numpy as np
import pytest

from s2sad.errors import InternalError
from s2sad.write.load import load

PAIR = '''import numpy as np


def f_grad(x, n=2, *, scale: float = 1.5) -> "float":
    """Gradient of f."""
    y = helper(x)
    return scale * factor * n * np.cos(y)


def helper(x):
    return x / 2
'''
user = {"__name__": "user", "factor": 3.0, "helper": "the user's own", "__builtins__": __builtins__}


def one(text, name="f", namespace=None, filename="<s2sad test>", **cells):
    found = load(
        text, name, filename=filename, namespaces={name: {} if namespace is None else namespace},
        cells={name: cells},
    )  # fmt: skip
    return found[name]


def test_siblings_imports_and_globals():
    namespace = dict(user)
    before = dict(namespace)
    functions = load(
        PAIR, "f_grad", filename="<s2sad f_grad 1>", namespaces={"f_grad": namespace}, cells={}
    )
    assert set(functions) == {"f_grad", "helper"}
    f_grad = functions["f_grad"]
    assert f_grad(1.0) == 1.5 * 3.0 * 2 * np.cos(0.5)
    assert f_grad(1.0, 1, scale=1.0) == 3.0 * np.cos(0.5)
    assert namespace == before
    assert f_grad.__globals__ is namespace


def test_globals_are_live():
    namespace = dict(user)
    f = one("def f():\n    return factor\n", namespace=namespace)
    namespace["factor"] = 7
    assert f() == 7
    g = one("def f():\n    global factor\n    factor = 8\n", namespace=namespace)
    g()
    assert namespace["factor"] == 8


def test_closure_cells_are_shared():
    def outer():
        count = 0

        def original():
            nonlocal count
            count += 1
            return count

        def peek():
            return count

        return original, peek

    original, peek = outer()
    cell = original.__closure__[0]
    text = "def f():\n    nonlocal count\n    count += 10\n    return count\n"
    f = one(text, count=cell)
    original()
    assert f() == 11
    assert peek() == 11
    assert f.__closure__[0] is cell


def test_an_empty_cell_may_be_filled_later():
    cell = CellType()
    f = one("def f():\n    return later\n", later=cell)
    with pytest.raises(NameError):
        f()
    cell.cell_contents = 4
    assert f() == 4


def test_a_cell_wins_over_a_global_an_import_and_a_sibling():
    namespace = {"a": "global"}
    text = "import math\n\n\ndef f():\n    return a, math, g\n\n\ndef g():\n    pass\n"
    assert one(text, namespace=namespace, a=1, math=2, g=3)() == (1, 2, 3)


def test_siblings_with_globals_of_their_own():
    text = "def f():\n    return a, g()\n\n\ndef g():\n    return a\n"
    functions = load(
        text, "f", filename="<s2sad two>", namespaces={"f": {"a": 1}, "g": {"a": 2}}, cells={}
    )
    assert functions["f"]() == (1, 2)


def test_recursion_and_inner_functions():
    text = """def f(n):
    def inner(m):
        return f(m - 1)

    return 1 if n == 0 else n * inner(n)
"""
    f = one(text)
    assert f(5) == 120
    assert f.__qualname__ == "f"
    inner = next(c for c in f.__code__.co_consts if hasattr(c, "co_qualname"))
    assert f.__code__.co_qualname == "f"
    assert inner.co_qualname == "f.<locals>.inner"


def test_super_and_methods():
    class Base:
        def value(self):
            return 1

    class Derived(Base):
        pass

    f = one("def f(self):\n    return super().value() + 1\n", __class__=Derived)
    assert f(Derived()) == 2


def test_attributes():
    f = load(PAIR, "f_grad", filename="<s2sad attributes>", namespaces={"f_grad": user}, cells={})[
        "f_grad"
    ]
    assert (f.__name__, f.__qualname__, f.__module__) == ("f_grad", "f_grad", "user")
    assert f.__doc__ == "Gradient of f."
    assert f.__defaults__ == (2,)
    assert f.__kwdefaults__ == {"scale": 1.5}
    assert f.__annotations__["return"] == "float"
    assert str(inspect.signature(f)) == "(x, n=2, *, scale: float = 1.5) -> 'float'"


def test_annotations_and_defaults_find_the_users_names():
    namespace = {"Real": complex, "default": 5}
    text = "def f(x: Real, y: Missing, *a: 'str', n=default) -> Real:\n    return n\n"
    f = one(text, namespace=namespace)
    assert f.__annotations__ == {"x": complex, "y": "Missing", "a": "str", "return": complex}
    assert f(0, 0) == 5
    assert set(namespace) == {"Real", "default"}
    future = "from __future__ import annotations\n\n\n"
    f = one(future + text, namespace=namespace)
    assert f.__annotations__["x"] == "Real"


def test_traceback_and_source():
    text = "def f(x):\n    y = x + 1\n    return y / 0\n\n\ndef g():\n    pass\n"
    f = one(text, filename="<s2sad traceback>")
    linecache.checkcache()
    with pytest.raises(ZeroDivisionError) as caught:
        f(1)
    shown = "".join(traceback.format_exception(caught.value))
    assert 'File "<s2sad traceback>", line 3, in f' in shown
    assert "return y / 0" in shown
    assert inspect.getsource(f) == "def f(x):\n    y = x + 1\n    return y / 0\n"
    assert inspect.getsourcefile(f) == "<s2sad traceback>"
    assert f.__code__.co_firstlineno == 1


def test_frames_as_a_debugger_sees_them():
    seen = []

    def probe():
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        seen.append((frame.f_code.co_name, frame.f_lineno, line, frame.f_locals["x"]))

    one("def f(x):\n    probe()\n", filename="<s2sad frames>", probe=probe)(3)
    assert seen == [("f", 2, "    probe()\n", 3)]


def test_two_derivations_do_not_disturb_each_other():
    first = one("def f():\n    return 1\n", filename="<s2sad f 1>")
    second = one("def f():\n    return 2\n", filename="<s2sad f 2>")
    assert (first(), second()) == (1, 2)
    assert "return 1" in inspect.getsource(first)
    assert "return 2" in inspect.getsource(second)


def test_refusals():
    with pytest.raises(InternalError, match="does not define g"):
        load("def f():\n    pass\n", "g", filename="<s2sad no>", namespaces={}, cells={})
    with pytest.raises(InternalError, match="decorated"):
        one("@d\ndef f():\n    pass\n")
