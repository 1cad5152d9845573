"""Read: from a callable to the source of the code that runs.

    unwrap(loss)          Callee(fn, args, kwargs): the plain function behind a callable
    read(fn)              Source: its file, its lines, its tree

The way leads through the function's own `__code__`, never through `__wrapped__`: what is found is
compiled and compared with the code that runs, so a file edited after its import is never mistaken
for it.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import gc
import inspect
import keyword
import linecache
import math
import sys
import threading
import types
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import gast

from s2sad.capture.unraveled import written_unravel
from s2sad.derivative import derivative_of
from s2sad.errors import Place, SourceError, UnsupportedError
from s2sad.known.generators import generator_of
from s2sad.registry import is_ours, is_refused, written_form
from s2sad.tree import Unravel

# ---------------------------------------------------------------- what an object calls


@dataclass(frozen=True)
class Callee:
    """What calling an object amounts to: `fn(*args, <the call's own>, **kwargs)`.

    `args` are bound leading arguments (self of a bound method or callable object, those of a
    partial), `kwargs` a partial's keywords, which the call's own override. `wrt` is what a
    decorator around it says.
    """

    fn: types.FunctionType
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = field(default_factory=dict)
    wrt: Any = None


def unwrap(obj: object) -> Callee | None:
    """Return what calling `obj` amounts to, or None where no Python function is called.

    None: builtins, C functions, classes, methods of random generators. Seen through: methods,
    partials, callable objects, staticmethod, classmethod, numba's njit, s2sad's own objects, and
    functools.lru_cache, which warns that the derivative does not cache. For what a library has
    that is written out in Python (see registry.written_out), that stands.

    >>> unwrap(functools.partial(f, 1.0, n=2))
    Callee(fn=f, args=(1.0,), kwargs={'n': 2})
    """
    behind = _behind(obj)
    if behind is not None:
        callee, wrt = unwrap(behind), getattr(obj, "__s2sad_wrt__", None)
        return callee if callee is None or wrt is None else replace(callee, wrt=wrt)
    written = written_form(obj)
    if written is not None:
        fn, first = written
        return Callee(cast(types.FunctionType, fn), tuple(getattr(obj, attr) for attr in first))
    if isinstance(obj, Unravel):
        unravel = written_unravel(obj)
        return None if unravel is None else Callee(unravel)
    if isinstance(obj, types.FunctionType):
        if is_ours(obj) and is_refused(obj):
            return None  # its source is s2sad's, and that of what it stands on
        derivative = derivative_of(obj)
        return Callee(obj, wrt=None if derivative is None else derivative.declared)
    if isinstance(obj, (type, *C_CALLABLES)) or generator_of(obj) is not None:
        return None
    if isinstance(obj, types.MethodType):
        return _bind(obj.__func__, (obj.__self__,), {})
    if isinstance(obj, functools.partial) and type(obj).__call__ is functools.partial.__call__:
        return _bind(obj.func, obj.args, obj.keywords)
    return _callable_object(obj)


C_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
)


def _bind(inner: object, args: tuple[object, ...], kwargs: dict[str, object]) -> Callee | None:
    callee = unwrap(inner)
    if callee is None:
        return None
    wrt = callee.wrt
    if args and wrt is not None:
        wrt = _by_name(wrt, [*inspect.signature(callee.fn).parameters][len(callee.args) :])
    return Callee(callee.fn, callee.args + args, {**callee.kwargs, **kwargs}, wrt)


def _by_name(wrt: Any, names: Sequence[str]) -> Any:
    """Return a wrt with the names of parameters in place of their positions, where these are."""
    if isinstance(wrt, tuple):
        return tuple(_by_name(w, names) for w in wrt)
    if type(wrt) is not int or not -len(names) <= wrt < len(names):
        return wrt
    return names[wrt]


def _callable_object(obj: object) -> Callee | None:
    # As the interpreter does, __call__ is looked up on the type: one set on the object is ignored.
    call = inspect.getattr_static(type(obj), "__call__", None)
    if call is None or isinstance(call, C_CALLABLES):
        return None
    bind = getattr(type(call), "__get__", None)
    return unwrap(call if bind is None else bind(call, obj, type(obj)))


def _behind(obj: object) -> object | None:
    """Return what a known wrapper stands in front of, or None for anything else."""
    if type(obj) is types.MethodType or (
        type(obj) is types.FunctionType and _PRIMAL not in vars(obj)
    ):
        return None
    if isinstance(obj, (staticmethod, classmethod)):
        return obj.__func__
    if isinstance(obj, functools._lru_cache_wrapper):
        return _behind_cache(obj)
    if _is_dispatcher(obj):
        return getattr(obj, "py_func", None)
    return _behind_own(obj)


def _behind_cache(obj: Any) -> object | None:
    wrapped: object = obj.__wrapped__
    # update_wrapper applied to the cache overwrites __wrapped__; the function that it calls is
    # among the objects it holds, so only one that is there is believed.
    if not any(held is wrapped for held in gc.get_referents(obj)):
        return None
    _warn_of_cache(wrapped)
    return wrapped


def _warn_of_cache(wrapped: object) -> None:
    name = getattr(wrapped, "__qualname__", repr(wrapped))
    message = (
        f"functools.lru_cache around {name} has no effect in derived code: it computes each call."
    )
    if not isinstance(wrapped, types.FunctionType):
        warnings.warn(message, stacklevel=2)
        return
    code = wrapped.__code__
    warn_once(message, code.co_filename, code.co_firstlineno, wrapped)


_warned: set[tuple[str, int, str]] = set()


def warn_once(message: str, file: str, line: int, fn: Any) -> None:
    """Warn of a line of the user's, once in a process, where `fn` is or calls what stands there."""
    if (file, line, message) in _warned:
        return
    registry = fn.__globals__.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, UserWarning, file, line, fn.__module__, registry)
    _warned.add((file, line, message))


