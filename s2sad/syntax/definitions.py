"""Definitions of derived functions: parameters as the original has them, and a docstring."""

from __future__ import annotations

import textwrap

import gast

from s2sad.nodes import Block, Node, clone
from s2sad.stages import Comment


def define(original: Node, entry: str, doc: str, body: Block) -> Node:
    """Return the definition of a derived function with the parameters of the original."""
    while body and isinstance(body[0], Comment) and not body[0].text:
        body = body[1:]
    args = clone(original.args)
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if a is not None:
            a.annotation = None
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    return gast.FunctionDef(entry, args, [docstring, *body], [], None, None)


def define_with(original: Node, entry: str, doc: str, body: Block, extra: list[str]) -> Node:
    """Return a definition with further parameters: by position where that is possible."""
    node = define(original, entry, doc, body)
    params = [gast.Name(n, gast.Param(), None, None) for n in extra]
    args = node.args
    if args.defaults or args.vararg or args.kwarg or args.kwonlyargs:
        args.kwonlyargs += params
        args.kw_defaults += [None] * len(params)
    else:
        args.args += params
    return node


def wrapped(doc: str) -> str:
    """Return a docstring in lines that fit."""
    if len(doc) <= 88:
        return doc
    return "\n    ".join(textwrap.wrap(doc, 92)) + "\n    "
