"""The frames of the random pairs: what stands around a statement, or around another frame.

A frame gets the `Maker` of the program, the `Place` where it stands, and what gives the lines
inside for a place; it returns its own lines. What stands in a function is handed the names that it
reads and hands back those that it binds.
"""

from __future__ import annotations

import ast
import dataclasses
import random
import re
from collections.abc import Callable

from pair_statements import STATEMENTS

STATE = ("x", "y", "z", "c", "d", "o", "r", "w")
SCALARS = {
    "x": ["x[0]", "x[1]", "x[-1]", "np.sum(x)"],
    "y": ["y", "y", "y"],
    "z": ["z", "z"],
    "c": ["c[0]", "c[-1]", "sum(c)"],
    "d": ['d["u"]', 'd["v"]'],
    "o": ["o.m", "o.s[1]"],
    "r": ["r[0][0]", "r[1][1]", "np.sum(r[1])"],
    "w": ["w[0, 1]", "w[1, 0]", "np.sum(w)"],
}
GROWS = re.compile(r"append|insert|extend|pop|setdefault|\bc \+=|\bdel |\"k\"\]|nonlocal")

Lines = list[str]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where lines stand: whether in a loop, and the mark of what `return` gives there."""

    back: str
    loop: bool = False

    def looping(self) -> Place:
        """Return the place in a loop here."""
        return dataclasses.replace(self, loop=True)


Inner = Callable[[Place], Lines]
Frame = Callable[["Maker", Place, Inner], Lines]
FRAMES: list[Frame] = []


def frame(write: Frame) -> Frame:
    """Register a frame."""
    FRAMES.append(write)
    return write


def indented(lines: Lines) -> Lines:
    """Return lines one level deeper."""
    return [f"    {line}" for line in lines] or ["    pass"]


class _Names(ast.NodeVisitor):
    """The names that some lines read, and those that they bind in their own scope."""

    def __init__(self) -> None:
        self.used: list[str] = []
        self.bound: list[str] = []

    def visit_Name(self, node: ast.Name) -> None:
        found = self.used if isinstance(node.ctx, ast.Load) else self.bound
        found += [node.id] * (node.id not in found)

    def _inside(self, node: ast.AST) -> None:
        inner = _Names()
        inner.generic_visit(node)
        shared = [n for p in ast.walk(node) if isinstance(p, ast.Nonlocal) for n in p.names]
        own = {p.arg for p in ast.walk(node) if isinstance(p, ast.arg)} | set(inner.bound)
        self.bound += [n for n in shared if n not in self.bound]
        seen = [*shared, *(n for n in inner.used if n not in own)]
        self.used += [n for n in seen if n not in self.used]

    visit_FunctionDef = visit_Lambda = visit_ClassDef = _inside


class Maker:
    """A program under construction: its random numbers, its names, the functions beside f."""

    def __init__(self, rng: random.Random, palette: list[str]) -> None:
        self.rng = rng
        self.palette = palette
        self.module: list[str] = []
        self.variables: list[str] = []
        self.around: list[str] = []
        self.taken: dict[str, int] = {}
        self.grows = False

    def pick(self, options):
        """Return one of the options."""
        return options[self.rng.randrange(len(options))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def new(self, stem: str) -> str:
        """Return a name that nothing has yet."""
        self.taken[stem] = self.taken.get(stem, 0) + 1
        return f"{stem}{self.taken[stem]}"

    def variable(self, stem: str = "e") -> str:
        """Return the name of a variable of a loop: functions inside are given it."""
        name = self.new(stem)
        self.variables.append(name)
        return name

    def inside(self, variable: str, at: Place, inner: Inner) -> Lines:
        """Return the lines inside a loop, which may read the loop's number."""
        self.around.append(variable)
        lines = inner(at.looping())
        self.around.pop()
        return lines

    def number(self) -> str:
        """Return the text of a number."""
        return repr(round(self.rng.uniform(0.15, 1.2), 2))

    def scalar(self) -> str:
        """Return the text of a number that depends on the state."""
        name = self.pick([n for n in self.palette if n in SCALARS])
        text = self.pick(SCALARS[name])
        other = self.pick(SCALARS[self.pick([n for n in self.palette if n in SCALARS])])
        if self.around and self.chance(0.3):
            other = self.pick(self.around)
        forms = ["{0}", "{0} * {n}", "np.sin({0})", "{n} * {0} * {1}", "np.tanh({0} * {1})"]
        return "(" + self.pick(forms).format(text, other, n=self.number()) + ")"

    def test(self) -> str:
        """Return the text of a condition on the state."""
        text = self.pick(SCALARS[self.pick(self.palette)])
        return f"{text} {self.pick(['<', '>'])} {self.pick(['', '', '-'])}{self.number()}"

    def filled(self, number: int) -> Lines:
        """Return the lines of a statement of the table, with its functions in the module."""
        lines, helpers = STATEMENTS[number]
        names: dict[str, str] = {}

        def made(match: re.Match[str]) -> str:
            word = match[1]
            if word == "n":
                return self.number()
            if word == "s":
                return self.scalar()
            if word == "i":
                return self.pick(["0", "1", "2", "-1"])
            if word == "op":
                return self.pick(["+=", "-=", "*="])
            if word not in names:
                stem = {"a": "p", "b": "q", "h": "step", "g": "part"}[word]
                names[word] = self.new(stem)
            return names[word]

        both = [re.sub(r"\{(n|s|i|op|a|b|h|g)\}", made, text) for text in (lines, helpers)]
        self.grows |= bool(GROWS.search("\n".join(both)))
        if both[1]:
            self.module.append(both[1])
        return both[0].split("\n")

    def other(self) -> Lines:
        """Return the lines of some statement on the state that the program has."""
        return self.filled(self.pick(fitting(frozenset(self.palette))))

    def given(self, lines: Lines) -> tuple[list[str], list[str]]:
        """Return what a function of these lines is given, and what it hands back."""
        found = _Names()
        found.visit(ast.parse("\n".join(lines).replace("return @", "pass  #")))
        loops = [n for n in self.variables if n in found.used and n not in found.bound]
        reads = [n for n in STATE if n in found.used or n in found.bound]
        return [*reads, *loops], [n for n in STATE if n in found.bound]

    def body(self, at: Place, inner: Inner, scalar: bool = False) -> tuple[Lines, Lines, Lines]:
        """Return the lines of a function's body, what it is given, and what it hands back.

        Where a number is wanted, all the rest that the lines bind is lost to the caller.
        """
        back = self.new("@back")
        lines = inner(Place(back))
        given, bound = self.given(lines)
        if scalar:
            out = [self.pick([n for n in bound if n in "yz"] or [self.value_of(given)])]
        else:
            extra = [n for n in given if n in STATE and n not in bound and self.chance(0.25)]
            out = [*bound, *extra]
            self.rng.shuffle(out)
        shown = f"return {', '.join(out)}".strip()
        lines = [line.replace(f"return {back}", shown) for line in lines]
        return [*lines, *([shown] if out else [])], given, out

    def value_of(self, given: Lines) -> str:
        """Return the text of a number that depends on what a function is given."""
        names = [n for n in given if n in SCALARS]
        return f"{self.pick(SCALARS[self.pick(names)])} * {self.number()}" if names else "0.5"

    def called(self, callee: str, given: Lines, out: Lines) -> Lines:
        """Return a call for what it hands back."""
        text = f"{callee}({', '.join(given)})"
        if not out:
            return [text]
        if len(out) > 1 and self.chance(0.2):
            name = self.new("out")
            return [f"{name} = {text}", *(f"{n} = {name}[{i}]" for i, n in enumerate(out))]
        return [f"{', '.join(out)} = {text}"]

    def define(self, name: str, given: Lines, lines: Lines, *, first: str = "") -> Lines:
        """Return the definition of a function."""
        return [
            f"def {name}({', '.join([*([first] if first else []), *given])}):",
            *indented(lines),
        ]

    def put(self, lines: Lines) -> None:
        """Put a definition beside f."""
        self.module.append("\n".join(lines))