def _is_dispatcher(obj: object) -> bool:
    # By name: numba need not be installed, and importing it takes a second.
    return any(
        (cls.__module__, cls.__name__) == ("numba.core.registry", "CPUDispatcher")
        for cls in type(obj).__mro__
    )


def _behind_own(obj: object) -> object | None:
    missing = object()
    if inspect.getattr_static(obj, _PRIMAL, missing) is missing or isinstance(obj, type):
        return None
    primal: object = getattr(obj, _PRIMAL)
    # functools.wraps copies attributes: a wrapper around one of our objects carries its primal,
    # and its __wrapped__ (the object copied from) tells.
    copied = getattr(getattr(obj, "__wrapped__", None), _PRIMAL, missing) is primal
    return None if copied and not _is_own(obj) else primal


_PRIMAL = "__s2sad_primal__"


def _is_own(obj: object) -> bool:
    return type(obj).__module__.partition(".")[0] == __name__.partition(".")[0]


# ---------------------------------------------------------------- the source of a function


@dataclass(frozen=True)
class Source:
    """A function and the source of the code that runs when it is called.

    `node` stands alone: decorators are gone, class-private names are written out as the
    interpreter sees them (`self.__w` in class C is `self._C__w`), and a lambda is a FunctionDef
    named `lambda_` with one Return. Its lines and columns are those of the user's file (columns in
    UTF-8 bytes, as everywhere in Python's trees; `place` counts characters). Its defaults are as
    written; those in force are `fn.__defaults__` and `fn.__kwdefaults__`.
    """

    fn: types.FunctionType
    name: str
    file: str
    lines: tuple[str, ...]
    node: gast.FunctionDef

    def place(self, node: gast.AST) -> Place:
        """Return where `node` stands in the file: the part on its first line."""
        # Helper nodes (arguments, operators) have no position: the function's own will do.
        spot = node if getattr(node, "lineno", None) is not None else self.node
        home = getattr(spot, "home", self)
        if home is not self and isinstance(home, Source):
            return home.place(spot)
        return _place(spot, self.file, self.lines, self.fn.__code__.co_name)


