"""Why nothing is known of an operation: what Python itself says of it, or what s2sad cannot see.

np.sine(x)           numpy has no `sine`; did you mean `sin`?
x ** 2               `x ** 2` is not defined for a list of floats and an int.
math.sin(x)          `math.sin(x)` fails for a 1-d array of float64: TypeError: ...
os.environ["N"]      s2sad cannot tell what `os.environ["N"]` gives.

The answer is kept with the kind, which stays unknown: it is read where the operation is refused.
"""

from __future__ import annotations

import builtins
import difflib
import functools
import inspect
import sys
import types
import warnings
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import Error, MissingRuleError, UnsupportedError, an
from s2sad.facts.results import OPERATORS
from s2sad.facts.sampled import kills
from s2sad.facts.scope import Scope
from s2sad.kinds import MISSING, Kind
from s2sad.known.samples import Sampler
from s2sad.nodes import Node
from s2sad.stages import KindFacts, SourceLike

_OUTSIDE = "Compute it outside the function and pass it in as an argument."
_DEFINE = "Define it, or import it, before the function is differentiated."
_NONE = (
    "Find what gives None: a function without `return` does, and so do methods that work in "
    "place, such as .sort() and .append()."
)
_LOOK = "Correct this line: it fails without s2sad, too."
_CLASSES = {
    K.Array: np.ndarray,
    K.List: list,
    K.Tuple: tuple,
    K.Dict: dict,
    K.OpenDict: dict,
    K.Str: str,
    K.NoneKind: type(None),
}
_SAID = (TypeError, AttributeError, KeyError, IndexError, np.exceptions.AxisError)

Said = tuple[type[Error], str, str]


