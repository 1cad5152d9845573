"""Abrupt exits become structure: every break at the end of its loop's body, one return at the end.

    for x in xs:                         returned = False
        if x < 0.0:                      for x in xs:
            continue                         if x < 0.0:
        s = s * x                                pass
        if s > limit:             ->         else:
            return np.log(s)                     s = s * x
    return s                                     if s > limit:
                                                     returned = True
                                                     break
                                         if returned:
                                             result = np.log(s)
                                         else:
                                             result = s
                                         return result

What follows a statement that may exit moves into the arm that goes on; where several arms go on, a
flag says so. Nothing is evaluated in another order or another number of times.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sad.errors import InternalError, UnsupportedError
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    blocks_of,
    compare,
    constant,
    exhaustive,
    locate,
    name,
    ways_through,
)

_LOOPS = (gast.For, gast.While)
_FINISHED = 0


def structure(body: Block, names: Names, place: Callable[[Node], object]) -> tuple[Block, str]:
    """Return the body in structured form and the name that holds the function's result."""
    builder = _Builder(names, place)
    body = builder.block(list(body), in_loop=False)
    result = names.fresh_with("value", "_bar", "_0_bar")  # the cotangents, as parameters
    body = _single_result(body, result)
    _verify(body)
    return body, result


def _own_exits(statement: Node, wanted: type | tuple[type, ...], through_loops: bool) -> list[Node]:
    """Return the exits inside a statement that leave it."""
    found: list[Node] = []
    stack = [statement]
    while stack:
        top = stack.pop()
        if isinstance(top, wanted):
            found.append(top)
        if isinstance(top, SCOPES):
            continue
        if top is not statement and isinstance(top, _LOOPS) and not through_loops:
            continue
        for block in blocks_of(top):
            stack.extend(block)
    return found


def leaves_by(statement: Node) -> tuple[bool, bool]:
    """Say whether a statement may leave by return, and by break or continue of an outer loop."""
    returns = bool(_own_exits(statement, gast.Return, through_loops=True))
    if isinstance(statement, _LOOPS):
        return returns, False
    return returns, bool(_own_exits(statement, (gast.Break, gast.Continue), through_loops=False))


def completes(block: Block) -> bool:
    """Say whether control may reach the end of a block."""
    for statement in block:
        if isinstance(statement, gast.Return | gast.Break | gast.Continue | gast.Raise):
            return False
        if isinstance(statement, gast.If):
            arms = [statement.body, statement.orelse]
            if not any(completes(arm) for arm in arms):
                return False
        if isinstance(statement, gast.Match):
            if exhaustive(statement) and not any(completes(case.body) for case in statement.cases):
                return False
        if isinstance(statement, gast.With) and not completes(statement.body):
            return False
        if isinstance(statement, gast.Try) and not _try_completes(statement):
            return False
        if _endless(statement) and not _own_exits(statement, gast.Break, through_loops=False):
            return False
    return True


def _try_completes(statement: Node) -> bool:
    return completes(statement.finalbody) and any(map(completes, ways_through(statement)))


def _endless(statement: Node) -> bool:
    return (
        isinstance(statement, gast.While)
        and isinstance(statement.test, gast.Constant)
        and bool(statement.test.value)
    )


