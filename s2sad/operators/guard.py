"""Guards: does a derivation still see what it saw when it was made?

Code (functions, classes, modules) is compared by identity, data by its kind: a changed number
needs no new derivative, a number in the place of an array does. The question is asked before every
call, so it is compiled: names are looked up as the user's function does.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.activities import Activity
from s2sad.capture.calls_its_rule import calls_another
from s2sad.derivative import is_decorated
from s2sad.known import spaces
from s2sad.known.signature import PLAIN, lasting_key, values_of
from s2sad.registry import SameRules, Unruled, rule_for

Seen = Mapping[str, Any]  # what names and dotted names denoted
Members = Mapping[tuple[Any, Any], Any]  # what was found in classes and modules


class _Mark:
    """Stands for an argument."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNSET: Any = _Mark("UNSET")  # an argument that a call leaves to its default
IGNORED: Any = _Mark("IGNORED")  # an argument whose kind nobody asks


def may_ignore(value: Any) -> bool:
    """Say whether the kind of an argument that nobody reads is of no importance at all."""
    return value is not UNSET and not isinstance(value, Activity)


@dataclass(frozen=True)
class Question:
    """A compiled question whose free names are those that a function sees, and its constants."""

    code: types.CodeType
    constants: Mapping[str, Any]

    def about(
        self,
        fn: types.FunctionType,
        stand_ins: Mapping[Any, Any],
        defaults: tuple[Any, ...] = (),
        name: str = "same",
        derived: types.FunctionType | None = None,
    ) -> Callable[..., Any]:
        """Return the question about a function; constants that are in `stand_ins` are replaced.

        The code of `derived` may be part of it.
        """
        cells = _cells(fn)
        if derived is not None:
            cells |= {_own(n): cell for n, cell in _cells(derived).items()}
        for constant, value in self.constants.items():
            replaced = stand_ins[value] if isinstance(value, Role) else value
            cells[constant] = types.CellType(replaced)
        inside = tuple(cells[n] for n in self.code.co_freevars)
        made = types.FunctionType(self.code, fn.__globals__, name, defaults, inside)
        made.__qualname__ = name
        return made