def needs(number: int) -> frozenset[str]:
    """Return the names of the state that a statement of the table uses."""
    text = re.sub(r"\{\w+\}", "t", STATEMENTS[number][0].replace("{op}", "+="))
    found = _Names()
    found.visit(ast.parse(text))
    return frozenset(n for n in STATE if n in found.used or n in found.bound)


_NEEDS = [needs(number) for number in range(len(STATEMENTS))]


def fitting(palette: frozenset[str]) -> list[int]:
    """Return the statements that use nothing but these names."""
    return [number for number, wanted in enumerate(_NEEDS) if wanted <= palette]


# --- branches ------------------------------------------------------------------------------------


@frame
def branch(g, at, inner):
    return [f"if {g.test()}:", *indented(inner(at))]


@frame
def other_arm(g, at, inner):
    return [f"if {g.test()}:", *indented(g.other()), "else:", *indented(inner(at))]


@frame
def both_arms(g, at, inner):
    return [f"if {g.test()}:", *indented(inner(at)), "else:", *indented(inner(at))]


@frame
def elif_arm(g, at, inner):
    arms = [f"elif {g.test()}:", *indented(inner(at)), "else:", *indented(g.other())]
    return [f"if {g.test()}:", *indented(g.other()), *arms]


@frame
def branch_in_branch(g, at, inner):
    return [f"if {g.test()}:", *indented([f"if {g.test()}:", *indented(inner(at))])]


