"""Several directions abreast: values are computed once, tangents once for each direction.

    y = np.sin(x)                  y = np.sin(x)
    y_dot = x_dot * np.cos(x)  ->  cos_x = np.cos(x)
                                   y_dots = [x_dot * cos_x for x_dot in x_dots]
    A[0] = x                       A[0] = x
    A_dot[0] = x_dot           ->  for A_dot, x_dot in zip(A_dots, x_dots):
                                       A_dot[0] = x_dot

A statement computes a value or a tangent; what reads or writes tangents does so in each direction.
`x_dots` holds as many tangents of x as there are directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import gast

from s2sad.errors import InternalError
from s2sad.names import Names
from s2sad.nodes import (
    COMPREHENSIONS,
    Block,
    Node,
    all_inside,
    assign,
    blocks_of,
    call,
    name,
    names_read,
    names_written,
    ordered,
    root_name,
    store,
    tuple_,
)
from s2sad.polish.effects import mutated_by

_NUMBERS = ("abs", "float", "len", "max", "min")
_OPAQUE = (gast.IfExp, gast.BoolOp, gast.Lambda, *COMPREHENSIONS)


@dataclass
class Abreast:
    """Writes one function for several directions.

    `dots` are its tangents, `lists` the names of those that are given in all directions; `passed`
    are, by the name of a derived function, the names of its tangents. One that is `seeded` returns
    a value and its tangent.
    """

    dots: set[str]
    users: frozenset[str]
    names: Names
    passed: Mapping[str, tuple[str, ...]]
    lists: dict[str, str]
    seeded: bool = True

    def listed(self, dot: str) -> str:
        """Return the name of the tangents of a variable in all directions."""
        if dot not in self.lists:
            self.lists[dot] = self.names.fresh(f"{dot}s")
        return self.lists[dot]

    def write(self, body: Block) -> Block:
        """Return a function's body, whose last statement returns its value and tangent."""
        self._find(body)
        return self._block(body)

    # which names hold tangents

    def _find(self, body: Block) -> None:
        """Add to the tangents what is made of them, or holds some."""
        statements = list(all_inside(body))
        count = -1
        while count != len(self.dots):
            count = len(self.dots)
            for s in statements:
                self.dots |= self._made_of_dots(s)
        if self.dots & self.users:
            raise InternalError(f"{min(self.dots & self.users)} is a value and a tangent")

    def _made_of_dots(self, s: Node) -> set[str]:
        if isinstance(s, gast.Assign | gast.AugAssign):
            if self._derived(s.value) is not None or not self._dots_in(s.value):
                return set()
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target
            if isinstance(target, gast.Subscript | gast.Attribute):
                found = root_name(target)
                return {found} if found is not None else set()
            return names_written(target)
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and self._dots_in(s):
            changed = mutated_by(s.value) if self._derived(s.value) is None else None
            return {changed} if changed is not None else set()
        return set()

    def _derived(self, node: Node) -> tuple[str, ...] | None:
        """Return the names of the tangents of the derived function that is called, if one is."""
        func = getattr(node, "func", None)
        if isinstance(node, gast.Call) and isinstance(func, gast.Name):
            return self.passed.get(func.id)
        return None

    def _dots_in(self, node: Node) -> list[str]:
        return sorted(names_read(node) & self.dots)

    # statements

    def _block(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            out += self._statement(s)
        return out

    def _statement(self, s: Node) -> Block:
        if isinstance(s, gast.For):
            return self._loop(s)
        if blocks_of(s):
            for part in blocks_of(s):
                part[:] = self._block(part)
            return [s]
        if isinstance(s, gast.Return):
            return self._last(s)
        derived = self._derived(getattr(s, "value", None))
        if derived is not None:
            return self._called(s, derived)
        if isinstance(s, gast.Assign):
            target = s.targets[0]
            if isinstance(target, gast.Name) and target.id in self.dots:
                pre, value = self._each(s.value)
                return [*pre, assign(self.listed(target.id), value)]
            if isinstance(target, gast.Tuple | gast.List) and names_written(target) & self.dots:
                pre, value = self._each(s.value)
                return [*pre, *self._taken_apart(target, value)]
        if not names_read(s) & self.dots:
            return [s]
        return self._in_turn(s)

    def _in_turn(self, s: Node) -> Block:
        """Return a statement that writes into tangents, once for each direction.

        `x_dot += t_dot` is one of them: only what is memory comes so.
        """
        if any(isinstance(n, gast.Name) for n in _targets(s)) and not isinstance(s, gast.AugAssign):
            raise InternalError(f"a tangent is bound by {type(s).__name__}")
        read = self._dots_in(s)
        pre: Block = []
        if isinstance(s, gast.Assign | gast.AugAssign):
            s.value = self._held(s.value, pre)
        elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            s.value.args = [self._held(a, pre) for a in s.value.args]
        target, over = self._over(read)
        return [*pre, gast.For(target, over, [s], [], None)]

    def _called(self, s: Node, passed: tuple[str, ...]) -> Block:
        """Return a call of a derived function, which does all directions."""
        pre: Block = []
        made = s.value
        given = {k.arg: k for k in made.keywords}
        if all(p in given for p in passed):
            for p in passed:
                given[p].value = self._collected(given[p].value, pre)
        else:
            first = len(made.args) - len(passed)
            made.args[first:] = [self._collected(a, pre) for a in made.args[first:]]
        for target in _targets(s):
            for n in target.elts if isinstance(target, gast.Tuple) else [target]:
                if isinstance(n, gast.Name) and n.id in self.dots:
                    n.id = self.listed(n.id)
        return [*pre, s]

    def _collected(self, node: Node, pre: Block) -> Node:
        more, value = self._each(node)
        pre += more
        return value

    def _last(self, s: Node) -> Block:
        """Return the return of a value and its tangent, which may be zero or None."""
        if not isinstance(s.value, gast.Tuple) or not self._seeded(s.value):
            return [s]
        pre, s.value.elts[1] = self._each(s.value.elts[1])
        return [*pre, s]

    def _seeded(self, value: Node) -> bool:
        return self.seeded and len(value.elts) > 1

    # loops

    def _loop(self, s: Node) -> Block:
        first: Block = []
        if self._dots_in(s.iter):
            s.target, s.iter = self._header(s.target, s.iter, first)
        s.body = [*first, *self._block(s.body)]
        s.orelse = self._block(s.orelse)
        return [s]

    def _header(self, target: Node, over: Node, first: Block) -> tuple[Node, Node]:
        """Return a target and what it runs over: tangents are run over in all directions.

        for x, x_dot in zip(xs, xs_dot)    ->    for x, x_dots in zip(xs, zip(*xs_dots))
        """
        if not self._dots_in(over):
            return target, over
        inner = getattr(over, "func", None)
        word = inner.id if isinstance(inner, gast.Name) else ""
        if not names_written(target) - self.dots:
            return self._all_directions(target, over, first)
        if word == "enumerate":
            part, over.args[0] = self._header(target.elts[1], over.args[0], first)
            return _stored([target.elts[0], part]), over
        if word == "zip" and len(target.elts) == len(over.args):
            pairs = zip(target.elts, over.args, strict=True)
            made = [self._header(t, source, first) for t, source in pairs]
            over.args = [source for _, source in made]
            return _stored([t for t, _ in made]), over
        raise InternalError("a loop runs over values and tangents in one")

    def _all_directions(self, target: Node, over: Node, first: Block) -> tuple[Node, Node]:
        pre, several = self._each(over)
        if pre:
            raise InternalError("a loop computes what it runs over")
        turned = gast.Call(name("zip"), [gast.Starred(several, gast.Load())], [])
        if isinstance(target, gast.Name):
            return store(self.listed(target.id)), turned
        held = self.names.fresh("items_dots")
        first += self._taken_apart(target, name(held))
        return store(held), turned

    # expressions

    def _taken_apart(self, target: Node, several: Node) -> Block:
        """Return `a_dots, b_dots = zip(*several)`."""
        found = [n.id for n in ordered(target) if isinstance(n, gast.Name)]
        if not all(isinstance(e, gast.Name) for e in target.elts):
            parts = tuple_(name(n) for n in found)
            several = gast.ListComp(parts, [gast.comprehension(target, several, [], 0)])
        turned = gast.Call(name("zip"), [gast.Starred(several, gast.Load())], [])
        place = _stored([store(self.listed(n)) for n in found])
        return [gast.Assign([place], turned, None)]

    def _each(self, value: Node) -> tuple[Block, Node]:
        """Return what is to be computed before, and a list of a tangent in each direction."""
        if isinstance(value, gast.Name) and value.id in self.dots:
            return [], name(self.listed(value.id))
        pre: Block = []
        read = self._dots_in(value)
        if read:
            value = self._held(value, pre)
        target, over = self._over(read)
        return pre, gast.ListComp(value, [gast.comprehension(target, over, [], 0)])

    def _over(self, read: list[str]) -> tuple[Node, Node]:
        """Return the target and iterable that go through some tangents in each direction."""
        if not read:
            return store("_"), name(next(iter(self.lists.values())))
        if len(read) == 1:
            return store(read[0]), name(self.listed(read[0]))
        lists = [name(self.listed(n)) for n in read]
        return _stored([store(n) for n in read]), call("zip", *lists)

    def _held(self, node: Node, pre: Block) -> Node:
        """Hold what is the same in all directions: the factors of tangents that are computed."""
        holder = _Holder(self.dots, lambda value: self._name(value, pre))
        return holder.visit(node)

    def _name(self, value: Node, pre: Block) -> Node:
        held = self.names.fresh("factor")
        pre.append(assign(held, value))
        return name(held)


class _Holder(gast.NodeTransformer):  # type: ignore[misc]
    """Gives names to the operands without tangents of operators that have one."""

    def __init__(self, dots: set[str], hold: Callable[[Node], Node]) -> None:
        self.dots = dots
        self.hold = hold

    def visit(self, node: Node) -> Node:
        if isinstance(node, _OPAQUE):
            return node
        return super().visit(node)

    def visit_BinOp(self, node: Node) -> Node:
        if names_read(node) & self.dots:
            node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def _operand(self, node: Node) -> Node:
        if names_read(node) & self.dots:
            return self.visit(node)
        return self.hold(node) if _is_computed(node) else node


def _is_computed(node: Node) -> bool:
    """Say whether an operand costs something, and is a number or an array that nobody changes."""
    return not isinstance(node, gast.Name | gast.Constant) and (
        isinstance(node, gast.BinOp | gast.UnaryOp | gast.Call) and _is_plain(node)
    )


def _is_plain(node: Node) -> bool:
    if isinstance(node, gast.BinOp):
        return _is_plain(node.left) and _is_plain(node.right)
    if isinstance(node, gast.UnaryOp):
        return _is_plain(node.operand)
    if isinstance(node, gast.Call):
        named = isinstance(node.func, gast.Attribute) or node.func.id in _NUMBERS
        given = [*node.args, *(k.value for k in node.keywords)]
        return named and all(map(_is_plain, given))
    return isinstance(node, gast.Name | gast.Constant | gast.Attribute | gast.Subscript)


def _targets(s: Node) -> list[Node]:
    if isinstance(s, gast.Assign | gast.Delete):
        return list(s.targets)
    return [s.target] if isinstance(s, gast.AugAssign) else []


def _stored(parts: list[Node]) -> Node:
    made = tuple_(parts)
    made.ctx = gast.Store()
    return made
