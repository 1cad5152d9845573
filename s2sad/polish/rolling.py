"""Of a shadow whose rows a loop leaves one after the other, the row at hand is all that there is.

h_bar = np.zeros_like(h)                         h_bar = np.zeros(h.shape[1:])
for t in range(n - 1, -1, -1):                   for t in range(n - 1, -1, -1):
    h_bar[t + 1] += out_bar[t]                       h_bar += out_bar[t]
    t_bar = h_bar[t + 1]                 ->          t_bar = h_bar * (1.0 - h[t + 1] ** 2)
    t_bar = t_bar * (1.0 - h[t + 1] ** 2)
    h_bar[t] += W.T @ t_bar                          h_bar = W.T @ t_bar

A round adds to its own row first and then to the next one's, which is zero until then.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    blocks_of,
    call,
    constant,
    copied,
    dotted,
    name,
    names_read,
    names_written,
    number,
    rename,
    subscript,
    walk,
)

Names = frozenset[str]


def roll(block: Block, shadows: Names, kinds: Mapping[str, Kind], numpy: str) -> Block:
    """Return a body in which shadows are one row where that is enough."""
    return _block(block, block, shadows, kinds, numpy)


def _block(
    block: Block, body: Block, shadows: Names, kinds: Mapping[str, Kind], numpy: str
) -> Block:
    for position, s in enumerate(block):
        for part in blocks_of(s):
            _block(part, body, shadows, kinds, numpy)
        shadow = _zeros(s, numpy)
        kind = kinds.get(shadow) if shadow is not None and shadow in shadows else None
        if shadow is None or not isinstance(kind, K.Array):
            continue
        if kind.rank < 2 or kind.dtype != "float64":
            continue
        loop = next((t for t in block[position + 1 :] if _mentions(t, shadow)), None)
        if not isinstance(loop, gast.For) or _count(body, shadow) != 1 + _count([loop], shadow):
            continue
        turn = _turn(loop, shadow)
        if turn is None:
            continue
        _one_row(loop, shadow, turn, kinds, numpy)
        rest = gast.Slice(constant(1), None, None)
        shape = subscript(attribute(s.value.args[0], "shape"), rest)
        s.value = call(dotted(f"{numpy}.zeros"), shape)
    return block


def _zeros(s: Node, numpy: str) -> str | None:
    """Return the name that a statement gives to zeros like an array that has a name."""
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    value = s.value
    func = getattr(value, "func", None)
    if not isinstance(func, gast.Attribute) or func.attr != "zeros_like":
        return None
    if not isinstance(func.value, gast.Name) or func.value.id != numpy or value.keywords:
        return None
    return str(s.targets[0].id) if isinstance(value.args[0], gast.Name) else None


def _count(block: Block, n: str) -> int:
    return sum(isinstance(x, gast.Name) and x.id == n for s in block for x in walk(s))


def _mentions(s: Node, n: str) -> bool:
    return _count([s], n) > 0


def _turn(loop: Node, shadow: str) -> int | None:
    """Return which statement of a loop is the first to add to the next row; None where it is none.

    Own and next row are A[t + 1] and A[t], or any others by numbers that far apart. A loop that
    comes back to its own row after that needs more than one at a time.
    """
    if not _counts_down(loop) or not _runs_through(loop.body):
        return None
    index = loop.target.id
    found: list[tuple[int, int]] = []
    for position, s in enumerate(loop.body):
        here = _offsets(s, shadow, index)
        if here is None or (here and blocks_of(s)):
            return None
        found += [(position, o) for o in here]
    known = {o for _, o in found}
    own = max(known, default=0)
    if known != {own, own - 1}:
        return None
    turn = min(at for at, o in found if o != own)
    first = loop.body[turn]
    if any(o == own and at > turn for at, o in found):
        return None
    if not _adds_to(first, shadow, index, own - 1):
        return None
    if own - 1 in (_offsets(first.value, shadow, index) or ()):
        return None
    for at, s in enumerate(loop.body):
        if isinstance(s, gast.Assign) and _writes(s.targets[0], shadow):
            return None
        if at > turn and isinstance(s, gast.Assign) and _is_row(copied(s.value) or s.value, shadow):
            return None
    return turn


def _counts_down(loop: Node) -> bool:
    """Say whether a loop is over a range that goes down one by one."""
    if not isinstance(loop.iter, gast.Call) or not isinstance(loop.target, gast.Name):
        return False
    func, args = loop.iter.func, loop.iter.args
    down = isinstance(func, gast.Name) and func.id == "range" and len(args) == 3
    return down and number(args[2]) == -1 and not loop.orelse


def _runs_through(body: Block) -> bool:
    leaves = (gast.Break, gast.Continue, gast.Return, gast.Try, gast.With)
    return not any(isinstance(n, leaves) for s in body for n in walk(s))


def _offsets(s: Node, shadow: str, index: str) -> list[int] | None:
    """Return the rows that a statement works on, counted from the index; None for other uses."""
    if index in names_written(s):
        return None
    found: list[int] = []
    for n in walk(s):
        if isinstance(n, gast.Subscript) and _is_name(n.value, shadow):
            offset = _offset(n.slice, index)
            if offset is None:
                return None
            found.append(offset)
    return found if len(found) == _count([s], shadow) else None


def _offset(node: Node, index: str) -> int | None:
    """Return how far an index is from that of a loop: t + 1 is 1, t - 1 is -1."""
    if _is_name(node, index):
        return 0
    if not isinstance(node, gast.BinOp) or not _is_name(node.left, index):
        return None
    by = number(node.right)
    if type(by) is not int or not isinstance(node.op, gast.Add | gast.Sub):
        return None
    return by if isinstance(node.op, gast.Add) else -by


def _is_name(node: Node, n: str) -> bool:
    return isinstance(node, gast.Name) and bool(node.id == n)


def _is_row(node: Node, shadow: str) -> bool:
    return isinstance(node, gast.Subscript) and _is_name(node.value, shadow)


def _writes(target: Node, shadow: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == shadow for n in walk(target))


def _adds_to(s: Node, shadow: str, index: str, offset: int) -> bool:
    """Say whether a statement adds something to a row."""
    if not isinstance(s, gast.AugAssign) or not isinstance(s.op, gast.Add | gast.Sub):
        return False
    return _is_row(s.target, shadow) and _offset(s.target.slice, index) == offset


# the loop with one row


def _one_row(loop: Node, shadow: str, turn: int, kinds: Mapping[str, Kind], numpy: str) -> None:
    """Let a loop, in place, work on one row under the name of the shadow."""
    body = loop.body
    first = body[turn]
    _by_name(loop, shadow)
    row = kinds[shadow]
    assert isinstance(row, K.Array)
    env = {**kinds, shadow: K.Array(row.dtype, row.dims[1:])}
    for s in body[:turn]:
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if _is_name(copied(s.value) or s.value, shadow):
                env[s.targets[0].id] = env[shadow]
    value = (
        first.value if isinstance(first.op, gast.Add) else gast.UnaryOp(gast.USub(), first.value)
    )
    bare = isinstance(value, gast.Name)
    computed = bare or isinstance(value, gast.BinOp | gast.UnaryOp)
    if computed and _fills(first.value, env, row.rank - 1):
        body[turn] = assign(shadow, call(attribute(value, "copy")) if bare else value)
    else:
        zeros = call(dotted(f"{numpy}.zeros_like"), name(shadow))
        if shadow in names_read(first.value):
            return _apart(body, turn, shadow, zeros)
        body.insert(turn, assign(shadow, zeros))
    body[:] = _without_names(body, shadow, turn)
    return None


def _apart(body: Block, turn: int, shadow: str, zeros: Node) -> None:
    """Make the next row of zeros and what is added to them, where that reads the row at hand."""
    first = body[turn]
    op = gast.BinOp(zeros, first.op, first.value)
    body[turn] = assign(shadow, op)


def _by_name(node: Node, shadow: str) -> None:
    """Write A for A[t + 1] and for A[t]."""
    for n in list(walk(node)):
        for f in getattr(n, "_fields", ()):
            child = getattr(n, f, None)
            if isinstance(child, gast.Subscript) and _is_name(child.value, shadow):
                setattr(n, f, gast.Name(shadow, child.ctx, None, None))
            elif isinstance(child, list):
                child[:] = [
                    gast.Name(shadow, c.ctx, None, None)
                    if isinstance(c, gast.Subscript) and _is_name(c.value, shadow)
                    else c
                    for c in child
                ]


def _without_names(body: Block, shadow: str, turn: int) -> Block:
    """Use the row itself where a name was given to it, or to a copy, that is read before the turn.

    What is read in the round that follows, or later in this one, keeps its name.
    """
    out = list(body)
    for position, s in enumerate(body[:turn]):
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            continue
        n = s.targets[0].id
        if not _is_name(copied(s.value) or s.value, shadow):
            continue
        added = [t for t in body[position + 1 : turn] if _changes(t, shadow) or _changes(t, n)]
        uses = [at for at, t in enumerate(body) if n in names_read(t)]
        bound = sum(n in names_written(t) for t in body)
        if added or bound != 1 or not uses or min(uses) < position or max(uses) > turn:
            continue
        for t in body[position + 1 : turn + 1]:
            rename(t, {n: shadow})
        out.remove(s)
    return out


def _changes(s: Node, n: str) -> bool:
    """Say whether a statement binds a name, or writes into what it holds."""
    if n in names_written(s) or (blocks_of(s) and _mentions(s, n)):
        return True
    target = s.target if isinstance(s, gast.AugAssign) else None
    while isinstance(target, gast.Subscript | gast.Attribute):
        target = target.value
    return target is not None and _is_name(target, n)


def _fills(value: Node, env: Mapping[str, Kind], rank: int) -> bool:
    """Say whether an expression surely has a row's shape: what can be added to one and is not 1."""
    dims = _dims(value, env)
    return dims is not None and len(dims) == rank and all(d.many for d in dims)


