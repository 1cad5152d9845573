"""Checks: an emitted function looks at what it was derived for before it computes.

if not (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == "float64" and len(x) != 1):
    raise TypeError(f"f_grad was derived for x: a 1-d array of float64 ...; given: {x!r:.60}")
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import SourceError
from s2sad.kinds import Kind
from s2sad.known.pieces import Piece, length_text, not_one_text
from s2sad.nodes import Block
from s2sad.stages import Written


def check(entry: str, name: str, kind: Kind, numpy: str) -> Block:
    """Return the statements that refuse an argument of another kind than the one derived for."""
    tests = _tests(name, kind, numpy)
    if not tests:
        return []
    message = f"{entry} was derived for {name}: {_words(kind)}"
    negated = tests[0] if len(tests) == 1 else f"({' and '.join(tests)})"
    if isinstance(kind, K.NoneKind):
        test = f"{name} is not None"
    else:
        test = f"not {negated}"
    text = message.replace("{", "{{").replace("}", "}}") + f"; given: {{{name}!r:.60}}"
    body: Block = gast.parse(f"if {test}:\n    raise TypeError(f{text!r})").body
    return body


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


def _tests(path: str, kind: Kind, numpy: str) -> list[str]:
    """Return the tests that a value of a kind passes, for an expression that gives the value."""
    if isinstance(kind, K.Array):
        return _array_tests(path, kind, numpy)
    if isinstance(kind, K.Num):
        return [f"isinstance({path}, {_number_class(kind, numpy)})"]
    if isinstance(kind, K.NoneKind):
        return [f"{path} is None"]
    if isinstance(kind, K.Str):
        return [f"isinstance({path}, str)"]
    if isinstance(kind, K.OpenDict):
        return _each_tests(path, kind.item, "dict", f"{path}.values()", numpy)
    if isinstance(kind, K.List) and kind.items is None:
        return _list_tests(path, kind, numpy)
    if kind.structure:
        parts = [_tests(path + part.path, part.kind, numpy) for part in kind.parts]
        return _own_tests(path, kind) + [test for tests in parts for test in tests]
    if isinstance(kind, K.Opaque):
        cls_test = _is_named(f"type({path})", kind.cls)
        known = registry.objects_of(kind.cls)
        if known is not None and known.check:
            return [cls_test, known.check.format(path, kind.like.rank)]
        if not hasattr(kind.cls, "dtype"):
            return [cls_test]
        shape = [t for t in _array_tests(path, kind.like, numpy) if f"{path}.shape" in t]
        return [cls_test, f'{path}.dtype == "{kind.like.dtype}"', *shape]
    if isinstance(kind, K.Known | K.Choice):
        options = kind.options if isinstance(kind, K.Choice) else (kind,)
        tests = [_is_function(path, k, numpy) for k in options]
        return [" or ".join(t for t in tests if t)] if all(tests) else []
    return []


def _own_tests(path: str, kind: Kind) -> list[str]:
    """Return the tests that a structure is of its class, and has as many parts, or these keys."""
    if isinstance(kind, K.Obj):
        return [_is_named(f"type({path})", kind.cls)]
    if isinstance(kind, K.Dict):
        return [f"isinstance({path}, dict)", f"list({path}) == {list(kind.steps)!r}"]
    cls = "tuple" if isinstance(kind, K.Tuple) else "list"
    return [f"isinstance({path}, {cls})", f"len({path}) == {len(kind.inside)}"]


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


def _list_tests(path: str, kind: K.List, numpy: str) -> list[str]:
    if isinstance(kind.item, K.Unbound):
        return [f"{path} == []"]
    return _each_tests(path, kind.item, "list", path, numpy)


def _each_tests(path: str, kind: Kind, cls: str, items: str, numpy: str) -> list[str]:
    """Return the tests that a value is of a class, and its items of a kind."""
    item = "item" if not path.startswith("item") else f"{path.split('[')[0].split('.')[0]}_item"
    tests = _tests(item, kind, numpy)
    every = [f"all({' and '.join(tests)} for {item} in {items})"] if tests else []
    return [f"isinstance({path}, {cls})", *every]


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


def _words(kind: Kind) -> str:
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