# What makes derivatives of functions, as grad does.
_MAKERS = (
    "s2sad.api",
    "s2sad.decorated",
    "s2sad.operators.hessians",
    "s2sad.operators.jacobians",
    "s2sad.sparse",
)


def read(fn: types.FunctionType) -> Source:
    """Find the source of the code that `fn` runs.

    Raises SourceError where there is none, or where it is not the source of that code (the file
    was edited after its import); UnsupportedError for generators and coroutines.
    """
    derivative = derivative_of(fn)
    if derivative is not None:
        return read(derivative.fn)
    if fn.__module__ in _MAKERS:
        raise SourceError(
            f"{fn.__qualname__} makes derivatives; s2sad does not differentiate it itself.",
            remedy=(
                "Make the derivative outside of the differentiated function, and call it there."
            ),
        )
    code = fn.__code__
    made = _made.get(id(code))
    if made is not None:
        node = _function(made.found) if made.node is None else made.node
        return Source(fn, _name(fn), code.co_filename, made.lines, node)
    kind = _suspends(code)
    if kind:
        raise _unsupported(fn, kind)
    return read_generator(fn)


def read_generator(fn: types.FunctionType) -> Source:
    """Find the source of a function that may be a generator function; raises SourceError."""
    file = _file(fn)
    found = _find(file, fn)
    return Source(fn, _name(fn), _filename(fn), file.lines, _function(found))


@dataclass(frozen=True)
class _Made:
    """The source of a function that nobody edits, while its code lives; its `node` is kept too."""

    lines: tuple[str, ...]
    found: _Found
    code: weakref.ref[types.CodeType]
    node: gast.FunctionDef | None = None


# By the identity of the code: codes that are equal may be of different texts, and die one by one.
# The free names of what was derived are not compiled as a file's are.
_made: dict[int, _Made] = {}


def remember(functions: Iterable[types.FunctionType], text: str) -> None:
    """Let functions be read that were made of a text, which has one definition for each."""
    nodes = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    lines = tuple(text.split("\n"))
    for fn in functions:
        remember_at(fn, nodes[fn.__name__], lines)


def remember_at(fn: types.FunctionType, node: ast.FunctionDef, lines: tuple[str, ...]) -> None:
    """Let a function be read that was made of a tree whose places are those of a user's file."""
    key = id(fn.__code__)
    alive = weakref.ref(fn.__code__, functools.partial(_forget, key))
    _made[key] = _Made(lines, _Found(node, 0, ""), alive)


def read_once(fn: types.FunctionType) -> None:
    """Let a function be read, as it is now, as often as is asked for: a rule, of many kinds."""
    key = id(fn.__code__)
    known = _made.get(key)
    if known is not None:
        if known.node is None:
            _made[key] = replace(known, node=_function(known.found))
        return
    file = _file(fn)
    found = _find(file, fn)
    alive = weakref.ref(fn.__code__, functools.partial(_forget, key))
    _made[key] = _Made(file.lines, found, alive, _function(found))


def _forget(key: int, _: object) -> None:
    """Forget the source of code that is gone."""
    _made.pop(key, None)


def _name(fn: types.FunctionType) -> str:
    for name in (fn.__name__, fn.__code__.co_name):
        if name.isidentifier() and not keyword.iskeyword(name):
            return name
    return _LAMBDA_NAME


_DERIVED = "<s2sad "
_LAMBDA = "<lambda>"
_LAMBDA_NAME = "lambda_"


def _suspends(code: types.CodeType) -> str:
    """Name the kind of function that gives up control before it returns; empty for the others."""
    kinds = {
        inspect.CO_ASYNC_GENERATOR: "an async generator function",
        inspect.CO_COROUTINE: "an async function",
        inspect.CO_GENERATOR: "a generator function",
    }
    return next((kind for flag, kind in kinds.items() if code.co_flags & flag), "")


