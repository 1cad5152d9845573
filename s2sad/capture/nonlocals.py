"""Inner functions that rebind outer variables take these as arguments, and give them back.

    total = 0.0                          total = 0.0
    def add(v):                          def add(v, total):
        nonlocal total           ->          total += v * v
        total += v * v                       return total
    for v in x:                          for v in x:
        add(v)                               total = add(v, total)

Before: the body of a function, as it is written. After: the same without `nonlocal`, where calls by
name are all that becomes of such inner functions. A variable stays as it is where a function that
rebinds it is handed on, where others that nobody follows read it, or where an exception might leave
such a call behind what it has bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import gast

from s2sad.names import Names
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Block,
    Node,
    all_inside,
    block_writes,
    blocks_of,
    clone,
    constant,
    count_writes,
    locate,
    name,
    names_written,
    store,
    subscript,
    tuple_,
    walk,
)
from s2sad.syntax.flow import captured_names
from s2sad.syntax.surely import name_of, surely_bound

Words = frozenset[str]
_NOBODY: Words = frozenset()
_MAKING = (gast.Yield, gast.YieldFrom, gast.Await)


def without_nonlocals(fn: Node, names: Names) -> Mapping[Node, Node]:
    """Let the inner functions of a function give back what they rebind, from the innermost on.

    Returns what the statements that are written anew look like in the source.
    """
    for d in _defined(fn.body):
        without_nonlocals(d, names)
    inner = _Inner({d.name: d for d in _defined(fn.body)}, fn)
    followed = inner.followed()
    if not followed:
        return {}
    writer = _Writer(inner.restricted(followed), names)
    writer.write()
    return writer.shown


def _defined(body: Block) -> list[Node]:
    return [s for s in all_inside(body) if isinstance(s, gast.FunctionDef)]


def _declared(fn: Node) -> Words:
    """Return the variables that a function itself declares nonlocal."""
    found = (s.names for s in all_inside(fn.body) if isinstance(s, gast.Nonlocal))
    return frozenset(n for names in found for n in names)


def _parameters(fn: Node) -> Words:
    args = fn.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return frozenset(a.id for a in every if a is not None)


class _Inner:
    """The inner functions of a function: which variables they rebind and use, also by calls.

    `rebound` and `used` are of those variables of the function `around` that are followed.
    """

    def __init__(self, defs: dict[str, Node], around: Node) -> None:
        self.defs, self.around = defs, around
        self.captured = {n: captured_names(d) for n, d in defs.items()}
        self.calls = {n: self.captured[n] & defs.keys() for n in defs}
        self.rebound = self._reached({n: _declared(d) for n, d in defs.items()})
        every = _NOBODY.union(*self.rebound.values())
        self.used = self._reached({n: self.captured[n] & every for n in defs})

    def _reached(self, own: dict[str, Words]) -> dict[str, Words]:
        """Return what functions do themselves, or call others to do."""
        found = dict(own)
        while True:
            more = {n: found[n].union(*(found[c] for c in self.calls[n])) for n in found}
            if more == found:
                return found
            found = more

    def restricted(self, variables: Words) -> _Inner:
        """Return the same, where only some variables are followed."""
        made = _Inner(self.defs, self.around)
        made.rebound = {n: v & variables for n, v in self.rebound.items()}
        made.used = {n: v & variables for n, v in self.used.items()}
        return made

    def followed(self) -> Words:
        """Return the variables that are rebound by calls that can be followed, all of them."""
        left = _NOBODY.union(*self.rebound.values())
        while left:
            given_up = _GivenUp(self.restricted(left)).found & left
            if not given_up:
                break
            left -= given_up
        return left

    @property
    def changed(self) -> Words:
        """The functions that take variables: they rebind some, or one that does calls them."""
        rebinding = {n for n, v in self.rebound.items() if v}
        return frozenset(rebinding | {c for n in rebinding for c in self._below(n) if self.used[c]})

    def _below(self, caller: str) -> set[str]:
        found = {caller}
        while True:
            more = found.union(*(self.calls[n] for n in found))
            if more == found:
                return found
            found = more

    def bodies(self) -> Iterator[tuple[str, Node]]:
        """Yield the function around, and the inner functions that take variables, by name."""
        yield "", self.around
        yield from ((n, self.defs[n]) for n in sorted(self.changed))


class _GivenUp:
    """Finds the variables that cannot be followed."""

    def __init__(self, inner: _Inner) -> None:
        self.inner = inner
        self.found: set[str] = set()
        self.followed = _NOBODY.union(*inner.rebound.values())
        self.direct: dict[str, int] = dict.fromkeys(inner.defs, 0)
        around = inner.around
        self._of_definitions()
        for word, fn in inner.bodies():
            self._of_body(fn, self._hidden(word, fn))
        mentioned = [n.id for s in around.body for n in walk(s) if isinstance(n, gast.Name)]
        for word in inner.changed:
            if mentioned.count(word) != self.direct[word]:
                self.give_up(word)
        outer = _declared(around)
        bound = _parameters(around) | (block_writes(around.body) & outer) | self._of_others()
        surely_bound(around.body, bound | outer, self._before)

    def give_up(self, word: str) -> None:
        """Follow no variable of an inner function."""
        self.found |= self.inner.rebound[word] | self.inner.used[word]

    def _of_others(self) -> Words:
        """Return the variables that are those of a function further out."""
        own = _parameters(self.inner.around) | block_writes(self.inner.around.body)
        return self.followed - own

    def _hidden(self, word: str, fn: Node) -> Words:
        """Return the followed names that mean something else in an inner function."""
        if not word:
            return _NOBODY
        own = _parameters(fn) | (block_writes(fn.body) - _declared(fn))
        return own & (self.followed | self.inner.defs.keys())

    def _of_definitions(self) -> None:
        defs, around = self.inner.defs, self.inner.around
        writes = count_writes(around.body, _parameters(around))
        for word in self.inner.changed:
            d = defs[word]
            made = any(isinstance(n, _MAKING) for s in all_inside(d.body) for n in walk(s))
            if writes.get(word) != 1 or d.decorator_list or made:
                self.give_up(word)
        twice = [s.name for s in all_inside(around.body) if isinstance(s, gast.FunctionDef)]
        for word in defs:
            if twice.count(word) > 1:
                self.give_up(word)

    def _of_body(self, fn: Node, hidden: Words) -> None:
        """Look through the statements of a function, and into no other."""
        self.found |= hidden & self.followed
        for word in hidden & self.inner.defs.keys():
            self.give_up(word)
        for s in all_inside(fn.body):
            if isinstance(s, gast.Delete):
                self.found |= names_written(s)
            if isinstance(s, gast.Try):
                self.found |= _NOBODY.union(*map(name_of, s.handlers))
                if s.handlers or s.finalbody:
                    self._of_try(s.body)
            if not isinstance(s, gast.FunctionDef):
                for part in _expressions(s):
                    self._of_expression(part)
            elif s.name not in self.inner.changed or fn is not self.inner.around:
                self.found |= captured_names(s) & self.followed
            if isinstance(s, gast.ClassDef):
                self.found |= {n.id for n in walk(s) if isinstance(n, gast.Name)}

    def _of_expression(self, node: Node) -> None:
        if isinstance(node, gast.Lambda | gast.ClassDef):
            self.found |= {n.id for n in walk(node) if isinstance(n, gast.Name)} & self.followed
            return
        if isinstance(node, COMPREHENSIONS):
            bound = {n for g in node.generators for n in names_written(g.target)}
            self.found |= bound & self.followed
            for word in bound & self.inner.defs.keys():
                self.give_up(word)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            if node.func.id in self.direct:
                self.direct[node.func.id] += 1
        for part in gast.iter_child_nodes(node):
            self._of_expression(part)

    def _of_try(self, body: Block) -> None:
        """An exception must not leave a call behind what it has bound, where others go on."""
        for n in (n for s in body for n in walk(s)):
            word = n.func.id if isinstance(n, gast.Call) and isinstance(n.func, gast.Name) else ""
            if word in self.inner.defs and self.inner.rebound[word]:
                if not _binds_last(self.inner.defs[word].body, self.followed, self.inner):
                    self.found |= self.inner.rebound[word]

    def _before(self, s: Node, bound: Words) -> None:
        """Give up what is not surely bound where a call would be given it."""
        if isinstance(s, gast.FunctionDef):
            return
        for part in _expressions(s):
            for n in walk(part):
                if isinstance(n, gast.Call) and isinstance(n.func, gast.Name):
                    self.found |= self.inner.used.get(n.func.id, _NOBODY) - bound


def _expressions(s: Node) -> list[Node]:
    """Return the parts of a statement that are no statements."""
    inside = {id(x) for block in blocks_of(s) for x in block}
    found: list[Node] = []
    for part in gast.iter_child_nodes(s):
        if isinstance(part, gast.match_case):
            found += [x for x in (part.pattern, part.guard) if x is not None]
        elif isinstance(part, gast.ExceptHandler):
            found += [part.type] if part.type is not None else []
        elif id(part) not in inside:
            found.append(part)
    return found


def _binds_last(body: Block, variables: Words, inner: _Inner) -> bool:
    """Say whether a function binds variables last, after everything that may raise."""
    calm = True
    for s in reversed(body):
        called = [n for p in _expressions(s) for n in walk(p) if isinstance(n, gast.Call)]
        words = {getattr(n.func, "id", "") for n in called}
        binds = not variables.isdisjoint(names_written(s)) or any(
            inner.rebound.get(w) for w in words
        )
        if binds and not (calm and isinstance(s, gast.Assign | gast.AugAssign)):
            return False
        if binds and any(
            inner.rebound.get(w) and not _binds_last(inner.defs[w].body, variables, inner)
            for w in words - {""}
        ):
            return False
        calm = calm and isinstance(s, gast.Return | gast.Pass | gast.Nonlocal) and not called
    return True


@dataclass(frozen=True)
class _Taken:
    """What an inner function takes besides, by keyword or not, what it gives back, and its value.

    A function without a `value` returns None, or nothing.
    """

    takes: tuple[str, ...]
    gives: tuple[str, ...]
    value: bool
    keyword: bool


class _Writer:
    """Writes the inner functions anew, and their calls."""

    def __init__(self, inner: _Inner, names: Names) -> None:
        self.inner, self.names = inner, names
        self.shown: dict[Node, Node] = {}
        around = inner.around
        starred = {
            n.func.id
            for _, fn in inner.bodies()
            for s in fn.body
            for n in walk(s)
            if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)
            if any(isinstance(a, gast.Starred) for a in n.args)
            or any(not k.arg for k in n.keywords)
        }
        self.taken = {n: _taken(inner, n, n in starred) for n in inner.changed}
        own = _parameters(around) | block_writes(around.body) | _declared(around)
        outer = sorted(_NOBODY.union(*inner.rebound.values()) - own)
        self.outer = [gast.Nonlocal(outer)] if outer else []

    def write(self) -> None:
        """Write all anew, in place."""
        for word, fn in self.inner.bodies():
            taken = self.taken.get(word)
            fn.body[:] = self.block(fn.body, taken)
            if taken is not None:
                self._definition(fn, taken)
        self.inner.around.body[:0] = self.outer

    def _definition(self, fn: Node, taken: _Taken) -> None:
        args = [gast.Name(v, gast.Param(), None, None) for v in taken.takes]
        if taken.keyword:
            fn.args.kwonlyargs += args
            fn.args.kw_defaults += [None] * len(args)
        else:
            fn.args.args += args
        if taken.gives and not _ends(fn.body):
            fn.body.append(locate(self.given_back(taken, None), fn.body[-1]))

    def given_back(self, taken: _Taken, value: Node | None) -> Node:
        """Return the statement that returns a value, and what is given back before it."""
        parts = [name(v) for v in taken.gives]
        if taken.value:
            parts.append(constant(None) if value is None else value)
        return gast.Return(parts[0] if len(parts) == 1 else tuple_(parts))

    def block(self, body: Block, around: _Taken | None) -> Block:
        out: Block = []
        for s in body:
            for part in blocks_of(s):
                part[:] = self.block(part, around)
            if isinstance(s, gast.FunctionDef):
                out.append(s)
            elif isinstance(s, gast.Nonlocal) and around is not None:
                left = [n for n in s.names if n not in around.gives]
                out += [gast.Nonlocal(left)] if left else []
            else:
                before = clone(s) if any(map(self.calls_in, _expressions(s))) else None
                made = [locate(x, s) for x in self.statement(s, around)]
                self.shown |= dict.fromkeys(made, before) if before is not None else {}
                out += made
        return out or [gast.Pass()]

    def statement(self, s: Node, around: _Taken | None) -> Block:
        """Return what stands for a statement."""
        value = getattr(s, "value", None)
        taken = self.called(value)
        if isinstance(s, gast.Return) and around is not None and around.gives:
            return self.returned(s, around)
        whole = isinstance(s, gast.Expr) or (isinstance(s, gast.Assign) and len(s.targets) == 1)
        if taken is None or not taken.gives or not whole:
            self.expressions(s)
            return [s]
        self.inside(value)
        self.arguments(value, taken)
        targets = [store(v) for v in taken.gives]
        if taken.value:
            last = s.targets[0] if isinstance(s, gast.Assign) else store(self.unread())
            return [_assigned([*targets, last], value)]
        made = _assigned(targets, value)
        if isinstance(s, gast.Expr):
            return [made]
        return [made, gast.Assign(s.targets, constant(None), None)]

    def returned(self, s: Node, around: _Taken) -> Block:
        """Return what returns a value with what is given back, once that is computed."""
        bound = set() if s.value is None else names_written(s.value)
        if s.value is None or not (self.calls_in(s.value) or bound & {*around.gives}):
            return [self.given_back(around, s.value)]
        word = self.unread()
        before = self.statement(locate(gast.Assign([store(word)], s.value, None), s), around)
        return [*before, self.given_back(around, name(word))]

    def unread(self) -> str:
        """Return a name for a value that somebody returns, and nobody of the user's names."""
        return self.names.fresh("value")

    def called(self, node: Node | None) -> _Taken | None:
        """Return what is taken by the function that an expression calls by name, if it is one."""
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            return self.taken.get(node.func.id)
        return None

    def calls_in(self, node: Node) -> bool:
        return any(self.called(n) is not None for n in walk(node))

    def arguments(self, node: Node, taken: _Taken) -> None:
        """Give a call the variables that its function takes."""
        if taken.keyword or node.keywords:
            node.keywords += [gast.keyword(v, name(v)) for v in taken.takes]
        else:
            node.args += [name(v) for v in taken.takes]

    def expressions(self, s: Node) -> None:
        """Write the calls in the expressions of a statement anew, in place."""
        blocks = {id(x) for block in blocks_of(s) for x in block}
        for field, value in gast.iter_fields(s):
            if isinstance(value, list):
                value[:] = [v if id(v) in blocks else self.expression(v) for v in value]
            elif isinstance(value, gast.AST):
                setattr(s, field, self.expression(value))

    def inside(self, node: Node) -> None:
        """Write what stands in an expression anew."""
        for field, value in gast.iter_fields(node):
            if isinstance(value, list):
                value[:] = [self.expression(v) for v in value]
            elif isinstance(value, gast.AST):
                setattr(node, field, self.expression(value))

    def expression(self, node: Node) -> Node:
        """Return what stands for an expression: a call binds what it is given back."""
        if not isinstance(node, gast.AST) or isinstance(node, SCOPES):
            return node
        if isinstance(node, gast.match_case | gast.ExceptHandler):
            for field in ("guard", "type"):
                if isinstance(getattr(node, field, None), gast.AST):
                    setattr(node, field, self.expression(getattr(node, field)))
            return node
        self.inside(node)
        taken = self.called(node)
        if taken is None:
            return node
        self.arguments(node, taken)
        if not taken.gives:
            return node
        return locate(self.bound_inside(node, taken), node)

    def bound_inside(self, node: Node, taken: _Taken) -> Node:
        """Return an expression that binds what a call gives back, and has its value."""
        word = self.names.fresh(f"{node.func.id}_gave")
        if len(taken.gives) == 1 and not taken.value:
            bound: list[Node] = [gast.NamedExpr(store(taken.gives[0]), node)]
        else:
            bound = [gast.NamedExpr(store(word), node)]
            parts = [subscript(name(word), constant(i)) for i in range(len(taken.gives))]
            bound += [gast.NamedExpr(store(v), p) for v, p in zip(taken.gives, parts, strict=True)]
        value = subscript(name(word), constant(len(taken.gives))) if taken.value else constant(None)
        return subscript(tuple_([*bound, value]), constant(len(bound)))


def _assigned(targets: list[Node], value: Node) -> Node:
    if len(targets) == 1:
        return gast.Assign(targets, value, None)
    return gast.Assign([gast.Tuple(targets, gast.Store())], value, None)


def _taken(inner: _Inner, word: str, starred: bool) -> _Taken:
    fn = inner.defs[word]
    args = fn.args
    keyword = starred or bool(args.defaults or args.vararg or args.kwarg or args.kwonlyargs)
    returns = (s for s in all_inside(fn.body) if isinstance(s, gast.Return))
    value = any(r.value is not None for r in returns)
    return _Taken(
        tuple(sorted(inner.used[word])), tuple(sorted(inner.rebound[word])), value, keyword
    )


def _ends(body: Block) -> bool:
    """Say whether a block ends by returning, or raising, on all paths."""
    last = body[-1]
    if isinstance(last, gast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, gast.Return | gast.Raise)
