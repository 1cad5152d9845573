"""Counts taken of a function's source text: statements, operations by loop depth, saved values.

They compare derived text with text written by hand; see `excess`.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Statements; operations by loop depth (0 outside of loops); values saved."""

    statements: int = 0
    operations: Counter[int] = field(default_factory=Counter)
    saved: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.statements + other.statements,
            self.operations + other.operations,
            self.saved + other.saved,
        )


def count(text: str, names: Iterable[str] | None = None) -> Counts:
    """The counts of the functions in text, added up: all at its top level, or those named."""
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    total = Counts()
    for name in functions if names is None else names:
        counter = _Counter()
        counter.function(functions[name])
        total += counter.counts
    return total


def excess(derived: Counts, hand: Counts) -> list[str]:
    """What derived has more of than hand, a line each; operations are compared depth by depth."""
    lines = []
    if derived.statements > hand.statements:
        lines.append(f"statements: {derived.statements} > {hand.statements}")
    for depth in sorted(derived.operations):
        mine, theirs = derived.operations[depth], hand.operations[depth]
        if mine > theirs:
            lines.append(f"operations at loop depth {depth}: {mine} > {theirs}")
    if derived.saved > hand.saved:
        lines.append(f"saved values: {derived.saved} > {hand.saved}")
    return lines


class _Counter(ast.NodeVisitor):
    """Walks one function, knowing how many loops it is in."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.depth = 0

    def function(self, node: ast.FunctionDef) -> None:
        """Count the body of a function, its docstring left out, and its defaults."""
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        self.visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults), *body])

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self.counts.statements += 1
        super().visit(node)

    def operation(self, number: int = 1) -> None:
        self.counts.operations[self.depth] += number

    def inside(self, nodes: Iterable[ast.AST]) -> None:
        """Visit what runs once per iteration."""
        self.depth += 1
        self.visit_all(nodes)
        self.depth -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.inside([node.target, *node.body])
        self.visit_all(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.inside([node.test, *node.body])
        self.visit_all(node.orelse)

    def _comprehension(self, node: ast.AST) -> None:
        depth = self.depth
        for generator in node.generators:
            self.visit(generator.iter)
            self.depth += 1
            self.visit_all([generator.target, *generator.ifs])
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.visit_all(parts)
        self.depth = depth

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.operation()
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.operation()
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.operand, ast.Constant):
            self.operation()
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.operation(len(node.ops))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.operation()
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.operation()
        if _is_append_to_tape(node):
            self.counts.saved += sum(map(_leaves, node.args))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.counts.saved += sum(_keeps(target, node.value) for target in node.targets)
        self.generic_visit(node)


def _is_append_to_tape(node: ast.Call) -> bool:
    """Whether a call is saved.append(...), of any list whose name begins with saved."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id.startswith("saved")
    )


def _leaves(node: ast.expr) -> int:
    """How many values an appended expression holds; constants are none."""
    if isinstance(node, ast.Tuple | ast.List):
        return sum(map(_leaves, node.elts))
    return 0 if isinstance(node, ast.Constant) else 1


def _keeps(target: ast.expr, value: ast.expr) -> int:
    """How many old values an assignment keeps: x_0 = x, x_0 = x.copy(), or a tuple of these."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return sum(map(_keeps, target.elts, value.elts))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value if value.func.attr == "copy" else value
    return int(
        isinstance(target, ast.Name)
        and isinstance(value, ast.Name)
        and re.fullmatch(re.escape(value.id) + r"_\d+", target.id) is not None
    )
