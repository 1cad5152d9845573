"""The grammar of the random programs: productions that write Python as scientists write it.

A `Writer` holds the text written so far and what is in scope: active scalars, vectors, matrices and
lists by name (with their lengths), constants, and integers. An expression method returns text that
depends on the input; a statement method writes one or more lines. Each marks the constructs it uses
on the line it writes, so that a construct counts only where that line is executed.
"""

from __future__ import annotations

import ast
import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field

CONSTRUCTS: tuple[str, ...] = tuple(
    """
    assign reassign augassign tuple_assign swap starred chained_assign walrus
    if_else if_only elif nested_if match isinstance is_none ifexp and or not chained_compare
    for_range for_range_start for_range_step for_range_negative for_array for_list for_tuple
    enumerate zip reversed dict_items nested_loop triangular_loop bound_changed index_changed
    loop_carried value_before_loop loop_variable_after while while_else break continue for_else
    early_return_branch early_return_loop multiple_results assert raise
    list_comprehension array_comprehension sum_generator max_generator min_generator list_generator
    list_append list_index list_whole
    global_constant f_string print helper nested_def lambda closure default_argument keyword_only
    varargs kwargs partial function_argument recursion mutual_recursion method callable_object
    property abs min max sum pow round divmod float int len math
    elementwise reduction reduction_axis keepdims dot matmul outer index_read slice_read transpose
    reshape concatenate stack where clip maximum sort cumsum array
    dead_code one_arm_variable overwritten inactive_value alias many_uses
    list_argument tuple_argument dict_argument namedtuple_argument dataclass_argument int_argument
    matrix_argument
    item_write negative_write slice_write step_write mask_write fancy_write fancy_repeat
    augmented_item augmented_slice augmented_whole self_dependence loop_write branch_write
    while_write argument_write array_swap element_swap row_swap matrix_write row_write
    view_slice view_written view_read view_row view_transpose alias_written reshaped_view
    zeros_filled empty_filled copy_filled own_input stepping kept_value helper_written
    bound_on_one_path dict_filled dict_comprehension dict_changed
    try try_else try_finally try_in_loop try_return try_call
    """.split()
)

SCALAR_NAMES = (
    "energy mass rate drag speed angle decay flux phase gain shift slope height power force "
    "work depth scale weight charge loss"
).split()
VECTOR_NAMES = "state field signal wave grid drift residual profile load trace_ heat flow".split()
MATRIX_NAMES = "kernel basis jac coupling table design".split()
FUNCTION_NAMES = "damp response spread relax couple blend soften lift potential force_of".split()


@dataclass
class Line:
    """One line of text, its depth of indentation, and the constructs marked on it."""

    depth: int
    text: str
    tags: frozenset[str] = frozenset()


@dataclass
class Scope:
    """What an expression may use: active values by kind, with lengths; constants and integers."""

    scalars: list[str] = field(default_factory=list)
    vectors: dict[str, int] = field(default_factory=dict)
    matrices: dict[str, tuple[int, int]] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    frozen: set[str] = field(default_factory=set)

    def copy(self) -> Scope:
        """Return an independent copy."""
        return Scope(
            list(self.scalars),
            dict(self.vectors),
            dict(self.matrices),
            dict(self.lists),
            list(self.constants),
            set(self.frozen),
        )


@dataclass
class Parameter:
    """A parameter of f: its name, the text of its example, and whether it is differentiated."""

    name: str
    example: str
    active: bool


def closed(text: str) -> str:
    """Put parentheses around an expression unless it is an atom."""
    simple = (ast.Name, ast.Constant, ast.Call, ast.Subscript, ast.Attribute)
    return text if isinstance(ast.parse(text, mode="eval").body, simple) else f"({text})"