class _Builder:
    """Rewrites blocks; holds only the supply of names."""

    def __init__(self, names: Names, place: Callable[[Node], object]) -> None:
        self.names = names
        self.place = place
        self.kept: set[str] = set()

    def block(self, statements: Block, in_loop: bool) -> Block:
        out: Block = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(statement, gast.Continue):
                return out
            if isinstance(statement, gast.Return | gast.Break | gast.Raise):
                out.append(statement)
                return out
            if isinstance(statement, _LOOPS):
                before, loop, after = self.loop(statement)
                out += before
                out.append(loop)
                if after:
                    return out + self.block(after + rest, in_loop)
                if _endless(loop) and not _own_exits(loop, gast.Break, through_loops=False):
                    return out
                continue
            returns, jumps = leaves_by(statement)
            if isinstance(statement, gast.Try) and (returns or jumps):
                return out + self.attempt(statement, rest, in_loop)
            if isinstance(statement, gast.With) and (returns or jumps):
                return out + self.flagged(statement, rest, in_loop)
            if isinstance(statement, gast.If | gast.Match) and (returns or jumps):
                return out + self.branch(statement, rest, in_loop)
            out.append(self.inner(statement, in_loop))
        return out

    def inner(self, statement: Node, in_loop: bool) -> Node:
        """Rewrite the blocks of a statement that nothing leaves."""
        if isinstance(statement, gast.If):
            statement.body = self.block(statement.body, in_loop)
            statement.orelse = self.block(statement.orelse, in_loop)
        elif isinstance(statement, gast.Match):
            for case in statement.cases:
                case.body = self.block(case.body, in_loop)
        elif isinstance(statement, gast.With):
            statement.body = self.block(statement.body, in_loop)
        elif isinstance(statement, gast.Try):
            statement = _parted(statement)
            for part in blocks_of(statement):
                part[:] = self.block(list(part), in_loop)
        return statement

    def attempt(self, statement: Node, rest: Block, in_loop: bool) -> Block:
        """Move what follows a try into the one arm that goes on, or behind a flag."""
        for s in statement.finalbody:
            if any(leaves_by(s)):
                raise UnsupportedError(
                    "return, break or continue in a finally block drops the exception that "
                    "is being raised; s2sad does not support that.",
                    place=self.place(s),  # type: ignore[arg-type]
                    remedy="Leave after the try statement, not in its finally block.",
                )
        statement = _parted(statement)
        early = any(any(leaves_by(s)) for s in statement.body)
        if early and not completes(statement.body):
            statement.orelse = []
        going_on = [arm for arm in ways_through(statement) if completes(arm)]
        jumps = leaves_by(statement)[1]
        if not going_on:
            rest = []
        if (len(going_on) > 1 and rest) or (statement.finalbody and (rest or jumps)):
            return self.flagged(statement, rest, in_loop)
        if early and (statement.orelse or (rest and completes(statement.body))):
            return self.flagged(statement, rest, in_loop)
        if rest:
            handlers = [h.body for h in statement.handlers if completes(h.body)]
            arm = handlers[0] if handlers else statement.orelse
            arm += rest
        return [self.inner(statement, in_loop)]

    def branch(self, statement: Node, rest: Block, in_loop: bool) -> Block:
        """Move what follows a branch into the one arm that goes on, or behind a flag."""
        if not rest:
            return [self.inner(statement, in_loop)]
        if _ways_on(statement) > 1:
            return self.flagged(statement, rest, in_loop)
        if isinstance(statement, gast.Match) and not exhaustive(statement):
            wildcard = gast.match_case(gast.MatchAs(None, None), None, [])
            statement.cases.append(wildcard)
        for arm in _arms(statement):
            if completes(arm):
                arm += rest
        return [self.inner(statement, in_loop)]

    def flagged(self, statement: Node, rest: Block, in_loop: bool) -> Block:
        """Note in a flag how control left the statement, and act on it behind."""
        flag = self.names.fresh("left")
        codes: list[tuple[int, Node]] = []
        guarding = isinstance(statement, gast.With | gast.Try)
        self.hold_guarded([statement])
        if isinstance(statement, gast.Try) and statement.orelse:
            if any(any(leaves_by(s)) for s in statement.body):
                done = compare(name(flag), gast.Eq, constant(_FINISHED))
                statement.orelse = [locate(gast.If(done, statement.orelse, []), statement)]

        def note(block: Block) -> Block:
            out: Block = []
            for s in block:
                if isinstance(s, gast.Return) and guarding:
                    held, s = self.held(s)
                    out += held
                if isinstance(s, gast.Return | gast.Break | gast.Continue):
                    code = len(codes) + 1
                    codes.append((code, s))
                    out.append(locate(assign(flag, constant(code)), s))
                    out.append(locate(gast.Continue(), s))
                    return out
                if isinstance(s, _LOOPS):
                    before, loop, after = self.loop(s)
                    out += before
                    out.append(loop)
                    out += note(after)
                    continue
                for part in blocks_of(s):
                    part[:] = note(list(part))
                out.append(s)
            return out

        noted = note([statement])[0]
        if guarding:
            body = [self.inner(noted, in_loop)]
        else:
            body = self.block([noted], in_loop)
        chain: Block = self.block(rest, in_loop)
        for code, exit_ in reversed(codes):
            test = compare(name(flag), gast.Eq, constant(code))
            exits = [] if isinstance(exit_, gast.Continue) else [exit_]
            chain = [locate(gast.If(test, exits or [gast.Pass()], chain), exit_)]
        return [locate(assign(flag, constant(_FINISHED)), statement), *body, *chain]

    def held(self, exit_: Node) -> tuple[Block, Node]:
        """Compute what is returned where it stands: return the statement, and what is left."""
        if exit_.value is None or isinstance(exit_.value, gast.Constant):
            return [], exit_
        if isinstance(exit_.value, gast.Name) and exit_.value.id in self.kept:
            return [], exit_
        kept = self.names.fresh("kept")
        self.kept.add(kept)
        held = locate(assign(kept, exit_.value), exit_)
        return [held], locate(gast.Return(name(kept)), exit_)

    def hold_guarded(self, block: Block, guarded: bool = False) -> None:
        """Compute what a return inside try or with returns there, not behind the loop."""
        for position, s in reversed(list(enumerate(block))):
            if isinstance(s, gast.Return) and guarded:
                held, exit_ = self.held(s)
                block[position : position + 1] = [*held, exit_]
            elif not isinstance(s, SCOPES):
                inside = guarded or isinstance(s, gast.With | gast.Try)
                for part in blocks_of(s):
                    self.hold_guarded(part, inside)

    def loop(self, loop: Node) -> tuple[Block, Node, Block]:
        """Return what stands before a loop, the loop without else and return, what follows it."""
        before: Block = []
        after: Block = []
        self.hold_guarded(loop.body)
        returns = [r for s in loop.body for r in _own_exits(s, gast.Return, through_loops=True)]
        endless = _endless(loop) and not _own_exits(loop, gast.Break, through_loops=False)
        if returns:
            flag = self.names.fresh("returned")
            before.append(locate(assign(flag, constant(False)), loop))
            single = len(returns) == 1
            for number, statement in enumerate(returns, 1):
                code = constant(True) if single else constant(number)
                _replace_return(loop, statement, flag, code)
                test = name(flag) if single else compare(name(flag), gast.Eq, constant(number))
                value = locate(gast.Return(statement.value), statement)
                last = endless and number == len(returns)
                after.append(value if last else locate(gast.If(test, [value], []), statement))
        if loop.orelse:
            orelse, loop.orelse = loop.orelse, []
            if _own_exits(loop, gast.Break, through_loops=False):
                flag = self.names.fresh("broke")
                before.append(locate(assign(flag, constant(False)), loop))
                _note_breaks(loop.body, flag)
                test = gast.UnaryOp(gast.Not(), name(flag))
                after.append(locate(gast.If(test, orelse, []), loop))
            else:
                after += orelse
        loop.body = self.block(loop.body, in_loop=True) or [gast.Pass()]
        return before, loop, after


