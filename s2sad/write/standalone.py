"""A derived module that stands alone: it needs NumPy and the user's own modules, not s2sad.

In memory derived code sees the globals and cells of the user's functions, live. A file cannot:
here each name that derived code leaves open becomes something the file says itself.

    RATE = 0.5                          a literal global
    def step(x): ...                    a helper of the same module, copied in
    from physics import table           anything else that has a name in a module
    SourceError                         what has none: an array captured by a closure
"""

from __future__ import annotations

import builtins
import inspect
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.emitted.mistaken import kind_error
from s2sad.errors import SourceError
from s2sad.kinds import MISSING, Kind
from s2sad.known.by_value import with_values
from s2sad.known.signature import values_of
from s2sad.names import Names
from s2sad.nodes import Block, Node, clone, free_reads, names_read, names_written, rename, walk
from s2sad.stages import Comment
from s2sad.write.checks import Checks, check_length, check_overlap, has_ordered_keys, said, spelled
from s2sad.write.copies import definition, is_literal, literal, prelude
from s2sad.write.homes import homes_of, import_of
from s2sad.write.live import live_in
from s2sad.write.printer import module
from s2sad.write.without_ours import denoted_in, without_ours
from s2sad.write.wrap import USUAL, width

Define = Callable[[types.FunctionType], Node]


@dataclass(frozen=True)
class Emitted:
    """A module that stands alone, with what its header says and the files it was made from."""

    text: str
    kinds: tuple[str, ...]
    guards: tuple[str, ...]
    sources: tuple[str, ...]


def standalone(derivation: Any, define: Define) -> str:
    """Return the text of a module that defines what was derived and all that it needs.

    `define` gives the definition of a user's function. A comment names what no import can reach.
    """
    linker = _linked(derivation, define, strict=False)
    missing = [Comment(f"{n}: {where}") for n, where in sorted(linker.missing.items())]
    return module([*missing, *([Comment("")] if missing else []), *linker.body()])


def emitted(
    derivation: Any, define: Define, params: Mapping[str, Any], any_order: frozenset[str]
) -> Emitted:
    """Return the same as a module for a file: its entry checks that arguments are of their kinds.

    In dicts of the parameters `any_order` the keys may stand in any order. What no import can
    reach is a SourceError.
    """
    entry = derivation.entry
    linker = _linked(derivation, define, strict=True)
    last = linker.functions[[f.name for f in linker.functions].index(entry)]
    numpy = derivation.refs.module(np)
    linker.names.take(*_names_in(last))
    error = linker.names.fresh(kind_error.__name__)
    checks = Checks(entry, numpy, error, linker.names, any_order)
    told = dict(params) | (linker.outside(derivation) if derivation.by_value else {})
    checked = {n: checks.of(n, kind) for n, kind in told.items()}
    lengths = [s for fact in sorted(derivation.not_one) for s in check_length(entry, *fact)]
    overlaps = check_overlap(entry, params, derivation.written, numpy)
    last.body[1:1] = [*(s for found in checked.values() for s in found), *lengths, *overlaps]
    if any(checked.values()):
        helper, _ = definition(cast("types.FunctionType", kind_error), error, derivation.refs, {})
        linker.functions.insert(0, helper)
    if numpy in free_reads(last) and not linker.imports_name(numpy):
        linker.imports.append(_import("numpy", numpy))
    kinds = tuple(f"{n}: {spelled(kind)}" for n, kind in params.items())
    same = [n for n, found in checked.items() if found]
    guards = [f"{entry} checks the kinds of {', '.join(same)}"] if same else []
    ordered = [n for n, kind in params.items() if n not in any_order and has_ordered_keys(kind)]
    guards += [f"refused: another order of the keys in {n}" for n in ordered]
    guards += [f"refused: {words}" for words in said(entry, [*lengths, *overlaps])]
    origins = (fn.__code__.co_filename for fn in [*derivation.origins.values(), *linker.copied])
    sources = tuple(dict.fromkeys(origins))
    return Emitted(module(linker.body()), kinds, tuple(guards), sources)


def _names_in(node: Node) -> set[str]:
    """Return all names that a function's text mentions."""
    inner = {n.name for n in walk(node) if isinstance(n, gast.FunctionDef)}
    return inner | {n.id for n in walk(node) if isinstance(n, gast.Name)}