class Writer:
    """Text under construction, with expressions of each kind."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[Line] = []
        self.module: list[list[Line]] = []
        self.imports = {"import math", "import numpy as np"}
        self.parameters: list[Parameter] = []
        self.scope = Scope()
        self.root = self.scope
        self.taken: set[str] = set("f math np p q r v values t c step carry value self".split())
        self.tags: set[str] = set()
        self.depth = 1
        self.loops = 0
        self.at_root = True
        self.length = rng.randint(3, 4)
        self.writing: Callable[[Writer], None] = lambda w: None
        self.writes = 0.0

    # names and lines

    def fresh(self, pool: list[str]) -> str:
        """Return a name from the pool that is not taken yet."""
        free = [name for name in pool if name not in self.taken]
        name = self.pick(free) if free else self.pick(pool)
        number = 2
        stem = name
        while name in self.taken:
            name, number = f"{stem}{number}", number + 1
        self.taken.add(name)
        return name

    def pick(self, options):
        """Return one of the options."""
        return options[self.rng.randrange(len(options))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def number(self, low: float = 0.2, high: float = 1.6) -> str:
        """Return the text of a number."""
        return repr(round(self.rng.uniform(low, high), self.pick([1, 2])))

    def mark(self, *tags: str) -> None:
        """Note constructs used by the line being composed."""
        self.tags.update(tags)

    def put(self, text: str, *tags: str) -> None:
        """Write a line, with the constructs noted since the last."""
        self.lines.append(Line(self.depth, text, frozenset(self.tags | set(tags))))
        self.tags = set()

    @contextlib.contextmanager
    def block(self, head: str, *tags: str, loop: bool = False):
        """Write a head and indent what follows; names new inside do not outlive the block."""
        self.put(head, *tags)
        outer, self.scope = self.scope, self.scope.copy()
        self.depth += 1
        self.loops += loop
        yield
        self.depth -= 1
        self.loops -= loop
        self.scope = outer

    @contextlib.contextmanager
    def function(self, scalars=(), vectors=None, constants=(), lists=None):
        """Write a function elsewhere: its own lines, its own scope, only what it is given."""
        saved = self.lines, self.scope, self.depth, self.loops, self.at_root, self.tags
        self.lines, self.depth, self.loops, self.at_root, self.tags = [], 0, 0, False, set()
        self.scope = Scope(
            scalars=list(scalars),
            vectors=dict(vectors or {}),
            constants=list(constants),
            lists=dict(lists or {}),
        )
        written = self.lines
        yield written
        self.lines, self.scope, self.depth, self.loops, self.at_root, self.tags = saved

    # parameters on demand

    def parameter(self, name: str, example: str, active: bool) -> Parameter:
        """Add a parameter to f."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        made = Parameter(name, example, active)
        self.parameters.append(made)
        return made

    def may_activate(self) -> bool:
        """Tell whether one more parameter may be active."""
        return sum(p.active for p in self.parameters) < 3

    def numbers(self, count: int) -> str:
        """Return the text of `count` numbers between commas."""
        values = [round(self.rng.uniform(-1.4, 1.4), 3) for _ in range(count)]
        return ", ".join(repr(v) for v in values)

    def new_vector(self) -> str:
        """Add a vector parameter."""
        name = self.parameter(
            self.pick(["x", "u", "y"]), f"np.array([{self.numbers(self.length)}])", True
        ).name
        self.root.vectors[name] = self.length
        return name

    def new_matrix(self) -> str:
        """Add a matrix parameter, active where one more may be."""
        rows = self.rng.randint(2, 3)
        values = ", ".join(f"[{self.numbers(self.length)}]" for _ in range(rows))
        active = self.may_activate()
        name = self.parameter(self.pick(["A", "W", "M"]), f"np.array([{values}])", active).name
        self.root.matrices[name] = (rows, self.length)
        return name

    # expressions: scalars

    def leaf(self) -> str:
        """Return an active scalar without operators."""
        scope = self.scope
        options = []
        if scope.scalars:
            options += [lambda: self.pick(scope.scalars)] * 5
        if scope.vectors:
            options += [self.entry]
        if scope.lists:
            options += [self.list_entry]
        if not options:
            options += [self.matrix_entry] if scope.matrices else [self.entry]
        return self.pick(options)()

    def entry(self) -> str:
        """Return one entry of a vector."""
        name, length = self.pick(sorted(self.vectors().items()))
        self.mark("index_read")
        return f"{name}[{self.rng.randrange(-1, length)}]"

    def list_entry(self) -> str:
        """Return one entry of a list."""
        name, length = self.pick(sorted(self.scope.lists.items()))
        self.mark("list_index")
        return f"{name}[{self.rng.randrange(-1, length)}]"

    def matrix_entry(self) -> str:
        """Return one entry of a matrix."""
        name, (rows, columns) = self.pick(sorted(self.scope.matrices.items()))
        self.mark("index_read")
        return f"{name}[{self.rng.randrange(rows)}, {self.rng.randrange(columns)}]"

    def vectors(self) -> dict[str, int]:
        """Return the vectors in scope; at the root of f, there is always one."""
        if not self.scope.vectors and self.scope is self.root:
            self.new_vector()
        return self.scope.vectors

    def operand(self) -> str:
        """Return a scalar that may or may not be active."""
        if self.chance(0.65):
            return self.leaf()
        if self.scope.constants and self.chance(0.5):
            self.mark("inactive_value")
            return self.pick(self.scope.constants)
        return self.number()

    def condition(self) -> str:
        """Return a test of an active value."""
        a, b = self.leaf(), self.operand()
        form = self.rng.randrange(10)
        sign = self.pick(["<", ">", "<=", ">="])
        if form == 0:
            self.mark("and")
            return f"{a} > {self.number(-1, 0.2)} and {b} < {self.leaf()} + {self.number()}"
        if form == 1:
            self.mark("or")
            return f"{a} {sign} {b} or {self.leaf()} > {self.number(-0.5, 0.8)}"
        if form == 2:
            self.mark("not")
            return f"not {a} {sign} {b}"
        if form == 3:
            self.mark("chained_compare")
            return f"{self.number(-1.2, 0.0)} < {a} < {b} + {self.number()}"
        if a == b:
            b = self.number(-0.5, 0.5)
        return f"{a} {sign} {b}"

    def scalar(self, depth: int = 2) -> str:
        """Return an active scalar expression."""
        if depth <= 0:
            return self.leaf()
        a = closed(self.scalar(depth - 1))
        options = [self.arithmetic] * 4 + [self.mathematics] * 2 + [self.builtin] * 3
        if self.scope.vectors or self.scope is self.root:
            options += [self.contraction] * 3
        return self.pick(options)(a)

    def arithmetic(self, a: str) -> str:
        """Return an arithmetic expression of a."""
        b = closed(self.operand())
        forms = [
            f"{a} + {b}",
            f"{a} - {self.number()} * {b}",
            f"{b} - {a}",
            f"{a} * {b}",
            f"{a} / ({self.number(1.2, 2.2)} + {b} ** 2)",
            f"{self.number()} * {a} + {b}",
            f"-{a}",
            f"{a} ** 2",
            f"({a} + {b}) * ({a} - {self.number()})",
        ]
        return self.pick(forms)

    def mathematics(self, a: str) -> str:
        """Return an expression of a with a function of module math."""
        self.mark("math")
        forms = [
            f"math.sin({a})",
            f"math.cos({a})",
            f"math.exp(-{a} ** 2)",
            f"math.tanh({a})",
            f"math.atan({a})",
            f"math.sqrt(1.0 + {a} ** 2)",
            f"math.log(1.5 + {a} ** 2)",
            f"math.log1p({a} ** 2)",
            f"math.hypot({a}, {self.number()})",
            f"math.atan2({a}, {self.number()} + {closed(self.operand())} ** 2)",
            f"math.erf({a})",
            f"math.asinh({a})",
            f"math.fabs({a})",
            f"math.pow({a}, 2)",
            f"math.expm1(0.2 * math.sin({a}))",
            f"math.exp(math.sin({a}))",
        ]
        return self.pick(forms)

    def builtin(self, a: str) -> str:
        """Return an expression of a with a builtin, a conditional expression or a walrus."""
        b = closed(self.operand())
        name = self.pick(
            "abs max min pow round divmod float int len sum ifexp ifexp walrus".split()
        )
        if name == "walrus":
            if self.tags & {"lambda"}:
                name = "abs"
            else:
                return self.walrus(a, b)
        self.mark(name)
        forms = {
            "abs": f"abs({a})",
            "max": self.pick([f"max({a}, {b})", f"max({a}, {self.number()}, {b} - 1.0)"]),
            "min": self.pick([f"min({a}, {b})", f"min({a}, {self.number()})"]),
            "pow": self.pick([f"pow({a}, 2)", f"pow({a}, 3)", f"pow(1.2 + {a} ** 2, 0.5)"]),
            "round": self.pick([f"{a} - round({a})", f"{a} * round({b}, 1)"]),
            "divmod": self.pick([f"divmod({a}, 0.7)[1]", f"divmod({a}, {self.number()})[1] * {b}"]),
            "float": f"float({a})",
            "int": f"{a} - int({a})",
            "sum": f"sum([{a}, {b}, {self.number()}])",
            "ifexp": "",
            "len": "",
        }
        if name == "ifexp":
            return f"({a} if {self.condition()} else {b})"
        if name == "len":
            names = sorted({**self.scope.vectors, **self.scope.lists})
            return f"len({self.pick(names)}) * {a}" if names else f"{a} * len(({a}, {b}))"
        return forms[name]

    def walrus(self, a: str, b: str) -> str:
        """Return an expression that names a part of itself."""
        name = self.fresh(["part", "once", "inner"])
        self.mark("walrus")
        return f"({name} := {a} * {b}) + {name} ** 2"

    def contraction(self, a: str) -> str:
        """Return a scalar made from a and a vector or matrix."""
        v = closed(self.vector(1))
        name, length = self.pick(sorted(self.vectors().items()))
        w = self.pick([k for k, n in sorted(self.vectors().items()) if n == length])
        j = self.rng.randrange(length)
        form = self.rng.randrange(8)
        if form == 0:
            self.mark("dot")
            return f"{a} + np.dot({name}, {w})"
        if form == 1:
            self.mark("matmul")
            return f"{a} * ({name} @ {w})"
        if form == 2:
            self.mark("slice_read", "reduction")
            return f"{a} * np.sum({name}[1:] * {w}[:-1])"
        if form == 3 and self.scope.matrices:
            m, (_, columns) = self.pick(sorted(self.scope.matrices.items()))
            self.mark("reduction_axis")
            return f"{a} + np.sum({m}, axis=0)[{min(j, columns - 1)}]"
        if form == 4:
            return f"{a} + {self.entry()} * {name}[{j}]"
        self.mark("reduction")
        forms = [
            f"{a} * np.sum({v})",
            f"{a} + np.mean({v})",
            f"{a} * np.max({v})",
            f"{a} + np.min({name})",
            f"{a} - {name}.sum()",
            f"{a} + {name}.mean()",
            f"{a} * np.prod({name})",
            f"{a} + np.std({name})",
        ]
        return self.pick(forms)

    def tame(self, text: str) -> str:
        """Wrap an expression so that its value stays small."""
        form = self.rng.randrange(4)
        if form == 0:
            return f"np.tanh({text})"
        self.mark("math")
        return [f"math.tanh({text})", f"math.sin({text})", f"1.2 * math.sin({text})"][form - 1]

    def value(self, depth: int = 2) -> str:
        """Return an active scalar expression, kept small inside loops and every now and then."""
        text = self.scalar(depth)
        return self.tame(text) if self.loops or self.chance(0.35) else text

    # expressions: arrays

    def vector(self, depth: int = 2, length: int | None = None) -> str:
        """Return an active vector of this length, or of any."""
        named = [(k, n) for k, n in sorted(self.vectors().items()) if length is None or n == length]
        if not named:
            self.mark("array")
            return f"np.array([{', '.join(self.leaf() for _ in range(length))}])"
        name, length = self.pick(named)
        if depth <= 0:
            return name
        other = self.pick([k for k, n in named if n == length])
        return self.vector_form(closed(self.vector(depth - 1, length)), name, other, length)

    def vector_form(self, v: str, name: str, w: str, length: int) -> str:
        """Return a vector made from the vectors v, name and w of one length."""
        a, k = closed(self.operand()), self.rng.randrange(1, length)
        matrices = [m for m, s in sorted(self.scope.matrices.items()) if s[1] == length]
        forms = [
            (f"{v} * {w}", "elementwise"),
            (f"{v} + {a} * {w}", "elementwise"),
            (f"np.sin({v})", "elementwise"),
            (f"np.exp(-{v} ** 2)", "elementwise"),
            (f"np.tanh({v} - {a})", "elementwise"),
            (f"{v} / (1.5 + {w} ** 2)", "elementwise"),
            (f"np.cumsum({v})", "cumsum"),
            (f"np.sort({v})", "sort"),
            (f"np.where({name} > {self.number(-0.3, 0.3)}, {v}, {self.number()} * {w})", "where"),
            (f"np.clip({v}, -0.6, {self.number(0.3, 0.9)})", "clip"),
            (f"np.maximum({v}, {a} * {w})", "maximum"),
            (f"np.minimum({v}, {self.number()})", "maximum"),
            (f"np.concatenate([{name}[:{k}], {w}[{k}:]])", "concatenate"),
            (f"np.concatenate(({name}[{k}:], {w}[:{k}]))", "concatenate"),
            (f"{name}[::-1] * {w}", "slice_read"),
            (f"{v} - np.mean({w}, keepdims=True)", "keepdims"),
            (f"{v} / np.sum({name} ** 2 + 1.0, axis=0, keepdims=True)", "keepdims"),
            (f"np.reshape({v}, ({length}, 1))[:, 0] * {w}", "reshape"),
            (f"{name}.reshape(1, -1)[0] + {v}", "reshape"),
            (f"np.outer({name}, {w})[:, {k}]", "outer"),
            (f"np.outer({name}, {w}).sum(axis=0)", "outer"),
            (f"np.stack([{v}, {w}]).sum(axis=0)", "stack"),
            (f"np.stack([{name}, {w}, {v}])[{self.rng.randrange(3)}]", "stack"),
        ]
        if matrices:
            m = self.pick(matrices)
            rows = self.scope.matrices[m][0]
            forms += 2 * [
                (f"{m}[{self.rng.randrange(rows)}] * {v}", "index_read"),
                (f"np.mean({m} * {w}, axis=0)", "reduction_axis"),
                (f"({m} - {m}.mean(axis=1, keepdims=True))[0] * {w}", "keepdims"),
                (f"{m}.T @ ({m} @ {v})", "transpose"),
                (f"{m}.T[:, {self.rng.randrange(rows)}] + {v}", "transpose"),
                (f"{m}.reshape(-1)[:{length}] * {v}", "reshape"),
            ]
        text, tag = self.pick(forms)
        self.mark(tag)
        return text

    def matrix(self) -> tuple[str, tuple[int, int]]:
        """Return an active matrix and its shape."""
        name, length = self.pick(sorted(self.vectors().items()))
        w = self.pick([k for k, n in sorted(self.vectors().items()) if n == length])
        forms = [
            (f"np.outer({name}, {w})", (length, length), "outer"),
            (f"np.stack([{name}, np.sin({w})])", (2, length), "stack"),
            (f"np.array([{name}, {w} ** 2])", (2, length), "array"),
            (f"np.concatenate([{name}, {w}]).reshape(2, {length})", (2, length), "reshape"),
            (f"{name}[:, None] * {w}", (length, length), "elementwise"),
        ]
        for m, (rows, columns) in sorted(self.scope.matrices.items()):
            forms += [
                (f"np.tanh({m})", (rows, columns), "elementwise"),
                (f"{m} @ {m}.T", (rows, rows), "transpose"),
                (f"{m}.T.copy()", (columns, rows), "transpose"),
                (f"{m}.reshape({columns}, {rows})", (columns, rows), "reshape"),
                (f"{m} - np.mean({m}, axis=0, keepdims=True)", (rows, columns), "keepdims"),
                (
                    f"{m} / np.sum({m} ** 2 + 1.0, axis=1, keepdims=True)",
                    (rows, columns),
                    "keepdims",
                ),
            ]
        text, shape, tag = self.pick(forms)
        self.mark(tag)
        return text, shape