def _parted(statement: Node) -> Node:
    """Give a try with handlers and finally a statement of its own for each."""
    if not statement.handlers or not statement.finalbody:
        return statement
    inner = gast.Try(statement.body, statement.handlers, statement.orelse, [])
    return locate(gast.Try([locate(inner, statement)], [], [], statement.finalbody), statement)


def _replace_return(loop: Node, wanted: Node, flag: str, code: Node) -> None:
    """Turn one return inside a loop into a note and breaks out of every loop around it."""

    def visit(block: Block) -> bool:
        for position, statement in enumerate(block):
            if statement is wanted:
                block[position : position + 1] = [
                    locate(assign(flag, code), wanted),
                    locate(gast.Break(), wanted),
                ]
                return True
            if isinstance(statement, SCOPES):
                continue
            for part in blocks_of(statement):
                if visit(part):
                    if isinstance(statement, _LOOPS):
                        leave = locate(gast.If(name(flag), [gast.Break()], []), wanted)
                        leave.body[0] = locate(gast.Break(), wanted)
                        if not _already_leaves(block, position, flag):
                            block.insert(position + 1, leave)
                    return True
        return False

    visit(loop.body)


def _already_leaves(block: Block, position: int, flag: str) -> bool:
    if position + 1 >= len(block):
        return False
    following = block[position + 1]
    return (
        isinstance(following, gast.If)
        and isinstance(following.test, gast.Name)
        and following.test.id == flag
    )


