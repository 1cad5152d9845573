"""Forward mode: the user's program with a tangent beside every statement that has one.

    y = np.sin(x)          ->   y = np.sin(x)
    x = x * x                   y_dot = x_dot * np.cos(x)
                                x_dot = x_dot * x + x * x_dot
                                x = x * x

Branches and loops stay what they are, nothing is kept and nothing runs backward. Where paths meet,
what only one of them has made active gets zeros on the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.errors import Error, InternalError
from s2sad.kinds import Kind
from s2sad.known.built import read
from s2sad.known.callees import Callees
from s2sad.modes.cotangents import Cotangents
from s2sad.modes.guarded import Site
from s2sad.modes.hooks import is_hook, sets_flags, stopped_by
from s2sad.modes.pushes import Pushed as Made
from s2sad.modes.pushes import Pushes, reads
from s2sad.modes.raising import NOTHING, Raised, caught_by, is_caught, may_raise
from s2sad.modes.refs import Refs
from s2sad.modes.twins import Twins
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    always_leaves,
    assign,
    binary,
    block_writes,
    call,
    catches_all,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    rename,
    store,
    tuple_,
)
from s2sad.stages import Activity, Aliases, Function, KindFacts, Pushed

Calls = Callable[[Site, frozenset[str]], "tuple[Block, bool] | None"]


class Tangents(Twins):
    """Writes the tangents of one function; state is which variables have theirs.

    Where there is a name for `stop`, what is written is read and derived again.
    """

    stop = ""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        activity: Activity,
        refs: Refs,
        names: Names,
        aliases: Aliases,
        calls: Calls,
    ) -> None:
        self.function = function
        self.kinds = kinds
        self.activity = activity
        self.refs = refs
        self.names = names
        self.aliases = aliases
        self.calls = calls
        self.zeros = Cotangents(function, kinds, refs, names)
        self.dots: dict[str, str] = {}
        self.lists: dict[str, str] = {}
        self.spares: set[str] = set()
        self.dot_kinds: dict[str, Kind] = {}
        self.callees = Callees(refs.modules, refs.functions, self.dot_kinds)
        self.live: set[str] = set()
        self.idle: set[str] = set()
        self.bound: set[str] = set()
        self.heads: list[frozenset[str]] = []
        self.guarded: list[tuple[type[BaseException], ...]] = []
        self.raised: Raised = NOTHING
        self.strong = Pushed()
        self.pushes = Pushes(function.source, kinds.of, kinds.objects, refs, names)
        self.pushes.dot = self.dot
        self.pushes.zero = self.nothing
        self.pushes.varied_before = activity.varied_before
        self.find_twins()

    # names and zeros

    def dot(self, variable: str) -> str:
        """Return the name of a variable's tangent."""
        if variable not in self.dots:
            self.dots[variable] = self.names.fresh(f"{variable}_dot")
        return self.dots[variable]

    def spare(self, variable: str) -> str:
        """Return a name for a tangent that nobody reads."""
        held = self.names.fresh(f"{variable}_dot")
        self.spares.add(held)
        return held

    def note(self, variable: str, kind: Kind) -> None:
        """Note that a variable has its tangent here."""
        self.live.add(variable)
        self.idle.discard(variable)
        held = self.dot(variable)
        known = self.dot_kinds.get(held)
        self.dot_kinds[held] = kind if known is None else K.join(known, kind)

    def refuse(self, at: Any, reason: str, remedy: str) -> Error:
        """Return an error that points at the user's statement."""
        return self.zeros.refuse(at, reason, remedy)

    def zero(self, variable: str, kind: Kind, at: Any) -> Block:
        """Return what sets a tangent to zero."""
        if isinstance(kind, K.Unknown):
            raise self.refuse(
                at,
                f"`{variable}` has a derivative on some paths, but its type is "
                f"{kind.why or 'not known'}.",
                "Give it the same kind on all paths: start sums of arrays with "
                "np.zeros(...), not 0.",
            )
        value = self.nothing(name(variable), kind)
        if variable in self.twinned and _memories(kind) > 1:
            value = call(self.refs.function(runtime.twin_of), gast.Dict([], []), name(variable))
        if variable in names_read(value) and variable not in self.bound:
            raise self.refuse(
                at,
                f"`{variable}` has a derivative on some paths and may be unbound on others; "
                "forward mode needs a value on all paths.",
                f"Give `{variable}` a value at the start.",
            )
        self.note(variable, kind)
        return [assign(self.dot(variable), value)]

    def nothing(self, value: Node, kind: Kind) -> Node:
        """Return a tangent of zero; a number may be a float on another path, and has one, too."""
        if isinstance(kind, K.Num) and not K.differentiable(kind):
            return constant(0.0)
        if isinstance(kind, K.Array) and not K.differentiable(kind):
            return call(self.zeros.np("zeros"), call(self.zeros.np("shape"), value))
        if isinstance(kind, K.Tuple):
            return tuple_(self.nothing(read(value, part), part.kind) for part in kind.parts)
        if isinstance(kind, K.List) and isinstance(kind.item, K.Unbound):
            return gast.List([], gast.Load())
        if isinstance(kind, K.List) and isinstance(kind.item, K.Num):
            zeros = gast.List([self.nothing(value, kind.item)], gast.Load())
            return binary(zeros, gast.Mult, call("len", value))
        if K.is_container(kind) and _holds_numbers(kind):
            return self.zeros.counting(value)
        if not K.differentiable(kind) and not K.is_container(kind):
            return gast.Constant(None, None)
        if isinstance(kind, K.Opaque) and not registry.has_cotangents(kind.cls):
            return gast.Constant(None, None)
        if isinstance(kind, K.Unknown) and kind.cls is not None:
            return gast.Constant(None, None)  # an object of a class that has no derivative
        return self.zeros.zero(value, kind)

    def fill(self, wanted: frozenset[str], env: dict[str, Kind], at: Any) -> Block:
        """Return what sets those tangents to zero that a meeting of paths wants, and are not set.

        What is not bound has none.
        """
        out: Block = []
        for n in sorted(wanted - self.live):
            kind = env.get(n, K.UNBOUND)
            if not isinstance(kind, K.Unbound):
                out += self.zero(n, kind, at)
        return out

    # blocks

    def block(self, body: Block) -> Block:
        """Return a block with its tangents."""
        out: Block = []
        for s in body:
            out += self.statement(s)
        return out

    def statement(self, s: Node) -> Block:
        handler: Callable[[Node], Block] | None = getattr(self, f"st_{type(s).__name__}", None)
        out = handler(s) if handler is not None else self.inert(s)
        self.bound |= names_written(s)
        if not always_leaves([s]):
            self.check(s)
        return out

    def check(self, s: Node) -> None:
        """Raise where a variable has lost its tangent: only what is known to be zero has none."""
        after = self.kinds.after.get(s, {})
        for n in sorted(self.activity.after(s) - self.live - self.idle):
            kind = after.get(n, K.UNBOUND)
            if K.differentiable(kind) and not isinstance(kind, K.Unbound):
                at = self.function.origins.get(s, s)
                place = self.function.source.place(at) if hasattr(at, "lineno") else None
                raise InternalError(f"the tangent of {n} is lost", place=place)

    def inert(self, s: Node) -> Block:
        """A statement that is left as it is; refused where it makes something active."""
        after = self.wanted_after(s)
        written = block_writes([s])
        for part in all_inside([s]):
            written |= self.aliases.touched.get(part, frozenset())
        hit = written & (after | self.live & self.activity.useful_after.get(s, frozenset()))
        hit |= written & self.twinned
        if hit:
            raise self.refuse(
                s,
                f"This statement changes `{min(hit)}`, on which the result depends, in a way "
                "that s2sad cannot differentiate in forward mode yet.",
                "Move the computation out of it, or use s2sad.grad.",
            )
        self.live -= written
        return [clone(s)]

    def wanted_after(self, s: Any) -> frozenset[str]:
        """Return the variables that have tangents after a statement."""
        return self.activity.after(s)

    def st_Pass(self, s: Node) -> Block:
        return [clone(s)]

    st_Assert = st_Raise = st_Global = st_Nonlocal = st_Import = st_ImportFrom = st_Pass

    def st_Break(self, s: Node) -> Block:
        env = self.kinds.before.get(s, {})
        return [*self.fill(self.heads[-1], env, s), clone(s)]

    st_Continue = st_Break

    def st_FunctionDef(self, s: Node) -> Block:
        self.live.discard(s.name)
        return [clone(s)]

    def st_Delete(self, s: Node) -> Block:
        if all(isinstance(t, gast.Name) for t in s.targets):
            gone = names_written(s)
            self.live -= gone
            return [clone(s)]
        return self.drop(s)

    def st_Assign(self, s: Node) -> Block:
        target = s.targets[0]
        if sets_flags(s, self.kinds):
            return []
        if isinstance(target, gast.Name):
            primal = stopped_by(self.stop, s, self.function, self.kinds)
            return self.assignment(s, target.id, s.value, primal or clone(s))
        if isinstance(target, gast.Tuple | gast.List):
            return self.unpack(s, target)
        return self.write(s, target, s.value)

    def st_Expr(self, s: Node) -> Block:
        return [] if is_hook(s, self.kinds) or sets_flags(s, self.kinds) else self.effect(s)

    def st_AugAssign(self, s: Node) -> Block:
        if not isinstance(s.target, gast.Name):
            return self.augment(s)
        variable = s.target.id
        before = self.kinds.of.get(s.target, K.UNKNOWN)
        rebinds = s in self.rebinding or isinstance(before, K.Num | K.Str | K.Tuple)
        if not rebinds:
            return self.inert(s)
        value = gast.BinOp(name(variable), s.op, s.value)
        self.kinds.of[value.left] = before
        self.kinds.of[value] = self.kinds.after[s][variable]
        locate(value, s)
        primal = clone(s)
        if s in self.rebinding:
            primal = assign(variable, gast.BinOp(name(variable), s.op, clone(s.value)))
        return self.assignment(s, variable, value, primal)

    def assignment(self, s: Node, variable: str, value: Node, primal: Node) -> Block:
        """Return `variable = value` with the tangent of the variable, where it has one."""
        taken = self.popped(s, variable, value)
        if taken is not None:
            return taken
        if self.is_flat(value):
            self.live.discard(variable)
            self.idle.add(variable)
            return [primal]
        if not self.wants(s, variable) and not self._writes_tangents(s):
            self.live.discard(variable)
            return [primal]
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        wanted = frozenset(self.live)
        marker = f"{variable}@out"
        site = Site(s, value, name(marker), name("@"), kind, self.strong.guards.get(s))
        self.pushes.masked = self.strong.masked.get(s, frozenset())
        if isinstance(value, gast.Call) or value in self.kinds.methods:
            answer = self.calls(site, wanted)
            if answer is not None:
                return self.called(s, variable, kind, primal, answer)
        pre, tangent = self.pushed(site, variable, wanted)
        if tangent is None and variable not in self.twinned:
            self.live.discard(variable)
            self.idle.add(variable)
            return [primal]
        self.bound.add(variable)
        if tangent is None:
            self.note(variable, kind)
            return [primal, *self.zero(variable, kind, s)]
        self.note(variable, kind)
        tangent = self.apart(s, variable, value, tangent)
        code = [*pre, assign(self.dot(variable), tangent)]
        self.see_raised(s, may_raise(code, value, kind, self.callees))
        return self.ordered(variable, marker, primal, code)

    def _writes_tangents(self, s: Node) -> bool:
        """Say whether a call writes memory that has tangents: those are written with it."""
        called = isinstance(s.value, gast.Call) or s.value in self.kinds.methods
        return called and bool(
            self.aliases.touched.get(s, frozenset()) & (self.live | self.twinned)
        )

    def is_flat(self, value: Node) -> bool:
        """Say whether this is A.flat: what is written through it is written to the array."""
        flat = isinstance(value, gast.Attribute) and value.attr == "flat"
        return flat and K.is_numeric(self.kinds.of.get(value.value, K.UNKNOWN))

    def see_raised(self, s: Node, raised: Raised) -> None:
        """Refuse a tangent whose computation may raise what the program catches."""
        self.raised |= raised
        if any(is_caught(raised, caught) for caught in self.guarded):
            raise self.refuse(
                s,
                "The computation of the derivative may raise an exception here that this try "
                "catches, where the plain function raises none; forward mode cannot separate "
                "the two.",
                "Catch fewer exceptions, test with an if, or use s2sad.grad.",
            )

    def pushed(self, site: Site, variable: str, wanted: frozenset[str]) -> Made:
        """Return the tangent of a value: that of an operation, or the same view of a tangent."""
        if variable in self.function.stopped:
            return [], None
        viewed = self.viewed(site, variable)
        if viewed is not None:
            return [], viewed
        return self.pushes.push(site, wanted)

    def ordered(self, variable: str, marker: str, primal: Node, code: Block) -> Block:
        """Order a statement and its tangent: an old value is read before, a new one after it.

        `marker` stands for the new value in what was built.
        """
        used = reads(code)
        if variable not in used:
            for c in code:
                rename(c, {marker: variable})
            return [primal, *code]
        if marker not in used and not self.guarded:
            return [*code, primal]
        old = self.names.numbered(variable)
        for c in code:
            rename(c, {variable: old})
            rename(c, {marker: variable})
        return [assign(old, name(variable)), primal, *code]

    def called(
        self, s: Node, variable: str, kind: Kind, primal: Node, answer: tuple[Block, bool]
    ) -> Block:
        """Take over what a call of a user's function became."""
        code, has = answer
        self.bound.add(variable)
        code = code or [primal]
        if has:
            self.note(variable, kind)
        elif variable in self.twinned:
            return [*code, *self.zero(variable, kind, s)]
        else:
            self.live.discard(variable)
            self.idle.add(variable)
        return code

    def unpack(self, s: Node, target: Node) -> Block:
        """Return `a, b = t` with `a_dot, b_dot = t_dot`."""
        if not all(isinstance(e, gast.Name) for e in target.elts):
            return self.inert(s)
        after = self.kinds.after.get(s, {})
        names = [e.id for e in target.elts]
        held = s.value.id if isinstance(s.value, gast.Name) and s.value.id in self.live else None
        if held is None and getattr(s.value, "id", "") in self.idle - self.twinned:
            if not self.twinned & set(names):
                self.live -= set(names)
                self.idle |= set(names)
                return [clone(s)]
        if held is None:
            return self.inert(s)
        made = [n for n in names if self.wants(s, n) and K.differentiable(after.get(n, K.UNKNOWN))]
        self.live -= set(names)
        if not made:
            return [clone(s)]
        for n in made:
            self.note(n, after.get(n, K.UNKNOWN))
        held_in = [self.dot(n) if n in made else self.spare(n) for n in names]
        place = gast.Tuple([store(n) for n in held_in], gast.Store())
        return [gast.Assign([place], name(self.dot(held)), None), clone(s)]

    # branches

    def st_If(self, s: Node) -> Block:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.block(s.body if verdict else s.orelse)
        arms = self.arms(s, [s.body, s.orelse])
        return [gast.If(clone(s.test), arms[0] or [gast.Pass()], arms[1])]

    def arms(self, s: Node, bodies: list[Block]) -> list[Block]:
        """Return the arms of a branch, each with the tangents that one of them leaves."""
        live, bound, idle = frozenset(self.live), frozenset(self.bound), frozenset(self.idle)
        idles: set[str] = set()
        made: list[Block] = []
        ends: list[tuple[set[str], set[str]] | None] = []
        for body in bodies:
            self.live, self.bound, self.idle = set(live), set(bound), set(idle)
            made.append(self.block(body))
            idles |= self.idle
            ends.append(None if always_leaves(body) else (self.live, self.bound))
        open_ends = [
            (body, code, *end)
            for body, code, end in zip(bodies, made, ends, strict=True)
            if end is not None
        ]
        self.idle = idles
        useful = self.activity.useful_after.get(s, frozenset())
        self.meet(s, open_ends, (set(live), set(bound)), useful)
        return made

    def meet(
        self,
        s: Node,
        ends: list[tuple[Block, Block, set[str], set[str]]],
        start: tuple[set[str], set[str]],
        useful: frozenset[str],
    ) -> None:
        """Stand behind a branch: at the end of each arm, what another one has made is zero.

        Of an arm `ends` give the statements and what they became, and what is there at its end.
        """
        if not ends:
            self.live, self.bound = start
            return
        union = frozenset().union(*(e[2] for e in ends)) & (useful | self.twinned)
        for body, code, live, bound in ends:
            self.live, self.bound = live, bound
            env = self.kinds.after.get(body[-1], {}) if body else self.kinds.before[s]
            code += self.fill(union, env, s)
        self.live = set(union)
        self.bound = set.intersection(*(e[3] for e in ends))

    def st_Match(self, s: Node) -> Block:
        bound = {n for c in s.cases for n in names_written(c.pattern)}
        hit = names_read(s.subject) & self.live
        if hit and bound & self.activity.after(s) | {
            n for n in bound for c in s.cases if c.body and n in self.activity.before(c.body[0])
        }:
            raise self.refuse(
                s,
                f"This pattern binds parts of `{min(hit)}`, which has a derivative; s2sad "
                "cannot differentiate patterns in forward mode yet.",
                "Take the value apart with indices and if statements.",
            )
        self.live -= bound
        bodies = [c.body for c in s.cases]
        arms = self.arms(s, bodies if any(map(catches_all, s.cases)) else [*bodies, []])
        cases = [
            gast.match_case(clone(c.pattern), clone(c.guard) if c.guard is not None else None, arm)
            for c, arm in zip(s.cases, arms, strict=False)
        ]
        for rest in filter(None, arms[len(cases) :]):
            cases.append(gast.match_case(gast.MatchAs(None, None), None, rest))
        return [gast.Match(clone(s.subject), cases)]

    # with and try

    def st_With(self, s: Node) -> Block:
        bound = {n for i in s.items if i.optional_vars for n in names_written(i.optional_vars)}
        for item in s.items:
            given = names_read(item.context_expr) & self.live
            swallows = self.kinds.passing.get(item) is None
            inside = self.activity.before(s.body[0]) if s.body else frozenset()
            if swallows or given or bound & inside:
                return self.inert(s)
        self.bound |= bound
        body = self.block(s.body) or [gast.Pass()]
        return [gast.With(clone_all(s.items), body, None)]

    def st_Try(self, s: Node) -> Block:
        """A try is done or not: a branch whose arms are its body and its handlers.

        What is raised in the body comes of the values: no tangent is caught.
        """
        if s in self.function.half:
            return self.inert(s)
        caught = caught_by(s, self.kinds)
        live, bound = set(self.live), set(self.bound)
        self.guarded.append(caught)
        body = self.block(s.body)
        self.guarded.pop()
        orelse = self.block(s.orelse)
        ends: list[tuple[Block, Block, set[str], set[str]]] = []
        whole = [*s.body, *s.orelse]
        if not always_leaves(whole):
            ends.append((whole, orelse if s.orelse else body, self.live, self.bound))
        handlers = []
        for h in s.handlers:
            self.live, self.bound = set(live), set(bound)
            code = self.block(h.body)
            handlers.append(gast.ExceptHandler(clone_or_none(h.type), clone_or_none(h.name), code))
            if not always_leaves(h.body):
                ends.append((h.body, code, self.live, self.bound))
        useful = self.activity.useful_after.get(s, frozenset())
        if s.finalbody:
            useful = self.activity.useful_before.get(s.finalbody[0], frozenset())
        self.meet(s, ends, (live, bound), useful)
        return [gast.Try(body, handlers, orelse, self.block(s.finalbody))]

    # loops

    def st_While(self, s: Node) -> Block:
        start, body = self.loop(s, lambda: None)
        return [*start, gast.While(clone(s.test), body, [])]

    def st_For(self, s: Node) -> Block:
        header: list[Node] = []
        more: Block = []

        def enter() -> None:
            target, over, first = self.header(s)
            header[:] = [target, over]
            more[:] = first

        start, body = self.loop(s, enter)
        return [*start, gast.For(header[0], header[1], [*more, *body], [], None)]

    def loop(self, s: Node, enter: Callable[[], None]) -> tuple[Block, Block]:
        """Return what is set to zero before a loop, and its body."""
        env = self.kinds.before[s]
        head = self.activity.head(s) | (self.live & self.twinned)
        head |= frozenset(n for n in self.twinned if n in block_writes(s.body))
        start = self.fill(head, env, s)
        bound = set(self.bound)
        self.live |= {n for n in head if isinstance(env.get(n, K.UNBOUND), K.Unbound)}
        self.live &= head | (self.live - block_writes([s]))
        head = frozenset(self.live)
        enter()
        self.heads.append(head)
        body = self.block(s.body)
        if not always_leaves(s.body):
            body += self.fill(head, self.kinds.after.get(s.body[-1], {}), s)
        self.heads.pop()
        self.live = set(head)
        self.bound = bound
        return start, body

    def header(self, s: Node) -> tuple[Node, Node, Block]:
        """Return the target and iterable of a loop, and what the body starts with."""
        env = self.kinds.before.get(s.body[0], {})
        bound = names_written(s.target)
        wanted = {
            n
            for n in bound
            if (n in self.activity.before(s.body[0]) or n in self.activity.after(s))
            and K.differentiable(env.get(n, K.UNKNOWN))
        }
        wanted |= bound & self.twinned
        self.bound |= bound
        sources = names_read(s.iter) & self.live
        if not wanted or not sources:
            self.live -= bound
            first = [x for n in sorted(bound & self.twinned) for x in self.zero(n, env[n], s)]
            return clone(s.target), clone(s.iter), first
        target, over, first = self.woven(s, s.target, s.iter, wanted)
        self.live -= bound
        for n in sorted(wanted):
            self.note(n, env.get(n, K.UNKNOWN))
        return target, over, first

    def woven(self, s: Node, target: Node, over: Node, wanted: set[str]) -> Any:
        """Return a loop's target and iterable with those of the tangents, and further statements.

        for x in xs              for x, x_dot in zip(xs, xs_dot)
        for i, x in enumerate(xs)       for i, (x, x_dot) in enumerate(zip(xs, xs_dot))
        """
        mine = names_written(target) & wanted
        if not mine:
            return clone(target), clone(over), []
        fn = self.kinds.objects.get(over.func) if isinstance(over, gast.Call) else None
        if fn is enumerate and isinstance(target, gast.Tuple):
            inner, source, first = self.woven(s, target.elts[1], over.args[0], wanted)
            rest = [clone(a) for a in over.args[1:]]
            made = gast.Call(clone(over.func), [source, *rest], clone_all(over.keywords))
            return tuple_stored([clone(target.elts[0]), inner]), made, first
        if fn is zip and isinstance(target, gast.Tuple):
            return self._woven_zip(s, target, over, wanted)
        if isinstance(over, gast.Call) and isinstance(over.func, gast.Attribute):
            owner = over.func.value
            if over.func.attr == "items" and isinstance(owner, gast.Name):
                key, value = target.elts
                if isinstance(key, gast.Name) and isinstance(value, gast.Name):
                    held = gast.Subscript(name(self.dot(owner.id)), name(key.id), gast.Load())
                    return clone(target), clone(over), [assign(self.dot(value.id), held)]
        place, tangents = self.beside(s, target, over, wanted)
        made = call("zip", clone(over), tangents)
        return tuple_stored([clone(target), place]), made, []

    def _woven_zip(self, s: Node, target: Node, over: Node, wanted: set[str]) -> Any:
        targets, sources = [], []
        dots, dot_sources = [], []
        first: Block = []
        for t, source in zip(target.elts, over.args, strict=True):
            nested = isinstance(source, gast.Call)
            if nested:
                inner, made, more = self.woven(s, t, source, wanted)
                targets.append(inner)
                sources.append(made)
                first += more
                continue
            targets.append(clone(t))
            sources.append(clone(source))
            if names_written(t) & wanted:
                if not names_read(source) & self.live:
                    raise self._unseen(s, source)
                place, tangents = self.beside(s, t, source, wanted)
                dots.append(place)
                dot_sources.append(tangents)
        made = gast.Call(clone(over.func), [*sources, *dot_sources], clone_all(over.keywords))
        return tuple_stored([*targets, *dots]), made, first

    def beside(self, s: Node, target: Node, over: Node, wanted: set[str]) -> tuple[Node, Node]:
        """Return the target and iterable of tangents beside one target and iterable."""
        fn = self.kinds.objects.get(over.func) if isinstance(over, gast.Call) else None
        if isinstance(over, gast.Call) and fn is reversed:
            _, inner = self.beside(s, target, over.args[0], wanted)
            return self.dotted(target, wanted), call("reversed", inner)
        if isinstance(over, gast.Call):
            func = over.func
            owner = func.value if isinstance(func, gast.Attribute) else None
            if isinstance(owner, gast.Name) and func.attr == "values" and owner.id in self.live:
                table = {owner.id: name(self.dot(owner.id))}
                return self.dotted(target, wanted), clone(over, table)
            raise self._unseen(s, over)
        site = Site(s, over, name("@"), name("@"), self.kinds.of.get(over, K.UNKNOWN))
        if isinstance(self.kinds.of.get(over), K.Iterable_):
            raise self._unseen(s, over)
        pre, tangents = self.pushes.push(site, frozenset(self.live))
        if tangents is None or pre:
            raise self._unseen(s, over)
        return self.dotted(target, wanted), tangents

    def dotted(self, target: Node, wanted: set[str]) -> Node:
        """Return a loop's target with the tangents of its names."""
        if isinstance(target, gast.Tuple | gast.List):
            return tuple_stored([self.dotted(e, wanted) for e in target.elts])
        if isinstance(target, gast.Starred):
            return gast.Starred(self.dotted(target.value, wanted), gast.Store())
        if target.id in wanted:
            return store(self.dot(target.id))
        return store(self.spare(target.id))

    def _unseen(self, s: Node, over: Node) -> Error:
        return self.refuse(
            s,
            "s2sad has no tangents for the iterable of this loop, so it cannot run over "
            "values and tangents together.",
            "Loop over a list, a tuple, an array, range, enumerate or zip.",
        )


def _holds_numbers(kind: Kind) -> bool:
    """Say whether a structure holds numbers that are no floats, or may hold anything."""
    if isinstance(kind, K.Num):
        return not K.differentiable(kind)
    return any(map(_holds_numbers, kind.inside))


def _memories(kind: Kind) -> int:
    """Return how many arrays and structures a value holds that may share memory; 2 for more."""
    if isinstance(kind, K.Array):
        return int(K.differentiable(kind))
    inner = [_memories(k) for k in K.together(kind)]
    if kind.how == "option":
        return max(inner)
    many = kind.rest is not None
    return min(2, sum(inner) * (2 if many else 1)) or int(K.is_container(kind))


def clone_or_none(node: Node | None) -> Node | None:
    """Return a copy of a node, where there is one."""
    return clone(node) if isinstance(node, gast.AST) else node


def clone_all(nodes: Any) -> list[Node]:
    """Return copies of some nodes."""
    return [clone(n) for n in nodes]


def tuple_stored(parts: list[Node]) -> Node:
    """Return a tuple that is bound."""
    made = tuple_(parts)
    made.ctx = gast.Store()
    return made
