"""What is known behind try and with: a handler starts where the try did."""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.expression_kinds import CalleeHook, Env, Expressions
from s2sad.facts.implied import of_manager
from s2sad.facts.managers import passing
from s2sad.facts.paths import join_envs
from s2sad.facts.scope import Scope
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, all_inside, always_leaves, blocks_of, names_written
from s2sad.stages import Function


class Tries(Expressions):
    """The walk over kinds where it comes to a try or a with.

    `guarded` counts the blocks around whose exceptions may be caught: what they prove of lengths
    is not known behind them.
    """

    def __init__(self, function: Function, scope: Scope, callee: CalleeHook) -> None:
        super().__init__(function, scope, callee)
        self.guarded = 0

    def block(self, body: Block, env: Env) -> Env:
        """Walk a block."""
        raise NotImplementedError

    def bind(self, target: Node, kind: Kind, env: Env) -> None:
        """Bind a target."""
        raise NotImplementedError

    def st_With(self, s: Node, env: Env) -> Env:
        for item in s.items:
            kind = self.kind(item.context_expr, env)

            def ask(fn: Any, args: list[Kind]) -> Kind:
                return self.callee(K.Known(fn), args, {}, env)

            self.facts.passing[item] = passing(item.context_expr, kind, self.facts, ask)
            given = of_manager(self.scope, self.facts, item, self._called(env))
            if item.optional_vars is not None:
                self.bind(item.optional_vars, given, env)
        return self._guarded(s.body, env)

    def st_Try(self, s: Node, env: Env) -> Env:
        if s not in self.function.half:
            return self._whole_try(s, env)
        out = self._guarded(s.body, dict(env))
        env = self._anywhere(s.body, env)
        for part in blocks_of(s)[1:]:
            env |= {n: K.UNKNOWN for h in s.handlers for n in _caught(h)}
            out = join_envs(out, self.block(part, dict(env)))
        return out

    def _guarded(self, body: Block, env: Env) -> Env:
        self.guarded += 1
        out = self.block(body, env)
        self.guarded -= 1
        return out

    def _anywhere(self, block: Block, env: Env) -> Env:
        """Return what is known wherever an exception may leave a block."""
        for s in all_inside(block):
            env = join_envs(env, self.facts.after.get(s, env))
        return env

    def _whole_try(self, s: Node, env: Env) -> Env:
        """A handler starts where the try did: what is bound to its exception goes with it.

        In the body a key that is not there gives no value at all.
        """
        around, self.trying = self.trying, self.trying or bool(s.handlers)
        out = self._guarded(s.body, dict(env))
        self.trying = around
        bound = names_written(s)
        slices = self.slices.copy()
        slices.after(s, False)
        env |= {n: k for n, k in self._anywhere(s.body, env).items() if n not in bound}
        out = self.block(s.orelse, out)
        left = always_leaves([*s.body, *s.orelse])
        for h in s.handlers:
            inside = dict(env)
            if h.type is not None:
                self.kind(h.type, inside)
            bound = _caught(h)
            self.slices = slices.copy()
            inside |= {n: K.Unknown("a caught exception") for n in bound}
            end = self.block(h.body, inside)
            if always_leaves(h.body):
                continue
            end = {n: k for n, k in end.items() if n not in bound}
            out, left = (end if left else join_envs(out, end)), False
        return self.block(s.finalbody, out)


def _caught(handler: Node) -> set[str]:
    """Return the name of a handler's exception."""
    return names_written(handler.name) if isinstance(handler.name, gast.AST) else set()