def _cells(fn: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


@dataclass(frozen=True)
class Role:
    """A value that differs from one function to the next of the same code, by its name."""

    name: str


class _Open:
    """The attributes of a module, live.

    Those of a module that has a `__getattr__`, as NumPy's, are slow, and so is its dict.
    """

    def __init__(self, module: types.ModuleType) -> None:
        self.__dict__ = vars(module)


@dataclass
class _Draft:
    """Tests as text, and the constants in them.

    `given` gives arguments that a call leaves out their defaults. `first` are what must hold before
    the shapes of arrays can be taken apart by `shapes`. Names made up begin with `ours`, as none of
    the user's does.
    """

    roles: Mapping[Any, Role]
    ours: str = "s2sad_"
    by_value: bool = False
    first: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    modules: dict[int, _Open] = field(default_factory=dict)

    def constant(self, value: Any) -> str:
        """Return the name of a constant: in a cell, where no name of the user's gets in between."""
        known = self.names.get(id(value))
        if known is None:
            known = self.names[id(value)] = f"{self.ours}{len(self.constants)}"
            function = isinstance(value, types.FunctionType)
            self.constants[known] = self.roles.get(value, value) if function else value
        return known

    def opened(self, module: types.ModuleType) -> _Open:
        """Return the attributes of a module, the same object each time."""
        return self.modules.setdefault(id(module), _Open(module))

    def test(self, template: str, path: str, value: Any = None, first: bool = False) -> None:
        """Add a test: {0} stands for what is tested, {1} for what it is compared with."""
        for short, helper in _HELPERS.items():
            if short in template:
                template = template.replace(short, self.constant(helper))
        text = template.format(path, self.constant(value) if "{1}" in template else "")
        (self.first if first else self.tests).append(text)

    def any(self) -> bool:
        """Say whether anything is tested."""
        return bool(self.first or self.tests)

    def lengths(self, path: str, shape: tuple[int, ...]) -> None:
        """Add tests of an array's rank, and of which lengths are 0, 1 or more."""
        if len(shape) <= 1:
            # Unlike a shape, these need no tuple.
            self.test(f"{{0}}.ndim == {len(shape)}", path, first=True)
            if shape:
                self.test(f"LEN({{0}}) {_length(shape[0])}", path)
            return
        names = [f"{self.ours}n{len(self.shapes)}_{axis}" for axis in range(len(shape))]
        self.shapes.append(f"{', '.join(names)}, = {path}.shape")
        self.tests += [f"{n} {_length(length)}" for n, length in zip(names, shape, strict=True)]

    def compiled(
        self,
        freevars: Iterable[str],
        signature: str = "",
        holds: str = "True",
        fails: str = "False",
        body: Body | None = None,
    ) -> Question:
        """Compile all tests, and what is returned where they hold and where one fails.

        A name that is gone, or an array of another rank, fails them. Where there is a `body`, it
        is run where they hold.
        """
        freevars = dict.fromkeys([*freevars, *(() if body is None else body.freevars)])
        gone = self.constant((NameError, AttributeError, LookupError, TypeError, ValueError))
        first, tests = (" and ".join(texts) or "True" for texts in (self.first, self.tests))
        # The loop runs once: leaving it is how all that fails comes to the same end, and the
        # function is called where nothing that it raises is taken for a name that is gone.
        lines = [
            f"def {self.ours}make({', '.join([*self.constants, *freevars])}):",
            f"    def {self.ours}asked({signature}):",
            "        while True:",
            "            try:",
            *(f"                {line}" for line in self.given),
            f"                if {first}:",
            *(f"                    {line}" for line in self.shapes),
            f"                    if {tests}:",
            "                        pass",
            "                    else:",
            "                        break",
            "                else:",
            "                    break",
            f"            except {gone}:",
            "                break",
            f"            return {holds}",
            f"        return {fails}",
            f"    return {self.ours}asked",
        ]
        text = "\n".join(lines)
        if body is None:
            return Question(_code_of_tests(text), self.constants)
        tree = ast.parse(text)
        _put_in(body.node, tree)
        return Question(_code_of(tree, body.filename), self.constants)


@functools.lru_cache(maxsize=1000)
def _code_of_tests(text: str) -> types.CodeType:
    """Return the code of tests: those of many functions differ only in the constants."""
    return _code_of(ast.parse(text), "<s2sad guard>")


def _code_of(tree: ast.Module, filename: str) -> types.CodeType:
    """Return the code of the function that the one function of a module returns."""
    module = compile(tree, filename, "exec", dont_inherit=True)
    make = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return next(c for c in make.co_consts if isinstance(c, types.CodeType))


@dataclass(frozen=True)
class Body:
    """What a derived function does, to stand behind tests in a function of its parameters."""

    node: ast.FunctionDef
    filename: str
    freevars: tuple[str, ...]


def body_of(
    derived: types.FunctionType,
    text: str,
    fn: types.FunctionType,
    seen: Seen,
    bound: int,
    along: bool = False,
) -> Body | None:
    """Return the body of a derived function, or None where its names would hide those of tests.

    One that goes `along` a tangent takes it last, and returns a value and its tangent.

    Its free names are renamed: that `np` is what it was is asked of the `np` that `fn` sees, and
    the derived function has one of its own.
    """
    code = derived.__code__
    named, free, own = _named(code), {*code.co_freevars}, {*code.co_varnames, *code.co_cellvars}
    bound_within = _bound_within(code)
    arguments = tuple(inspect.signature(fn, follow_wrapped=False).parameters)
    tested = {path.partition(".")[0] for path in seen}
    if (
        bound
        or derived.__globals__ is not fn.__globals__
        or code.co_varnames[: code.co_argcount - along] != arguments
        or code.co_kwonlyargcount
        or code.co_flags & _UNPLAIN
        or any(n.startswith("s2sad_") for n in named | free | own | bound_within | tested)
        or any(n.startswith("s2sad_") for n in fn.__code__.co_freevars)
        or tested & own
        or free & (own | bound_within)
        or named & {*fn.__code__.co_freevars}
    ):
        return None
    nodes = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    node = next(n for n in nodes if n.name == derived.__name__)
    for n in ast.walk(node):
        if isinstance(n, _SCOPED) and n is not node:
            return None
        if along and isinstance(n, ast.Return) and not _is_pair(n.value):
            return None
        if isinstance(n, ast.Name) and n.id in free:
            n.id = _own(n.id)
    return Body(node, code.co_filename, tuple(map(_own, code.co_freevars)))


def _is_pair(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Tuple) and len(node.elts) == 2


def _own(name: str) -> str:
    return f"s2sad_own_{name}"


_SCOPED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)
_UNPLAIN = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def _named(code: types.CodeType) -> set[str]:
    """Return the global names and attributes in code."""
    return {*code.co_names}.union(*map(_named, _inner(code)))