class Mistakes:
    """Says why nothing is known of operations in one function."""

    def __init__(self, source: SourceLike, scope: Scope, facts: KindFacts) -> None:
        self.source = source
        self.scope = scope
        self.facts = facts

    def of(self, node: Node) -> Error | None:
        """Return the error that says why nothing is known of an operation, if that can be said."""
        found = getattr(self, f"of_{type(node).__name__}", None)
        said = None if found is None else found(node)
        if said is None:
            return None
        cls, reason, remedy = said
        known = getattr(node, "lineno", None) is not None
        error: Error = cls(reason, remedy=remedy, place=self.source.place(node) if known else None)
        return error

    def calls_method(self, node: Node) -> bool:
        """Say whether a node calls a method that its object has."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
            return False
        holder = self._holder(node.func)
        return holder is not None and node.func.attr in dir(holder[0])

    # what stands nowhere

    def of_Name(self, node: Node) -> Said | None:
        fn = self.scope.fn
        if node.id in self.scope.locals or self.scope.path(node) is not MISSING:
            return None
        code = fn.__code__
        if node.id in code.co_freevars:
            return _wrong(
                f"`{node.id}` has no value yet: the enclosing function binds it later.", _DEFINE
            )
        near = _near(
            node.id, [*code.co_varnames, *fn.__globals__, *code.co_freevars, *dir(builtins)]
        )
        return _wrong(f"`{node.id}` is not defined{near}", _DEFINE)

    def of_Attribute(self, node: Node) -> Said | None:
        holder = self._holder(node)
        if holder is None:
            return self._opaque(node)
        value, label = holder
        if node.attr not in dir(value):
            listlike = isinstance(value, type) and issubclass(value, list | tuple)
            array = listlike and node.attr in dir(np.ndarray)
            remedy = f"Make it an array: {self._as_array(node.value)}." if array else _LOOK
            return _wrong(f"{label} has no `{node.attr}`{_near(node.attr, dir(value))}", remedy)
        text = self._text(node)
        if isinstance(value, type) and callable(getattr(value, node.attr)):
            return _wrong(f"`{text}` is a method that is not called.", f"Call it: `{text}(...)`.")
        return self._opaque(node)

    def _holder(self, node: Node) -> tuple[Any, str] | None:
        """Return what an attribute is looked up in, and what that is called."""
        value = self.scope.path(node.value)
        kind = self.facts.of.get(node.value, K.UNKNOWN)
        if isinstance(kind, K.Known):
            value = kind.value
        if isinstance(value, types.ModuleType | type):
            return value, value.__name__
        if isinstance(kind, K.Obj) and not hasattr(kind.cls, "__getattr__"):
            return types.SimpleNamespace(**_members(kind)), kind.cls.__name__
        cls = _CLASSES.get(type(kind))
        if isinstance(kind, K.Num):
            cls = getattr(builtins, kind.type) if kind.dtype is None else np.float64
        label = _described(kind)
        return None if cls is None else (cls, label[:1].upper() + label[1:])

    # what Python cannot do

    def of_BinOp(self, node: Node) -> Said | None:
        return self._operation(node, OPERATORS[type(node.op)], [node.left, node.right])

    def of_UnaryOp(self, node: Node) -> Said | None:
        known = OPERATORS.get(type(node.op))
        return None if known is None else self._operation(node, known, [node.operand])

    def _operation(self, node: Node, fn: Any, operands: list[Node]) -> Said | None:
        kinds = [self.facts.of.get(o, K.UNKNOWN) for o in operands]
        if any(isinstance(k, K.Unknown) for k in kinds):
            return self._opaque(node)
        objects = [k for k in kinds if isinstance(k, K.Obj)]
        if objects and any(_has_operator(k.cls, node.op) for k in objects):
            return self._opaque(node)
        if not objects and not failure(fn, tuple(kinds), ()):
            return None
        given = " and ".join(map(_described, kinds))
        remedy = _LOOK
        for operand, kind in zip(operands, kinds, strict=True):
            if isinstance(kind, K.NoneKind):
                remedy = _NONE
            elif isinstance(kind, K.Str):
                remedy = f"Make a number of the string: float({self._text(operand, 'it')})."
            elif isinstance(kind, K.List | K.Tuple):
                remedy = f"Make it an array: {self._as_array(operand)}."
            elif isinstance(kind, K.Known) and callable(kind.value):
                remedy = f"Call it: `{self._text(operand, 'f')}(...)`."
        return _wrong(f"`{self._text(node)}` is not defined for {given}.", remedy)

    def of_Subscript(self, node: Node) -> Said | None:
        owner = self.facts.of.get(node.value, K.UNKNOWN)
        index = self.facts.of.get(node.slice, K.UNKNOWN)
        if isinstance(node.slice, gast.Tuple) and not isinstance(owner, K.Dict):
            parts = [self.facts.of.get(e, K.UNKNOWN) for e in node.slice.elts]
            index = K.Tuple(tuple(parts))
        said = failure(_item, (owner, index), ())
        if not said:
            return None if isinstance(owner, K.Array) else self._opaque(node)
        remedy = _LOOK
        if isinstance(owner, K.NoneKind):
            remedy = _NONE
        elif isinstance(owner, K.Dict):
            remedy = f"It has the keys {', '.join(repr(k) for k, _ in owner.items)}."
        elif isinstance(owner, K.List | K.Tuple) and isinstance(index, K.Tuple):
            remedy = f"Make it an array: {self._as_array(node.value)}."
        elif isinstance(index, K.Num | K.Array):
            remedy = "Use an int, or an array of ints: int(...) or .astype(int)."
        return _wrong(f"`{self._text(node)}` fails: {said}.", remedy)

    def of_Call(self, node: Node) -> Said | None:
        target = self.facts.of.get(node.func, K.UNKNOWN)
        fn = self.facts.objects.get(node.func, getattr(target, "value", None))
        args = [self.facts.of.get(a, K.UNKNOWN) for a in node.args]
        named = {k.arg: self.facts.of.get(k.value, K.UNKNOWN) for k in node.keywords}
        if not self._is_callable(target, fn):
            what = "a module" if inspect.ismodule(fn) else _described(target)
            reason = f"`{self._text(node.func)}` is {what}, which cannot be called."
            return _wrong(reason, "Call one of its functions." if inspect.ismodule(fn) else _LOOK)
        if any(isinstance(a, gast.Starred) for a in node.args) or None in named:
            return None
        if isinstance(fn, types.FunctionType):
            wrong = _misfit(fn, len(args), [n for n in named if n is not None])
            if wrong:
                taken = f"{fn.__name__}{inspect.signature(fn)}"
                return _wrong(
                    f"This call does not fit `{taken}`: {wrong}.",
                    "Call it with the arguments that it takes.",
                )
        if fn is None and isinstance(node.func, gast.Attribute):
            return self._method(node, args, named)
        if registry.rule_for(fn) is None and not isinstance(fn, type):
            return (
                None
                if isinstance(fn, types.FunctionType) and not self._brought(fn)
                else self._opaque(node)
            )
        said = failure(fn, tuple(args), tuple(sorted(named.items())))
        if not said:
            strange = next((k for k in args if isinstance(k, K.Obj | K.OneOf)), None)
            known = registry.rule_for(fn) is not None and strange is None
            return None if known else self._opaque(node, strange)
        return self._fails(node, [*args, *named.values()], said, self._instead(fn, args))

    def _fails(self, node: Node, kinds: Iterable[Kind], said: str, remedy: str) -> Said:
        given = ", ".join(map(_described, kinds))
        what = f" for {given}" if given else ""
        stop = "" if said.endswith((".", "?", "!")) else "."
        return _wrong(f"`{self._text(node)}` fails{what}: {said}{stop}", remedy)

    def _method(self, node: Node, args: list[Kind], named: dict[str, Kind]) -> Said | None:
        owner = self.facts.of.get(node.func.value, K.UNKNOWN)
        if type(owner) not in _CLASSES and not isinstance(owner, K.Num):
            return self._opaque(node)
        word = K.Str(node.func.attr)
        said = failure(_call_method, (owner, word, *args), tuple(sorted(named.items())))
        if not said:
            return MissingRuleError, *registry.missing_method(node.func.attr)
        return self._fails(node, [*args, *named.values()], said, _LOOK)

    def _is_callable(self, target: Kind, fn: Any) -> bool:
        if fn is not None:
            return callable(fn)
        plain = (K.Num, K.Array, K.Str, K.List, K.Dict, K.NoneKind)
        return not isinstance(target, plain) and not (
            isinstance(target, K.Tuple) and not target.cls
        )

    def _instead(self, fn: Any, args: list[Kind]) -> str:
        """Return what to do where a function does not take what it is given."""
        word = getattr(fn, "__name__", "")
        arrays = any(isinstance(a, K.Array) and a.rank for a in args)
        if getattr(fn, "__module__", "") in ("math", "cmath") and arrays:
            if word in vars(np):
                return f"math.{word} takes one number; np.{word} takes arrays."
        return _LOOK

    # what cannot be seen

    def is_given(self, kind: K.Unknown) -> bool:
        """Say whether a kind is that of an object of which nothing is known, and no more."""
        return kind.cls is not None and kind.cls is not slice and not kind.instead

    def without_rule(self, node: Node, fn: Any) -> Error:
        """Return the error for what a library's function gives that has no derivative."""
        reason, remedy = registry.missing(fn, full_name(fn))
        if registry.is_refused(fn) and remedy.startswith("Make its inputs Const"):
            remedy = _OUTSIDE
        elif not registry.is_refused(fn):
            remedy = namesake(fn) or remedy
        known = getattr(node, "lineno", None) is not None
        return MissingRuleError(
            reason, remedy=remedy, place=self.source.place(node) if known else None
        )

    def _opaque(self, node: Node, made_of: Kind | None = None) -> Said:
        """What is computed by something that s2sad cannot look into, and is no mistake."""
        reason = f"s2sad cannot tell what `{self._text(node)}` gives"
        fn = self.facts.objects.get(node.func) if isinstance(node, gast.Call) else None
        owner = self._first_object(node)
        if owner is not None:
            reason += f": it knows nothing of {an(owner.__name__)}"
        elif made_of is not None:
            reason += f": it is made of {_described(made_of)}"
        elif fn is not None:
            reason += f": it knows nothing of {_path_of(fn)}"
        return MissingRuleError, f"{reason}.", self._remedy_for(fn)

    def _remedy_for(self, fn: Any) -> str:
        if fn in (iter, next):
            return "Write a `for` loop over the sequence that the iterator was made from."
        twin = namesake(fn)
        if twin:
            return twin
        wraps = " If it wraps the sequence of a loop, loop over the sequence itself."
        return _OUTSIDE + (wraps if isinstance(fn, type) else "")

    def _first_object(self, node: Node) -> type | None:
        """Return the class of the given object whose content an operation asks for."""
        for part in gast.walk(node):
            kind = self.facts.of.get(part)
            if isinstance(kind, K.Unknown) and kind.cls is not None and kind.cls is not slice:
                return kind.cls
        return None

    def _brought(self, fn: types.FunctionType) -> bool:
        return registry.is_foreign(fn) or registry.is_ours(fn)

    def _text(self, node: Node, otherwise: str = "this operation") -> str:
        """Return an operation as it stands in the source."""
        if getattr(node, "lineno", None) is None:
            return otherwise if not isinstance(node, gast.Name) else node.id
        place = self.source.place(node)
        return place.text[place.column : place.end_column].strip() or otherwise

    def _as_array(self, node: Node) -> str:
        return f"np.array({self._text(node, '...')})"