def _note_breaks(block: Block, flag: str) -> None:
    position = 0
    while position < len(block):
        statement = block[position]
        if isinstance(statement, gast.Break):
            block.insert(position, locate(assign(flag, constant(True)), statement))
            position += 1
        elif not isinstance(statement, SCOPES):
            parts = blocks_of(statement)
            if isinstance(statement, _LOOPS):
                parts = [statement.orelse]
            for part in parts:
                _note_breaks(part, flag)
        position += 1


def _arms(statement: Node) -> list[Block]:
    if isinstance(statement, gast.If):
        return [statement.body, statement.orelse]
    return [case.body for case in statement.cases]


def _ways_on(statement: Node) -> int:
    """Return how many leaves of a branch reach its end."""
    arms = _arms(statement)
    ways = 0
    for arm in arms:
        if not completes(arm):
            continue
        last = arm[-1] if arm else None
        if last is not None and any(leaves_by(s)[0] or leaves_by(s)[1] for s in arm):
            if isinstance(last, gast.If | gast.Match) and not any(
                leaves_by(s)[0] or leaves_by(s)[1] for s in arm[:-1]
            ):
                ways += _ways_on(last)
            else:
                ways += 1
        else:
            ways += 1
    if isinstance(statement, gast.Match) and not exhaustive(statement):
        ways += 1
    return ways


def _single_result(body: Block, result: str) -> Block:
    """Turn the returns at the ends of a structured body into assignments of the result."""
    if not completes(body):
        last = body[-1]
        if isinstance(last, gast.Return):
            value = last.value if last.value is not None else gast.Constant(None, None)
            final = locate(assign(result, value), last)
            final.returns = True
            return [*body[:-1], final]
        if isinstance(last, gast.If):
            last.body = _single_result(last.body, result)
            last.orelse = _single_result(last.orelse, result)
            return body
        if isinstance(last, gast.Match):
            for case in last.cases:
                case.body = _single_result(case.body, result)
            return body
        if isinstance(last, gast.With):
            last.body = _single_result(last.body, result)
            return body
        if isinstance(last, gast.Try):
            _single_results(last, result)
            return body
        return body
    if body and isinstance(body[-1], gast.If | gast.Match | gast.Try) and leaves_by(body[-1])[0]:
        last = body[-1]
        if isinstance(last, gast.Try):
            _single_results(last, result)
        elif isinstance(last, gast.If):
            last.body = _single_result(last.body, result)
            last.orelse = _single_result(last.orelse, result)
        else:
            if not exhaustive(last):
                last.cases.append(gast.match_case(gast.MatchAs(None, None), None, []))
            for case in last.cases:
                case.body = _single_result(case.body, result)
        return body
    return [*body, assign(result, gast.Constant(None, None))]


def _single_results(last: Node, result: str) -> None:
    """Do that for the arms of a try that ends the function."""
    for h in last.handlers:
        h.body = _single_result(h.body, result)
    if last.orelse:
        last.orelse = _single_result(last.orelse, result)
    else:
        last.body = _single_result(last.body, result)


def _verify(body: Block) -> None:
    """Claim of this pass: no return or continue is left, breaks end the bodies of their loops."""

    def check(block: Block, tail: bool) -> None:
        for position, statement in enumerate(block):
            last = tail and position == len(block) - 1
            if isinstance(statement, gast.Return | gast.Continue):
                raise InternalError("structure left an abrupt exit behind")
            if isinstance(statement, gast.Break) and not last:
                raise InternalError("structure left a break that does not end its loop's body")
            if isinstance(statement, _LOOPS):
                check(statement.body, True)
            elif not isinstance(statement, SCOPES):
                for part in blocks_of(statement):
                    check(part, last)

    check(body, False)
