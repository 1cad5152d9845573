"""Read: which source is found, where it stands, and what is refused."""

from __future__ import annotations

import ast
import doctest
import functools
import gc
import linecache
import math
import os
import subprocess
import sys
import textwrap
import threading
import types
import warnings

import gast
import numpy as np
import pytest

from s2sad.capture import read as reading
from s2sad.capture.read import Callee, Source, read, unwrap
from s2sad.errors import Place, SourceError, UnsupportedError


def load(path, text, *, flags=0, newline=None):
    """Write a module, run it, give its names."""
    text = textwrap.dedent(text)
    with open(path, "w", encoding="utf-8", newline=newline) as file:
        file.write(text)
    names = {"__name__": "m"}
    exec(compile(text, str(path), "exec", flags, dont_inherit=True), names)
    return types.SimpleNamespace(**names)


def register(name, text):
    """Run text that only linecache knows, as a notebook does."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {}
    exec(compile(text, name, "exec", dont_inherit=True), names)
    return types.SimpleNamespace(**names)


@pytest.fixture
def module(tmp_path):
    return lambda text, **options: load(tmp_path / "m.py", text, **options)


def text_of(source: Source) -> str:
    return gast.unparse(source.node).strip()


def fn_of(obj):
    callee = unwrap(obj)
    return callee and callee.fn


# ---------------------------------------------------------------- files


def test_function_in_a_file(module, tmp_path):
    m = module("""
        import numpy as np

        def loss(x, n=2):
            # a comment
            return np.sin(x) ** n
    """)
    source = read(m.loss)
    assert source.fn is m.loss
    assert source.name == "loss"
    assert source.file == str(tmp_path / "m.py")
    assert source.lines == (
        "",
        "import numpy as np",
        "",
        "def loss(x, n=2):",
        "    # a comment",
        "    return np.sin(x) ** n",
    )
    assert type(source.node) is gast.FunctionDef
    assert (source.node.lineno, source.node.col_offset) == (4, 0)
    assert (source.node.body[0].lineno, source.node.body[0].col_offset) == (6, 4)
    assert text_of(source) == "def loss(x, n=2):\n    return np.sin(x) ** n"


def test_source_is_frozen(module):
    source = read(module("def f(x):\n    return x\n").f)
    with pytest.raises(AttributeError):
        source.name = "g"


def test_each_read_gives_a_tree_of_its_own(module):
    m = module("def f(x):\n    return x + 1\n")
    read(m.f).node.body.clear()
    assert text_of(read(m.f)) == "def f(x):\n    return x + 1"


@pytest.mark.parametrize(
    "header",
    [
        "import numpy as np",
        "from numpy import linalg as np",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None",
        "if True:\n    import numpy as np",
        "np = __import__('numpy')",
    ],
)
def test_how_a_name_is_imported_does_not_matter(tmp_path, header):
    # The compiler gives np.f(x) other instructions where np is imported by the module.
    m = load(tmp_path / "m.py", header + "\n\ndef f(x):\n    return np.norm(x) + np.f(x, n=1)\n")
    assert read(m.f).node.name == "f"


def test_file_without_final_newline(tmp_path):
    m = load(tmp_path / "m.py", "def f(x): return x")
    assert read(m.f).lines == ("def f(x): return x",)


def test_windows_line_ends(tmp_path):
    m = load(tmp_path / "m.py", "y = 1\n\ndef f(x):\n    return (x +\n      y)\n", newline="\r\n")
    assert b"\r\n" in (tmp_path / "m.py").read_bytes()
    source = read(m.f)
    assert source.lines == ("y = 1", "", "def f(x):", "    return (x +", "      y)")
    assert source.place(source.node.body[0]).text == "    return (x +"


def test_byte_order_mark_and_encoding_cookie(tmp_path):
    text = "# -*- coding: latin-1 -*-\ndef f(x):\n    return x + len('é')\n"
    path = tmp_path / "m.py"
    path.write_bytes(text.encode("latin-1"))
    names = {}
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    assert text_of(read(names["f"])) == "def f(x):\n    return x + len('é')"
    path = tmp_path / "n.py"
    path.write_bytes(b"\xef\xbb\xbfdef f(x):\n    return x\n")
    exec(compile(path.read_bytes(), str(path), "exec"), names)
    assert text_of(read(names["f"])) == "def f(x):\n    return x"


def test_form_feed_in_the_file(module):
    m = module("y = 1\n\x0c\ndef f(x):\n    return x + y\n")
    assert read(m.f).node.lineno == 3
    assert read(m.f).lines[2] == "def f(x):"


def test_zip_file(tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("zipped_m.py", "\ndef f(x):\n    return x * 2\n")
    monkeypatch.syspath_prepend(str(tmp_path / "a.zip"))
    import zipped_m

    assert text_of(read(zipped_m.f)) == "def f(x):\n    return x * 2"


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_annotations(tmp_path, future):
    m = load(
        tmp_path / "m.py",
        f"{future}def f(x: float, o: 'object' = None) -> float:\n"
        "    y: float = x\n    o.z: int = 3\n    return y\n",
    )
    source = read(m.f)
    assert gast.unparse(source.node.args.args[0].annotation).strip() == "float"


def test_future_flags_of_the_caller_do_not_leak(module):
    # This very file has annotations from __future__; the module read has not.
    m = module("def f(o):\n    o.z: print = 3\n    return o\n")
    assert read(m.f).node.name == "f"


@pytest.mark.parametrize("options", [[], ["-O"], ["-OO"], ["-X", "no_debug_ranges"]])
def test_interpreter_options(tmp_path, options):
    (tmp_path / "m.py").write_text(
        "def f(x):\n    'doc'\n    assert x > 0\n    return x if __debug__ else -x\n"
        "g, h = lambda x: x + 1, lambda x: x + 2\n"
    )
    script = (
        "import m; from s2sad.capture.read import read\n"
        "print(len(read(m.f).node.body), read(m.g).node.col_offset, read(m.h).node.col_offset)"
    )
    assert python(tmp_path, *options, "-c", script) == "3 7 24\n"


def python(folder, *arguments):
    path = os.pathsep.join([str(folder), *sys.path])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_module_imported_from_its_bytecode(tmp_path):
    (tmp_path / "m.py").write_text("def f(x):\n    return {1, 2.0, 'a'}, (x, -0.0, 1e400, 2j)\n")
    script = "import m; from s2sad.capture.read import read; print(read(m.f).name, m.__cached__)"
    for _ in range(2):
        assert python(tmp_path, "-c", script).startswith("f ")


# ---------------------------------------------------------------- which definition


def test_nested_function_and_closure(module):
    m = module("""
        def outer(a):
            b = a + 1
            def inner(x):
                def innermost(y):
                    return x * y * b
                return innermost
            return inner
    """)
    inner = m.outer(1)
    source = read(inner)
    assert (source.node.lineno, source.node.col_offset) == (4, 4)
    assert text_of(read(inner(2))) == "def innermost(y):\n    return x * y * b"
    assert inner(2).__code__.co_freevars == ("b", "x")


def test_conditional_definitions(module):
    text = """
        flag = {}
        if flag:
            def f(x):
                return x + 1
        else:
            def f(x):
                return x + 2
    """
    assert text_of(read(module(text.format(True)).f)).endswith("x + 1")
    assert text_of(read(module(text.format(False)).f)).endswith("x + 2")


def test_the_same_name_again(module):
    m = module("""
        def f(x):
            return x
        g = f
        def f(x):
            return -x
        class A:
            def f(self): return self
    """)
    assert (read(m.g).node.lineno, read(m.f).node.lineno) == (2, 5)
    assert read(m.A.f).node.lineno == 8


def test_equal_code_at_two_places(module):
    m = module("""
        def f(x):
            return x
        g = f
        def f(x):
            return x
    """)
    assert (read(m.g).node.lineno, read(m.f).node.lineno) == (2, 5)


def test_finally_compiles_its_body_twice(module):
    m = module("""
        def outer(x):
            try:
                return x
            finally:
                found.append(lambda y: y * x)
        found = []
        outer(1)
    """)
    assert text_of(read(m.found[0])) == "def lambda_(y):\n    return y * x"


def test_the_body_of_a_large_class_is_compiled_once(module, monkeypatch):
    m = module("class A:\n    def f(self): return 1\n    def g(self): return 2\n")
    calls = []
    real = reading._compile
    monkeypatch.setattr(reading, "_compile", lambda *a: calls.append(a) or real(*a))
    read(m.A.f), read(m.A.g), read(m.A.f)
    assert len(calls) == 1


# ---------------------------------------------------------------- lambdas


def test_lambda(module):
    m = module("""
        double = lambda x, *, n=2: n * x
    """)
    source = read(m.double)
    assert source.name == "lambda_"
    assert text_of(source) == "def lambda_(x, *, n=2):\n    return n * x"
    assert (source.node.lineno, source.node.col_offset) == (2, 9)
    assert (source.node.body[0].lineno, source.node.body[0].col_offset) == (2, 27)
    assert source.place(source.node).function == "<lambda>"


def test_lambdas_on_one_line(module):
    m = module("fs = [lambda x: x, lambda x: x + 1, lambda x, y: x, lambda x: lambda y: x + y]\n")
    assert [text_of(read(f)).split("\n")[1].strip() for f in m.fs[:3]] == [
        "return x",
        "return x + 1",
        "return x",
    ]
    assert [len(read(f).node.args.args) for f in m.fs[:3]] == [1, 1, 2]
    inner = m.fs[3](1)
    assert text_of(read(inner)) == "def lambda_(y):\n    return x + y"
    assert text_of(read(m.fs[3])) == "def lambda_(x):\n    return lambda y: x + y"


def test_equal_lambdas_on_one_line_are_told_apart_by_column(module):
    m = module("f, g = lambda x: 2 * 3 * x, lambda x: 6 * x; h = lambda x: 6*x\n")
    assert m.f.__code__.co_code == m.g.__code__.co_code
    assert [read(f).node.col_offset for f in (m.f, m.g, m.h)] == [7, 28, 49]


def test_lambda_in_a_call_that_spans_lines(module):
    m = module("""
        def keep(*fs):
            return fs

        fs = keep(
            lambda x: (
                x + 1
            ), lambda x: x *
               2,
            lambda
                x: x - 3,
        )
    """)
    assert [read(f).node.lineno for f in m.fs] == [6, 8, 10]
    assert [text_of(read(f)).split("return ")[1] for f in m.fs] == ["x + 1", "x * 2", "x - 3"]
    assert read(m.fs[2]).node.body[0].lineno == 11


def test_lambdas_as_default_in_comprehension_and_decorator(module):
    m = module("""
        def deco(g):
            return lambda f: (f, g)
        @deco(lambda x: x + 1)
        def f(h=lambda x: x + 2): return h
        fs = [lambda x, i=i: x + i for i in range(2)]
        class A:
            key = staticmethod(lambda x: x + 3)
    """)
    f, g = m.f
    assert text_of(read(g)).endswith("x + 1")
    assert text_of(read(f())).endswith("x + 2")
    assert text_of(read(f)) == "def f(h=lambda x: x + 2):\n    return h"
    assert text_of(read(m.fs[1])).endswith("x + i")
    assert text_of(read(m.A.key)).endswith("x + 3")


def test_lambda_that_was_given_a_name(module):
    m = module("f = lambda x: x\nf.__name__ = 'same'\ng = lambda x: x\ng.__name__ = 'no name'\n")
    assert (read(m.f).name, read(m.f).node.name) == ("same", "lambda_")
    assert read(m.g).name == "lambda_"


def test_lambda_inside_an_assert_of_this_file():
    kept = []
    assert kept.append(lambda x: x * 7) is None and not kept.append(lambda x: x * 8)
    assert [text_of(read(f)) for f in kept] == [
        "def lambda_(x):\n    return x * 7",
        "def lambda_(x):\n    return x * 8",
    ]


# ---------------------------------------------------------------- classes


def test_methods(module):
    m = module("""
        class A:
            def f(self, x):
                return self.w * x
            @staticmethod
            def s(x):
                return x
            @classmethod
            def c(cls, x):
                return x
            @property
            def p(self):
                return super().__hash__()
            class B:
                def f(self): return self
    """)
    a = m.A()
    assert (read(unwrap(a.f).fn).node.lineno, read(m.A.f).node.col_offset) == (3, 4)
    assert unwrap(a.f) == Callee(m.A.f, (a,), {})
    assert unwrap(m.A.f) == Callee(m.A.f)
    assert unwrap(a.s) == Callee(m.A.s, (), {})
    assert unwrap(a.c) == unwrap(m.A.c) == Callee(m.A.__dict__["c"].__func__, (m.A,), {})
    assert text_of(read(m.A.s)) == "def s(x):\n    return x"
    assert read(fn_of(a.c)).node.decorator_list == []
    assert read(m.A.p.fget).node.lineno == 12
    assert read(m.A.B.f).node.col_offset == 8


def test_private_names_are_written_out(module):
    m = module("""
        def keep(f): return f
        class __A:
            def __init__(self, __w):
                self.__w = __w
            @keep
            def __f(self, x, *, __n=2, **__k):
                def __g(__y): return __y.__z__ + __y.__w
                return self.__w * x + self.__g(__n) + keep(__n) + dict(__n=__k)["__n"]
            lam = lambda self: self.__w
            def fine(self): return self.__dict__, self.w, self.w__
            class B:
                def f(self): return self.__w
            def make(self):
                class C(self.__base):
                    x = self.__c
                    def f(self): return self.__w
                return C
        def outside(a): return a.__w
        A = __A
    """)
    assert text_of(read(m.A._A__f)) == (
        "def __f(self, x, *, _A__n=2, **_A__k):\n\n"
        "    def _A__g(_A__y):\n"
        "        return _A__y.__z__ + _A__y._A__w\n"
        "    return self._A__w * x + self._A__g(_A__n) + keep(_A__n) + dict(__n=_A__k)['__n']"
    )
    assert text_of(read(m.A.__init__)).endswith("self._A__w = _A__w")
    assert text_of(read(m.A.lam)).endswith("return self._A__w")
    assert text_of(read(m.A.fine)).endswith("return (self.__dict__, self.w, self.w__)")
    assert text_of(read(m.A.B.f)).endswith("self._B__w")
    assert text_of(read(m.A.make)) == (
        "def make(self):\n\n"
        "    class C(self._A__base):\n"
        "        x = self._C__c\n\n"
        "        def f(self):\n"
        "            return self._C__w\n"
        "    return C"
    )
    assert text_of(read(m.outside)).endswith("a.__w")


def test_what_was_written_out_compiles_to_the_code_that_runs(module):
    m = module("""
        class A:
            def f(self, __x):
                try:
                    from math import __doc__ as __d
                    global __g
                    __g = __d
                except ValueError as __e:
                    print(__e)
                match __x:
                    case {"a": 1, **__rest}: return __rest
                    case [1, *__star]: return __star
                    case 1 as __one: return __one
                return self.__f(__x)
    """)
    tree = ast.Module([gast.gast_to_ast(read(m.A.f).node)], [])
    code = compile(ast.fix_missing_locations(tree), "m", "exec").co_consts[0]
    assert code.co_names == m.A.f.__code__.co_names
    assert code.co_varnames == m.A.f.__code__.co_varnames
    assert code.co_code == m.A.f.__code__.co_code


def test_private_name_in_a_class_of_underscores(module):
    m = module("class __:\n    def f(self): return self.__w\n")
    assert text_of(read(m.__.f)).endswith("self.__w")


# ---------------------------------------------------------------- notebooks, exec, prompt


@pytest.mark.parametrize(
    "name",
    ["<ipython-input-1-e9ffdea529dc>", "/tmp/ipykernel_4711/1234567890.py", "<python-input-0>"],
)
def test_cells(name):
    m = register(name, "import numpy as np\n\ndef f(x):\n    return np.sin(x)\n")
    source = read(m.f)
    assert source.file == name
    assert source.node.lineno == 3
    assert source.place(source.node.body[0]) == Place(name, 4, 4, 20, "    return np.sin(x)", "f")


def test_cell_compiled_statement_by_statement():
    # As IPython does: f's np.sin(x) is compiled without the import in sight.
    name = "<ipython-input-2-0123456789ab>"
    text = "import numpy as np\nawait_me = 1\ndef f(x):\n    return np.sin(x)\nawait g()\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {}
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for statement in compile(text, name, "exec", flags).body[:3]:
        exec(compile(ast.Module([statement], []), name, "exec", dont_inherit=True), names)
    assert read(names["f"]).node.lineno == 3


def test_cell_run_again_under_the_same_name():
    name = "<ipython-input-3-0123456789ab>"
    old = register(name, "def f(x):\n    return x\n").f
    new = register(name, "def f(x):\n    return x + 1\n").f
    assert text_of(read(new)).endswith("x + 1")
    with pytest.raises(SourceError):
        read(old)


def test_exec_with_linecache_entry_split_at_windows_line_ends():
    m = register("<made>", "def f(x):\r\n    return x\r\n")
    assert read(m.f).lines == ("def f(x):", "    return x")


def test_doctest():
    seen = []
    text = ">>> def f(x):\n...     return x * 2\n>>> keep(f)\n"
    test = doctest.DocTestParser().get_doctest(
        text, {"keep": lambda f: seen.append(text_of(read(f)))}, "page", None, 0
    )
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(test).failed == 0
    assert seen == ["def f(x):\n    return x * 2"]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="linecache knows -c from 3.13 on")
def test_command_line(tmp_path):
    script = "from s2sad.capture.read import read\ndef f(x): return x\nprint(read(f).node.lineno)"
    assert python(tmp_path, "-c", script) == "2\n"


def test_text_known_by_code_object(monkeypatch):
    # As linecache does from 3.13.1 on for what the prompt and -c have run.
    names = {}
    text = "def f(x):\n    return x * 3\n"
    exec(compile(text, "<stdin>", "exec", dont_inherit=True), names)
    known = {names["f"].__code__: text.splitlines(True)}
    monkeypatch.setattr(
        linecache, "_getlines_from_code", lambda code: known.get(code, []), raising=False
    )
    assert text_of(read(names["f"])) == "def f(x):\n    return x * 3"


# ---------------------------------------------------------------- edited files


def test_edited_file(tmp_path):
    path = tmp_path / "model.py"
    m = load(path, "\ndef f(x):\n    return x + 1\n")
    path.write_text("\ndef f(x):\n    return x + 10\n")
    with pytest.raises(SourceError) as caught:
        read(m.f)
    assert isinstance(caught.value, OSError)
    assert str(caught.value) == (
        "The source of f is not the source of the running code: "
        f"{path} was edited after it was imported.\n"
        f'  File "{path}", line 2, in f\n'
        "Import the file again, or start a new process. If the file was not edited, an "
        "import hook or a decorator has changed the code: exclude this function from it."
    )


def test_edit_is_seen_also_after_a_first_read(tmp_path):
    path = tmp_path / "m.py"
    m = load(path, "def f(x):\n    return x + 1\n")
    read(m.f)
    path.write_text("def f(x):\n    return x + 100\n")
    with pytest.raises(SourceError, match="was edited"):
        read(m.f)
    path.write_text("def f(x):\n    return x + 1\n")
    assert read(m.f).name == "f"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x + 1", "return x + 1.0"),
        ("return x + 1", "return x + True"),
        ("return 0.0", "return -0.0"),
        ("return (1, 2)", "return (1, 2.0)"),
        ("return x in {1, 2}", "return x in {1, 3}"),
        ("return x + 1", "return x - 1"),
        ("return 2j", "return -2j"),
        ("return 0j", "return -0j"),
        ("return x.a", "return x.b"),
        ("return g(x)", "return h(x)"),
        ("return lambda: x", "return lambda: 0"),
        ("y = 1; return y", "z = 1; return z"),
        ("return [x for x in 'a']", "return [x for x in 'b']"),
        ("try: return 1\n    except A: pass", "try: return 1\n    except B: pass"),
        ("return x", "retur x"),
        ("return x", ""),
        ("return x", "\0"),
    ],
)
def test_every_edit_is_seen(tmp_path, old, new):
    path = tmp_path / "m.py"
    m = load(path, f"def f(x):\n    {old}\n")
    assert read(m.f).name == "f"
    path.write_text(f"def f(x):\n    {new}\n")
    with pytest.raises(SourceError, match="was edited after it was imported"):
        read(m.f)


@pytest.mark.parametrize("new", ["def f(x, y): return x", "def f(*x): return x", "x = 1", "\n"])
def test_changed_headers_are_seen(tmp_path, new):
    path = tmp_path / "m.py"
    m = load(path, "def f(x): return x\n")
    path.write_text(new)
    with pytest.raises(SourceError, match="was edited after it was imported"):
        read(m.f)


def test_edits_elsewhere_do_not_matter(tmp_path):
    path = tmp_path / "m.py"
    m = load(path, "a = 1\ndef f(x):\n    return x + a\ng = lambda x: x * 2\n")
    path.write_text(
        "a = 2\n\n\n# more\n@deco\ndef f(x):\n    # why\n    return x + a\ng = lambda x: x * 2\n"
    )
    assert read(m.f).node.lineno == 6
    assert read(m.g).node.lineno == 9


def test_of_equal_code_the_nearest_is_taken(tmp_path):
    path = tmp_path / "m.py"
    m = load(path, "def f(x): return x\ng = f\n\ndef f(x): return x\n")
    path.write_text("\ndef f(x): return x\ng = f\n\n\n\ndef f(x): return x\n")
    assert (read(m.g).node.lineno, read(m.f).node.lineno) == (2, 2)
    path.write_text("\ndef f(x): return x\n\n\ndef f(x): return x\n")
    assert (read(m.g).node.lineno, read(m.f).node.lineno) == (2, 5)


def test_another_function_on_the_line_is_not_mistaken(tmp_path):
    path = tmp_path / "m.py"
    m = load(path, "def f(x):\n    return x\nclass A:\n    def f(x):\n        return x\n")
    path.write_text("class A:\n    def f(x):\n        return x\ndef f(x):\n    return x\n")
    assert read(m.f).node.lineno == 4
    assert read(m.A.f).node.lineno == 2


def test_code_that_was_exchanged(module):
    m = module("def f(x):\n    return x\ndef g(x):\n    return -x\nf.__code__ = g.__code__\n")
    assert text_of(read(m.f)) == "def g(x):\n    return -x"
    m.f.__code__ = m.f.__code__.replace(co_consts=(None, 1))
    with pytest.raises(SourceError, match="import hook or a decorator has changed the code"):
        read(m.f)


# ---------------------------------------------------------------- no source


def test_exec_without_source():
    names = {}
    exec("def f(x): return x", names)
    if sys.version_info >= (3, 13):
        linecache.cache.pop("<string>", None)
    with pytest.raises(SourceError) as caught:
        read(names["f"])
    assert str(caught.value) == (
        "The source of f cannot be found: <string> is neither a file that can be read nor text "
        "that linecache knows.\n"
        '  File "<string>", line 1, in f\n'
        "Define the function in a file or a notebook cell, or put the text into linecache.cache "
        "before it is executed."
    )


def test_file_that_is_gone(tmp_path):
    m = load(tmp_path / "m.py", "def f(x): return x\n")
    (tmp_path / "m.py").unlink()
    with pytest.raises(SourceError, match="The source of f cannot be found: .*m.py is neither"):
        read(m.f)


def test_bytecode_only(tmp_path):
    import py_compile

    (tmp_path / "only.py").write_text("def f(x): return x\n")
    py_compile.compile(str(tmp_path / "only.py"), cfile=str(tmp_path / "only.pyc"))
    (tmp_path / "only.py").unlink()
    script = (
        "import only; from s2sad.capture.read import read\n"
        "try: read(only.f)\nexcept OSError as e: print(str(e).split(':')[0])"
    )
    assert python(tmp_path, "-c", script) == "The source of f cannot be found\n"


def test_errors_survive_pickling(tmp_path):
    import pickle

    names = {}
    exec(compile("def f(x): return x", "<nowhere>", "exec"), names)
    with pytest.raises(SourceError) as caught:
        read(names["f"])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# ---------------------------------------------------------------- generators and coroutines


def test_generator(tmp_path):
    path = tmp_path / "m.py"
    m = load(path, "class A:\n    def walk(self, x):\n        yield x\n")
    with pytest.raises(UnsupportedError) as caught:
        read(m.A.walk)
    assert isinstance(caught.value, NotImplementedError)
    assert str(caught.value) == (
        "A.walk is a generator function, which s2sad cannot differentiate.\n"
        f'  File "{path}", line 2, in walk\n'
        "    def walk(self, x):\n"
        "    ^^^^^^^^^^^^^^^^^^\n"
        "Write a plain function that returns its result: collect the yielded or awaited "
        "values in a list, or await them outside and pass them in."
    )


def test_coroutines(module):
    m = module("""
        import types
        async def a(x): return x
        async def b(x): yield x
        c = lambda: (yield)
        @types.coroutine
        def d(x): yield x
    """)
    kinds = {
        "a": ("an async function", 3),
        "b": ("an async generator function", 4),
        "c": ("a generator function", 5),
        "d": ("a generator function", 7),
    }
    for name, (kind, line) in kinds.items():
        with pytest.raises(UnsupportedError) as caught:
            read(getattr(m, name))
        assert f"is {kind}, which" in str(caught.value)
        assert caught.value.place.line == line


def test_generator_without_source():
    names = {}
    exec(compile("def f(x): yield x", "<nowhere>", "exec"), names)
    with pytest.raises(UnsupportedError) as caught:
        read(names["f"])
    assert caught.value.place.render() == '  File "<nowhere>", line 1, in f'


def test_function_that_holds_a_generator_is_read(module):
    m = module("def f(xs):\n    def g():\n        yield 1\n    return sum(x for x in xs)\n")
    assert read(m.f).node.name == "f"


# ---------------------------------------------------------------- places


def test_columns_count_characters(module):
    m = module("def f(x):\n    ä = 'é😀'; return x.größe + ä\n")
    source = read(m.f)
    place = source.place(source.node.body[1])
    assert place.text[place.column : place.end_column] == "return x.größe + ä"
    assert place.render().endswith(
        "    ä = 'é😀'; return x.größe + ä\n    " + " " * 10 + "^" * len("return x.größe + ä")
    )
    name = source.node.body[1].value.left
    place = source.place(name)
    assert place.text[place.column : place.end_column] == "x.größe"


def test_tabs(module):
    m = module("def f(x):\n\tif x:\n\t\ty = 1;\treturn x\n")
    source = read(m.f)
    place = source.place(source.node.body[0].body[1])
    assert (place.line, place.column, place.end_column) == (3, 9, 17)
    assert place.text == "\t\ty = 1;\treturn x"


def test_place_of_what_spans_lines_ends_with_its_line(module):
    m = module("def f(x):\n    return (x +   \n            1)\n")
    source = read(m.f)
    assert (
        source.place(source.node.body[0])
        .render()
        .endswith("line 2, in f\n    return (x +\n    ^^^^^^^^^^^".replace("(x +\n", "(x +   \n"))
    )
    assert source.place(source.node).text == "def f(x):"


def test_place_of_a_node_without_position(module):
    source = read(module("def f(x):\n    return x + 1\n").f)
    assert source.place(source.node.args) == source.place(source.node)
    assert source.place(source.node.body[0].value.op).line == 1


def test_place_in_an_indented_function(module):
    m = module("""
        class A:
            class B:
                def f(self, x):
                    return self.w + x
    """)
    source = read(m.A.B.f)
    assert source.place(source.node.body[0].value.left).render() == (
        f'  File "{source.file}", line 5, in f\n    return self.w + x\n           ^^^^^^'
    )


def test_every_node_lies_in_the_function(module):
    m = module(
        "def f(x):\n    y = f'a{x!r:>{3}}b {x + 1}'\n    return [i for i in y if i], x[1:2]\n"
    )
    source = read(m.f)
    for node in gast.walk(source.node):
        place = source.place(node)
        assert 1 <= place.line <= 3
        assert 0 <= place.column <= place.end_column <= len(place.text)


# ---------------------------------------------------------------- asserts under pytest


def checked(x):
    assert x.shape == (2,), "two"
    assert all(v > 0 for v in x)
    return np.sum(x)


def unchecked(x):
    return np.sum(x) + checked(x)


rewritten = pytest.mark.skipif(
    not reading._is_rewritten(checked.__code__), reason="run with --assert=plain"
)


@rewritten
def test_functions_of_a_module_that_pytest_rewrote():
    assert "@py_assert" in " ".join(checked.__code__.co_varnames)
    source = read(checked)
    assert [type(statement).__name__ for statement in source.node.body] == [
        "Assert",
        "Assert",
        "Return",
    ]
    assert source.place(source.node.body[0]).text == '    assert x.shape == (2,), "two"'
    assert read(unchecked).name == "unchecked"


def test_nested_functions_of_a_rewritten_test():
    n = 3

    def inner(x):
        assert x == n
        return lambda y: y + n

    fs = [lambda x: x + n, lambda x: x - n]
    assert inner(3)(4) == 7
    assert text_of(read(inner)).startswith("def inner(x):\n    assert x == n")
    assert text_of(read(inner(3))) == "def lambda_(y):\n    return y + n"
    assert [text_of(read(f)).split("return ")[1] for f in fs] == ["x + n", "x - n"]


class TestRewrittenMethods:
    def method(self, x):
        assert x, self.__w
        return x

    def test_method(self):
        assert text_of(read(fn_of(self.method))).endswith("return x")


def test_rewritten_and_edited(tmp_path):
    from _pytest.assertion.rewrite import rewrite_asserts

    path = tmp_path / "m.py"
    text = "import os\ndef f(x):\n    assert x == os.sep\n    return x\n"
    path.write_text(text)
    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode())
    names = {}
    exec(compile(tree, str(path), "exec", dont_inherit=True), names)
    assert read(names["f"]).name == "f"
    path.write_text(text.replace("os.sep", "os.linesep"))
    with pytest.raises(SourceError, match="was edited"):
        read(names["f"])


@rewritten
def test_rewritten_where_pytest_has_changed_inside(monkeypatch):
    monkeypatch.setattr("_pytest.assertion.rewrite.rewrite_asserts", lambda tree: None)
    with pytest.raises(SourceError):
        read(checked)
    monkeypatch.delitem(sys.modules, "_pytest.assertion.rewrite")
    with pytest.raises(SourceError):
        read(checked)


# ---------------------------------------------------------------- what an object calls


def plain(x, y=0, *more, **named):
    return x


@pytest.mark.parametrize(
    "obj",
    [len, np.sin, math.sin, np.add.reduce, [].append, str.upper, int, Callee, None, 3, "f"]
    + [np.ones(2).sum, bytes.fromhex, object().__str__, int.__add__, functools.partial(len)]
    + [types.MethodType(len, []), np.sum, type, functools.partial(int, "3"), staticmethod(len)],
)
def test_no_python_function_is_called(obj):
    assert unwrap(obj) is None


def test_plain_function():
    assert unwrap(plain) == Callee(plain, (), {})


def test_partials_of_partials():
    inner = functools.partial(plain, 1, a=1, b=2)
    inner.note = "an attribute keeps partial from flattening"
    outer = functools.partial(inner, 2, b=3, c=4)
    assert isinstance(outer.func, functools.partial)
    assert unwrap(outer) == Callee(plain, (1, 2), {"a": 1, "b": 3, "c": 4})
    assert unwrap(functools.partial(functools.partial(plain, 1), 2)) == Callee(plain, (1, 2), {})


def test_partial_of_a_method_and_method_of_a_partial():
    class A:
        def f(self, x, y):
            return x, y

        g = functools.partialmethod(f, 1)

    a = A()
    assert unwrap(functools.partial(a.f, 1)) == Callee(A.f, (a, 1), {})
    assert unwrap(types.MethodType(functools.partial(plain, 1), 2)) == Callee(plain, (1, 2), {})
    assert unwrap(a.g) == Callee(A.f, (a, 1), {})


def test_partial_with_a_call_of_its_own():
    class Loud(functools.partial):
        def __call__(self, *args):
            return super().__call__(*args)

    loud = Loud(plain, 1)
    assert unwrap(loud) == Callee(Loud.__call__, (loud,), {})


def test_callable_objects():
    class Layer:
        def __init__(self):
            self.__call__ = plain  # ignored, as by the interpreter

        def __call__(self, x):
            return x

    class Deep(Layer):
        pass

    class Static:
        __call__ = staticmethod(plain)

    class OfClass:
        @classmethod
        def __call__(cls, x):
            return x

    class Delegating:
        __call__ = Layer()

    class ByC:
        __call__ = len

    layer = Deep()
    assert unwrap(layer) == Callee(Layer.__call__, (layer,), {})
    assert unwrap(Static()) == Callee(plain, (), {})
    assert unwrap(OfClass()) == Callee(OfClass.__call__.__func__, (OfClass,), {})
    assert unwrap(Delegating()) == Callee(Layer.__call__, (Delegating.__call__,), {})
    assert unwrap(ByC()) is None
    assert unwrap(functools.partial(layer, 1)) == Callee(Layer.__call__, (layer, 1), {})
    assert unwrap(Layer) is None
    assert text_of(read(fn_of(layer))).startswith("def __call__(self, x):")


def test_class_with_a_metaclass_call():
    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args)

    class A(metaclass=Meta):
        pass

    assert unwrap(A) is None


def test_static_and_class_method_objects():
    assert unwrap(staticmethod(plain)) == Callee(plain)
    assert unwrap(classmethod(plain)) == Callee(plain)


def test_what_callee_says_is_what_the_call_does():
    class A:
        def f(self, *args, **named):
            return args, named

        c = classmethod(lambda cls, *args, **named: (cls, args, named))

        def __call__(self, *args, **named):
            return args, named

    part = functools.partial(A().f, 1, a=2)
    for obj in (A().f, A.c, A(), part, functools.partial(part, 3, b=5), types.MethodType(part, 7)):
        callee = unwrap(obj)
        called = callee.fn(*callee.args, 8, 9, **{**callee.kwargs, "b": 6})
        assert called == obj(8, 9, b=6)


# ---------------------------------------------------------------- decorators


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2 * f(*args)

    return wrapper


def test_wrapper_is_read_as_the_wrapper_it_is():
    @doubled
    def f(x):
        return x

    source = read(fn_of(f))
    assert f.__wrapped__ is not f
    assert (source.name, source.node.name) == ("f", "wrapper")
    assert text_of(source) == "def wrapper(*args):\n    return 2 * f(*args)"


def test_decorated_function_that_stays_itself(module):
    m = module("""
        def mark(*_):
            return lambda f: f
        @mark(1)
        @mark(
            2,
        )
        def f(x):
            return x
    """)
    source = read(m.f)
    assert source.node.lineno == 8
    assert source.node.decorator_list == []
    assert source.place(source.node).text == "def f(x):"


def test_cache_warns():
    @functools.lru_cache(maxsize=3)
    def f(x):
        return x

    with pytest.warns(UserWarning) as caught:
        assert unwrap(f) == Callee(f.__wrapped__, (), {})
    assert [str(w.message) for w in caught] == [
        "functools.lru_cache around test_cache_warns.<locals>.f has no effect in derived code: it "
        "computes each call."
    ]


def test_cache_warns_once_and_points_at_the_function(module):
    m = module("import functools\n\n@functools.cache\ndef f(x):\n    return x\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        unwrap(m.f), unwrap(m.f)
    assert [(w.filename, w.lineno) for w in caught] == [(m.f.__wrapped__.__code__.co_filename, 3)]


def test_cached_method():
    class A:
        @functools.cache
        def f(self, x):
            return x

        @staticmethod
        @functools.cache
        def s(x):
            return x

    a = A()
    with pytest.warns(UserWarning):
        assert unwrap(a.f) == Callee(A.f.__wrapped__, (a,), {})
    with pytest.warns(UserWarning):
        assert unwrap(a.s) == Callee(A.s.__wrapped__)


def test_cache_whose_wrapped_was_overwritten():
    def wrapper(x):
        return 2 * x

    cached = functools.update_wrapper(functools.cache(wrapper), plain)
    assert cached.__wrapped__ is plain
    assert unwrap(cached) is None  # what it calls cannot be told: certainly not plain


def test_cache_of_a_builtin():
    with pytest.warns(UserWarning):
        assert unwrap(functools.cache(len)) is None


def test_numba_dispatcher():
    body = {"__module__": "numba.core.registry", "py_func": staticmethod(plain), "__call__": len}
    CPUDispatcher = type("CPUDispatcher", (), body)
    assert unwrap(CPUDispatcher()) == Callee(plain)
    method = types.MethodType(CPUDispatcher(), 5)
    assert unwrap(method) == Callee(plain, (5,))


def test_numba_itself():
    numba = pytest.importorskip("numba")
    assert unwrap(numba.njit(plain)) == Callee(plain)


def test_foreign_py_func_is_not_believed():
    class Foreign:
        py_func = plain

        def __call__(self, x):
            return x

    assert fn_of(Foreign()) is Foreign.__call__


class Own:
    """Stands for what @differentiate makes."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.__s2sad_primal__ = fn

    def __call__(self, *args):
        return self.__s2sad_primal__(*args)

    def __get__(self, obj, cls=None):
        return self if obj is None else types.MethodType(self, obj)


