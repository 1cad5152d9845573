"""Checks: an emitted function looks at what it was derived for before it computes.

if not (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == "float64" and len(x) != 1):
    raise kind_error("f_grad was derived for x: a 1-d array of float64, not of length 1", x)

Of a structure each part is looked at by itself, so that the error names the part: `p["w"]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import SourceError
from s2sad.kinds import Kind
from s2sad.known.pieces import Piece, length_text, not_one_text
from s2sad.names import Names
from s2sad.nodes import Block
from s2sad.stages import Written
from s2sad.syntax.decided import is_word


@dataclass(frozen=True)
class Checks:
    """Writes what looks at the arguments of `entry`.

    `numpy` and `error` are the names of the module and of `kind_error`; `names` gives new ones. Of
    the parameters `any_order` the text does not depend on the order of keys.
    """

    entry: str
    numpy: str
    error: str
    names: Names
    any_order: frozenset[str] = frozenset()

    def of(self, name: str, kind: Kind) -> Block:
        """Return the statements that refuse an argument of another kind than the one derived for.

        They are none where nothing is known of it.
        """
        lines = self._lines(_Part(name, name, name in self.any_order), kind)
        body: Block = gast.parse("\n".join(lines)).body
        return body

    def _lines(self, part: _Part, kind: Kind) -> list[str]:
        lines = self._refusal(part, kind)
        for inner, inner_kind in _parts(part, kind):
            lines += self._lines(inner, inner_kind)
        if isinstance(kind, K.List) and kind.items is None:
            lines += self._each(part, kind.item, "i", "enumerate({})")
        elif isinstance(kind, K.OpenDict):
            lines += self._each(part, kind.item, "key", "{}.items()")
        return lines

    def _refusal(self, part: _Part, kind: Kind) -> list[str]:
        """Return the statement that refuses a value by what it is itself, whatever its parts are.

        No statement, where nothing is known of it.
        """
        tests = _tests(part, kind, self.numpy)
        if not tests:
            return []
        test = f"not {tests[0]}" if len(tests) == 1 else f"not ({' and '.join(tests)})"
        if isinstance(kind, K.NoneKind):
            test = f"{part.text} is not None"
        elif is_word(kind):
            other = "is not" if isinstance(kind.value, bool) else "!="
            test = f"{part.text} {other} {_key(kind.value)}"
        escaped = _words(kind, part.any_order).replace("{", "{{").replace("}", "}}")
        message = f"{self.entry} was derived for {part.told}: {escaped}"
        said = f"f{message!r}" if part.in_loop else repr(message.format())
        return [f"if {test}:", f"    raise {self.error}({said}, {part.text})"]

    def _each(self, part: _Part, kind: Kind, index: str, items: str) -> list[str]:
        """Return the loop that looks at each item of a list or a dict."""
        names = self.names.copy()
        index, item = names.fresh(index), names.fresh("item")
        told = f"{part.told}[{{{index}{'!r' if index.startswith('key') else ''}}}]"
        inner = _Part(item, told, part.any_order, in_loop=True)
        lines = replace(self, names=names)._lines(inner, kind)
        loop = f"for {index}, {item} in {items.format(part.text)}:"
        return [loop, *(f"    {line}" for line in lines)] if lines else []


@dataclass(frozen=True)
class _Part:
    """A value that is looked at: the expression that gives it, and what messages call it.

    What messages call it is part of an f-string, which names the positions of loops.
    """

    text: str
    told: str
    any_order: bool
    in_loop: bool = False

    def at(self, step: str) -> _Part:
        """Return the part of this one that a step leads to: `[0]`, `["w"]`, `.rate`."""
        escaped = step.replace("{", "{{").replace("}", "}}")
        return replace(self, text=self.text + step, told=self.told + escaped)


def _parts(part: _Part, kind: Kind) -> Iterator[tuple[_Part, Kind]]:
    """Yield the parts of a structure that have names or places of their own."""
    for inner in kind.parts:
        if inner.how == "field":
            yield part.at(inner.path), inner.kind
        elif inner.how == "item" and inner.step is not K.EACH:
            yield part.at(f"[{_key(inner.step)}]"), inner.kind


def _key(key: Any) -> str:
    """Return a key as derived text has it, in double quotes."""
    return f'"{key}"' if isinstance(key, str) and repr(key) == f"'{key}'" else repr(key)


def check_length(entry: str, symbol: str, cut: int) -> Block:
    """Return the statement that refuses an array with parts of length 1, which would broadcast."""
    if isinstance(symbol, Piece):
        message = f"{entry} was derived for arguments with {not_one_text(symbol, cut)}"
        test = f"{symbol.text()} == {1 + cut}"
    else:
        parameter, axis = symbol.rsplit(".", 1)
        message = f"{entry} was derived for {parameter} not of length {1 + cut} along axis {axis}"
        test = f"{length_text(symbol)} == {1 + cut}"
    body: Block = gast.parse(f"if {test}:\n    raise TypeError({message!r})").body
    return body


def check_overlap(entry: str, params: Mapping[str, Kind], written: Written, numpy: str) -> Block:
    """Return the statements that refuse what is written and given, or overlapped, by another."""
    arrays = [n for n, kind in params.items() if isinstance(kind, K.Array)]
    out: Block = []
    for i, one in enumerate(arrays):
        for other in arrays[i + 1 :]:
            if {one, other} & written.arrays.keys():
                message = f"{entry}: {one} and {other} share memory, which is written"
                test = f"{numpy}.shares_memory({one}, {other})"
                out += gast.parse(f"if {test}:\n    raise ValueError({message!r})").body
    holders = [n for n, kind in params.items() if K.is_container(kind)]
    for i, one in enumerate(holders):
        for other in holders[i + 1 :]:
            if {one, other} & written.containers.keys() and type(params[one]) is type(
                params[other]
            ):
                message = f"{entry}: {one} and {other} are one structure, which is changed"
                out += gast.parse(f"if {one} is {other}:\n    raise ValueError({message!r})").body
    return out


def _tests(part: _Part, kind: Kind, numpy: str) -> list[str]:
    """Return the tests that a value of a kind passes; those of its parts are others."""
    path = part.text
    if is_word(kind):
        same = "is" if isinstance(kind.value, bool) else "=="
        return [f"{path} {same} {_key(kind.value)}"]
    if isinstance(kind, K.Array):
        return _array_tests(path, kind, numpy)
    if isinstance(kind, K.Num):
        return [f"isinstance({path}, {_number_class(kind, numpy)})"]
    if isinstance(kind, K.NoneKind):
        return [f"{path} is None"]
    if isinstance(kind, K.Str):
        return [f"isinstance({path}, str)"]
    if isinstance(kind, K.Tuple):
        return [f"isinstance({path}, tuple)", f"len({path}) == {len(kind.items)}"]
    if isinstance(kind, K.Dict):
        return [f"isinstance({path}, dict)", _keys_test(part, kind)]
    if isinstance(kind, K.OpenDict):
        return [f"isinstance({path}, dict)"]
    if isinstance(kind, K.List) and kind.items is not None:
        return [f"isinstance({path}, list)", f"len({path}) == {len(kind.items)}"]
    if isinstance(kind, K.List):
        empty = isinstance(kind.item, K.Unbound)
        return [f"{path} == []" if empty else f"isinstance({path}, list)"]
    if isinstance(kind, K.Opaque):
        return _opaque_tests(path, kind, numpy)
    if isinstance(kind, K.Obj):
        return _class_tests(path, kind.cls)
    if isinstance(kind, K.Known | K.Choice):
        options = kind.options if isinstance(kind, K.Choice) else (kind,)
        tests = [_is_function(path, k, numpy) for k in options]
        either = " or ".join(tests)
        return [f"({either})" if len(tests) > 1 else either] if all(tests) else []
    return []


def _class_tests(path: str, cls: type) -> list[str]:
    """Return the tests that a value is of a class: by its name, as a file may hold a copy."""
    names = ("__module__", "__qualname__")
    return [f"type({path}).{n} == {_key(getattr(cls, n))}" for n in names]


def _keys_test(part: _Part, kind: K.Dict) -> str:
    keys = ", ".join(_key(key) for key, _ in kind.items)
    if part.any_order and kind.items:
        return f"{part.text}.keys() == {{{keys}}}"
    return f"list({part.text}) == [{keys}]"


def _opaque_tests(path: str, kind: K.Opaque, numpy: str) -> list[str]:
    tests = _class_tests(path, kind.cls)
    known = registry.objects_of(kind.cls)
    if known is not None and known.check:
        return [*tests, known.check.format(path, kind.like.rank)]
    if not hasattr(kind.cls, "dtype"):
        return tests
    shape = [t for t in _array_tests(path, kind.like, numpy) if f"{path}.shape" in t]
    return [*tests, f'{path}.dtype == "{kind.like.dtype}"', *shape]


def _is_function(path: str, kind: Kind, numpy: str) -> str:
    """Return the test that a value is the function, class or module that a derivation saw.

    Functions are told by their names: a file may hold copies of those of its own module.
    """
    value: Any = getattr(kind, "value", None)
    if isinstance(value, np.dtype) or value is Ellipsis:
        return ""
    if inspect.ismodule(value):
        return f"{path}.__name__ == {getattr(value, '__name__', '')!r}"
    short = str(getattr(value, "__name__", ""))
    if isinstance(value, np.ufunc) and getattr(np, short, None) is value:
        return f"{path} is {numpy}.{short}"
    home, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(home, str) or not isinstance(name, str) or "<" in name:
        raise SourceError(
            f"{path} is a function without a name in a module, so the file could not tell it "
            "from another one.",
            remedy=(
                "Pass a function of a module, or let the differentiated function call it "
                "by its name."
            ),
        )
    return _is_named(path, value)


def _is_named(path: str, value: Any) -> str:
    names = ("__module__", "__qualname__")
    found = ", ".join(f'getattr({path}, "{n}", None)' for n in names)
    return f"({found}) == {tuple(getattr(value, n) for n in names)!r}"


def _array_tests(path: str, kind: K.Array, numpy: str) -> list[str]:
    first = [f"isinstance({path}, {numpy}.ndarray)"] if kind.namespace == "numpy" else []
    tests = [*first, f"{path}.ndim == {kind.rank}", f'{path}.dtype == "{kind.dtype}"']
    if kind.rank and all(d.many for d in kind.dims):
        return [*tests, f"len({path}) != 1" if kind.rank == 1 else f"1 not in {path}.shape"]
    for axis, dim in enumerate(kind.dims):
        if dim == K.ONE:
            tests.append(f"{path}.shape[{axis}] == 1")
        elif dim.many:
            tests.append(f"{path}.shape[{axis}] != 1")
    return tests


def _number_class(kind: K.Num, numpy: str) -> str:
    if kind.dtype == "any":
        return f"{kind.type} | {numpy}.number"
    if kind.dtype is not None:
        return f"{numpy}.{kind.dtype if kind.type != 'bool' else 'bool_'}"
    # An int in the place of a float is taken as one.
    return {"float": "float | int", "bool": f"bool | {numpy}.bool_"}.get(kind.type, kind.type)


def spelled(kind: Kind) -> str:
    """Return words for a kind with all that it holds: `(a float, {'n': an int})`."""
    if is_word(kind):
        return _key(kind.value)
    if isinstance(kind, K.Dict):
        return f"{{{', '.join(f'{key!r}: {spelled(k)}' for key, k in kind.items)}}}"
    if isinstance(kind, K.Obj):
        parts = ", ".join(f"{n}: {spelled(k)}" for n, k in kind.fields)
        return f"{kind.cls.__name__}({parts})"
    if isinstance(kind, K.Tuple):
        name = kind.cls.__name__ if kind.cls else ""
        end = "," if len(kind.items) == 1 else ""
        return f"{name}({', '.join(map(spelled, kind.items))}{end})"
    if isinstance(kind, K.List) and kind.items is not None:
        return f"[{', '.join(map(spelled, kind.items))}]"
    if isinstance(kind, K.List) and not isinstance(kind.item, K.Unbound):
        return f"a list, each item {spelled(kind.item)}"
    if isinstance(kind, K.OpenDict):
        return f"a dict, each value {spelled(kind.item)}"
    return _words(kind)


def said(entry: str, checks: Block) -> list[str]:
    """Return in words what checks refuse."""
    return [s.body[0].exc.args[0].value.removeprefix(f"{entry}: ") for s in checks]


def has_ordered_keys(kind: Kind) -> bool:
    """Say whether a value holds a dict of several keys that are known."""
    several = isinstance(kind, K.Dict) and len(kind.items) > 1
    return several or (bool(kind.structure) and any(map(has_ordered_keys, kind.inside)))


def _words(kind: Kind, any_order: bool = False) -> str:
    if is_word(kind):
        return _key(kind.value)
    if isinstance(kind, K.Dict):
        return _words_of_keys([_key(key) for key, _ in kind.items], any_order)
    if isinstance(kind, K.List) and isinstance(kind.item, K.Unbound):
        return "an empty list"
    if isinstance(kind, K.List) and kind.items is not None:
        return f"a list of {len(kind.items)}"
    if isinstance(kind, K.Choice):
        return " or ".join(map(_words, kind.options))
    if isinstance(kind, K.Known):
        return str(getattr(kind.value, "__name__", kind.value))
    if not isinstance(kind, K.Array) or not kind.rank:
        return K.describe(kind)
    ones = [axis for axis, dim in enumerate(kind.dims) if dim == K.ONE]
    if ones:
        return f"{K.describe(kind)} with length 1 along axis {', '.join(map(str, ones))} only"
    many = [str(axis) for axis, dim in enumerate(kind.dims) if dim.many]
    if len(many) < kind.rank:
        rest = f", not of length 1 along axis {', '.join(many)}" if many else ""
        return f"{K.describe(kind)}{rest}"
    rest = "not of length 1" if kind.rank == 1 else "with no axis of length 1"
    return f"{K.describe(kind)}, {rest}"


def _words_of_keys(keys: list[str], any_order: bool) -> str:
    if not keys:
        return "an empty dict"
    order = " in this order" if len(keys) > 1 and not any_order else ""
    return f"a dict with the key{'s' if len(keys) > 1 else ''} {', '.join(keys)}{order}"