def _bound_within(code: types.CodeType) -> set[str]:
    """Return the names that functions inside a function bind."""
    own = ({*c.co_varnames, *c.co_cellvars} for c in _inner(code))
    return set().union(*own, *map(_bound_within, _inner(code)))


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def _put_in(node: ast.FunctionDef, guarded: ast.Module) -> None:
    """Let a compiled question do what a function does, and be called as it is.

    In tracebacks the tests stand where the function begins.
    """
    for n in ast.walk(guarded):
        if isinstance(n, ast.stmt | ast.expr | ast.arg | ast.excepthandler):
            n.lineno = n.end_lineno = node.lineno
            n.col_offset = n.end_col_offset = node.col_offset
    make = guarded.body[0]
    assert isinstance(make, ast.FunctionDef)
    same, returned = make.body
    assert isinstance(same, ast.FunctionDef) and isinstance(returned, ast.Return)
    loop = same.body[0]
    assert isinstance(loop, ast.While)
    loop.body[-1:] = [*node.body, ast.copy_location(ast.Return(None), node)]
    same.name = node.name
    returned.value = None


def same_defaults(now: Any, then: Any) -> bool:
    """Say whether defaults are what they were: the same objects, or plain values that are equal."""
    if now is None or then is None:
        return now is then
    if isinstance(then, dict):
        return list(now) == list(then) and same_defaults(tuple(now.values()), tuple(then.values()))
    if len(now) != len(then):
        return False
    for a, b in zip(now, then, strict=True):
        if a is not b and (type(a) is not type(b) or type(a) not in PLAIN or repr(a) != repr(b)):
            return False
    return True


# Builtins and helpers in the text of tests: the user's module may have others of these names.
_HELPERS: dict[str, Any] = {
    "KEY": lasting_key,
    "VALUES": values_of,
    "LEN": len,
    "MAY_IGNORE": may_ignore,
    "RULE_FOR": rule_for,
    "TYPE": type,
    "NDARRAY": np.ndarray,
    "SAME_DEFAULTS": same_defaults,
}


def guard(
    fn: types.FunctionType,
    seen: Seen,
    roles: Mapping[Any, Role],
    itself: bool = True,
    by_value: bool = False,
) -> Question | None:
    """Return a test whether `fn` still sees what it saw; None if it saw nothing.

    With `itself` also whether it is still what it was: its code and defaults. What was derived
    `by_value` saw words, truth values and integers.
    """
    draft = _Draft(roles, _ours(fn, seen), by_value)
    if itself:
        _itself_tests(fn, draft)
    _seen_tests(seen, draft)
    return draft.compiled(fn.__code__.co_freevars) if draft.any() else None


def members_guard(
    members: Members, roles: Mapping[Any, Role], by_value: bool = False
) -> Question | None:
    """Return a test whether classes and modules still have what was found in them."""
    draft = _Draft(roles, by_value=by_value)
    _rule_tests(members.values(), draft)
    for (owner, name), value in members.items():
        if isinstance(owner, types.ModuleType):
            _held_tests(_held_in(owner, name, draft), value, draft)
            continue
        if isinstance(name, type):  # what a singledispatch calls
            draft.test(
                "{0} is {1}", f"{draft.constant(owner)}.dispatch({draft.constant(name)})", value
            )
            continue
        path, found = f"{draft.constant(owner)}.{name}", getattr(owner, name, None)
        if isinstance(value, staticmethod):
            draft.test("{0} is {1}", path, value.__func__)
        elif isinstance(value, classmethod):
            draft.test("{0}.__func__ is {1}", path, value.__func__)
        elif not isinstance(value, types.FunctionType | property | functools.cached_property):
            _held_tests(path, value, draft)
        elif found is value:
            draft.test("{0} is {1}", path, value)
    return draft.compiled(()) if draft.any() else None