# ---------------------------------------------------------------- places


def _place(node: Any, file: str, lines: Sequence[str], function: str) -> Place:
    text = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    start = _column(text, node.col_offset)
    end = len(text.rstrip())
    if node.end_lineno == node.lineno and node.end_col_offset is not None:
        end = min(_column(text, node.end_col_offset), end)
    return Place(file, node.lineno, start, max(start, end), text, function)


def _column(text: str, offset: int) -> int:
    """Count the characters in the first `offset` bytes of a line, as Python's trees count them."""
    if text.isascii():
        return min(offset, len(text))
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))


# ---------------------------------------------------------------- files


@dataclass(frozen=True)
class _File:
    """A parsed file. Its tree is shared by all who read it: nobody may change it."""

    name: str
    text: str
    lines: tuple[str, ...]
    statements: list[ast.stmt]
    imports: list[ast.stmt]
    compiled: dict[tuple[int, int, bool], types.CodeType] = field(default_factory=dict)

    def compile(self, index: int, flags: int, imports: bool) -> types.CodeType:
        """Compile one top-level statement; kept, as a class is asked for method by method."""
        key = (index, flags, imports)
        code = self.compiled.get(key)
        if code is None:
            code = _compile(self.with_imports(self.statements[index], imports), self.name, flags)
            self.compiled[key] = code
        return code

    def with_imports(self, statement: ast.stmt, imports: bool) -> list[ast.stmt]:
        """Return what a statement must be compiled with to give the code that it gave before."""
        # The compiler treats a.b() apart where the module imports a. That is all that one
        # statement needs to know of the others; compiling the whole file would be slow.
        return [*self.imports, statement] if imports else [statement]