def _linked(derivation: Any, define: Define, strict: bool) -> _Linker:
    """Return the parts of a module in which every name denotes something."""
    origin = derivation.origins[derivation.entry]
    body = prelude(derivation.refs, derivation.functions)
    linker = _Linker(origin, define, strict, live_in(derivation.refs))
    linker.take(body)
    linker.note_compared(body, derivation)
    imported = {n for n in linker.text_level if n in derivation.refs.modules}
    linker.known |= {id(derivation.refs.modules[n]): n for n in sorted(imported, reverse=True)}
    for node in body:
        if isinstance(node, gast.FunctionDef) and node.name in derivation.origins:
            linker.add_derived(node, derivation)
        elif isinstance(node, gast.FunctionDef):
            linker.add_helper(node)
        elif _is_import(node):
            linker.imports.append(node)
        else:
            linker.constants.append(node)
    return linker


# --- names ---------------------------------------------------------------------------------------


@dataclass
class _Linker:
    """The parts of the module, and which name stands in it for which object."""

    origin: types.FunctionType
    define: Define
    strict: bool
    live: Mapping[str, Any] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    known: dict[Any, str] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    text_level: set[str] = field(default_factory=set)
    compared: set[int] = field(default_factory=set)
    imports: Block = field(default_factory=list)
    constants: Block = field(default_factory=list)
    functions: Block = field(default_factory=list)
    copied: list[types.FunctionType] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def take(self, body: Block) -> None:
        """Take the names that the derived text defines."""
        for node in body:
            listed = [a.asname or a.name for a in node.names] if _is_import(node) else []
            found = [node.name] if isinstance(node, gast.FunctionDef) else listed
            found = sorted(names_written(node)) if isinstance(node, gast.Assign) else found
            self.text_level.update(found)
            self.names.take(*found)

    def note_compared(self, body: Block, derivation: Any) -> None:
        """Note the functions that are compared, or are defaults: a copy would be another one."""
        for node in body:
            fn = derivation.origins.get(getattr(node, "name", ""))
            if fn is None:
                continue
            cells = derivation.cells.get(node.name, {})
            found = _in_defaults(node)
            for n in walk(node):
                if isinstance(n, gast.Compare):
                    found |= {e.id for e in [n.left, *n.comparators] if isinstance(e, gast.Name)}
            values = (_denoted(fn, cells, name) for name in found)
            self.compared |= {id(v) for v in values if isinstance(v, types.FunctionType)}

    def body(self) -> Block:
        """Return the module's statements."""
        plain = [n for n in self.imports if isinstance(n, gast.Import)]
        others = [n for n in self.imports if not isinstance(n, gast.Import)]
        order = [*sorted(plain, key=_order), *sorted(others, key=_order)]
        return [*order, *self.constants, *self.functions]

    def imports_name(self, name: str) -> bool:
        """Say whether some import binds a name."""
        return any((a.asname or a.name) == name for n in self.imports for a in n.names)

    def outside(self, derivation: Any) -> dict[str, Kind]:
        """Return what the module reads outside of which values are known, by the names it has."""
        found = [
            (owner, f".{n}", getattr(owner, n, None))
            for owner, n in derivation.members
            if isinstance(owner, type)
        ]
        for own in derivation.seen.values():
            for path, value in own.items():
                home, dot, attr = path.rpartition(".")
                if dot and home in own:
                    found.append((own[home], f".{attr}", value))
                elif not isinstance(value, int | str):
                    found.append((value, "", value))
        named = {f"{self.known[id(o)]}{path}": v for o, path, v in found if id(o) in self.known}
        plain = {n: v for n, v in named.items() if values_of(v) is not None}
        return {n: with_values(K.kind_of(v, n), v) for n, v in sorted(plain.items())}

    def add_helper(self, node: Node) -> None:
        """Add a helper, and what it calls that is no part of the text."""
        called = sorted(free_reads(node) & self.live.keys())
        table = {n: self._symbol(n, self.live[n], self.origin, None) for n in called}
        if any(n != final for n, final in table.items()):
            node = rename(clone(node), table)
        self.functions.append(node)

    def add_derived(self, node: Node, derivation: Any) -> None:
        """Add a derived function; what it leaves open is looked up where its origin does."""
        fn = derivation.origins[node.name]
        node = clone(node)
        _fit_docstring(node)
        cells = {**self.live, **derivation.cells.get(node.name, {})}
        if node.name not in derivation.inner:
            self._settle_defaults(node, fn)
        self._link(node, fn, cells, self.text_level)
        self.functions.append(node)

    def _link(
        self, node: Node, fn: types.FunctionType, cells: Mapping[str, Any], defined: set[str]
    ) -> None:
        """Give every free name of a function something in this module to denote."""
        self._refuse_global(node, fn)
        table: dict[str, str] = {}
        for name in sorted(free_reads(node) | _in_defaults(node)):
            if name in defined and name not in cells:
                continue
            value = _denoted(fn, cells, name)
            if value is not MISSING:
                final = self._symbol(name, value, fn, cells.get(name))
                if final != name:
                    table[name] = final
        if table:
            rename(node, table)

    def _symbol(self, name: str, value: Any, fn: types.FunctionType, cell: Any) -> str:
        """Return the name by which the module calls what `fn` calls `name`."""
        value = getattr(value, "__s2sad_primal__", value)
        key: Any = id(value)
        if is_literal(value):
            key = (id(fn.__globals__), name) if cell is None else (id(cell), "")
        if key not in self.known:
            self.kept.append(value)
            self.known[key] = final = self.names.fresh(name)
            self._provide(final, name, value, fn, cell is not None)
        return self.known[key]

    def _provide(
        self, final: str, name: str, value: Any, fn: types.FunctionType, captured: bool
    ) -> None:
        """Add what makes `final` denote a value."""
        if is_literal(value):
            target = gast.Name(final, gast.Store(), None, None)
            self.constants.append(gast.Assign([target], literal(value), None))
        elif isinstance(value, types.ModuleType) and value.__name__ != "__main__":
            self.imports.append(_import(value.__name__, final))
        elif self._is_copied(value, captured):
            self._copy(final, value)
        elif registry.is_stand_in(value):
            self._copy_class(final, value)
        else:
            self._import_from(final, name, value, fn, captured)

    def _import_from(
        self, final: str, name: str, value: Any, fn: types.FunctionType, captured: bool
    ) -> None:
        """Import an object from where it is at home, or from where the function finds it."""
        places = homes_of(value)
        if not captured:
            places.append((fn.__globals__.get("__name__"), name))
        found = import_of(value, final, places)
        if found is not None:
            self.imports.append(found)
            return
        home = getattr(value, "__module__", None) or fn.__globals__.get("__name__")
        where = f"captured by {fn.__name__}" if captured else f"defined in {home}"
        if self.strict:
            raise SourceError(
                f"{fn.__name__} {'captures' if captured else 'uses'} {name}, {_words(value)}"
                f"{'' if captured else f' {where}'}: an emitted module cannot import it.",
                remedy="Make it a parameter, or a global of a module that can be imported. "
                "`.source()` prints the derivative as it is.",
            )
        self.missing[final] = where

    def _is_copied(self, value: Any, captured: bool) -> bool:
        if not isinstance(value, types.FunctionType) or id(value) in self.compared:
            return False
        home = value.__globals__.get("__name__")
        same = value.__globals__ is self.origin.__globals__ or home == "__main__"
        ours = str(value.__module__).startswith("s2sad.")
        return same or captured or ours or "<locals>" in value.__qualname__

    def _copy(self, final: str, fn: types.FunctionType) -> None:
        self.copied.append(fn)
        node = clone(self.define(fn))
        node.name = final
        node.returns = None
        node.decorator_list = []
        for n in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            n.annotation = None
        for n in (node.args.vararg, node.args.kwarg):
            if n is not None:
                n.annotation = None
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._settle_defaults(node, fn)
        without_ours(node, denoted_in(fn, cells))
        self._link(node, fn, cells, set())
        self.functions.append(node)

    def _copy_class(self, final: str, cls: type) -> None:
        """Copy a class of rules/, which is a dataclass and reads nothing from outside."""
        node = gast.parse(inspect.getsource(cls)).body[0]
        word = dataclass.__name__
        made = self.names.fresh(word)
        alias = gast.alias(word, None if made == word else made)
        self.imports.append(gast.ImportFrom("dataclasses", [alias], 0))
        node.name = final
        told = [n for n in node.decorator_list if getattr(n.func, "id", "") == word]
        for n in told:
            n.func = gast.Name(made, gast.Load(), None, None)
        node.decorator_list = told
        self.functions.append(node)

    def _refuse_global(self, node: Node, fn: types.FunctionType) -> None:
        for n in (n for n in walk(node) if isinstance(n, gast.Global)):
            if self.strict:
                raise SourceError(
                    f"{fn.__name__} assigns the global {n.names[0]}: in a separate file that "
                    "would be another variable.",
                    remedy="Return the value instead, or use the derivative in memory.",
                )
            home = fn.__globals__.get("__name__")
            self.missing |= dict.fromkeys(n.names, f"a global of {home}, which is assigned")

    def _settle_defaults(self, node: Node, fn: types.FunctionType) -> None:
        """Write defaults as they are in force, not as the expressions that once gave them."""
        in_force = in_force_of(fn)
        positional = [*node.args.posonlyargs, *node.args.args]
        given = node.args.defaults
        node.args.defaults = [
            self._default(fn, expression, in_force[a.id]) if a.id in in_force else expression
            for expression, a in zip(given, positional[len(positional) - len(given) :], strict=True)
        ]
        node.args.kw_defaults = [
            e if e is None or a.id not in in_force else self._default(fn, e, in_force[a.id])
            for e, a in zip(node.args.kw_defaults, node.args.kwonlyargs, strict=True)
        ]

    def _default(self, fn: types.FunctionType, expression: Node, value: Any) -> Node:
        if is_literal(value):
            return literal(value)
        path = isinstance(expression, gast.Name | gast.Attribute)
        if not self.strict or (path and _path_value(fn, expression) is value):
            return expression
        raise SourceError(
            f"s2sad cannot write the default {value!r} of a parameter of {fn.__name__} as text.",
            remedy="Use None, a number, or the name of a global as the default.",
        )