def shortcut(
    fn: types.FunctionType,
    seen: Seen,
    roles: Mapping[Any, Role],
    others: Iterable[Role],
    values: tuple[Any, ...],
    bound: int,
    body: Body | None = None,
    along: tuple[str, Any] = ("", None),
) -> Question:
    """Return a function that calls DERIVED with arguments like `values`, and else OTHERWISE.

    Where the `body` of DERIVED is given, it takes the place of the call.

    That is a lookup with one entry: it compares the arguments' types, dtypes and ranks with those
    of `values`, and what `fn` sees with what it saw. The first `bound` arguments are constants;
    the others are parameters, named as those of `fn`. Where DERIVED goes `along` a tangent, its
    name and value are given, and SLOPE makes the result of the value and its tangent.
    """
    signature = inspect.signature(fn, follow_wrapped=False).parameters
    draft = _Draft(roles, _ours(fn, seen, signature))
    names = [*(f"{draft.ours}bound_{i}" for i in range(bound)), *list(signature)[bound:]]
    for name, value in zip(names, values, strict=True):
        _value_tests(name, value, draft)
    own = draft.constant(fn)
    draft.test("{0}.__code__ is {1}", own, fn.__code__)
    draft.test("({0}.fresh or {0}({1}))", draft.constant(Unruled()), fn)
    _seen_tests(seen, draft)
    last = names[bound:][-len(fn.__defaults__) :] if fn.__defaults__ else []
    last = [] if calls_another(fn) else last
    unset = draft.constant(UNSET) if last else ""
    draft.given = [
        f"if {n} is {unset}: {n} = {own}.__defaults__[{-i}]"
        for i, n in enumerate(reversed(last), 1)
    ]
    for other in others:
        draft.test("{0}()", _role(draft, other))
    for position, name in enumerate(names[:bound]):
        draft.constants[name] = bound_role(position)
    derived, otherwise = _role(draft, DERIVED), _role(draft, OTHERWISE)
    holds = f"{derived}({', '.join(names)})"
    dot, seed = along
    if dot:
        given, slope = draft.constant(seed), _role(draft, SLOPE)
        holds = f"{slope}({given}, *{derived}({', '.join([*names, f'{dot}={given}'])}))"
        body = None if body is None else _along(body, dot, given, slope)
        if body is not None:
            _Seeded(dot, seed, draft).visit(body.node)
    fails = f"{otherwise}({', '.join(names[bound:])})"
    open_ = list(signature.values())[bound:]
    only = sum(p.kind is p.POSITIONAL_ONLY for p in open_)
    listed = [p.name for p in open_]
    if only:
        listed.insert(only, "/")
    return draft.compiled(fn.__code__.co_freevars, ", ".join(listed), holds, fails, body)


def _along(body: Body, dot: str, seed: str, slope: str) -> Body:
    """Return a body that gives itself its last argument, and hands what it returns to `slope`."""
    node = body.node
    for n in ast.walk(node):
        if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple):
            called = ast.Call(_read(slope), [_read(seed), *n.value.elts], [])
            n.value = ast.fix_missing_locations(ast.copy_location(called, n))
    given = ast.Assign([ast.Name(dot, ast.Store())], _read(seed))
    node.body.insert(0, ast.fix_missing_locations(ast.copy_location(given, node)))
    return body


class _Seeded(ast.NodeTransformer):
    """Computes `2.0 * x_dot` once, where x_dot stays what it is given: in loops that counts."""

    def __init__(self, dot: str, seed: Any, draft: _Draft) -> None:
        self.dot, self.seed, self.draft = dot, seed, draft

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        bound = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == self.dot]
        alone = sum(isinstance(n.ctx, ast.Store | ast.Del) for n in bound) == 1
        return self.generic_visit(node) if alone else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = node.left, node.right
        if not isinstance(left, ast.Constant) or type(left.value) is not float:
            return node
        if not isinstance(node.op, ast.Mult) or type(self.seed) is np.ndarray:
            return node
        if not isinstance(right, ast.Name) or right.id != self.dot:
            return node
        return ast.copy_location(_read(self.draft.constant(left.value * self.seed)), node)