def full_name(fn: Any) -> str:
    """Return the name of a library's function with its public module."""
    module = (getattr(fn, "__module__", None) or "numpy").partition("._")[0].removeprefix("_")
    name = getattr(fn, "__name__", None) or type(fn).__name__
    root, dot, rest = module.partition(".")
    return f"{'np' if root == 'numpy' else root}{dot}{rest}.{name}"


def namesake(fn: Any) -> str:
    """Return the advice to use NumPy's function of the same name, if it has a rule."""
    word = getattr(fn, "__name__", "")
    home = sys.modules.get(str(getattr(fn, "__module__", "") or "").partition(".")[0])
    there = vars(np).get(word) if hasattr(home, "__path__") and home is not np else None
    return f"Use np.{word}." if registry.rule_for(there) is not None else ""


def _wrong(reason: str, remedy: str) -> Said:
    return UnsupportedError, reason, remedy


def _near(word: str, words: Iterable[str]) -> str:
    """Return the end of a sentence: the word that was meant, perhaps."""
    found = difflib.get_close_matches(word, [w for w in words if not w.startswith("_")], 1, 0.7)
    return f"; did you mean `{found[0]}`?" if found else "."


def _described(kind: Kind) -> str:
    """Return what a value is, with what a list holds."""
    if isinstance(kind, K.List) and isinstance(kind.item, K.Num):
        return f"a list of {kind.item.type}s"
    if isinstance(kind, K.Known):
        return "a module" if inspect.ismodule(kind.value) else "a function"
    return K.describe(kind)


