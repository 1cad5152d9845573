"""Cotangents that have no name are called after the variables whose cotangents they are."""

from __future__ import annotations

from collections.abc import Mapping

from s2sad.ir import program as P
from s2sad.ir.mapped import mapped
from s2sad.ir.program import Var


def named(program: P.Program, words: Mapping[Var, str]) -> P.Program:
    """Return a program whose variables without a name have those that `words` has for them."""

    def change(v: Var) -> Var:
        word = words.get(v, "")
        return Var(word, v.kind) if word and not v.name else v

    return mapped(program, change) if words else program