def test_own_objects_are_seen_through():
    own = Own(plain)
    assert unwrap(own) == Callee(plain)
    assert unwrap(functools.partial(own, 1)) == Callee(plain, (1,))
    assert unwrap(Own(functools.partial(plain, 1))) == Callee(plain, (1,))
    assert unwrap(Own(own)) == Callee(plain)

    class A:
        @Own
        def f(self, x):
            return x

    a = A()
    assert unwrap(a.f) == Callee(A.f.__s2sad_primal__, (a,))


def test_own_object_with_a_property():
    class Slotted:
        __slots__ = ("fn",)
        __s2sad_primal__ = property(lambda self: self.fn)

    own = Slotted()
    own.fn = plain
    assert unwrap(own) == Callee(plain)
    assert unwrap(Slotted) is None
    assert unwrap(type("Class", (), {"__s2sad_primal__": staticmethod(plain)})) is None


def test_wrapper_around_an_own_object_keeps_what_it_does():
    own = Own(plain)
    wrapper = doubled(own)
    assert wrapper.__s2sad_primal__ is plain  # copied by functools.wraps
    assert fn_of(wrapper) is wrapper
    assert fn_of(doubled(wrapper)).__name__ == "plain"
    assert fn_of(doubled(wrapper)) is not plain
    assert fn_of(Own(wrapper)) is wrapper