def _fit_docstring(node: Node) -> None:
    """Break the docstring of a derived function anew where lines are not as long as usual."""
    if width() == USUAL:
        return
    text = " ".join(node.body[0].value.value.split())
    lines = textwrap.wrap(text, width() - 8)
    node.body[0].value.value = text if len(lines) == 1 else "\n    ".join([*lines, ""])


def in_force_of(fn: types.FunctionType) -> dict[str, Any]:
    """Return the defaults of a function's parameters as they are now."""
    values = fn.__defaults__ or ()
    count = fn.__code__.co_argcount
    names = fn.__code__.co_varnames[count - len(values) : count]
    return {**dict(zip(names, values, strict=True)), **(fn.__kwdefaults__ or {})}


def _path_value(fn: types.FunctionType, node: Node) -> Any:
    if isinstance(node, gast.Name):
        return _denoted(fn, {}, node.id)
    if isinstance(node, gast.Attribute):
        return getattr(_path_value(fn, node.value), node.attr, MISSING)
    return MISSING


def _denoted(fn: types.FunctionType, cells: Mapping[str, Any], name: str) -> Any:
    """Return what a free name denotes; MISSING for builtins and for what there is not."""
    if name in cells:
        found = cells[name]
        if not isinstance(found, types.CellType):
            return MISSING if found is getattr(builtins, name, MISSING) else found
        try:
            return found.cell_contents
        except ValueError:
            return MISSING
    if name in fn.__globals__:
        value = fn.__globals__[name]
        return MISSING if value is getattr(builtins, name, MISSING) else value
    return MISSING


def _in_defaults(node: Node) -> set[str]:
    given = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return set().union(*map(names_read, given))


# --- imports -------------------------------------------------------------------------------------


def _is_import(node: Node) -> bool:
    return isinstance(node, gast.Import | gast.ImportFrom)


def _order(node: Node) -> str:
    return str(getattr(node, "module", None) or node.names[0].name)


def _import(dotted: str, name: str) -> Node:
    return gast.Import([gast.alias(dotted, None if dotted == name else name)])


def _words(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "an array"
    if isinstance(value, type):
        return "a class"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"
