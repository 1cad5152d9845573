"""Guards: does a derivation still see what it saw when it was made?

Code (functions, classes, modules) is compared by identity, data by its kind: a changed number
needs no new derivative, a number in the place of an array does. The question is asked before every
call, so it is compiled: names are looked up as the user's function does.
"""

from __future__ import annotations

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
from s2sad.signature import PLAIN, key_of

Seen = Mapping[str, Any]  # what names and dotted names denoted
Members = Mapping[tuple[Any, str], Any]  # what was found in classes and modules


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
    ) -> Callable[..., Any]:
        """Return the question about a function; constants that are in `stand_ins` are replaced."""
        closure = fn.__closure__ or ()
        cells = dict(zip(fn.__code__.co_freevars, closure, strict=True))
        for constant, value in self.constants.items():
            replaced = stand_ins[value] if isinstance(value, Role) else value
            cells[constant] = types.CellType(replaced)
        inside = tuple(cells[n] for n in self.code.co_freevars)
        made = types.FunctionType(self.code, fn.__globals__, name, defaults, inside)
        made.__qualname__ = name
        return made


@dataclass(frozen=True)
class Role:
    """A value that differs from one function to the next of the same code, by its name."""

    name: str


@dataclass
class _Draft:
    """Tests as text, and the constants in them.

    `first` are what must hold before the shapes of arrays can be taken apart by `shapes`.
    """

    roles: Mapping[Any, Role]
    first: list[str] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def constant(self, value: Any) -> str:
        """Return the name of a constant: in a cell, where no name of the user's gets in between."""
        known = self.names.get(id(value))
        if known is None:
            known = self.names[id(value)] = f"s2sad_{len(self.constants)}"
            function = isinstance(value, types.FunctionType)
            self.constants[known] = self.roles.get(value, value) if function else value
        return known

    def test(self, template: str, path: str, value: Any = None, first: bool = False) -> None:
        """Add a test: {0} stands for what is tested, {1} for what it is compared with."""
        for short, helper in _HELPERS.items():
            if short in template:
                template = template.replace(short, self.constant(helper))
        text = template.format(path, self.constant(value) if "{1}" in template else "")
        (self.first if first else self.tests).append(text)

    def lengths(self, path: str, shape: tuple[int, ...]) -> None:
        """Add tests of an array's rank, and of which lengths are 1."""
        if not shape:
            self.test("{0}.ndim == 0", path)
            return
        names = [f"s2sad_n{len(self.shapes)}_{axis}" for axis in range(len(shape))]
        self.shapes.append(f"{', '.join(names)}, = {path}.shape")
        self.tests += [
            f"{n} {'==' if length == 1 else '!='} 1" for n, length in zip(names, shape, strict=True)
        ]

    def compiled(self, signature: str, last: str, freevars: Iterable[str]) -> Question:
        """Compile all tests; a name that is gone, or an array of another rank, fails them."""
        gone = self.constant((NameError, AttributeError, KeyError, ValueError))
        tests = " and ".join(self.tests) or "True"
        lines = [
            f"def make({', '.join([*self.constants, *freevars])}):",
            f"    def same({signature}):",
            "        s2sad_same = False",
            "        try:",
            f"            if {' and '.join(self.first) or 'True'}:",
            *(f"                {line}" for line in self.shapes),
            f"                s2sad_same = {tests}",
            f"        except {gone}:",
            "            pass",
            f"        {last}",
            "    return same",
        ]
        module = compile("\n".join(lines) + "\n", "<s2sad guard>", "exec", dont_inherit=True)
        make = next(c for c in module.co_consts if isinstance(c, types.CodeType))
        code = next(c for c in make.co_consts if isinstance(c, types.CodeType))
        return Question(code, self.constants)


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
    "KEY": key_of,
    "MAY_IGNORE": may_ignore,
    "TYPE": type,
    "NDARRAY": np.ndarray,
    "SAME_DEFAULTS": same_defaults,
}


def guard(
    fn: types.FunctionType, seen: Seen, roles: Mapping[Any, Role], itself: bool = True
) -> Question | None:
    """Return a test whether `fn` still sees what it saw; None if it saw nothing.

    With `itself` also whether it is still what it was: its code and defaults.
    """
    draft = _Draft(roles)
    if itself:
        _itself_tests(fn, draft)
    _seen_tests(seen, draft)
    return draft.compiled("", "return s2sad_same", fn.__code__.co_freevars) if draft.tests else None


