"""A rule for Python's own numbers: what it asks of an array, it asks of NumPy's functions.

A rule is written for arrays, and a program may give it a plain number, which has no shape.

    np.broadcast_to(out_bar, a.shape)      ->      np.broadcast_to(out_bar, np.shape(a))
    others(a, axis)                        ->      others(np.asarray(a), axis)

The text is changed before it is analysed: so the kinds are those of what is computed.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import types

import numpy as np

from s2sad.capture.read import remember_at


@functools.cache
def is_asked(word: str) -> bool:
    """Say whether NumPy has a function for an attribute that arrays have and numbers have not."""
    attribute = getattr(np.ndarray, word, None)
    of_arrays = inspect.isdatadescriptor(attribute) and not hasattr(0j, word)
    function = getattr(np, word, None)
    return of_arrays and callable(function) and not isinstance(function, type)


@functools.lru_cache(2048)
def for_numbers(
    rule: types.FunctionType, plain: frozenset[str], wrapped: frozenset[str]
) -> types.FunctionType | None:
    """Return a rule for parameters that may be `plain` numbers; None where it cannot be read.

    Where others than the shape are asked of a `wrapped` one, it is made an array.
    """
    if not plain:
        return rule
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(rule))).body[0]
    except (OSError, SyntaxError, TypeError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    space = dict(rule.__globals__)
    taken = {*rule.__code__.co_varnames, *rule.__code__.co_cellvars}
    numpy = next((n for n, v in space.items() if v is np and n not in taken), None)
    if numpy is None:
        numpy = next(n for n in ("np", "numpy", "np_") if n not in taken and n not in space)
        space[numpy] = np
    asks = _Asks(plain, wrapped, numpy, space)
    tree.decorator_list = []
    tree.body = [asks.visit(s) for s in tree.body]
    return _made(rule, tree, space) if asks.changed else rule


def _made(
    rule: types.FunctionType, tree: ast.FunctionDef, space: dict[str, object]
) -> types.FunctionType:
    """Return the function that a tree defines, with the defaults and the place of a rule."""
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, rule.__code__.co_firstlineno - 1)
    file = rule.__code__.co_filename
    exec(compile(ast.Module([tree], []), file, "exec"), space)
    made = space[tree.name]
    assert isinstance(made, types.FunctionType)
    made.__defaults__, made.__kwdefaults__ = rule.__defaults__, rule.__kwdefaults__
    remember_at(made, tree, tuple(linecache.getlines(file)))
    return made


class _Asks(ast.NodeTransformer):
    """Asks NumPy for what numbers do not tell; `space` is where the rule's names are found."""

    def __init__(
        self, plain: frozenset[str], wrapped: frozenset[str], numpy: str, space: dict[str, object]
    ) -> None:
        self.plain = plain
        self.wrapped = wrapped
        self.numpy = numpy
        self.space = space
        self.changed = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        asked = isinstance(node.value, ast.Name) and node.value.id in self.plain
        if asked and is_asked(node.attr):
            return self.call(node.attr, node.value)
        node.value = self.as_array(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A helper of the rule's gets arrays: it is written for them, as the rule is."""
        if isinstance(node.func, ast.Name) and callable(self.space.get(node.func.id)):
            node.args = [self.as_array(a) for a in node.args]
        return self.generic_visit(node)

    def as_array(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self.wrapped:
            return self.call("asarray", node)
        return node

    def call(self, word: str, node: ast.expr) -> ast.Call:
        """Return a call of NumPy's."""
        self.changed = True
        func = ast.Attribute(ast.Name(self.numpy, ast.Load()), word, ast.Load())
        return ast.Call(func, [node], [])