@frame
def walrus(g, at, inner):
    name = g.new("v")
    lines = [f"if ({name} := {g.scalar()}) > {g.number()}:", *indented(inner(at))]
    return [*lines, f"y = y * {g.number()} + {name}"] if "y" in g.palette else lines


@frame
def match_number(g, at, inner):
    name = g.new("k")
    cases = ["case 0:", *indented(g.other()), f"case {g.pick([1, 2])}:", *indented(inner(at))]
    cases += ["case _:", "    pass"] if g.chance(0.5) else []
    return [f"{name} = {g.pick([1, 2])}", f"match {name}:", *indented(cases)]


@frame
def match_guard(g, at, inner):
    name = g.new("v")
    cases = [f"case {name} if {name} > {g.number()}:", *indented(inner(at))]
    cases += ["case _:", *indented(g.other())]
    return [f"match {g.scalar()}:", *indented(cases)]


@frame
def match_sequence(g, at, inner):
    one, two = g.new("v"), g.new("v")
    cases = [f"case ({one}, {two}) if {one} < {two} + 1.0:", *indented(inner(at))]
    return [f"match ({g.scalar()}, {g.scalar()}):", *indented(cases)]


# --- loops ---------------------------------------------------------------------------------------


@frame
def for_range(g, at, inner):
    i = g.variable("i")
    return [f"for {i} in range({g.pick([1, 2, 3])}):", *indented(g.inside(i, at, inner))]


@frame
def for_numbers(g, at, inner):
    e = g.variable()
    lines = g.inside(e, at, inner)
    if "y" in g.palette:
        lines = [*lines, f"y = y * {e}"]
    return [f"for {e} in ({g.number()}, {g.number()}):", *indented(lines)]


def _items(g):
    """Return the text of something of the state that a loop may go through."""
    options = [n for n in ("c", "x") if n in g.palette] or ["(0.4, 0.9)"]
    name = g.pick(options)
    return f"list({name})" if g.grows else name


@frame
def for_items(g, at, inner):
    e = g.variable()
    lines = g.inside(e, at, inner)
    lines = [f"y = y + {e} * {g.number()}", *lines] if "y" in g.palette else lines
    return [f"for {e} in {_items(g)}:", *indented(lines)]