def members_guard(members: Members, roles: Mapping[Any, Role]) -> Question | None:
    """Return a test whether classes and modules still have what was found in them."""
    draft = _Draft(roles)
    for (owner, name), value in members.items():
        if isinstance(owner, types.ModuleType):
            _held_tests(_held_in(owner, name, draft), value, draft)
        elif getattr(owner, name, None) is value:
            draft.test(f"{{0}}.{name} is {{1}}", draft.constant(owner), value)
    return draft.compiled("", "return s2sad_same", ()) if draft.tests else None


def shortcut(
    fn: types.FunctionType,
    seen: Seen,
    roles: Mapping[Any, Role],
    others: Iterable[Role],
    values: tuple[Any, ...],
    bound: int,
) -> Question:
    """Return a function that calls DERIVED with arguments like `values`, and else OTHERWISE.

    That is a lookup with one entry: it compares the arguments' types, dtypes and ranks with those
    of `values`, and what `fn` sees with what it saw. The first `bound` arguments are constants;
    the others are parameters, named as those of `fn`.
    """
    draft = _Draft(roles)
    signature = inspect.signature(fn, follow_wrapped=False).parameters
    names = [*(f"s2sad_bound_{i}" for i in range(bound)), *list(signature)[bound:]]
    for name, value in zip(names, values, strict=True):
        _value_tests(name, value, draft)
    draft.test("{0}.__code__ is {1}", draft.constant(fn), fn.__code__)
    _seen_tests(seen, draft)
    for other in others:
        draft.test("{0}()", _role(draft, other))
    for name in names[:bound]:
        draft.constants[name] = Role(name)
    derived, otherwise = _role(draft, DERIVED), _role(draft, OTHERWISE)
    last = f"return {derived}({', '.join(names)}) if s2sad_same else "
    last += f"{otherwise}({', '.join(names[bound:])})"
    open_ = list(signature.values())[bound:]
    only = sum(p.kind is p.POSITIONAL_ONLY for p in open_)
    listed = [p.name for p in open_]
    if only:
        listed.insert(only, "/")
    return draft.compiled(", ".join(listed), last, fn.__code__.co_freevars)


DERIVED = Role("derived")
OTHERWISE = Role("otherwise")


def bound_role(position: int) -> Role:
    """Return what stands for an argument that a method or partial brings along."""
    return Role(f"s2sad_bound_{position}")


def _role(draft: _Draft, role: Role) -> str:
    name = f"s2sad_{role.name}"
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
    elif type(value) is np.ndarray:
        draft.test("TYPE({0}) is NDARRAY", path, first=True)
        draft.test("({0}.dtype is {1} or {0}.dtype == {1})", path, value.dtype, first=True)
        draft.lengths(path, value.shape)
    else:
        draft.test("KEY({0}) == {1}", path, key_of(value))


def _seen_tests(seen: Seen, draft: _Draft) -> None:
    """Add comparisons of what names denote with what they denoted."""
    for path, value in sorted(seen.items()):
        if value is K.MISSING or not path.replace(".", "_").isidentifier():
            continue
        _held_tests(_in_module(path, seen, draft), value, draft)


def _held_tests(path: str, value: Any, draft: _Draft) -> None:
    if K.is_function(value):
        _code_tests(path, value, draft)
    else:
        _value_tests(path, value, draft)


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
    """Return the text that reads an attribute of a module from its dict, where it is.

    Attributes of a module that has a `__getattr__`, as NumPy's, are slow.
    """
    if attr not in vars(module):
        return f"{draft.constant(module)}.{attr}"
    return f"{draft.constant(vars(module))}[{attr!r}]"


def _code_tests(path: str, value: Any, draft: _Draft) -> None:
    """Add tests of code: the same object, and what it brings along of the same kind."""
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.MethodType | types.BuiltinMethodType) and _made_anew(owner):
        # Python makes a new object at each access.
        draft.test("TYPE({0}) is {1}", path, type(value))
        draft.test("{0} == {1}", path, value)
        if not K.is_function(owner):
            draft.test("KEY({0}.__self__) == {1}", path, key_of(owner))
        return
    draft.test("{0} is {1}", path, value)
    if isinstance(value, functools.partial):
        draft.test("KEY({0}.args) == {1}", path, key_of(value.args))
        draft.test("KEY({0}.keywords) == {1}", path, key_of(value.keywords))
    elif isinstance(value, type) and dataclasses.is_dataclass(value):
        draft.test("{0}.__init__ is {1}", path, value.__init__)


def _made_anew(owner: Any) -> bool:
    return owner is not None and not isinstance(owner, types.ModuleType)