def _imports(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Collect the imports of a module, those under `if` and `try` included."""
    found: list[ast.stmt] = []
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            found.append(node)
        elif isinstance(node, ast.ImportFrom):
            # The flags of the code say what it has from __future__.
            found += [] if node.module == "__future__" else [node]
        elif not isinstance(node, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack += ast.iter_child_nodes(node)
    return found


_KEPT_FILES = 32
_files: OrderedDict[tuple[str, str], _File] = OrderedDict()
_files_lock = threading.Lock()


def _file(fn: types.FunctionType) -> _File:
    """Return the parsed file that holds `fn`, as it is now; raises SourceError."""
    text = _text(fn)
    if not text:
        raise _no_source(fn)
    key = (_filename(fn), text)
    with _files_lock:
        known = _files.get(key)
        if known is not None:
            _files.move_to_end(key)
            return known
    parsed = _parse(fn, text)
    with _files_lock:
        _files[key] = parsed
        while len(_files) > _KEPT_FILES:
            _files.popitem(last=False)
    return parsed


def _filename(fn: types.FunctionType) -> str:
    """Return the name of the file that holds `fn`: cloudpickle drops it from the code."""
    name = fn.__code__.co_filename
    return str(fn.__globals__.get("__file__", name)) if name == "<dynamic-code>" else name


def _text(fn: types.FunctionType) -> str:
    name = _filename(fn)
    # From 3.13 on, linecache knows what the prompt and `python -c` ran by its code object.
    by_code = getattr(linecache, "_getlines_from_code", None)
    lines: list[str] = by_code(fn.__code__) if by_code is not None else []
    if not lines:
        linecache.checkcache(name)
        lines = linecache.getlines(name, fn.__globals__)
    text = "".join(lines)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _parse(fn: types.FunctionType, text: str) -> _File:
    name = _filename(fn)
    # Notebook cells may await at top level; elsewhere the flag changes nothing.
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's text: given when it was imported
            tree = compile(text, name, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        raise _mismatch(fn) from None
    lines = tuple(text.removesuffix("\n").split("\n"))
    return _File(name, text, lines, tree.body, _imports(tree.body))


# ---------------------------------------------------------------- the function in its file


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class _Found:
    """A definition, where it stands and the class whose private names it uses."""

    node: _Definition
    top: int
    owner: str


def _find(file: _File, fn: types.FunctionType) -> _Found:
    """Find the definition whose code is that of `fn`; raises SourceError if there is none."""
    code = fn.__code__
    here = [
        found
        for top, statement in enumerate(file.statements)
        if _first_line(statement) <= code.co_firstlineno <= _last_line(statement)
        for found in _named(statement, top, code.co_name)
        if _first_line(found.node) == code.co_firstlineno
    ]
    # Derived text is nobody's to edit, and its free names are not compiled as a file's are.
    matches = here if code.co_filename.startswith(_DERIVED) else _matching(file, here, code)
    if not matches:
        # Lines were added or removed above: the definition stands elsewhere, itself unchanged.
        everywhere = [
            found
            for top, statement in enumerate(file.statements)
            for found in _named(statement, top, code.co_name)
        ]
        matches = _matching(file, everywhere, code)
    if not matches:
        raise _mismatch(fn)
    return min(matches, key=lambda found: _distance(found.node, code))


def _distance(node: _Definition, code: types.CodeType) -> tuple[int, int]:
    """Order definitions of equal code: nearest line first, then the one that spans its columns."""
    spans = [
        ((line, start), (last, end))
        for line, last, start, end in code.co_positions()
        if line and last and start is not None and end  # where a function resumes, end is 0
    ]
    body = node.body if isinstance(node, ast.Lambda) else node
    begin = (body.lineno, body.col_offset)
    stop = (body.end_lineno or 0, body.end_col_offset or 0)
    outside = sum(first < begin or last > stop for first, last in spans)
    return abs(_first_line(node) - code.co_firstlineno), outside


def _first_line(node: ast.stmt | _Definition) -> int:
    """Return the line where a statement begins, its decorators included, as co_firstlineno does."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _named(statement: ast.stmt, top: int, name: str) -> Iterator[_Found]:
    for node, owner in _definitions(statement):
        if (_LAMBDA if isinstance(node, ast.Lambda) else node.name) == name:
            yield _Found(node, top, owner)


def _definitions(root: ast.AST) -> Iterator[tuple[_Definition, str]]:
    """Give every function and lambda in a tree with the class whose private names it uses."""
    stack = [(root, "")]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node, owner
        # Decorators, bases and keywords of a class are not inside it.
        inner, body = (node.name, node.body) if isinstance(node, ast.ClassDef) else (owner, [])
        stack += [
            (child, inner if child in body else owner) for child in ast.iter_child_nodes(node)
        ]


# ---------------------------------------------------------------- is it the code that runs?


def _matching(file: _File, candidates: list[_Found], code: types.CodeType) -> list[_Found]:
    """Keep the candidates that compile to `code`."""
    wanted = _fingerprint(code)
    # A file is compiled as a whole; a notebook compiles each statement of a cell alone.
    for imports in (True, False):
        matches = [
            found
            for top in sorted({found.top for found in candidates})
            for found, line, compiled in _compiled(
                file, [found for found in candidates if found.top == top], code, imports
            )
            if any(_fingerprint(inner) == wanted for inner in _codes(compiled, code.co_name, line))
        ]
        if matches:
            return matches
    return []


def _compiled(
    file: _File, group: list[_Found], code: types.CodeType, imports: bool
) -> list[tuple[_Found, int, types.CodeType]]:
    """Compile the statement that holds some candidates; give each the first line of its code."""
    firsts = [_first_line(found.node) for found in group]
    if not _is_rewritten(code) and len(set(firsts)) == len(firsts):
        whole = file.compile(group[0].top, _flags(code), imports)
        return [(found, first, whole) for found, first in zip(group, firsts, strict=True)]
    # Several lambdas begin on one line. In a copy each gets a number of its own, which comes back
    # as co_firstlineno, whatever order they are compiled in.
    twin, twins = _copy(file.statements[group[0].top])
    for number, found in enumerate(group, len(file.lines) + 1):
        other = twins[id(found.node)]
        if isinstance(other, ast.Lambda):
            other.lineno = other.end_lineno = number
    firsts = [_first_line(twins[id(found.node)]) for found in group]
    statements = file.with_imports(twin, imports)
    if _is_rewritten(code):
        statements = _pytest_rewrite(statements, file)
    whole = _compile(statements, file.name, _flags(code))
    return [(found, first, whole) for found, first in zip(group, firsts, strict=True)]


def _copy(statement: ast.stmt) -> tuple[ast.stmt, dict[int, _Definition]]:
    """Copy a statement; also say which definition of the copy stands for which, by its id."""
    twin = copy.deepcopy(statement)
    pairs = zip(_definitions(statement), _definitions(twin), strict=True)
    return twin, {id(node): other for (node, _), (other, _) in pairs}


def _compile(statements: list[ast.stmt], file: str, flags: int) -> types.CodeType:
    module = ast.Module(statements, [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the user's text: given when it was imported
        code: types.CodeType = compile(module, file, "exec", flags, dont_inherit=True)
    return code


_FUTURE_FLAGS = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    __future__.all_feature_names,
    0,
)


def _flags(code: types.CodeType) -> int:
    return (code.co_flags & _FUTURE_FLAGS) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _codes(code: types.CodeType, name: str, line: int) -> Iterator[types.CodeType]:
    """Give the code objects of this name and first line inside a code object."""
    # A finally block is compiled twice, so there may be several.
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            if inner.co_name == name and inner.co_firstlineno == line:
                yield inner
            yield from _codes(inner, name, line)


def _fingerprint(code: types.CodeType) -> tuple[object, ...]:
    """Return all of a code object that decides what it does: not its file, not its lines."""
    return (
        code.co_qualname,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & ~inspect.CO_ITERABLE_COROUTINE,  # types.coroutine sets it afterwards
        code.co_code,
        tuple(_constant(value) for value in code.co_consts),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_exceptiontable,
    )


def _constant(value: object) -> object:
    """Return a key that tells constants apart as the compiler does: 1, 1.0 and True differ."""
    if isinstance(value, types.CodeType):
        return _fingerprint(value)
    if isinstance(value, tuple):
        return tuple(_constant(item) for item in value)
    if isinstance(value, frozenset):
        return frozenset(_constant(item) for item in value)
    if isinstance(value, float):
        return float, "nan" if math.isnan(value) else value.hex()  # tells -0.0 from 0.0
    if isinstance(value, complex):
        return complex, repr(value)
    return type(value), value


# ---------------------------------------------------------------- pytest's assertions


def _is_rewritten(code: types.CodeType) -> bool:
    """Tell whether pytest has rewritten an assert in this code."""
    return any(name.startswith("@py") for name in code.co_names) or any(
        _is_rewritten(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)
    )


def _pytest_rewrite(statements: list[ast.stmt], file: _File) -> list[ast.stmt]:
    """Rewrite the asserts as pytest did when it imported the module, so that the code compares."""
    # Code that pytest rewrote means that pytest is loaded; where its inside has changed, the
    # statement stays as it is and the comparison fails, which is the safe side.
    hook = sys.modules.get("_pytest.assertion.rewrite")
    rewrite: Callable[..., None] | None = getattr(hook, "rewrite_asserts", None)
    if rewrite is None:
        return statements
    module = ast.Module(statements, [])
    try:
        rewrite(module, file.text.encode("utf-8", "surrogatepass"), file.name)
    except TypeError:
        return statements
    return module.body


# ---------------------------------------------------------------- the tree


def _function(found: _Found) -> gast.FunctionDef:
    """Convert a definition into a FunctionDef that stands alone."""
    if isinstance(found.node, ast.Lambda):
        node = _lambda(found.node)
    else:
        node = gast.ast_to_gast(found.node)
        node.decorator_list = []
    return _spell_out(node, found.owner)


def _lambda(node: ast.Lambda) -> gast.FunctionDef:
    """Turn `lambda x: x + 1` into `def lambda_(x): return x + 1`."""
    expression = gast.ast_to_gast(node)
    body = gast.copy_location(gast.Return(expression.body), expression.body)
    function = gast.FunctionDef(_LAMBDA_NAME, expression.args, [body], [], None, None, [])
    return gast.copy_location(function, expression)


def _spell_out(node: gast.FunctionDef, owner: str) -> gast.FunctionDef:
    """Write class-private names as the interpreter sees them, which it does inside classes only."""
    for child in gast.iter_child_nodes(node) if owner else ():
        _mangle(child, owner)
    return node


# Where the interpreter looks for private names (not in the keywords of a call): node, fields.
_PRIVATE_FIELDS = {
    "Name": ("id",),
    "Attribute": ("attr",),
    "FunctionDef": ("name",),
    "AsyncFunctionDef": ("name",),
    "ClassDef": ("name",),
    "Global": ("names",),
    "Nonlocal": ("names",),
    "alias": ("name", "asname"),
    "MatchAs": ("name",),
    "MatchStar": ("name",),
    "MatchMapping": ("rest",),
}


def _mangle(node: gast.AST, owner: str) -> None:
    # The body of a class within has private names of its own; its bases and decorators have ours.
    inner, body = (node.name, node.body) if isinstance(node, gast.ClassDef) else (owner, [])
    for name in _PRIVATE_FIELDS.get(type(node).__name__, ()):
        value = getattr(node, name)
        many = isinstance(value, list)
        setattr(node, name, [_private(v, owner) for v in value] if many else _private(value, owner))
    for child in gast.iter_child_nodes(node):
        _mangle(child, inner if child in body else owner)


def _private(name: str | None, owner: str) -> str | None:
    stem = owner.lstrip("_")
    if not name or not stem or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{stem}{name}"


# ---------------------------------------------------------------- refusals


def _unsupported(fn: types.FunctionType, kind: str) -> UnsupportedError:
    place: Place | None
    try:
        file = _file(fn)
        found = _find(file, fn)
        place = _place(found.node, file.name, file.lines, fn.__code__.co_name)
    except SourceError as error:
        place = error.place
    return UnsupportedError(
        f"{fn.__qualname__} is {kind}, which s2sad cannot differentiate.",
        remedy=(
            "Write a plain function that returns its result: collect the yielded or "
            "awaited values in a list, or await them outside and pass them in."
        ),
        place=place,
    )


def _no_source(fn: types.FunctionType) -> SourceError:
    return SourceError(
        f"The source of {fn.__qualname__} cannot be found: {fn.__code__.co_filename} is neither a "
        "file that can be read nor text that linecache knows.",
        remedy="Define the function in a file or a notebook cell, or put the text into "
        "linecache.cache before it is executed.",
        place=_bare_place(fn),
    )


def _mismatch(fn: types.FunctionType) -> SourceError:
    return SourceError(
        f"The source of {fn.__qualname__} is not the source of the running code: "
        f"{fn.__code__.co_filename} was edited after it was imported.",
        remedy=(
            "Import the file again, or start a new process. If the file was not edited, "
            "an import hook or a decorator has changed the code: exclude this function "
            "from it."
        ),
        place=_bare_place(fn),
    )


def _bare_place(fn: types.FunctionType) -> Place:
    """Return the place where the code was compiled; what the line says now would mislead."""
    code = fn.__code__
    return Place(code.co_filename, code.co_firstlineno, 0, 0, "", code.co_name)