@frame
def for_enumerate(g, at, inner):
    i, e = g.variable("i"), g.variable()
    inside = [f"if {i} > 0 and {e} < {g.number()}:", *indented(g.inside(e, at, inner))]
    return [f"for {i}, {e} in enumerate({_items(g)}):", *indented(inside)]


@frame
def for_zip(g, at, inner):
    i, e = g.variable(), g.variable()
    lines = g.inside(i, at, inner)
    lines = [*lines, f"z = z + {i} * {e}"] if "z" in g.palette else lines
    return [f"for {i}, {e} in zip({_items(g)}, ({g.number()}, {g.number()})):", *indented(lines)]


@frame
def for_reversed(g, at, inner):
    i = g.variable("i")
    inside = [f"if {i} == 1:", "    continue", *inner(at.looping())]
    return [f"for {i} in reversed(range(3)):", *indented(inside)]


@frame
def for_keys(g, at, inner):
    e = g.variable("key")
    lines = inner(at.looping())
    lines = [f'if {e} != "u":', *indented(lines)] if g.chance(0.5) else lines
    source = ("list(d)" if g.grows else "d") if "d" in g.palette else '("a", "b")'
    return [f"for {e} in {source}:", *indented(lines)]


@frame
def nested_loops(g, at, inner):
    i, j = g.variable("i"), g.variable("i")
    inside = [f"for {j} in range({i} + 1):", *indented(inner(at.looping()))]
    return [f"for {i} in range(2):", *indented(inside)]


@frame
def for_break_before(g, at, inner):
    e = g.variable()
    inside = [f"if {g.test()}:", "    break", *inner(at.looping())]
    return [f"for {e} in {_items(g)}:", *indented(inside)]


@frame
def for_break_after(g, at, inner):
    inside = [*inner(at.looping()), f"if {g.test()}:", "    break", *g.other()]
    return [f"for {g.variable('i')} in range(3):", *indented(inside)]


@frame
def for_continue(g, at, inner):
    e = g.variable()
    test = f"{e} < {g.number()}" if g.chance(0.5) else g.test()
    inside = [f"if {test}:", "    continue", *g.inside(e, at, inner)]
    return [f"for {e} in {_items(g)}:", *indented(inside)]


@frame
def for_else(g, at, inner):
    inside = [f"if {g.test()}:", *indented([*g.other(), "break"])]
    lines = [f"for {g.variable('i')} in range(2):", *indented(inside)]
    return [*lines, "else:", *indented(inner(at))]


@frame
def for_with_else(g, at, inner):
    inside = [*inner(at.looping()), f"if {g.test()}:", "    break"]
    lines = [f"for {g.variable('i')} in range(2):", *indented(inside)]
    return [*lines, "else:", *indented(g.other())]


@frame
def for_return(g, at, inner):
    inside = [*inner(at.looping()), f"if {g.test()}:", f"    return {at.back}"]
    return [f"for {g.variable('i')} in range(2):", *indented(inside)]


@frame
def while_count(g, at, inner):
    i = g.variable("i")
    first = g.chance(0.5)
    inside = [f"{i} += 1", *inner(at.looping())] if first else [*inner(at.looping()), f"{i} += 1"]
    return [f"{i} = 0", f"while {i} < {g.pick([1, 2, 3])}:", *indented(inside)]


@frame
def while_test(g, at, inner):
    i = g.variable("i")
    inside = [f"{i} += 1", *inner(at.looping())]
    return [f"{i} = 0", f"while {i} < 3 and {g.test()}:", *indented(inside)]


@frame
def while_true(g, at, inner):
    i = g.variable("i")
    inside = [f"{i} += 1", f"if {i} > 2 or {g.test()}:", "    break", *inner(at.looping())]
    return [f"{i} = 0", "while True:", *indented(inside)]


@frame
def early_return(g, at, inner):
    return [f"if {g.test()}:", *indented([*inner(at), f"return {at.back}"])]


@frame
def early_return_before(g, at, inner):
    return [f"if {g.test()}:", *indented([*g.other(), f"return {at.back}"]), *inner(at)]


