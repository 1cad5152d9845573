"""Reverse mode: the forward sweep is the user's program, the backward sweep undoes it.

Both sweeps are written at once from the structured program. Every assignment of the forward sweep
has a Save before it and every undoing a Restore of the same key; the storage pass keeps those
whose value the backward sweep reads. A cotangent is assigned by its first contribution and added
to by later ones; where paths meet, what only one of them has set is set to zero on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.errors import InternalError
from s2sad.kinds import Kind
from s2sad.known.mixed import surely_real
from s2sad.modes.endings import Endings, anchor, split_exit
from s2sad.modes.forward import Forward
from s2sad.modes.guarded import Site
from s2sad.modes.hooks import Hooks, is_hook
from s2sad.modes.joins import Joins
from s2sad.modes.notes import Notes
from s2sad.modes.operations import Operations
from s2sad.modes.outside import NOTHING_LENT
from s2sad.modes.refs import Refs
from s2sad.modes.reuse import Reuse
from s2sad.modes.structured import Contribution
from s2sad.modes.writes import each
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    assign_tuple,
    attribute,
    binary,
    call,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    rename,
    stand_in,
    store,
    subscript,
    substitute,
    tuple_,
    walk,
)
from s2sad.stages import Activity, Aliases, Comment, Function, KindFacts, Restore, Undo, Zeros


@dataclass
class Sweeps:
    """The two sweeps of one function, before storage is decided."""

    forward: Block
    backward: Block
    bars: dict[str, str] = field(default_factory=dict)
    bar_kinds: dict[str, Kind] = field(default_factory=dict)


CallBack = Callable[[Site, frozenset[str]], "tuple[Block, list[Contribution], Node | None] | None"]


class Reverse(Hooks, Joins):
    """Writes the sweeps of one function; state is the set of cotangents that are set."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        activity: Activity,
        notes: Notes,
        refs: Refs,
        names: Names,
        calls: CallBack,
        heading: Callable[[Any], str],
        aliases: Aliases,
        zeros: Zeros,
        given: frozenset[str] = frozenset(),
        asked: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(function, kinds, refs, names, aliases, given, asked)
        self.activity = activity
        self.notes = notes
        self.calls = calls
        self.heading = heading
        self.zeros = zeros
        self.ends = Endings(function, notes, kinds, aliases.touched)
        self.reuse = Reuse(function, kinds, activity, aliases)
        self.elements = self.reuse.elements
        self.operations = Operations(function.source, kinds.of, kinds.objects, refs, names)
        self.operations.displays = self.reuse.displays
        self.operations.distinct = self.reuse.distinct
        self.replaced: dict[Any, Node] = {}
        self.assume: Callable[[K.Dim], bool] = lambda _: False
        self.rebinding: Container[Any] = ()
        self.lent_to = NOTHING_LENT
        self.kept = {}

    def keep(self, statement: Any, base: str) -> str:
        """Return a name for what a statement hands on from forward to backward."""
        kept = self.names.fresh(base)
        self.ends.kept[statement] = kept
        self.kept[statement] = kept
        return kept

    def primals(self) -> dict[str, str]:
        """Return the variable of each cotangent, for the variables that are bound once."""
        once = self.reuse.writes
        return {bar: v for v, bar in self.bars.items() if once.get(v) == 1 and v not in self.asked}

    # entry

    def sweeps(self, seed: Node, has_aux: bool = False) -> Sweeps:
        """Return both sweeps; `seed` is the expression of the result's cotangent.

        With `has_aux` the result is a pair whose second item has no cotangent.
        """
        body = self.function.node.body[:-1]
        result = self.function.result
        backward: Block = []
        if has_aux:
            self.operations.aux_result = result
            kind = self.kinds.result
            aux = kind.items[1] if isinstance(kind, K.Tuple) else K.UNKNOWN
            rest = gast.Constant(None, None)
            if K.differentiable(aux) and not isinstance(aux, K.Unknown):
                rest = self.zero(subscript(name(result), constant(1)), aux)
            seed = tuple_([seed, rest])
        if body and result in self.activity.after(body[-1]):
            shadow = isinstance(self.kinds.result, K.Array) or (
                K.is_container(self.kinds.result) and isinstance(seed, gast.Name)
            )
            if result in self.asked | self.split:
                if isinstance(seed, gast.Name):
                    self.names.take(seed.id)
                    self.bars[result] = self.names.fresh(f"{result}_bar")
                backward += self.add(Contribution(result, seed), self.kinds.result, body[-1])
            elif result in self.arrays and shadow:
                backward.append(self.own_seed(result, seed))
            elif not (isinstance(seed, gast.Name) and seed.id == self.bar(result)):
                backward.append(assign(self.bar(result), seed))
            if result not in self.split:
                self.live.add(result)
            self.note_kind(result, self.kinds.result)
        entry = self.kinds.before.get(body[0], {}) if body else {}
        for n in sorted(self.given):
            self.live.add(n)
            self.note_kind(n, entry.get(n, K.UNKNOWN))
        if self.table:
            lent = sorted((self.given | self.direct) & (self.asked | self.split))
            backward = [assign(self.table, gast.Dict([], [])), *self.borrow(lent), *backward]
        backward += [*self.block(body), *self.give_back()]
        worker = Forward(
            self.function,
            self.kinds,
            self.notes,
            self.ends,
            self.replaced,
            self.parts_written(),
            self.call_writes,
            self.inert,
            self.looks,
            self.kept_entries(),
            self.stop,
        )
        forward = worker.forward(body)
        self.see_kept(backward)
        return Sweeps(forward, backward, self.bars, self.bar_kinds)

    def parts_written(self) -> set[Any]:
        """Return the statements before which a part of memory is kept."""
        return self.array_writes | self.kept_slots()

    # backward sweep

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in reversed(body):
            out += self.statement(s)
        return out

    def statement(self, s: Node) -> Block:
        handler: Callable[[Node], Block] | None = getattr(self, f"st_{type(s).__name__}", None)
        self.at(s)
        out = handler(s) if handler is not None else self._inert(s)
        self.at(s)
        self.aliased &= self.live  # what is bound here was a view of nothing before
        self.check_shadows(s)
        return out

    def _inert(self, s: Node) -> Block:
        """A statement without derivative; refused where it touches what has a cotangent."""
        self.check_unseen(s)
        written = names_written(s)
        shared = written & (self.asked | self.split)
        self.live -= shared - self.activity.varied_after.get(s, frozenset())
        self.live |= shared & self.activity.varied_after.get(s, frozenset())
        if written & self.live:
            raise self.refuse(
                s,
                f"This {_word(s)} binds `{min(written & self.live)}`, on which the "
                "result depends; s2sad cannot differentiate inside such a statement.",
                "Move the computation out of it.",
            )
        return [self._restore(n, s) for n in sorted(written)]

    def _restore(self, variable: str, key: Any) -> Node:
        node = Restore(variable, ("over", key, variable))
        node.ghosts = self.aliases.ghosts_of(variable, key)
        return node

    def _comment(self, s: Node) -> Block:
        origin = self.function.origins.get(s)
        if origin is None:
            return []
        comment = Comment(self.heading(origin))
        comment.origin = origin
        return [stand_in(comment, origin, self.function.source)]

    def st_Pass(self, s: Node) -> Block:
        return []

    st_Break = st_Assert = st_Raise = st_Pass

    def st_FunctionDef(self, s: Node) -> Block:
        self.live.discard(s.name)
        return [self._restore(s.name, s)]

    def st_Assign(self, s: Node) -> Block:
        target = s.targets[0]
        if s in self.call_writes:
            return self.undo_call(s, target.id)
        taking = self.slot_write(s)
        if taking is not None:
            return self.undo_taking(s, taking) if taking.takes else self.undo_slot(s, target)
        if isinstance(target, gast.Name):
            return self.assignment(s, target.id, s.value)
        if isinstance(target, gast.Tuple | gast.List):
            return self.unpack(s, target)
        if s in self.array_writes:
            return self.undo_write(s, target)
        return self.write(s, target)

    def write(self, s: Node, target: Node) -> Block:
        """A write into memory: fine where nothing active is concerned."""
        owner = target
        while isinstance(owner, gast.Subscript | gast.Attribute):
            owner = owner.value
        base = owner.id if isinstance(owner, gast.Name) else None
        varied = self.activity.varied_before.get(s, frozenset())
        given = names_read(s.value) & varied
        if (base is not None and base in self.live | self.asked) or (
            given and K.differentiable(self.kinds.of.get(s.value, K.UNKNOWN))
        ):
            raise self.refuse(
                s,
                f"s2sad cannot differentiate this write into `{base}`: the derivative of the "
                "new or of the overwritten value would be lost.",
                "Build a new value instead: np.where, np.concatenate, or a list and np.array.",
            )
        return []

    def st_Delete(self, s: Node) -> Block:
        if all(isinstance(t, gast.Name) for t in s.targets):
            gone = names_written(s)
            self.live -= gone
            self.aliased -= gone
            return [self._restore(n, s) for n in sorted(gone)]
        dropped = self.slot_write(s)
        return self._inert(s) if dropped is None else self.undo_drop(s, s.targets[0])

    def st_AugAssign(self, s: Node) -> Block:
        if hasattr(s, "each"):
            self.replaced[s] = gast.Expr(each(s))
        if s in self.array_writes:
            return self.undo_augmented(s, s.target)
        if not isinstance(s.target, gast.Name):
            return self.write(s, s.target)
        variable = s.target.id
        before = self.kinds.of.get(s.target, K.UNKNOWN)
        if s in self.rebinding:
            operation = gast.BinOp(name(variable), s.op, clone(s.value))
            self.replaced[s] = assign(variable, operation)
        elif not isinstance(before, K.Num | K.Str | K.Tuple):
            varied = self.activity.varied_after.get(s, frozenset())
            if variable in self.live and variable in varied:
                raise self.refuse(
                    s,
                    f"`{variable}` is {K.describe(before)} and is changed in place; s2sad "
                    "cannot undo this change yet.",
                    f"Write {variable} = {variable} ... instead: that makes a new value.",
                )
            return []
        value = gast.BinOp(name(variable), s.op, s.value)
        self.kinds.of[value.left] = before
        self.kinds.of[value] = self.kinds.after[s][variable]
        locate(value, s)
        return self.assignment(s, variable, value)

    def assignment(self, s: Node, variable: str, value: Node) -> Block:
        """Undo `variable = value`: pass its cotangent on, then put its old value back."""
        if not self.stop and self.function.stays(s):
            self.live.discard(variable)
            return []
        restore = self._restore(variable, s)
        display = isinstance(value, gast.Tuple)
        if variable in self.asked or (variable in self.split and not display):
            return self.assignment_asked(s, variable, value, restore)
        if variable not in self.live:
            return [restore]
        if variable in self.arrays:
            self.check_parts(s, value)
        self.live.discard(variable)
        if variable not in self.activity.varied_after.get(s, frozenset()):
            return [restore]
        apart = variable in self.unsure
        if variable in self.aliased and not apart:
            if variable in self.arrays or self.elements.get(variable, (None,))[0] is s:
                self.aliased.discard(variable)
                return [restore]
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        varied = self.activity.varied_before[s]
        out = self._comment(s)
        bar: Node = name(self.bar(variable))
        own = self.wants_old(variable, value)
        if own:
            held = self.names.fresh(f"{variable}_bar")
            self.bar_kinds[held] = kind
            if variable in self.arrays:
                self.buffers.add(held)
            out.append(assign(held, bar))
            bar = name(held)
        if self.may_be_complex(variable) and surely_real(kind):
            out.append(assign(bar.id, call(self.np("real", kind), clone(bar))))
        marker = f"{variable}@out"
        out_name = name(marker if own else variable)
        site = Site(s, value, out_name, bar, kind, self.zeros.guards.get(s))
        pre, found = self.back(site, varied)
        if variable in self.split:
            found = [c for c in found if c.operand not in self.asked]
        if apart:
            return [*self._passed_on(s, variable, pre, found), restore]
        first = self._recompute(s, variable, own, pre, found)
        after = [self._restore(self.ends.kept[s], s)] if s in self.ends.kept else []
        placed = self._place(s, variable, marker if own or first else None, pre, found, restore)
        return out + placed + after

    def _passed_on(self, s: Node, variable: str, pre: Block, found: list[Contribution]) -> Block:
        """Undo what may have given a view or a copy: only a copy passes something on."""
        self.aliased.discard(variable)
        before = self.kinds.before.get(s, {})
        added = [x for c in found for x in self.add(c, before.get(c.operand, K.UNKNOWN), s)]
        return self.apart(s, variable, [*pre, *added])

    def _recompute(
        self, s: Node, variable: str, own: bool, pre: Block, found: list[Contribution]
    ) -> bool:
        """Read cheap temporaries of the same statement by computing them again.

        Says whether the variable must get its old value back before.
        """
        origin = self.function.origins.get(s)
        read = set().union(*(names_read(p) for p in pre), *(names_read(c.value) for c in found))
        table: dict[str, Node] = {}
        first = False
        for temp, (where, value) in self.reuse.cheap.items():
            if where is not origin or temp not in read or (temp == variable and own):
                continue
            whole = substitute(
                value, {n: v for n, (w, v) in self.reuse.cheap.items() if w is origin and n != temp}
            )
            if variable in names_read(whole) and not own:
                if variable in read:
                    continue
                first = True
            table[temp] = whole
        if not table:
            return False
        for position, p in enumerate(pre):
            for f in ("value",):
                if isinstance(getattr(p, f, None), gast.AST):
                    setattr(p, f, substitute(getattr(p, f), table))
            pre[position] = p
        found[:] = [
            Contribution(c.operand, substitute(c.value, table), _path(c.path, table), c.repeats)
            for c in found
        ]
        return first

    def back(self, site: Site, varied: frozenset[str]) -> tuple[Block, list[Contribution]]:
        """Ask for the contributions of an operation: a user's function, or a rule."""
        if isinstance(site.node, gast.Call) or site.node in self.kinds.methods:
            answer = self.calls(site, varied)
            if answer is not None:
                pre, found, forward = answer
                if forward is not None:
                    self.replaced[site.statement] = forward
                return pre, found
        return self.operations.back(site, varied)

    def _place(
        self,
        s: Node,
        variable: str,
        marker: str | None,
        pre: Block,
        found: list[Contribution],
        restore: Node,
    ) -> Block:
        """Order contributions and the restoring: a result is read before, an operand after it.

        Where the variable is its own operand, `marker` stands for the result in what was built.
        """
        before = self.kinds.before.get(s, {})
        out: Block = []
        if marker is not None:
            reads = [*pre, *(c.value for c in found)]
            if any(marker in names_read(r) for r in reads):
                held = self.names.fresh(f"{variable}_out")
                out.append(assign(held, name(variable)))
                for r in reads:
                    rename(r, {marker: held})
            out.append(restore)
        out += pre
        out += self._unpacked(s, found, before) or [
            x for c in found for x in self.add(c, before.get(c.operand, K.UNKNOWN), s)
        ]
        if marker is None:
            out.append(restore)
        return out

    def _unpacked(
        self, s: Node, found: list[Contribution], before: dict[str, Kind]
    ) -> Block | None:
        """Undo `t = (a, b)` by `a_bar, b_bar = t_bar`, where these are first contributions."""
        value = getattr(s, "value", None)
        if (
            not isinstance(value, gast.Tuple | gast.List)
            or len(found) != len(value.elts)
            or len(found) < 2
        ):
            return None
        operands = [c.operand for c in found]
        if len(set(operands)) != len(operands) or set(operands) & (self.live | self.arrays):
            return None
        if any(c.path is not None or not isinstance(c.value, gast.Subscript) for c in found):
            return None
        for c in found:
            self._decided(c.operand, before.get(c.operand, K.UNKNOWN), s)
            self.note_kind(c.operand, before[c.operand])
            self.live.add(c.operand)
        return [assign_tuple([self.bar(n) for n in operands], found[0].value.value)]

    def unpack(self, s: Node, target: Node) -> Block:
        """Undo `a, b = t`: the cotangent of t is made of those of a and b."""
        names = [e.id for e in target.elts]
        self.check_unpacked(s, names)
        restores: Block = [self._restore(n, s) for n in names]
        self.live -= self.asked & set(names)
        set_ = [n for n in names if n in self.live]
        views = self.aliased & self.arrays
        for n in set_:
            self.live.discard(n)
            self.aliased.discard(n) if n in views else None
        set_ = [n for n in set_ if n not in views]
        if not set_:
            return restores
        after = self.kinds.after[s]
        owner = self.kinds.of.get(s.value, K.UNKNOWN)
        if not isinstance(s.value, gast.Name):
            raise self.operations.undecided(s.value, owner)
        source = s.value.id
        if source not in self.activity.varied_before[s]:
            return restores
        out = self._comment(s)
        bars: list[Node] = []
        for n in names:
            kind = after.get(n, K.UNKNOWN)
            if n in set_:
                bars.append(name(self.bar(n)))
            else:
                bars.append(self.zero(name(n), kind))
        if isinstance(owner, K.Tuple):
            value: Node = tuple_(bars)
        elif isinstance(owner, K.List):
            value = gast.List(bars, gast.Load())
        elif isinstance(owner, K.Array):
            value = call(self.np("array", owner), gast.List(bars, gast.Load()))
        else:
            raise self.operations.undecided(s.value, owner)
        if source in names:
            held = self.names.fresh(f"{source}_bar")
            out.append(assign(held, value))
            value = name(held)
            out += restores
            restores = []
        before = self.kinds.before[s]
        out += self.add(Contribution(source, value), before.get(source, K.UNKNOWN), s)
        return out + restores

    def st_Expr(self, s: Node) -> Block:
        value = s.value
        if is_hook(s, self.kinds):
            return self.hooked(s)
        if s in self.call_writes:
            return self.undo_call(s, None)
        if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
            return []
        owner = value.func.value
        if not isinstance(owner, gast.Name) or owner.id not in self.function.locals:
            return []
        kind = self.kinds.before[s].get(owner.id)
        if owner.id in self.live & self.arrays and isinstance(kind, K.List):
            self.check_parts(s, *value.args, owner)
        taking = self.slot_write(s)
        if owner.id in self.asked and isinstance(kind, K.List) and taking is None:
            taking = next((w for w in self.own_writes if w.statement is s and w.takes), None)
        if taking is not None:
            return self.undo_taking(s, taking)
        if isinstance(kind, K.List) and value.func.attr == "append":
            return self.append(s, owner.id, value.args[0])
        changed = owner.id in self.live | self.asked
        if isinstance(kind, K.Array) and registry.is_zero_method(value.func.attr):
            return []
        if changed and kind is not None and (K.is_container(kind) or isinstance(kind, K.Array)):
            raise self.refuse(
                s,
                f"`{owner.id}.{value.func.attr}(...)` changes {K.describe(kind)} on which the "
                "result depends; s2sad cannot undo this change yet.",
                "Build a new value, or fill a list by append.",
            )
        return []

    def append(self, s: Node, owner: str, item: Node) -> Block:
        """Undo `xs.append(x)`: x gets the last cotangent of xs, which loses it."""
        undo = Undo(owner)
        if owner not in self.live:
            return [undo]
        popped = call(attribute(name(self.bar(owner)), "pop"))
        out = self._comment(s)
        varied = self.activity.varied_before[s]
        if isinstance(item, gast.Name) and item.id in varied:
            kind = self.kinds.before[s].get(item.id, K.UNKNOWN)
            held = self.names.fresh(f"{item.id}_bar")
            self.bar_kinds[held] = kind
            out.append(assign(held, popped))
            out += self.add(Contribution(item.id, name(held)), kind, s)
        else:
            out.append(gast.Expr(popped))
        return [*out, undo]

    def st_If(self, s: Node) -> Block:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.block(s.body if verdict else s.orelse)
        return self.chain(s)

    def st_Match(self, s: Node) -> Block:
        return self.chain(s)

    # loops

    def st_While(self, s: Node) -> Block:
        return self.loop(s)

    def st_For(self, s: Node) -> Block:
        plan = self.function.loops[s]
        bound = names_written(s.target)
        inside = self.activity.before(s.body[0]) if s.body else frozenset()
        read_once = plan.bounds is None and bound & (inside | self.activity.after(s))
        if read_once or any(map(self._read_once, (n for b in plan.bindings for n in walk(b)))):
            raise self.refuse(
                s,
                "This loop runs over something that can be read only once, so the backward "
                "sweep cannot run over it again.",
                "Loop over a list, a tuple, an array, range, enumerate or zip.",
            )
        self.check_iterated(s, plan)
        out = self.loop(s)
        return out + [self._restore(n, s) for n in sorted(names_written(s.target))]

    def _read_once(self, node: Node) -> bool:
        """Say whether an item is read of a zip, an enumerate or a view that a variable holds."""
        owner = self.kinds.of.get(node.value) if isinstance(node, gast.Subscript) else None
        return isinstance(owner, K.Iterable_) and not owner.indexed

    def loop(self, s: Node) -> Block:
        """Undo a loop: as many rounds as it ran, each from the state that every round starts in."""
        self.at(s, after=True)
        self.forget_asked()
        out = self._fill_head(s)
        head = frozenset(self.live)
        self.ends.loops.append(s)
        body = self._bound(s) + self._with_restored_deaths(s, s.body)
        body += self._undo_bindings(s)
        self.forget_asked()
        constant_ = self.live - head - self.activity.head_varied.get(s, frozenset())
        self.live -= constant_  # a buffer made anew: what it held before the round has none
        self.aliased -= constant_
        extra = self.live - head
        if extra:
            raise InternalError(f"cotangents of {sorted(extra)} set in a loop but not before it")
        plan = self.function.loops.get(s)
        self.at(plan.bindings[0] if plan is not None and plan.bindings else s.body[0])
        for n in sorted(head - self.live):
            body += self._next_round(s, n)
        self.ends.loops.pop()
        before = self.kinds.before[s]
        self.live = {n for n in head if not isinstance(before.get(n, K.UNBOUND), K.Unbound)}
        loop = self._header(s, body)
        return [*out, loop]

    def _next_round(self, s: Node, variable: str) -> Block:
        """Set a cotangent to zero for the round before; there may be no value in the first one."""
        first = self.kinds.before[s].get(variable, K.UNBOUND)
        kind = self.kinds.before[s.body[0]].get(variable, first)
        if isinstance(first, K.Unbound) and not isinstance(kind, K.Num):
            self.live.add(variable)
            self.note_kind(variable, kind)
            helper = self.refs.function(runtime.zeros_like)
            return [assign(self.bar(variable), call(helper, name(variable)))]
        return self.ensure(variable, kind, s)

    def _fill_head(self, s: Node) -> Block:
        out: Block = []
        after = self.kinds.after.get(s, {})
        for n in sorted(self.activity.head(s) - self.live - self.asked):
            kind = after.get(n, K.UNKNOWN)
            if K.differentiable(kind) and not isinstance(kind, K.Unbound):
                out += self.ensure(n, kind, s)
        return out

    def _bound(self, s: Node) -> Block:
        """What the header bound is computed again, where the body leaves it alone."""
        plan = self.function.loops.get(s)
        if plan is None or plan.bounds is None:
            return []
        changed = self.ends.changed(s)
        return [clone(b) for b in plan.bindings if not names_written(b) & changed]

    def _undo_bindings(self, s: Node) -> Block:
        plan = self.function.loops.get(s)
        if plan is None:
            return []
        if plan.bounds is None:
            for n in names_written(s.target):
                self.live.discard(n)
            return []
        out: Block = []
        for b in reversed(plan.bindings):
            self.at(b)
            out += [x for x in self.st_Assign(b) if not isinstance(x, Restore | Comment)]
        return out

    def _header(self, s: Node, body: Block) -> Node:
        plan = self.function.loops.get(s)
        rounds = self.notes.rounds.get(s)
        if plan is None or plan.bounds is None:
            index = self.names.fresh("_")
            loop = gast.For(store(index), call("range", name(rounds or "")), body, [], None)
            return self._undoing(loop, s)
        bounds = self.notes.bounds[s]
        span = backward_range(bounds, rounds)
        return self._undoing(gast.For(store(plan.index), span, body, [], None), s)

    def _undoing(self, loop: Node, s: Node) -> Node:
        """Let a loop of the backward sweep say which one it undoes."""
        loop.undoes = s
        return stand_in(loop, self.function.origins.get(s, s), self.function.source)

    def _with_restored_deaths(self, s: Node, body: Block) -> Block:
        """Undo a block; what ends with it comes back behind the statement that may leave it."""
        at, _ = split_exit(body)
        self._note_arms(body[at:], self.ends.dying(s, body))
        exit_ = self.block(body[at:])
        rest = self.block(body[:at])
        return exit_ + self._deaths(s, body) + rest

    def _note_arms(self, leaving: Block, dying: Iterable[str]) -> None:
        """Note which arms are taken where a loop is left, and what dies there comes back later.

        Tests of it cannot be asked again: they would read what the names held a round later.
        """
        chains = self.notes.chains
        for s in all_inside(leaving):
            chain = chains.get(s)
            if chain is not None and chain.note is None and chain.tests:
                if set().union(*map(names_read, chain.tests)) & set(dying):
                    chains[s] = replace(chain, note=self.names.fresh("arm"))

    def _deaths(self, s: Node, body: Block) -> Block:
        """Names that a block binds and nobody reads afterwards get their last values back first.

        Outside loops a name keeps its value unless it is bound elsewhere too.
        """
        dying = self.ends.dying(s, body)
        found: Block = []
        for n in sorted(dying):
            node = Restore(n, ("death", anchor(s, body), n))
            node.ghosts = self.aliases.ghosts_of(n)
            found.append(node)
        return found


def _path(path: tuple[str, Any] | None, table: dict[str, Node]) -> tuple[str, Any] | None:
    if path is None or path[0] not in ("index", "entry"):
        return path
    return path[0], substitute(path[1], table)


def backward_range(bounds: tuple[Any, ...], rounds: str | None) -> Node:
    """Return the range that runs backward over the rounds a loop ran."""
    if len(bounds) == 1:
        stop = name(rounds) if rounds is not None else clone(bounds[0])
        return call("range", _less_one(stop), constant(-1), constant(-1))
    if len(bounds) == 2:
        start = clone(bounds[0])
        stop = clone(bounds[1])
        if rounds is not None:
            stop = binary(clone(start), gast.Add, name(rounds))
        return call("range", _less_one(stop), _less_one(start), constant(-1))
    span: Node = call("range", *[clone(b) for b in bounds])
    if rounds is not None:
        span = subscript(span, gast.Slice(None, name(rounds), None))
    return call("reversed", span)


def _less_one(node: Node) -> Node:
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return constant(node.value - 1)
    return binary(node, gast.Sub, constant(1))


def _word(s: Node) -> str:
    words = {"Try": "try statement", "With": "with statement", "Delete": "del"}
    return words.get(type(s).__name__, type(s).__name__.lower())
