"""A program as text for people: every variable with its version, every operation on a line.

peak.1 = for i in range(steps), peak.2 = peak
    t: float = u[3]
    ...
    next peak.3
"""

from __future__ import annotations

from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.primitives.record import Primitive

_SIGNS = {
    **{"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**"},
    **{"MatMult": "@", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>"},
    **{"USub": "-", "UAdd": "+", "Invert": "~", "Not": "not ", "Eq": "==", "NotEq": "!="},
    **{"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "In": "in", "NotIn": "not in"},
    **{"Is": "is", "IsNot": "is not"},
}


def show(program: P.Program) -> str:
    """Return the text of a program."""
    writer = _Writer()
    params = ", ".join(map(writer.typed, program.block.params))
    return "\n".join([f"{program.name}({params})", *writer.block(program.block)]) + "\n"


@dataclass
class _Writer:
    """Gives versions to variables, in the order in which they are met; %1 has no name."""

    names: dict[Var, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def name(self, v: Var) -> str:
        if v.cell:
            return f"cell {v.name}"
        if v not in self.names:
            count = self.counts[v.name] = self.counts.get(v.name, -1) + 1
            self.names[v] = (f"{v.name}.{count}" if count else v.name) if v.name else f"%{count}"
        return self.names[v]

    def typed(self, v: Var) -> str:
        told = not isinstance(v.kind, K.Unknown | K.Unbound | K.Iterable_)
        kind = f": {K.describe(v.kind)}" if told else ""
        return self.name(v) + kind.replace(": an ", ": ").replace(": a ", ": ")

    def operand(self, operand: Operand) -> str:
        match operand:
            case Var():
                return self.name(operand)
            case P.Const():
                return "..." if operand.value is ... else repr(operand.value)
            case P.Outer():
                return operand.name
            case P.Unbound():
                return "unbound"
            case P.Spread():
                return ("**" if operand.named else "*") + self.operand(operand.value)

    def target(self, target: P.Target) -> str:
        if isinstance(target, Var):
            return self.name(target)
        return f"({', '.join(map(self.target, target))})"

    def block(self, block: P.Block) -> list[str]:
        lines = [line for operation in block.ops for line in self.operation(operation)]
        results = ", ".join(map(self.operand, block.end.results))
        if results or block.end.how != "next":
            lines.append(f"{block.end.how} {results}".rstrip())
        return [f"    {line}" for line in lines]

    def operation(self, operation: P.Operation) -> list[str]:
        """Return the lines of an operation; what it binds gets its version where it stands."""
        outs = ", ".join(map(self.typed, operation.outs))
        start = f"{outs} = " if outs else ""
        if isinstance(operation, Op):
            return [start + self.computed(operation)]
        head, *rest = self.region(operation)
        return [start + head, *rest]

    def computed(self, op: Op) -> str:
        given = [self.operand(v) for v in op.operands]
        for word, value in op.settings:
            if isinstance(value, P.OPERANDS):
                given.append(f"{word}={self.operand(value)}" if word else self.operand(value))
        return _computed(op.primitive, given)

    def region(self, region: P.Region) -> list[str]:
        match region:
            case P.If():
                word = {"assert": "assert", "filter": "only if"}.get(region.style, "if")
                lines = [f"{word} {self.operand(region.test)}", *self.block(region.then)]
                return [*lines, "else", *self.block(region.orelse)]
            case P.For():
                carried = self.carried(region.body.params, region.starts)
                over = self.operand(region.over)
                head = f"for {self.target(region.target)} in {over}{carried}"
                return [head, *self.block(region.body)]
            case P.While():
                carried = self.carried(region.carried, region.starts)
                lines = [f"while{carried.removeprefix(',')}", *self.block(region.test)]
                return [*lines, "do", *self.block(region.body)]
            case P.Collect():
                head = f"{region.how} for {self.target(region.target)} in "
                return [head + self.operand(region.over), *self.block(region.body)]
            case P.With():
                bound = "" if region.target is None else f" as {self.target(region.target)}"
                head = f"with {self.operand(region.manager)}{bound}"
                return [head, *self.block(region.body)]
            case P.Try():
                return self.attempt(region)
            case P.Match():
                return self.match(region)

    def carried(self, params: tuple[Var, ...], starts: tuple[Operand, ...]) -> str:
        pairs = zip(params, starts, strict=True)
        return "".join(f", {self.typed(v)} = {self.operand(s)}" for v, s in pairs)

    def attempt(self, region: P.Try) -> list[str]:
        lines = ["try", *self.block(region.body)]
        for h in region.handlers:
            bound = "" if h.caught is None else f" as {self.name(h.caught)}"
            lines += [f"except{bound}", *([] if h.kind is None else self.block(h.kind))]
            lines += ["do", *self.block(h.body)]
        lines += ["else", *self.block(region.orelse)]
        return [*lines, "finally", *self.block(region.final)] if region.final.ops else lines

    def match(self, region: P.Match) -> list[str]:
        lines = [f"match {self.operand(region.subject)}"]
        for c in region.cases:
            bound = ", ".join(map(self.name, c.bound))
            lines.append(f"case {bound}".rstrip() if c.pattern is not None else "none of them")
            if c.guard is not None:
                lines += ["where", *self.block(c.guard), "do"]
            lines += self.block(c.body)
        return lines


def _computed(primitive: Primitive, given: list[str]) -> str:
    """Return a call of a primitive as people write it."""
    word, form = primitive.word, primitive.form
    signs = [_SIGNS[w] for w in word.split() if w in _SIGNS]
    match form:
        case "infix":
            return f"{given[0]} {signs[0]} {given[1]}"
        case "prefix":
            return signs[0] + given[0]
        case "compare":
            return " ".join(
                [given[0], *(f"{s} {g}" for s, g in zip(signs, given[1:], strict=True))]
            )
        case "same" | "look" | "discard":
            return given[0]
        case "item":
            return f"{given[0]}[{given[1]}]"
        case "field":
            return f"{given[0]}.{word}"
        case "put item" | "augmented item":
            return f"{given[0]}[{given[1]}] {''.join(signs)}= {given[2]}"
        case "put field" | "augmented field":
            return f"{given[0]}.{word.split()[0]} {''.join(signs)}= {given[1]}"
        case "augmented":
            return f"{given[0]} {signs[0]}= {given[1]}"
        case "bind" | "bind inside":
            return f"{given[0]} = {given[1]}"
        case "slice":
            return ":".join("" if g == "None" else g for g in given).removesuffix(":")
        case "call":
            return f"{given[0]}({', '.join(given[1:])})"
        case "method":
            return f"{given[0]}.{word}({', '.join(given[1:])})"
        case "anew":
            return f"type({given[0]})({', '.join(given[1:])})"
        case "tuple" | "list":
            return f"[{', '.join(given)}]" if form == "list" else f"({', '.join(given)})"
        case _:
            return f"{form} {', '.join(given)}".rstrip()