@frame
def leaving(g, at, inner):
    """Leave a loop from a branch, or go on with the next round; outside of loops return."""
    away = g.pick(["break", "continue"]) if at.loop else f"return {at.back}"
    return [f"if {g.test()}:", *indented([*inner(at), away])]


# --- exceptions and managers ---------------------------------------------------------------------


@frame
def try_except(g, at, inner):
    return ["try:", *indented(inner(at)), "except ValueError:", *indented(g.other())]


@frame
def try_raise(g, at, inner):
    raising = [f"if {g.test()}:", '    raise ValueError("out of range")']
    inside = [*inner(at), *raising, *g.other()] if g.chance(0.6) else [*raising, *inner(at)]
    return ["try:", *indented(inside), "except ValueError:", *indented(g.other())]


@frame
def except_arm(g, at, inner):
    inside = [*g.other(), f"if {g.test()}:", '    raise KeyError("none")']
    return ["try:", *indented(inside), "except KeyError:", *indented(inner(at))]


@frame
def try_else(g, at, inner):
    inside = [f"if {g.test()}:", '    raise ValueError("out of range")']
    lines = ["try:", *indented(inside), "except ValueError:", *indented(g.other())]
    return [*lines, "else:", *indented(inner(at))]


@frame
def try_finally(g, at, inner):
    return ["try:", *indented(inner(at)), "finally:", *indented(g.other())]


@frame
def finally_arm(g, at, inner):
    return ["try:", *indented(g.other()), "finally:", *indented(inner(at))]


@frame
def try_return(g, at, inner):
    inside = [*inner(at), f"if {g.test()}:", f"    return {at.back}"]
    return ["try:", *indented(inside), "finally:", *indented(g.other())]


@frame
def with_nothing(g, at, inner):
    head = g.pick(["contextlib.nullcontext()", 'np.errstate(all="ignore")'])
    return [f"with {head}:", *indented(inner(at))]


@frame
def with_suppress(g, at, inner):
    raising = [f"if {g.test()}:", '    raise ValueError("out of range")']
    return ["with contextlib.suppress(ValueError):", *indented([*inner(at), *raising])]


@frame
def with_manager(g, at, inner):
    name = g.new("Section")
    g.put(
        [
            f"class {name}:",
            "    def __init__(self, scale):",
            "        self.scale = scale",
            "",
            "    def __enter__(self):",
            "        return self",
            "",
            "    def __exit__(self, kind, error, trace):",
            "        return False",
        ]
    )
    section = g.new("section")
    lines = inner(at)
    lines = [*lines, f"y = y * {section}.scale"] if "y" in g.palette else lines
    return [f"with {name}({g.number()}) as {section}:", *indented(lines)]


@frame
def asserting(g, at, inner):
    return [f"assert {g.scalar()} < 1000.0", *inner(at), f"assert {g.scalar()} > -1000.0"]


# --- functions -----------------------------------------------------------------------------------