def test_objects_that_answer_to_every_name():
    class Any:
        def __getattr__(self, name):
            return plain

        def __call__(self):
            return 1

    assert fn_of(Any()) is Any.__call__


# ---------------------------------------------------------------- cache, threads, cost


def test_cache_is_bounded(tmp_path):
    for i in range(reading._KEPT_FILES + 5):
        read(load(tmp_path / f"m{i}.py", f"def f(x):\n    return x + {i}\n").f)
    assert len(reading._files) == reading._KEPT_FILES
    assert (str(tmp_path / "m0.py")) not in {name for name, _ in reading._files}


def test_parsed_once_per_content(module, monkeypatch):
    m = module("def f(x):\n    return x\ndef g(x):\n    return x + 1\n")
    read(m.f)
    monkeypatch.setattr(reading, "_parse", lambda *_: pytest.fail("parsed again"))
    read(m.g), read(m.f)


def test_threads(tmp_path):
    functions = [
        load(tmp_path / f"m{i}.py", f"class A:\n    def f(self, x):\n        return x + {i}\n").A.f
        for i in range(reading._KEPT_FILES + 8)
    ]
    failed = []

    def work(offset):
        for i in range(len(functions)):
            k = (i + offset) % len(functions)
            if not text_of(read(functions[k])).endswith(f"x + {k}"):
                failed.append(k)

    threads = [threading.Thread(target=work, args=(7 * i,)) for i in range(6)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert failed == []


def test_the_users_tree_is_not_changed_by_several_lambdas(module):
    m = module("class A:\n    fs = [lambda x: x, lambda x: x + 1]\n    def f(self): return self\n")
    for _ in range(2):
        assert [read(f).node.lineno for f in m.A.fs] == [2, 2]
        assert read(m.A.f).node.lineno == 3


def test_warnings_of_the_users_text_are_not_repeated(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = module("def f(x):\n    return x is 1, '\\d'\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(m.f).name == "f"


@pytest.mark.parametrize("name", ["argparse", "statistics", "fractions", "numpy.linalg._linalg"])
def test_every_function_of_real_modules(name):
    import importlib

    real = importlib.import_module(name)
    count = 0
    for holder in [real, *(c for c in vars(real).values() if isinstance(c, type))]:
        for obj in list(vars(holder).values()):
            fn = obj if isinstance(obj, types.FunctionType) else None
            if fn is None or fn.__module__ != name or fn.__code__.co_filename.startswith("<"):
                continue
            if not reading._suspends(fn.__code__):
                source = read(fn)
                assert source.node.name in (fn.__code__.co_name, "lambda_")
                count += 1
    assert count > 10


def test_equal_codes_are_read_each_on_its_own():
    from s2sad.capture.read import remember

    def made():
        space = {}
        exec(compile("def f(x):\n    return x + 1.0\n", "<one>", "exec"), space)
        remember([space["f"]], "def f(x):\n    return x + 1.0\n")
        return space["f"]

    first, second = made(), made()
    assert first.__code__ == second.__code__
    del first
    gc.collect()
    assert read(second).node.name == "f"