def _has_operator(cls: type, op: Node) -> bool:
    word = type(op).__name__.lower()
    words = {"mult": "mul", "div": "truediv", "usub": "neg", "uadd": "pos"}
    if hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__"):
        return True
    name = words.get(word, word)
    return any(hasattr(cls, f"__{side}{name}__") for side in ("", "r"))


def _members(kind: K.Obj) -> dict[str, None]:
    return dict.fromkeys([*dir(kind.cls), *(n for n, _ in kind.fields)])


def _path_of(fn: Any) -> str:
    """Return the dotted name of a function."""
    home = str(getattr(fn, "__module__", None) or "")
    word = str(getattr(fn, "__qualname__", None) or type(fn).__name__)
    return word if home in ("", "builtins", "__main__") else f"{home}.{word}"


def _misfit(fn: types.FunctionType, count: int, named: Iterable[str]) -> str:
    """Return why a function does not take so many arguments, and those by name."""
    try:
        inspect.signature(fn).bind(*[None] * count, **dict.fromkeys(named))
    except TypeError as error:
        return str(error)
    return ""


@functools.lru_cache(1024)
def failure(fn: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> str:
    """Return what Python says of a call with values of these kinds, whatever their lengths are."""
    said = {_failure(fn, args, keywords, run) for run in (0, 1)}
    return said.pop() if len(said) == 1 else ""


def _failure(fn: Any, args: tuple[Kind, ...], keywords: tuple[Any, ...], run: int) -> str:
    sampler = Sampler((*args, *(k for _, k in keywords)), run)
    try:
        values = [sampler.sample(_plain(a), 0.7) for a in args]
        named = {n: sampler.sample(_plain(k), 0.7) for n, k in keywords}
    except ValueError:  # there is no sample
        return ""
    if kills(fn, values):
        return ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fn(*values, **named)
        except _SAID as error:
            return f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(".")
        except (ArithmeticError, RuntimeError, ValueError, MemoryError):
            return ""
    return ""


def _plain(kind: Kind) -> Kind:
    """Return a kind that has samples: any text is as good as another."""
    return K.Str("text") if kind == K.Str() else kind


def _item(owner: Any, index: Any) -> Any:
    return owner[index]


def _call_method(owner: Any, attr: str, *args: Any, **named: Any) -> Any:
    return getattr(owner, attr)(*args, **named)