def _dims(node: Node, env: Mapping[str, Kind]) -> tuple[K.Dim, ...] | None:
    """Return the lengths of the axes of a float64 expression, as far as they are easy to tell."""
    if number(node) is not None:
        return ()
    if isinstance(node, gast.UnaryOp):
        return _dims(node.operand, env)
    if isinstance(node, gast.BinOp):
        left, right = _dims(node.left, env), _dims(node.right, env)
        if left is None or right is None:
            return None
        if not isinstance(node.op, gast.MatMult):
            return K.broadcast(left, right)
        if len(left) == 2 and len(right) == 1:
            return left[:1]
        return right[1:] if len(left) == 1 and len(right) == 2 else None
    if isinstance(node, gast.Attribute) and node.attr == "T":
        dims = _dims(node.value, env)
        return None if dims is None else dims[::-1]
    kind = _kind(node, env)
    if isinstance(kind, K.Array):
        return kind.dims if kind.dtype == "float64" else None
    if isinstance(kind, K.Num):
        return () if kind.dtype in (None, "float64") and kind.type in ("int", "float") else None
    return None


def _kind(node: Node, env: Mapping[str, Kind]) -> Kind | None:
    if isinstance(node, gast.Name):
        return env.get(node.id)
    if isinstance(node, gast.Subscript):
        owner = _kind(node.value, env)
        if isinstance(owner, K.Dict) and isinstance(node.slice, gast.Constant):
            return dict(owner.items).get(node.slice.value)
        if isinstance(owner, K.Array) and owner.rank and isinstance(node.slice, gast.Name):
            return _row_of(owner, env.get(node.slice.id))
    return None


def _row_of(owner: K.Array, index: Kind | None) -> Kind | None:
    """Return the kind of a row of an array, by a number."""
    if not isinstance(index, K.Num) or index.type != "int":
        return None
    if owner.rank > 1:
        return K.Array(owner.dtype, owner.dims[1:], owner.namespace)
    return K.Num("float", owner.dtype)
