"""What a name that is not local denotes: closure cells, globals, builtins, seen live."""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.derivative import is_decorated
from s2sad.kinds import MISSING, Kind
from s2sad.known.by_value import with_values
from s2sad.syntax.decided import is_word

_CODE = (types.FunctionType, property, staticmethod, classmethod, functools.cached_property)


@dataclass
class Scope:
    """The surroundings of one function, and a record of what was looked up in them."""

    fn: types.FunctionType
    locals: frozenset[str]
    seen: dict[str, Any] = field(default_factory=dict)
    members: dict[tuple[Any, Any], Any] = field(default_factory=dict)
    helpers: Mapping[str, Any] = field(default_factory=dict)
    stands: Any = None
    step: Callable[[Any], None] = field(default=lambda statement: None)
    by_value: bool = False
    parts_known: list[str] = field(default_factory=list)

    @property
    def cells(self) -> Mapping[str, types.CellType]:
        """The closure cells by name."""
        closure = self.fn.__closure__ or ()
        return dict(zip(self.fn.__code__.co_freevars, closure, strict=True))

    def lookup(self, name: str) -> Any:
        """Return the object a global or captured name denotes now, or MISSING."""
        if name in self.locals:
            return MISSING
        if name in self.helpers:
            return self.helpers[name]
        value = lookup(self.fn, name)
        self.seen[name] = value
        return value

    def kind(self, value: Any, path: str, literal: bool = False) -> Kind:
        """Return the kind of what stands outside, with its words and numbers where these count.

        What is found in an object or a dict is noted: the program might store another value there.
        """
        kind = K.kind_of(value, path, literal)
        known = with_values(kind, value) if self.by_value else kind
        if known != kind and ("." in path or not (is_word(known) or isinstance(known, K.Tuple))):
            self.parts_known.append(path)
        return known

    def path(self, node: Any) -> Any:
        """Return the object a dotted name denotes, where it starts outside the function."""
        if isinstance(node, gast.Name):
            return self.lookup(node.id)
        if isinstance(node, gast.Attribute):
            owner = self.path(node.value)
            if owner is MISSING or not (_stable(owner) or is_known_method(owner, node.attr)):
                return MISSING
            value = getattr(owner, node.attr, MISSING)
            fixed = isinstance(owner, types.ModuleType | type) and value is not MISSING
            path = dotted_path(node)
            if fixed and not self._made_up(path.partition(".")[0]):
                self.seen[path] = value
            return value
        return MISSING

    def _made_up(self, word: str) -> bool:
        """Return whether a pass made up a name: it denotes nothing where the guards look."""
        made = self.helpers.get(word, MISSING)
        return made is not MISSING and lookup(self.fn, word) is not made

    def held(self, module: types.ModuleType, attr: str) -> Any:
        """Return what a module that the function itself imports has under a name, or MISSING."""
        found = getattr(module, attr, MISSING)
        if found is not MISSING:
            self.members[module, attr] = found
        return found

    def member(self, cls: type, attr: str, missing: Any = None) -> Any:
        """Return what a class or its bases have under a name, as it stands there, undecorated."""
        found = inspect.getattr_static(cls, attr, missing)
        code = isinstance(found, _CODE) or is_decorated(found)
        if code or (found is not missing and not hasattr(type(found), "__get__")):
            self.members[cls, attr] = found
        return found.__s2sad_primal__ if is_decorated(found) else found


def undecorated(fn: Any) -> Any:
    """Return the function behind methods, partials and @differentiate."""
    while True:
        if isinstance(fn, types.MethodType):
            fn = fn.__func__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif is_decorated(fn):
            fn = fn.__s2sad_primal__
        else:
            return fn


def are_names(value: Any) -> bool:
    """Say whether data outside is a tuple of strings: what they are is part of the program."""
    return type(value) is tuple and bool(value) and all(type(v) is str for v in value)


def dotted_path(node: Any) -> str:
    """Return a dotted name as it stands in the source."""
    return node.id if isinstance(node, gast.Name) else f"{dotted_path(node.value)}.{node.attr}"


def lookup(fn: types.FunctionType, name: str) -> Any:
    """Return what a free name of a function denotes now, or MISSING."""
    if name in fn.__code__.co_freevars:
        closure = fn.__closure__ or ()
        try:
            return closure[fn.__code__.co_freevars.index(name)].cell_contents
        except ValueError:
            return MISSING
    if name in fn.__globals__:
        return fn.__globals__[name]
    return getattr(builtins, name, MISSING)


def _stable(owner: Any) -> bool:
    """Modules and classes do not change under a derivation; attributes of other objects may."""
    fixed = (types.ModuleType, type, property, functools.cached_property)
    return isinstance(owner, fixed) or hasattr(type(owner), "reduceat")


def is_known_method(owner: Any, attr: str) -> bool:
    """Say whether this is a method, with a rule, of an object that a library brings."""
    if not type(owner).__module__.startswith("scipy."):
        return False
    method = getattr(owner, attr, None)
    if not isinstance(method, types.MethodType):
        return False
    return registry.rule_for(method) is not None or registry.written_form(method) is not None


def imported(scope: Scope, module: str, attr: str | None) -> Kind:
    """Return the kind of what an import statement binds."""
    try:
        value: Any = importlib.import_module(module)
    except ImportError:
        return K.UNKNOWN
    registry.load_rules()  # a library may have come now
    if attr is not None:
        value = scope.held(value, attr)
    return K.UNKNOWN if value is MISSING else scope.kind(value, attr or module)
