"""What the calls of derived text call, and what is known of that: never told by how a name reads.

np.add(x, y)       NumPy's function of that name, which has a rule: the result is new
mylib.add(x, y)    one of the user's: it may give back what it is given
x_bar.copy()       a method of an array, where x_bar is one
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.kinds import MISSING, Kind
from s2sad.known import spaces
from s2sad.nodes import Node, copied
from s2sad.rulebook.facts import Numbers
from s2sad.syntax.fresh import gives_new, makes_new, shown_by

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NEW: tuple[Any, ...] = (
    *(runtime.zeros_like, runtime.private),
    *(runtime.last_writes, runtime.written_once),
)
_FITTING: tuple[Any, ...] = (runtime.unbroadcast,)


def of_builtins(node: Node) -> Any:
    """Return what a bare name denotes where nobody has bound it."""
    return getattr(builtins, node.id, MISSING) if isinstance(node, gast.Name) else MISSING


class Callees:
    """The functions that the names of one text stand for, and what is known of them.

    `modules` and `functions` are what the text imports and what it defines, by name; `kinds` are
    those of its variables; `path` finds what other names denote. All that is not known of a
    function is taken for the worst: its result may be what it is given.
    """

    def __init__(
        self,
        modules: Mapping[str, Any] = _NOTHING,
        functions: Mapping[str, Any] = _NOTHING,
        kinds: Mapping[str, Kind] = _NOTHING,
        path: Callable[[Node], Any] = of_builtins,
        local: Collection[str] = (),
    ) -> None:
        self.modules = modules
        self.functions = functions
        self.kinds = kinds
        self.path = path
        self.local = local

    def of(self, func: Node) -> Any:
        """Return the object that an expression which is called denotes; None where unknown."""
        root, steps = func, []
        while isinstance(root, gast.Attribute):
            steps.append(root.attr)
            root = root.value
        if not isinstance(root, gast.Name) or self._is_variable(root.id):
            return None
        found = self.modules.get(root.id, self.functions.get(root.id, MISSING))
        if found is MISSING:
            found = self.path(func)
            return None if found is MISSING else found
        for step in reversed(steps):
            found = getattr(found, step, None)
        return found

    def is_call(self, node: Node, *fns: Any) -> bool:
        """Say whether an expression is a call of one of some functions."""
        if not isinstance(node, gast.Call):
            return False
        called = spaces.twin(self.of(node.func))
        return called is not None and any(called is fn for fn in fns)

    def numbers(self, node: Node) -> Numbers:
        """Return what is declared of the numbers that a call gives."""
        return registry.numbers_of(self.of(node.func))

    def fits(self, node: Node) -> bool:
        """Say whether an expression sums a cotangent to a shape, or gives it back where it fits."""
        return self.is_call(node, *_FITTING)

    def is_new(self, node: Node) -> bool:
        """Say whether an expression surely makes a value that shares memory with nothing."""
        if isinstance(node, gast.BinOp | gast.UnaryOp | gast.Constant | gast.Compare):
            return True
        if isinstance(node, gast.Dict):
            return None not in node.keys and all(map(self.is_new, node.values))
        if not isinstance(node, gast.Call):
            return False
        if self.fits(node):
            return self.is_new(node.args[0])
        if self._makes_like(node):
            return all(map(self.is_new, node.args))
        return self.is_call(node, *_NEW) or self._makes_new(node)

    def _makes_like(self, node: Node) -> bool:
        """Return whether a call makes an object of a value's class: `type(p)(0.0, 0.0)`."""
        return isinstance(node.func, gast.Call) and self.of(node.func.func) is type

    def _makes_new(self, node: Node) -> bool:
        fn = self.of(node.func)
        if fn is not None or not isinstance(node.func, gast.Attribute):
            return fn is not None and registry.is_foreign(fn) and gives_new(fn, node)
        owner, word = node.func.value, node.func.attr
        if self._is_structure(owner):
            return bool(word == "copy")
        method = registry.method_like(word) if self.is_array(owner) else None
        if method is None or method is np.conjugate:  # a real array is its own conjugate
            return False
        return gives_new(method, node) or makes_new(None, node)

    def served(self, node: Node) -> tuple[Any, Node | None]:
        """Return the function that does what a call does, and its first argument.

        For a method of an array that is the function whose rule serves it.
        """
        fn, first = self.of(node.func), node.args[0] if node.args else None
        if fn is None and isinstance(node.func, gast.Attribute) and self.is_array(node.func.value):
            return registry.method_like(node.func.attr), node.func.value
        return spaces.twin(fn), first

    def copied(self, node: Node) -> Node | None:
        """Return the array or the structure that an expression is a copy of, if it is one."""
        source = copied(node)
        return source if source is not None and self.is_new(node) else None

    def shown(self, node: Node) -> Node | None:
        """Return the array that a call shows in another order or shape, to be read and written."""
        if not isinstance(node, gast.Call):
            return None
        fn, first = self.served(node)
        window = None if first is None else shown_by(fn, node, first)
        return None if window is None or window.read_only else first

    def is_array(self, node: Node) -> bool:
        """Say whether an expression is surely a number or an array."""
        if isinstance(node, gast.BinOp | gast.UnaryOp | gast.Compare):
            return True
        if isinstance(node, gast.Constant):
            return isinstance(node.value, int | float | complex)
        if isinstance(node, gast.IfExp):
            return self.is_array(node.body) and self.is_array(node.orelse)
        if isinstance(node, gast.Call):
            return self._gives_array(node)
        if isinstance(node, gast.Attribute):
            return self.is_array(node.value) or self._is_numeric(node)
        return self._is_numeric(node)

    def _gives_array(self, node: Node) -> bool:
        fn = self.of(node.func)
        if fn is not None:
            return registry.is_foreign(fn) or registry.is_ours(fn)
        return isinstance(node.func, gast.Attribute) and self.is_array(node.func.value)

    def _is_numeric(self, node: Node) -> bool:
        kind = self.kind(node)
        return kind is not None and K.is_numeric(K.without_none(kind))

    def _is_structure(self, node: Node) -> bool:
        return isinstance(self.kind(node), K.BuiltIn)

    def _is_variable(self, variable: str) -> bool:
        if variable in self.modules or variable in self.functions:
            return False
        return variable in self.kinds or variable in self.local

    def kind(self, node: Node) -> Kind | None:
        """Return the kind of a variable, or of a part of one, as far as it is known."""
        if isinstance(node, gast.Name):
            return self.kinds.get(node.id)
        if not isinstance(node, gast.Attribute | gast.Subscript):
            return None
        return part_kind(node, self.kind(node.value))


def part_kind(node: Node, owner: Kind | None) -> Kind | None:
    """Return the kind of a part of something, where that is of this kind."""
    if isinstance(node, gast.Attribute):
        return owner.at(node.attr) if isinstance(owner, K.Obj) else None
    if isinstance(owner, K.Array):
        return owner
    if not isinstance(owner, K.BuiltIn) or isinstance(node.slice, gast.Slice):
        return None
    return owner.at(getattr(node.slice, "value", K.MISSING))