def _read(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


DERIVED = Role("derived")
OTHERWISE = Role("otherwise")
SLOPE = Role("slope")


def _length(length: int) -> str:
    """Return the end of a test that a length is 0, 1 or more, as this one is."""
    return f"== {length}" if length < 2 else "> 1"


def bound_role(position: int) -> Role:
    """Return what stands for an argument that a method or partial brings along."""
    return Role(f"s2sad_bound_{position}")


def _ours(fn: types.FunctionType, seen: Seen, parameters: Iterable[str] = ()) -> str:
    """Return the beginning of names made up: no name that the user's function sees has it."""
    theirs = [*fn.__code__.co_freevars, *parameters, *seen]
    ours = "s2sad_"
    while any(name.startswith(ours) for name in theirs):
        ours += "_"
    return ours


def _role(draft: _Draft, role: Role) -> str:
    name = f"{draft.ours}{role.name}"
    draft.constants[name] = role
    return name


def _itself_tests(fn: types.FunctionType, draft: _Draft) -> None:
    own = draft.constant(fn)
    draft.test("{0}.__code__ is {1}", own, fn.__code__)
    for attribute, value in (
        ("__defaults__", fn.__defaults__),
        ("__kwdefaults__", fn.__kwdefaults__),
    ):
        if value is None:
            draft.test(f"{{0}}.{attribute} is None", own)
        else:
            kept = dict(value) if isinstance(value, dict) else value
            draft.test(f"SAME_DEFAULTS({{0}}.{attribute}, {{1}})", own, kept)


def _value_tests(path: str, value: Any, draft: _Draft) -> None:
    """Add tests of a value's kind: cheap ones for numbers and arrays."""
    if value is IGNORED:
        draft.test("MAY_IGNORE({0})", path)
    elif type(value) in PLAIN:
        draft.test("TYPE({0}) is {1}", path, type(value))
    elif type(value) is tuple and value and all(type(v) is str for v in value):
        draft.test("{0} == {1}", path, value)
    elif spaces.is_array(value):
        if type(value) is np.ndarray:
            draft.test("TYPE({0}) is NDARRAY", path, first=True)
        else:
            draft.test("TYPE({0}) is {1}", path, type(value), first=True)
        draft.test("({0}.dtype is {1} or {0}.dtype == {1})", path, value.dtype, first=True)
        draft.lengths(path, value.shape)
    else:
        draft.test("KEY({0}) == {1}", path, lasting_key(value))


def _seen_tests(seen: Seen, draft: _Draft) -> None:
    """Add comparisons of what names denote with what they denoted."""
    for path, value in sorted(seen.items()):
        if value is K.MISSING or not path.replace(".", "_").isidentifier():
            continue
        _held_tests(_in_module(path, seen, draft), value, draft)
    _rule_tests(seen.values(), draft)


def _rule_tests(found: Iterable[Any], draft: _Draft) -> None:
    """Add tests that functions still have the rules that they had."""
    functions = [v for v in found if K.is_function(v) and not inspect.ismodule(v)]
    players = [v for v in functions if isinstance(v, types.FunctionType) and v in draft.roles]
    others = [v for v in functions if not any(v is player for player in players)]
    if others:
        draft.test("({0}.fresh or {0}())", draft.constant(SameRules(others)))
    for player in players:
        rule = rule_for(player)
        if rule is None or rule.derivative_of is None:
            draft.test("RULE_FOR({0}) is {1}", draft.constant(player), rule)


def _held_tests(path: str, value: Any, draft: _Draft) -> None:
    if K.is_function(value):
        _code_tests(path, value, draft)
        return
    _value_tests(path, value, draft)
    if draft.by_value and values_of(value) is not None:
        draft.test("VALUES({0}) == {1}", path, values_of(value))


def _in_module(path: str, seen: Seen, draft: _Draft) -> str:
    """Return the text that reads what a path denotes.

    That a module is still the same is a test of its own.
    """
    owner, _, attr = path.rpartition(".")
    module = seen.get(owner)
    if not isinstance(module, types.ModuleType) or attr not in vars(module):
        return path
    return _held_in(module, attr, draft)


def _held_in(module: types.ModuleType, attr: str, draft: _Draft) -> str:
    """Return the text that reads an attribute of a module from its dict, where it is."""
    if attr not in vars(module):
        return f"{draft.constant(module)}.{attr}"
    if hasattr(_Open, attr):
        return f"{draft.constant(vars(module))}[{attr!r}]"
    return f"{draft.constant(draft.opened(module))}.{attr}"


def _code_tests(path: str, value: Any, draft: _Draft) -> None:
    """Add tests of code: the same object, and what it brings along of the same kind."""
    owner = getattr(value, "__self__", None)
    methods = isinstance(value, types.MethodType | types.BuiltinMethodType) or is_decorated(value)
    if methods and _made_anew(owner):
        # Python makes a new object at each access.
        draft.test("TYPE({0}) is {1}", path, type(value))
        draft.test("{0} == {1}", path, value)
        if not K.is_function(owner):
            draft.test("KEY({0}.__self__) == {1}", path, lasting_key(owner))
        return
    draft.test("{0} is {1}", path, value)
    if isinstance(value, functools.partial):
        draft.test("KEY({0}.args) == {1}", path, lasting_key(value.args))
        draft.test("KEY({0}.keywords) == {1}", path, lasting_key(value.keywords))
        _code_tests(f"{path}.func", value.func, draft)
    elif isinstance(value, type) and dataclasses.is_dataclass(value):
        draft.test("{0}.__init__ is {1}", path, value.__init__)


def _made_anew(owner: Any) -> bool:
    return owner is not None and not isinstance(owner, types.ModuleType)