@frame
def function(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    g.put(g.define(name, given, lines))
    return g.called(name, given, out)


@frame
def function_of_function(g, at, inner):
    lines, given, out = g.body(at, inner)
    low, high = g.new("run"), g.new("run")
    g.put(g.define(low, given, lines))
    shown = [f"return {', '.join(out)}"] if out else []
    g.put(g.define(high, given, [*g.called(low, given, out), *shown]))
    return g.called(high, given, out)


@frame
def nested_function(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    return [*g.define(name, given, lines), *g.called(name, given, out)]


@frame
def capturing(g, at, inner):
    """Define a function that captures all that it does not bind."""
    lines, given, out = g.body(at, inner)
    own = [n for n in given if n in g.given(lines)[1]]
    name = g.new("run")
    return [*g.define(name, own, lines), *g.called(name, own, out)]


@frame
def closure_nonlocal(g, at, inner):
    back = g.new("@back")
    lines = [line.replace(f"return {back}", "return") for line in inner(Place(back))]
    _, bound = g.given(lines)
    name = g.new("run")
    head = [f"nonlocal {', '.join(bound)}"] if bound else []
    return [*g.define(name, [], [*head, *lines]), f"{name}()"]


@frame
def factory(g, at, inner):
    lines, given, out = g.body(at, inner)
    make, name, run = g.new("make"), g.new("inner"), g.new("run")
    if "y" in out:
        lines = ["y = y * scale", *lines]
    g.put(g.define(make, ["scale"], [*g.define(name, given, lines), f"return {name}"]))
    return [f"{run} = {make}({g.pick([g.number(), g.scalar()])})", *g.called(run, given, out)]


@frame
def lambda_over(g, at, inner):
    lines, given, out = g.body(at, inner)
    name, short = g.new("run"), g.new("short")
    g.put(g.define(name, given, lines))
    text = ", ".join(given)
    return [f"{short} = lambda {text}: {name}({text})", *g.called(short, given, out)]


@frame
def lambda_captures(g, at, inner):
    lines, given, out = g.body(at, inner)
    name, short = g.new("run"), g.new("short")
    g.put(g.define(name, given, lines))
    return [f"{short} = lambda: {name}({', '.join(given)})", *g.called(short, [], out)]


@frame
def partial(g, at, inner):
    lines, given, out = g.body(at, inner)
    name, run = g.new("run"), g.new("bound")
    g.put(g.define(name, given, lines))
    first = given[:1]
    return [f"{run} = functools.partial({', '.join([name, *first])})"] + g.called(
        run, given[1:], out
    )


@frame
def decorated(g, at, inner):
    lines, given, out = g.body(at, inner)
    mark, name = g.new("logged"), g.new("run")
    wrapper = ["@functools.wraps(fn)", "def inner(*args):", "    return fn(*args)", "return inner"]
    g.put(g.define(mark, ["fn"], wrapper))
    g.put([f"@{mark}", *g.define(name, given, lines)])
    return g.called(name, given, out)


@frame
def star_args(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    head = [f"{', '.join(given)}{',' * (len(given) == 1)} = args"] if given else []
    g.put(g.define(name, ["*args"], [*head, *lines]))
    return g.called(name, given, out)


@frame
def star_call(g, at, inner):
    lines, given, out = g.body(at, inner)
    name, args = g.new("run"), g.new("args")
    g.put(g.define(name, given, lines))
    made = (
        f"({', '.join(given)}{',' * (len(given) == 1)})"
        if g.chance(0.5)
        else f"[{', '.join(given)}]"
    )
    return [f"{args} = {made}", *g.called(name, [f"*{args}"], out)]


@frame
def keywords(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    g.put(g.define(name, ["*", *given] if given else [], lines))
    return g.called(name, [f"{n}={n}" for n in reversed(given)], out)


@frame
def double_star(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    head = [f'{n} = given["{n}"]' for n in given]
    g.put(g.define(name, ["**given"], [*head, *lines]))
    return g.called(name, [f"{n}={n}" for n in given], out)


@frame
def defaults(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    head = ["if lower is None:", "    lower = 0.1"]
    head += [f"y = y * {g.number()} + lower"] if "y" in out else []
    g.put(g.define(name, [*given, "lower=None"], [*head, *lines]))
    return g.called(name, given, out)


@frame
def recursion(g, at, inner):
    lines, given, out = g.body(at, inner)
    name = g.new("run")
    shown = f"return {', '.join(out)}".strip()
    inside = lines[:-1] if out else lines
    again = [f"return {name}({', '.join(['depth - 1', *given])})"]
    g.put(g.define(name, ["depth", *given], ["if depth == 0:", f"    {shown}", *inside, *again]))
    return g.called(name, ["2", *given], out)


# --- classes -------------------------------------------------------------------------------------


def _class(g, methods: Lines, fields: Lines) -> str:
    """Write a class beside f; return its name."""
    name = g.new("Work")
    made = [f"def __init__({', '.join(['self', *fields])}):"]
    made += indented([f"self.{field} = {field}" for field in fields])
    g.put([f"class {name}:", *indented([*made, "", *methods])])
    return name


@frame
def method(g, at, inner):
    lines, given, out = g.body(at, inner)
    lines = ["y = y * self.scale", *lines] if "y" in out else lines
    name = _class(g, g.define("run", given, lines, first="self"), ["scale"])
    work = g.new("work")
    made = [f"{work} = {name}({g.pick([g.number(), g.scalar()])})"]
    return [*made, *g.called(f"{work}.run", given, out)]


@frame
def method_of_fields(g, at, inner):
    """Keep the state in fields: a method takes it from there, and puts it back."""
    lines, given, out = g.body(at, inner)
    took = [f"{n} = self.{n}" for n in given]
    back = [f"self.{n} = {n}" for n in out]
    plain = [line.replace(f"return {', '.join(out)}", "return self.kept()") for line in lines]
    plain = plain[:-1] if out else plain
    kept = g.define("kept", [], ["return self"], first="self")
    inside = [*took, *plain, *back]
    name = _class(g, [*kept, "", *g.define("run", [], inside, first="self")], given)
    work = g.new("work")
    lines = [f"{work} = {name}({', '.join(given)})", f"{work}.run()"]
    return [*lines, *(f"{n} = {work}.{n}" for n in out)]


@frame
def own_method(g, at, inner):
    """Write a function whose object is self."""
    lines, given, out = g.body(at, inner)
    if "o" not in given or "o" in out:
        return function(g, at, inner)
    lines = [re.sub(r"\bo\b", "self", line) for line in lines]
    name = g.new("Kind")
    rest = [n for n in given if n != "o"]
    g.put([f"class {name}(Cell):", *indented(g.define("run", rest, lines, first="self"))])
    work = g.new("work")
    made = [f"{work} = {name}(o.s, o.m)", *g.called(f"{work}.run", rest, out)]
    return [*made, f"o.m = {work}.m"]


@frame
def static_method(g, at, inner):
    lines, given, out = g.body(at, inner)
    kind = g.pick(["staticmethod", "classmethod"])
    first = "cls" if kind == "classmethod" else ""
    name = _class(g, [f"@{kind}", *g.define("run", given, lines, first=first)], ["scale"])
    return g.called(f"{name}.run", given, out)


@frame
def inherited(g, at, inner):
    lines, given, out = g.body(at, inner)
    base = _class(g, g.define("run", given, lines, first="self"), ["scale"])
    name = g.new("Heir")
    text = f"super().run({', '.join(given)})"
    g.put(
        [
            f"class {name}({base}):",
            *indented(g.define("run", given, [f"return {text}"], first="self")),
        ]
    )
    return g.called(f"{name}({g.number()}).run", given, out)


@frame
def callable_object(g, at, inner):
    lines, given, out = g.body(at, inner)
    lines = ["y = y * self.scale", *lines] if "y" in out else lines
    name = _class(g, g.define("__call__", given, lines, first="self"), ["scale"])
    work = g.new("work")
    return [f"{work} = {name}({g.number()})", *g.called(work, given, out)]


@frame
def property_of(g, at, inner):
    lines, given, out = g.body(at, inner)
    lines = [*(f"{n} = self.{n}" for n in given), *lines]
    name = _class(g, ["@property", *g.define("out", [], lines, first="self")], given)
    work = g.new("work")
    read = f"{', '.join(out)} = {work}.out" if out else f"{g.new('none')} = {work}.out"
    return [f"{work} = {name}({', '.join(given)})", read]


@frame
def item_of(g, at, inner):
    lines, given, out = g.body(at, inner)
    lines = [*(f"{n} = self.{n}" for n in given), *lines]
    name = _class(g, g.define("__getitem__", ["k"], lines, first="self"), given)
    work = g.new("work")
    read = f"{', '.join(out)} = {work}[0]" if out else f"{g.new('none')} = {work}[0]"
    return [f"{work} = {name}({', '.join(given)})", read]


# --- calls that stand in something else ----------------------------------------------------------


def _numbered(g, at, inner):
    """Write a function that gives a number; return its name and what it is given."""
    lines, given, _ = g.body(at, inner, scalar=True)
    name = g.new("run")
    g.put(g.define(name, given, lines))
    return name, given


@frame
def call_in_operand(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f"y = y * {g.number()} + {name}({', '.join(given)}) * {g.scalar()}"]


@frame
def call_in_test(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f"if {name}({', '.join(given)}) > {g.number()}:", *indented(g.other())]


@frame
def call_in_and(g, at, inner):
    name, given = _numbered(g, at, inner)
    word = g.pick(["and", "or"])
    test = f"{g.test()} {word} {name}({', '.join(given)}) > {g.number()}"
    return [f"if {test}:", *indented(g.other())]


@frame
def call_in_while(g, at, inner):
    name, given = _numbered(g, at, inner)
    i = g.variable("i")
    test = f"{i} < 2 and {name}({', '.join(given)}) < {g.number()}"
    return [f"{i} = 0", f"while {test}:", *indented([f"{i} += 1", *g.other()])]


@frame
def call_in_conditional(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f"y = {name}({', '.join(given)}) if {g.test()} else y * {g.number()}"]


@frame
def call_in_index(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f"y = y * [{g.scalar()}, {g.number()}][int({name}({', '.join(given)}) > 0.1)]"]


@frame
def call_in_list(g, at, inner):
    name, given = _numbered(g, at, inner)
    e = g.variable()
    text = f"[{name}({', '.join(given)}) * {e} for {e} in ({g.number()}, {g.number()})]"
    return [f"y = y * {g.number()} + sum({text})"]


@frame
def call_in_generator(g, at, inner):
    name, given = _numbered(g, at, inner)
    i = g.variable("i")
    return [f"y = y * {g.number()} + sum({name}({', '.join(given)}) for {i} in range(2))"]


@frame
def call_in_map(g, at, inner):
    name, given = _numbered(g, at, inner)
    e = g.variable()
    text = f"lambda {e}: {name}({', '.join(given)}) * {e}"
    return [f"y = y * {g.number()} + sum(map({text}, [{g.number()}, {g.number()}]))"]


def _method(g, at, inner):
    """Write a method that gives a number; return what makes its object, and a call of it."""
    lines, given, _ = g.body(at, inner, scalar=True)
    name = _class(g, g.define("run", given, lines, first="self"), ["scale"])
    work = g.new("work")
    return [f"{work} = {name}({g.number()})"], f"{work}.run({', '.join(given)})"


@frame
def call_in_rounds_of_test(g, at, inner):
    name, given = _numbered(g, at, inner)
    word = g.pick(["sum", "max", "len"])
    text = f"[{name}({', '.join(given)}) for {g.variable()} in (1, 2)]"
    return [f"if {word}({text}) > {g.number()}:", *indented(g.other())]


@frame
def call_in_method_rounds(g, at, inner):
    made, run = _method(g, at, inner)
    e = g.variable()
    text = g.pick([f"[{run} for {e} in (1, 2)]", f"map(lambda {e}: {run} * {e}, (1, 2))"])
    return [*made, f"if sum({text}) > {g.number()}:", *indented(g.other())]


@frame
def call_in_method_filter(g, at, inner):
    made, run = _method(g, at, inner)
    e = g.variable()
    text = f"[{e} for {e} in (1, 2) if {run} > {g.number()}]"
    return [*made, f"y = y * {g.number()} if len({text}) > 1 else y * {g.scalar()}"]


@frame
def call_in_format(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f'{g.new("text")} = f"{{{name}({", ".join(given)})}}"']


@frame
def call_in_arguments(g, at, inner):
    name, given = _numbered(g, at, inner)
    return [f"y = np.sin({name}({', '.join(given)})) * {g.scalar()}"]


# Frames around a call that stands somewhere else than in a statement of its own.
ELSEWHERE = [f.__name__ for f in FRAMES if f.__name__.startswith("call_in_")]
