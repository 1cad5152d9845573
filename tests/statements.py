"""The statements of the random programs: each function writes one piece of Python with a Writer.

`STATEMENTS` holds them with their weights and with where they may stand: anywhere, where a vector
is in scope, or only at the top level of f.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from grammar import FUNCTION_NAMES, MATRIX_NAMES, SCALAR_NAMES, VECTOR_NAMES, Line, Writer, closed


@dataclass(frozen=True)
class Statement:
    """A production: what writes it, how often, and where it may stand."""

    write: Callable[[Writer], None]
    weight: float
    place: str


STATEMENTS: list[Statement] = []


def statement(weight: float = 1.0, place: str = "any"):
    """Register a production."""

    def register(write):
        STATEMENTS.append(Statement(write, weight, place))
        return write

    return register


def one(w: Writer) -> None:
    """Write a production that may stand here."""
    if w.at_root and w.scope.vectors and w.chance(w.writes):
        w.writing(w)
        return
    places = {"any"}
    if w.scope.vectors:
        places.add("vector")
    if w.at_root and w.depth == 1:
        places.add("root")
    fit = [s for s in STATEMENTS if s.place in places and (w.depth < 3 or s.weight >= 2)]
    w.rng.choices(fit, [s.weight for s in fit])[0].write(w)


def scalar_target(w: Writer) -> str:
    """Return a scalar that may be assigned again; make one if there is none."""
    free = [s for s in w.scope.scalars if s not in w.scope.frozen]
    if not free:
        name = w.fresh(SCALAR_NAMES)
        w.put(f"{name} = {w.value(1)}", "assign")
        w.scope.scalars.append(name)
        return name
    return w.pick(free)


def new_scalar(w: Writer, text: str, *tags: str) -> str:
    """Write an assignment to a new scalar."""
    name = w.fresh(SCALAR_NAMES)
    w.put(f"{name} = {text}", *tags)
    w.scope.scalars.append(name)
    return name


def update(w: Writer, extra: str = "") -> None:
    """Change a scalar that outlives the block, in a way that stays small."""
    name = scalar_target(w)
    term = closed(w.value(1))
    if extra:
        term = f"{closed(extra)} * {term}"
    carried = ("loop_carried",) if w.loops else ()
    forms = [
        (f"{name} = {w.number(0.3, 0.9)} * {name} + {w.number(0.1, 0.6)} * {term}", "reassign"),
        (f"{name} += {w.number(0.1, 0.6)} * {term}", "augassign"),
        (f"{name} -= {w.number(0.1, 0.5)} * {term}", "augassign"),
        (f"{name} = math.tanh({name} + {term})", "reassign"),
        (f"{name} = {name} / ({w.number(1.1, 1.9)} + {term} ** 2)", "reassign"),
        (f"{name} *= math.cos({term})", "augassign"),
    ]
    text, tag = w.pick(forms)
    w.put(text, tag, *carried)


def body(w: Writer, extra: str = "") -> None:
    """Write the statements of a block: sometimes any, always one that has an effect outside."""
    if w.chance(0.35) and w.depth < 4:
        update(w, inner(w) or extra)
    else:
        update(w, extra)


def inner(w: Writer) -> str:
    """Write any statement; return the scalar it made, or an empty string."""
    count = len(w.scope.scalars)
    one(w)
    return w.scope.scalars[-1] if len(w.scope.scalars) > count else ""


def outcome(w: Writer) -> str:
    """Write any statement of a function; return the text of a result that depends on it."""
    made = inner(w)
    return f"{made} * {closed(w.value(1))} + {made}" if made else w.value(1)


@statement(3)
def assign(w):
    new_scalar(w, w.value(), "assign")


@statement(2)
def change(w):
    update(w)


@statement(1)
def overwritten(w):
    name = scalar_target(w)
    other = w.fresh(SCALAR_NAMES)
    w.put(f"{other} = {name} * {name} + {w.value(1)}", "assign")
    w.scope.scalars.append(other)
    w.put(f"{name} = math.cos({name}) * {other}", "overwritten", "reassign")


@statement(1.3)
def tuple_assign(w):
    a, b = w.fresh(SCALAR_NAMES), w.fresh(SCALAR_NAMES)
    w.put(f"{a}, {b} = {w.value(1)}, {w.value(1)}", "tuple_assign")
    w.scope.scalars += [a, b]
    if w.chance(0.6):
        w.put(f"{a}, {b} = {b}, {w.pick([a, f'{a} * {b}', f'math.sin({a})'])}", "swap")


@statement(0.7)
def starred(w):
    a, rest = w.fresh(SCALAR_NAMES), w.fresh(["rest", "others", "tail"])
    if w.scope.vectors and w.chance(0.5):
        name, length = w.pick(sorted(w.scope.vectors.items()))
        w.put(f"{a}, *{rest} = {name}", "starred")
        count = length - 1
    else:
        w.put(f"{a}, *{rest} = {w.value(1)}, {w.value(1)}, {w.leaf()}", "starred")
        count = 2
    w.scope.scalars.append(a)
    new_scalar(w, f"{rest}[0] * {rest}[{count - 1}] + {a}", "starred")


@statement(0.8)
def chained(w):
    a, b = w.fresh(SCALAR_NAMES), w.fresh(SCALAR_NAMES)
    w.put(f"{a} = {b} = {w.value(1)}", "chained_assign")
    w.scope.scalars += [a, b]
    w.put(f"{a} = {a} * {b} + {w.leaf()}", "reassign")


@statement(0.8)
def alias(w):
    if w.scope.vectors and w.chance(0.5):
        name = w.pick(sorted(w.scope.vectors))
        length = w.scope.vectors[name]
        other = w.fresh(VECTOR_NAMES)
        w.put(f"{other} = {name}", "alias")
        w.put(f"{name} = np.sin({name}) * {w.number()}", "alias", "reassign", "elementwise")
        w.scope.vectors[other] = length
        new_scalar(w, f"np.sum({other} * {name})", "reduction", "alias")
        return
    name, other = scalar_target(w), w.fresh(SCALAR_NAMES)
    w.put(f"{other} = {name}", "alias")
    w.put(f"{name} = {name} * {w.number()}", "alias", "reassign")
    w.scope.scalars.append(other)
    new_scalar(w, f"{other} * {name}", "alias")


@statement(1.1)
def many_uses(w):
    a = w.leaf()
    new_scalar(w, f"{a} * {a} - {a} / (1.5 + {a} ** 2) + {a} * math.sin({a})", "many_uses", "math")


@statement(0.8)
def inactive(w):
    name = w.fresh(["factor", "offset", "width", "ratio"])
    w.put(f"{name} = math.sqrt({w.number()}) + {w.number()}")
    w.scope.constants.append(name)
    update(w, name)
    w.lines[-1] = Line(w.depth, w.lines[-1].text, w.lines[-1].tags | {"inactive_value"})


@statement(1.1)
def dead_code(w):
    name = w.fresh(["unused", "spare", "ignored"])
    w.put(f"{name} = {w.scalar(2)}", "dead_code")


@statement(1)
def if_else(w):
    with w.block(f"if {w.condition()}:", "if_else"):
        body(w)
    with w.block("else:"):
        body(w)


@statement(1)
def if_only(w):
    with w.block(f"if {w.condition()}:", "if_only"):
        body(w)


@statement(1.2)
def if_defines(w):
    name = w.fresh(SCALAR_NAMES)
    with w.block(f"if {w.condition()}:", "if_else"):
        w.put(f"{name} = {w.value(1)}", "assign")
    if w.chance(0.6):
        with w.block(f"elif {w.condition()}:", "elif"):
            w.put(f"{name} = {w.value(1)}", "assign")
    with w.block("else:"):
        w.put(f"{name} = {w.value(1)}", "assign")
    w.scope.scalars.append(name)


@statement(0.8)
def elif_chain(w):
    a = w.leaf()
    with w.block(f"if {a} < {w.number(-1.0, -0.1)}:", "if_else"):
        body(w)
    with w.block(f"elif {a} < {w.number(0.2, 1.0)}:", "elif"):
        body(w)
    if w.chance(0.6):
        with w.block("else:"):
            body(w)


@statement(1)
def nested_if(w):
    with w.block(f"if {w.condition()}:", "if_else"):
        with w.block(f"if {w.condition()}:", "nested_if"):
            update(w)
        update(w)
    with w.block("else:"):
        with w.block(f"if {w.condition()}:", "nested_if"):
            update(w)
        with w.block("else:"):
            update(w)


@statement(2)
def one_arm(w):
    flag, name = w.fresh(["hot", "steep", "far", "large"]), w.fresh(SCALAR_NAMES)
    w.put(f"{flag} = {w.leaf()} {w.pick(['>', '<'])} {w.number(-0.4, 0.4)}")
    with w.block(f"if {flag}:", "if_only"):
        w.put(f"{name} = {w.value(1)}", "assign")
    update(w)
    with w.block(f"if {flag}:"):
        target = scalar_target(w)
        w.put(f"{target} = {target} + {name} * {w.leaf()}", "one_arm_variable", "reassign")


@statement(1.1, "root")
def match_value(w):
    if w.chance(0.5):
        cases = ["'linear'", "'cubic'", "'flat'"]
        name = w.parameter("mode", w.pick(cases), False).name
    else:
        cases = ["1", "2", "3"]
        name = w.parameter("order", w.pick(cases), False).name
    with w.block(f"match {name}:"):
        with w.block(f"case {cases[0]}:"):
            update_marked(w, "match")
        with w.block(f"case {w.pick([cases[1], f'{cases[1]} | {cases[2]}'])}:"):
            update_marked(w, "match")
        with w.block("case _:"):
            update_marked(w, "match")


def update_marked(w, *tags):
    """Write an update that carries these constructs."""
    w.mark(*tags)
    before = set(w.tags)
    start = len(w.lines)
    update(w)
    last = w.lines[-1]
    if len(w.lines) - start > 1:
        w.lines[-1] = Line(last.depth, last.text, last.tags | before)


@statement(1.2, "root")
def is_none(w):
    name = w.parameter("limit", w.pick(["None", "None", w.number()]), False).name
    with w.block(f"if {name} is {w.pick(['', 'not '])}None:"):
        update_marked(w, "is_none")
    with w.block("else:"):
        update_marked(w, "is_none")


@statement(1.6)
def isinstance_dispatch(w):
    names = sorted(w.scope.vectors) + w.scope.scalars
    name = w.pick(names) if names else scalar_target(w)
    test = w.pick(["np.ndarray", "(int, float)", "float"])
    with w.block(f"if isinstance({name}, {test}):"):
        update_marked(w, "isinstance")
    with w.block("else:"):
        update_marked(w, "isinstance")


@statement(1.2)
def assertion(w):
    w.put(f"assert {w.leaf()} ** 2 < 1e6, 'out of range'", "assert")


@statement(1.4)
def raising(w):
    a = w.leaf()
    with w.block(f"if {a} > 1e3:", "raise"):
        w.put(f"raise ValueError(f'too large: {{{a}}}')")
    update(w)


def span(w):
    """Return the text of a number of trips."""
    if w.scope.vectors and w.chance(0.5):
        name = w.pick(sorted(w.scope.vectors))
        return w.pick([f"len({name})", f"{name}.shape[0]"])
    counts = [p.name for p in w.parameters if p.name.startswith("n")] if w.at_root else []
    return w.pick(counts) if counts else str(w.rng.randint(2, 4))


@statement(1)
def for_range(w):
    i = w.fresh(["i", "k", "m"])
    with w.block(f"for {i} in range({span(w)}):", "for_range", loop=True):
        body(w, w.pick(["", f"{i}", f"({i} + 1)"]))


@statement(2.4)
def for_range_of_three(w):
    i = w.fresh(["i", "k", "j"])
    form = w.rng.randrange(3)
    name, length = w.pick(sorted(w.scope.vectors.items())) if w.scope.vectors else ("", 4)
    end = f"len({name})" if name else "4"
    head = [f"range(1, {end})", f"range(0, {end}, 2)", f"range({end} - 1, -1, -1)"][form]
    tag = ["for_range_start", "for_range_step", "for_range_negative"][form]
    with w.block(f"for {i} in {head}:", tag, loop=True):
        if name:
            w.mark("index_read")
        body(w, f"{name}[{i}]" if name else f"0.3 * {i}")


@statement(1, "vector")
def for_array(w):
    name = w.pick(sorted(w.scope.vectors))
    v = w.fresh(["xi", "item", "entry"])
    with w.block(f"for {v} in {w.pick([name, name, f'{name}[::2]'])}:", "for_array", loop=True):
        w.scope.frozen.add(v)
        w.scope.scalars.append(v)
        body(w, v)


@statement(2)
def for_sequence(w):
    v = w.fresh(["item", "piece", "each"])
    if w.scope.lists and w.chance(0.6):
        head, tag = w.pick(sorted(w.scope.lists)), "for_list"
    elif w.chance(0.6):
        head, tag = f"({w.value(1)}, {w.leaf()}, {w.operand()})", "for_tuple"
    else:
        head, tag = f"[{w.value(1)}, {w.leaf()}]", "for_list"
    with w.block(f"for {v} in {head}:", tag, loop=True):
        w.scope.frozen.add(v)
        w.scope.scalars.append(v)
        body(w, v)


@statement(1, "vector")
def enumerate_loop(w):
    name = w.pick(sorted(w.scope.vectors))
    i, v = w.fresh(["i", "k"]), w.fresh(["xi", "datum"])
    start = w.pick(["", ", 1", ", start=1"])
    with w.block(f"for {i}, {v} in enumerate({name}{start}):", "enumerate", loop=True):
        body(w, f"({i} + 0.5) * {v}")


@statement(0.8, "vector")
def zip_loop(w):
    name = w.pick(sorted(w.scope.vectors))
    other = w.pick(sorted(w.scope.vectors) + [f"np.cos({name})", f"{name}[1:]", "(0.5, 1.5)"])
    a, b = w.fresh(["a", "left"]), w.fresh(["b", "right"])
    with w.block(f"for {a}, {b} in zip({name}, {other}):", "zip", loop=True):
        w.scope.frozen |= {a, b}
        w.scope.scalars += [a, b]
        body(w, f"{a} * {b}")


@statement(0.8, "vector")
def reversed_loop(w):
    name = w.pick(sorted(w.scope.vectors))
    v = w.fresh(["back", "previous"])
    if w.chance(0.5):
        with w.block(f"for {v} in reversed({name}):", "reversed", loop=True):
            body(w, v)
    else:
        with w.block(f"for {v} in reversed(range({span(w)})):", "reversed", loop=True):
            body(w, f"(1.0 + 0.2 * {v})")


@statement(1.4)
def nested_loop(w):
    i, j = w.fresh(["i", "row"]), w.fresh(["j", "col"])
    inner, tag = w.pick(
        [("range(2)", "nested_loop"), (f"range({i} + 1)", "triangular_loop"),
         (f"range({i}, 3)", "triangular_loop")]
    )  # fmt: skip
    with w.block(f"for {i} in range(3):", "nested_loop", loop=True):
        with w.block(f"for {j} in {inner}:", tag, loop=True):
            update(w, w.pick([f"(1 + {j})", f"({i} - {j})", ""]))
        if w.chance(0.5):
            update(w)


@statement(1.2)
def bound_changed(w):
    n, i = w.fresh(["count", "bound", "top"]), w.fresh(["i", "k"])
    w.put(f"{n} = {w.rng.randint(2, 4)}")
    if w.chance(0.5):
        with w.block(f"for {i} in range({n}):", loop=True):
            w.put(f"{n} = {n} - 1", "bound_changed")
            update(w, f"(1 + {n})")
    else:
        with w.block(f"for {i} in range({n}):", loop=True):
            w.put(f"{i} = {i} * 2 + 1", "index_changed")
            update(w, f"0.5 * {i}")


@statement(0.6, "vector")
def index_changed(w):
    name = w.pick(sorted(w.scope.vectors))
    i = w.fresh(["i", "k"])
    with w.block(f"for {i} in range(len({name})):", loop=True):
        w.put(f"{i} = {i} // 2", "index_changed")
        w.mark("index_read")
        update(w, f"{name}[{i}]")


@statement(0.9)
def value_from_before(w):
    before = new_scalar(w, w.value(1), "assign")
    w.scope.frozen.add(before)
    i = w.fresh(["i", "k"])
    with w.block(f"for {i} in range({w.rng.randint(2, 4)}):", "for_range", loop=True):
        update(w, before)
    after = w.pick([f"{before} * {i}", f"{before} ** {i}"])
    new_scalar(w, f"{after} + {w.leaf()} * {before}", "value_before_loop", "loop_variable_after")


@statement(0.5, "vector")
def loop_variable_after(w):
    name = w.pick(sorted(w.scope.vectors))
    v = w.fresh(["last", "final"])
    with w.block(f"for {v} in {name}:", "for_array", loop=True):
        update(w, v)
    new_scalar(w, f"{v} * {w.leaf()}", "loop_variable_after")


@statement(1.1)
def while_loop(w):
    n, e = w.fresh(["tries", "steps", "rounds"]), w.fresh(["error", "gap", "rest"])
    w.put(f"{e} = 1.0 + {closed(w.value(1))} ** 2", "assign")
    w.put(f"{n} = 0")
    with w.block(f"while {e} > {w.number(0.1, 0.7)} and {n} < 6:", loop=True):
        w.put(f"{e} = {w.number(0.4, 0.7)} * {e} * math.cos({w.leaf()})", "while", "loop_carried")
        w.put(f"{n} += 1")
        if w.chance(0.6):
            update(w, e)
    if w.chance(0.5):
        with w.block("else:"):
            update_marked(w, "while_else")
    w.scope.scalars.append(e)
    if w.chance(0.5):
        new_scalar(w, f"{e} * {n} + {w.leaf()}", "value_before_loop")


@statement(2.4)
def break_loop(w):
    s, i = scalar_target(w), w.fresh(["i", "k", "trial"])
    test = f"abs({s}) {w.pick(['>', '<'])} {w.number(0.2, 1.0)}"
    with w.block(f"for {i} in range({w.rng.randint(2, 4)}):", loop=True):
        w.put(f"{s} = math.sin({s} + {w.number()} * {w.operand()})", "loop_carried", "reassign")
        with w.block(f"if {test}:"):
            if w.chance(0.4):
                update(w)
            w.put("break", "break", "abs")
        update(w)
    if w.chance(0.7):
        with w.block("else:"):
            update_marked(w, "for_else")


@statement(1)
def continue_loop(w):
    i = w.fresh(["i", "k"])
    with w.block(f"for {i} in range({w.rng.randint(3, 4)}):", loop=True):
        update(w)
        test = w.pick([w.condition(), f"{i} % 2 == 1"])
        with w.block(f"if {test}:"):
            w.put("continue", "continue")
        update(w)


def risky(w):
    """Return the text of a value that there is for some inputs only."""
    return f"math.sqrt({w.leaf()} + {w.number(0.05, 0.4)}) * {closed(w.value(1))}"


@statement(2.4)
def attempt(w):
    name = w.fresh(SCALAR_NAMES)
    with w.block("try:", "try"):
        if w.chance(0.5):
            new_scalar(w, w.value(1), "assign")
        if w.chance(0.5):
            with w.block(f"if {w.condition()}:"):
                w.put(f"raise {w.pick(['ValueError', 'KeyError'])}('not here')")
        w.put(f"{name} = {risky(w)}", "assign")
        if w.chance(0.4):
            update(w)
    if w.chance(0.3):
        with w.block("except KeyError:"):
            w.put(f"{name} = {w.value(1)}", "assign")
    with w.block("except (ValueError, KeyError):"):
        w.put(f"{name} = {w.value(1)}", "assign")
        if w.chance(0.4):
            body(w)
    if w.chance(0.5):
        with w.block("else:"):
            update_marked(w, "try_else")
    if w.chance(0.3):
        with w.block("finally:"):
            update_marked(w, "try_finally")
    w.scope.scalars.append(name)


@statement(1.4)
def attempts_in_a_loop(w):
    i, name = w.fresh(["i", "k", "trial"]), w.fresh(SCALAR_NAMES)
    with w.block(f"for {i} in range({w.rng.randint(2, 4)}):", loop=True):
        update(w)
        with w.block("try:", "try_in_loop"):
            shift = f"{w.number(0.05, 0.2)} - {w.number(0.1, 0.4)} * {i}"
            w.put(f"{name} = math.sqrt({w.leaf()} + {shift})", "assign")
            leaves = w.chance(0.3)
            if leaves:
                w.put(w.pick(["break", "continue"]))
        with w.block("except ValueError:"):
            if leaves or w.chance(0.4):
                body(w)
            else:
                w.put(w.pick(["break", "continue"]))
        if not leaves:
            w.put(f"{scalar_target(w)} = {w.value(1)}", "reassign")
        update(w)


@statement(1.9, "root")
def attempt_with_a_call(w):
    def write(name, parameters):
        with w.block(f"def {name}(p, q):"):
            with w.block("try:", "try_return"):
                w.put(f"return {risky(w)}")
            with w.block("except ValueError:"):
                w.put(f"return {w.value(1)}")

    def write_raising(name, parameters):
        with w.block(f"def {name}(p, q):"):
            with w.block("if p * q > 0.2:"):
                w.put("raise ValueError('too large')")
            w.put(f"return {w.value(1)}")

    if w.chance(0.5):
        fn = helper(w, write, scalars=2)
        new_scalar(w, f"{fn}({w.operand()}, {w.operand()})", "try_return")
        return
    fn = helper(w, write_raising, scalars=2)
    name = w.fresh(SCALAR_NAMES)
    with w.block("try:", "try_call"):
        w.put(f"{name} = {fn}({w.operand()}, {w.operand()}) * {w.leaf()}")
    with w.block("except ValueError:"):
        w.put(f"{name} = {w.value(1)}")
    w.scope.scalars.append(name)


@statement(0.6, "root")
def early_return_root(w):
    a = w.leaf()
    with w.block(f"if {a} > {w.number(0.9, 1.6)}:"):
        w.put(f"return {w.value(1)}", "early_return_branch")


def helper(w, write, scalars=1, vectors=0, lists=0):
    """Write a function of the module; `write` gets its arguments' names."""
    name = w.fresh(FUNCTION_NAMES)
    numbers = ["p", "q", "r"][:scalars]
    arrays = {"v": w.length} if vectors else {}
    sequences = {"values": 2} if lists else {}
    with w.function(numbers, arrays, lists=sequences) as lines:
        write(name, [*numbers, *arrays, *sequences])
    w.module.append(lines)
    return name


@statement(1.2, "root")
def call_helper(w):
    def write(name, parameters):
        with w.block(f"def {name}({', '.join(parameters)}):"):
            w.put(f"return {outcome(w)}", "helper")

    if w.scope.vectors and w.chance(0.4):
        vector = w.vector(1, w.length)
        name = helper(w, write, 1, 1)
        new_scalar(w, f"{name}({w.value(1)}, {vector})", "helper")
    else:
        name = helper(w, write, 2)
        new_scalar(w, f"{name}({w.value(1)}, {w.leaf()})", "helper")
        if w.chance(0.4):
            new_scalar(w, f"{name}({w.leaf()}, {w.number()}) + {w.leaf()}", "helper")


@statement(1, "root")
def early_return_helper(w):
    def write(name, parameters):
        with w.block(f"def {name}(p, q):"):
            with w.block(f"if {w.condition()}:"):
                w.put(f"return {w.value(1)}", "early_return_branch")
            if w.chance(0.4):
                with w.block(f"if {w.condition()}:"):
                    w.put(f"return {w.value(1)}", "early_return_branch")
            w.put(f"return {outcome(w)}")

    name = helper(w, write, 2)
    new_scalar(w, f"{name}({w.value(1)}, {w.leaf()})", "helper")


@statement(1.5, "root")
def early_return_loop(w):
    def write(name, parameters):
        with w.block(f"def {name}(p, q):"):
            with w.block("for i in range(4):", "for_range", loop=True):
                w.put("p = p + 0.4 * math.sin(q + i)", "loop_carried", "math")
                test = f"p {w.pick(['<', '>'])} {w.number(-0.2, 0.6)}"
                with w.block(f"if {test}:"):
                    w.put(
                        f"return {w.pick(['p * q', 'math.cos(p) + i * q', 'q'])}",
                        "early_return_loop",
                    )
            w.put(f"return {w.value(1)}")

    name = helper(w, write, 2)
    new_scalar(w, f"{name}({w.value(1)}, {w.leaf()})", "helper")


@statement(1, "root")
def several_results(w):
    def write(name, parameters):
        with w.block(f"def {name}(p, q):"):
            w.put(f"return {outcome(w)}, {w.value(1)}", "multiple_results")

    name = helper(w, write, 2)
    a, b = w.fresh(SCALAR_NAMES), w.fresh(SCALAR_NAMES)
    w.put(f"{a}, {b} = {name}({w.value(1)}, {w.leaf()})", "multiple_results", "tuple_assign")
    w.scope.scalars += [a, b]


@statement(4.2, "root")
def signatures(w):
    name = w.fresh(FUNCTION_NAMES)
    form = w.rng.randrange(4)
    head, result, call, tag = [
        ("p, k=0.4", "k * math.sin(p)", ["{a}", "{a}, {b}", "{a}, k={b}"], "default_argument"),
        ("p, *, k=1.5", "math.tanh(k * p)", ["{a}, k={b}", "{a}"], "keyword_only"),
        ("p, *more", "p * sum(more) + more[0]", ["{a}, {b}", "{a}, {b}, {c}"], "varargs"),
        (
            "p, **options",
            "p * options['gain'] + options.get('bias', 0.5)",
            ["{a}, gain={b}", "{a}, bias={c}, gain={b}"],
            "kwargs",
        ),
    ][form]
    with w.function(["p"]) as lines:
        with w.block(f"def {name}({head}):"):
            w.put(f"return {result}", tag, "helper")
    w.module.append(lines)
    text = w.pick(call).format(a=w.value(1), b=w.leaf(), c=w.leaf())
    new_scalar(w, f"{name}({text})", tag, "helper")


@statement(1.1, "root")
def partial_call(w):
    name = w.fresh(FUNCTION_NAMES)
    w.imports.add("from functools import partial")
    with w.function(["p", "k"]) as lines:
        with w.block(f"def {name}(k, p):"):
            w.put(f"return {w.value(1)} + k * p", "partial")
    bound = w.fresh(["bound", "fixed", "preset"])
    if w.chance(0.5):
        w.module.append(lines)
        first = w.pick([w.number(), w.leaf()])
        w.put(f"{bound} = partial({name}, {first})", "partial")
    else:
        bound = bound.upper()
        lines += [Line(0, f"{bound} = partial({name}, {w.number()})")]
        w.module.append(lines)
    new_scalar(w, f"{bound}({w.value(1)})", "partial")


@statement(0.9, "root")
def nested_definition(w):
    name = w.fresh(FUNCTION_NAMES)
    captured = w.pick([None, w.leaf()])
    own = scalar_target(w)
    w.scope.frozen.add(own)
    scalars = ["p", own] if captured else ["p"]
    outer, w.scope = w.scope, w.scope.__class__(scalars=scalars, frozen={own})
    at_root, w.at_root = w.at_root, False
    tags = ("nested_def", "closure") if captured else ("nested_def",)
    with w.block(f"def {name}(p):", *tags[:1]):
        if w.chance(0.4):
            with w.block(f"if {w.condition()}:"):
                w.put(f"return {w.value(1)}", "early_return_branch")
        text = w.value(1)
        w.put(f"return {text} * {own}" if captured else f"return {text}", *tags)
    w.scope, w.at_root = outer, at_root
    new_scalar(w, f"{name}({w.value(1)}) + {name}({w.leaf()})", *tags)


@statement(1, "root")
def lambda_call(w):
    name = w.fresh(["g", "shape", "rule"])
    captured = w.leaf()
    form = w.rng.randrange(3)
    text = [
        f"lambda p: p * math.cos(p) + {captured}",
        f"lambda p, k=0.5: k * p ** 2 * {captured}",
        "lambda p: math.sin(p) if p > 0.1 else p * p",
    ][form]
    w.put(f"{name} = {text}", "lambda", *(["closure"] if form < 2 else ["ifexp"]))
    new_scalar(w, f"{name}({w.value(1)})", "lambda")


@statement(1, "root")
def scan(w):
    name, step = w.fresh(["scan", "fold", "march"]), w.fresh(["advance", "move", "mix"])
    with w.function(["carry"]) as lines:
        with w.block(f"def {name}(step, values, init):"):
            w.put("carry = init")
            with w.block("for value in values:", loop=True):
                w.put("carry = step(carry, value)", "function_argument", "loop_carried")
            w.put("return carry")
    w.module.append(lines)
    values = w.pick(sorted(w.scope.vectors)) if w.scope.vectors else f"[{w.leaf()}, {w.leaf()}]"
    if w.chance(0.5):
        factor = w.pick([w.number(0.3, 0.9), w.leaf()])
        with w.block(f"def {step}(c, t):", "nested_def"):
            w.put(f"return math.tanh({factor} * c + t)", "function_argument", "closure", "math")
        given = step
    else:
        given = f"lambda c, t: {w.number(0.3, 0.8)} * c + math.sin(t)"
        w.mark("lambda", "math")
    new_scalar(w, f"{name}({given}, {values}, {w.value(1)})", "function_argument")


@statement(0.8, "root")
def recursion(w):
    name = w.fresh(["power_of", "nest", "chain"])
    form = w.pick(["p * {n}(p, depth - 1) + 0.3", "math.sin({n}(p, depth - 1) + p)"])
    with w.function(["p"]) as lines:
        with w.block(f"def {name}(p, depth):"):
            with w.block("if depth == 0:"):
                w.put(f"return {w.value(1)}")
            w.put(f"return {form.format(n=name)}", "recursion", "early_return_branch")
    w.module.append(lines)
    new_scalar(w, f"{name}({w.value(1)}, {w.rng.randint(1, 4)})", "recursion")


@statement(0.7, "root")
def mutual_recursion(w):
    a, b = w.fresh(["ping", "even_step", "rise"]), w.fresh(["pong", "odd_step", "fall"])
    with w.function(["p"]) as lines:
        with w.block(f"def {a}(p, depth):"):
            with w.block("if depth <= 0:"):
                w.put("return p", "early_return_branch")
            w.put(f"return {b}(math.sin(p) + {w.number()}, depth - 1)", "mutual_recursion")
    w.module.append(lines)
    with w.function(["p"]) as lines:
        with w.block(f"def {b}(p, depth):"):
            with w.block("if depth <= 0:"):
                w.put("return p * p")
            w.put(f"return p * {a}({w.value(1)}, depth - 1)", "mutual_recursion")
    w.module.append(lines)
    new_scalar(w, f"{a}({w.value(1)}, {w.rng.randint(1, 4)})", "mutual_recursion")


@statement(1, "root")
def model_instance(w):
    kind, instance = w.fresh(["Model", "Well", "Curve"]), w.fresh(["MODEL", "WELL", "CURVE"])
    with w.function(["p"]) as lines:
        with w.block(f"class {kind}:"):
            with w.block("def __init__(self, stiffness):"):
                w.put("self.stiffness = stiffness")
            w.put("")
            with w.block("def energy(self, p):"):
                w.put(f"return 0.5 * self.stiffness * p ** 2 + {w.value(1)}", "method")
            w.put("")
            with w.block("def __call__(self, p):"):
                w.put("return math.cos(self.stiffness * p)", "callable_object", "math")
    lines.append(Line(0, ""))
    lines.append(Line(0, ""))
    lines.append(Line(0, f"{instance} = {kind}({w.number()})"))
    w.module.append(lines)
    if w.chance(0.6):
        new_scalar(w, f"{instance}.energy({w.value(1)})", "method")
    if w.chance(0.6):
        new_scalar(w, f"{instance}({w.value(1)})", "callable_object")


def record(w, head, kind, name):
    """Write a class of two fields with a property, a method and a call; add one as a parameter."""
    with w.function(["self.k", "self.m"]) as lines:
        if head.startswith("@"):
            w.put(head)
            head = ""
        with w.block(f"class {kind}{head}:"):
            w.put("k: float")
            w.put("m: float")
            w.put("")
            w.put("@property")
            with w.block("def omega(self):"):
                w.put(f"return {w.value(1)}", "property")
            w.put("")
            with w.block("def energy(self, p):"):
                w.put("return 0.5 * self.k * p ** 2 - self.m * p", "method")
            w.put("")
            with w.block("def __call__(self, p):"):
                w.put("return math.tanh(self.m * p + self.k)", "callable_object", "math")
    w.module.append(lines)
    example = f"{kind}({self_numbers(w)})"
    return w.parameter(name, example, w.may_activate())


def self_numbers(w):
    """Return the text of two positive numbers."""
    return f"{w.number()}, {w.number()}"


@statement(3.4, "root")
def structure(w):
    if w.chance(0.5):
        w.imports.add("from typing import NamedTuple")
        head, kind, tag = "(NamedTuple)", w.fresh(["Params", "Point"]), "namedtuple_argument"
    else:
        w.imports.add("from dataclasses import dataclass")
        head, kind, tag = (
            "@dataclass(frozen=True)",
            w.fresh(["Spring", "Lens"]),
            "dataclass_argument",
        )
    made = record(w, head, kind, w.fresh(["spec", "setup", "params"]))
    name = made.name
    active = tag if made.active else "inactive_value"
    new_scalar(w, f"{name}.k * {w.value(1)} + {name}.m ** 2", active)
    use = w.rng.randrange(3)
    text = [f"{name}.omega", f"{name}.energy({w.leaf()})", f"{name}({w.leaf()})"][use]
    new_scalar(w, f"{text} * {w.leaf()}", ["property", "method", "callable_object"][use])


@statement(2.4, "root")
def dictionary(w):
    if w.scope.vectors and w.chance(0.3):
        dictionary_of_arrays(w)
        return
    keys = w.pick([["a", "b"], ["gain", "bias", "tilt"], ["mu", "nu"]])
    values = [w.number(-1.2, 1.2) for _ in keys]
    example = "{" + ", ".join(f"'{k}': {v}" for k, v in zip(keys, values)) + "}"
    made = w.parameter(w.fresh(["theta", "coeffs"]), example, w.may_activate())
    tag = ("dict_argument",) if made.active else ("inactive_value",)
    if w.chance(0.75):
        key, value = w.fresh(["key", "name"]), w.fresh(["amount", "content"])
        call = w.pick(["items", "items", "items", "values"])
        target = f"{key}, {value}" if call == "items" else value
        tags = ("dict_items", *tag) if call == "items" else tag
        with w.block(f"for {target} in {made.name}.{call}():", *tags, loop=True):
            body(w, value)
        return
    new_scalar(w, f"{made.name}['{keys[0]}'] * {w.leaf()} + {made.name}['{keys[-1]}'] ** 2", *tag)


def dictionary_of_arrays(w):
    """Add a dict of an array and a float, as a layer of a network has it."""
    example = f"{{'w': np.array([{w.numbers(w.length)}]), 'b': {w.number()}}}"
    made = w.parameter(w.fresh(["layer", "model"]), example, w.may_activate())
    tag = ("dict_argument",) if made.active else ("inactive_value",)
    vector = w.vector(1, w.length)
    text = f"np.tanh({made.name}['w'] @ {closed(vector)} + {made.name}['b'])"
    new_scalar(w, text, "matmul", *tag)


@statement(2, "root")
def list_argument(w):
    length = w.rng.randint(2, 4)
    made = w.parameter(w.fresh(["samples", "knots"]), f"[{w.numbers(length)}]", w.may_activate())
    tag = ("list_argument",) if made.active else ("inactive_value",)
    if made.active:
        w.scope.lists[made.name] = length
    text = w.pick([f"{made.name}[0] * {made.name}[-1]", f"sum({made.name})", f"max({made.name})"])
    w.mark({"s": "sum", "m": "max"}.get(text[0], "list_index") if made.active else "inactive_value")
    new_scalar(w, f"{text} + {w.leaf()}", *tag)


@statement(1.9, "root")
def tuple_argument(w):
    nested = w.chance(0.4)
    first = f"({w.numbers(2)})" if nested else f"{w.numbers(1)}"
    made = w.parameter(w.fresh(["pair", "point"]), f"({first}, {w.numbers(1)})", w.may_activate())
    tag = ("tuple_argument",) if made.active else ("inactive_value",)
    a, b = w.fresh(SCALAR_NAMES), w.fresh(SCALAR_NAMES)
    if nested:
        c = w.fresh(SCALAR_NAMES)
        w.put(f"({a}, {c}), {b} = {made.name}", *tag, "tuple_assign")
        w.scope.scalars.append(c)
    else:
        w.put(f"{a}, {b} = {made.name}", *tag, "tuple_assign")
    w.scope.scalars += [a, b]
    new_scalar(w, f"{a} * {b} + {w.leaf()}", *tag)


@statement(0.9, "root")
def int_argument(w):
    name = w.parameter("n", str(w.rng.randint(2, 4)), False).name
    if w.chance(0.5):
        i = w.fresh(["i", "k"])
        with w.block(f"for {i} in range({name}):", "for_range", loop=True):
            update_marked(w, "int_argument")
    else:
        new_scalar(w, f"{closed(w.value(1))} ** {name} / {name}", "int_argument")


@statement(1.2, "root")
def global_constant(w):
    name = w.fresh(["GRAVITY", "SCALE", "TOLERANCE", "COEFFS", "TABLE"])
    if name in ("COEFFS", "TABLE"):
        text, use = f"np.array([{w.numbers(3)}])", f"{name}[{w.rng.randrange(3)}]"
    else:
        text, use = w.number(), name
    w.module.append([Line(0, f"{name} = {text}")])
    w.scope.constants.append(use)
    new_scalar(w, f"{use} * {closed(w.value(1))}", "global_constant", "inactive_value")


@statement(1.6, "root")
def printing(w):
    w.imports.add("import io")
    if not any(line.text.startswith("LOG =") for lines in w.module for line in lines):
        w.module.append([Line(0, "LOG = io.StringIO()")])
    name = scalar_target(w)
    form = w.rng.randrange(3)
    if form == 0:
        w.put(f"print(f'{name} = {{{name}:.3f}}', file=LOG)", "print", "f_string")
    elif form == 1:
        w.put(f"print('{name}', {name}, file=LOG)", "print")
    else:
        notes = w.fresh(["notes", "messages"])
        w.put(f"{notes} = []")
        w.put(f"{notes}.append(f'{name} is {{{name}:8.2e}}')", "f_string")
        w.put(f"assert len({notes}) == 1", "f_string")


@statement(1.3)
def list_filled(w):
    name, i = w.fresh(["history", "path", "terms", "levels"]), w.fresh(["i", "k"])
    length = w.rng.randint(2, 4)
    w.put(f"{name} = []")
    with w.block(f"for {i} in range({length}):", "for_range", loop=True):
        w.put(f"{name}.append({w.tame(f'{closed(w.scalar(1))} + 0.3 * {i}')})", "list_append")
        if w.chance(0.4):
            update(w, f"{name}[-1]")
    w.scope.lists[name] = length
    form = w.rng.randrange(4)
    text, tags = [
        (f"{name}[0] * {name}[-1] + {name}[{length // 2}]", ("list_index",)),
        (f"sum({name})", ("sum", "list_whole")),
        (f"np.sum(np.array({name}) ** 2)", ("array", "list_whole", "reduction")),
        (f"max({name}) - min({name})", ("max", "min", "list_whole")),
    ][form]
    new_scalar(w, text, *tags)


@statement(4.5)
def comprehension(w):
    name = w.fresh(SCALAR_NAMES)
    source = w.pick(sorted(w.scope.vectors) + sorted(w.scope.lists) + ["range(3)"])
    t = w.fresh(["z", "e", "h"])
    a = w.leaf()
    element = w.pick([f"{t} * {a}", f"math.sin({t} + {a})", f"{t} ** 2 * {a} - {t}"])
    condition = w.pick(["", "", f" if {t} > 0.0" if source != "range(3)" else f" if {t} != 1"])
    form = w.rng.randrange(6)
    text, tags = [
        (f"sum({element} for {t} in {source})", ("sum_generator", "sum")),
        (f"max({element} for {t} in {source})", ("max_generator", "max")),
        (f"min({element} for {t} in {source})", ("min_generator", "min")),
        (f"list({element} for {t} in {source})", ("list_generator",)),
        (f"[{element} for {t} in {source}]", ("list_comprehension",)),
        (f"np.array([{element} for {t} in {source}])", ("array_comprehension", "array")),
    ][form]
    if condition and form in (0, 4):
        text = text.replace(f" in {source}", f" in {source}{condition}")
    if form < 3:
        w.put(f"{name} = {text} + {w.leaf()}", *tags)
    else:
        items = w.fresh(["terms", "parts", "pieces"])
        w.put(f"{items} = {text}", *tags)
        total = f"np.mean({items})" if form == 5 else f"sum({items})"
        w.put(f"{name} = {total}", *(("reduction",) if form == 5 else ("sum", "list_whole")))
    w.scope.scalars.append(name)


@statement(1.6, "vector")
def new_array(w):
    name = w.fresh(VECTOR_NAMES)
    text = w.vector(2, w.length)
    w.put(f"{name} = np.tanh({text})" if w.loops else f"{name} = {text}", "elementwise")
    w.scope.vectors[name] = w.length
    new_scalar(w, f"np.sum({name} * {w.vector(0, w.length)})", "reduction")


@statement(0.7, "vector")
def array_reassigned(w):
    free = [k for k in sorted(w.scope.vectors) if k not in w.scope.frozen]
    name = w.pick(free)
    text = w.vector(1, w.scope.vectors[name])
    w.put(f"{name} = {w.number(0.3, 0.9)} * {name} + np.sin({text})", "reassign", "elementwise")
    new_scalar(w, f"{name} @ {name}", "matmul")


@statement(4.5, "root")
def matrices(w):
    if not w.scope.matrices and w.chance(0.6):
        name = w.new_matrix()
        if w.parameters[-1].active:
            w.mark("matrix_argument")
        else:
            del w.root.matrices[name]
        if w.scope.vectors:
            vector = closed(w.vector(1, w.length))
            text = w.pick([f"np.sum({name} @ {vector})", f"np.dot({name}, {vector})[1]"])
            new_scalar(w, text, "matmul" if "@" in text else "dot")
        else:
            new_scalar(w, f"np.sum({name} ** 2)", "reduction")
        return
    if not w.scope.vectors:
        return
    name = w.fresh(MATRIX_NAMES)
    text, shape = w.matrix()
    w.put(f"{name} = {text}")
    w.scope.matrices[name] = shape
    forms = [
        (f"np.sum({name}, axis=0)[0]", "reduction_axis"),
        (f"np.max({name}, axis=1) @ {name}[:, 0]", "reduction_axis"),
        (f"np.sum({name}.T @ {name})", "transpose"),
        (f"np.mean({name} - {name}.max(axis=0, keepdims=True))", "keepdims"),
        (f"{name}[0, 1] * {name}[-1].sum()", "index_read"),
        (f"np.sum({name}[:, 1:] * {name}[:, :-1])", "slice_read"),
        (f"np.trace({name} @ {name}.T)", "matmul"),
        (f"np.sort({name}.reshape(-1))[1]", "sort"),
    ]
    text, tag = w.pick(forms)
    new_scalar(w, text, tag)


def _head(w: Writer) -> None:
    """Give f its first parameters and its first values."""
    if w.chance(0.85):
        w.new_vector()
    for _ in range(w.rng.randint(0 if w.parameters else 1, 2)):
        name = w.parameter(w.pick(["a", "b", "s", "rho"]), w.number(-1.2, 1.4), True).name
        w.scope.scalars.append(name)
    if w.chance(0.25):
        w.scope.constants.append(w.parameter("eps", w.number(0.05, 0.4), False).name)
    if not w.scope.scalars or w.chance(0.4):
        new_scalar(w, w.value(2), "assign")


def _result(w: Writer) -> str:
    """Return an expression of what is in scope at the end."""
    names = w.scope.scalars[-9:]
    first = [s for s in w.scope.scalars if s not in names][:1]
    terms = [f"{w.number()} * {name}" if w.chance(0.4) else name for name in [*first, *names]]
    if w.scope.vectors and w.chance(0.5):
        terms.append(f"np.sum({w.pick(sorted(w.scope.vectors))})")
    return " + ".join(terms)


def candidate(
    rng: random.Random, writing: Callable[[Writer], None]
) -> tuple[list[Line], tuple[int, ...]]:
    """Write one program; return its lines and the active positions.

    `writing` writes a statement that writes an array: in half of the programs many are.
    """
    w = Writer(rng)
    w.writing = writing
    w.writes = w.pick([0.0, 0.0, 0.35, 0.6])
    _head(w)
    size = rng.randint(8, 22)
    while len(w.lines) + sum(len(lines) for lines in w.module) < size:
        one(w)
    w.put(f"return {_result(w)}")
    signature = ", ".join(p.name for p in w.parameters)
    examples = ", ".join(p.example for p in w.parameters)
    lines = [Line(0, text) for text in sorted(w.imports, key=lambda t: (t.startswith("from"), t))]
    for part in w.module:
        gap = 2 if part[0].text.startswith(("def", "class", "@")) else 1
        lines += [*[Line(0, "")] * gap, *part]
    lines += [Line(0, ""), Line(0, ""), Line(0, f"def f({signature}):"), *w.lines]
    active = tuple(i for i, p in enumerate(w.parameters) if p.active)
    lines += [Line(0, ""), Line(0, ""), Line(0, "def arguments():")]
    lines += [
        Line(1, f"return {examples}" if len(w.parameters) > 1 else f"return ({examples},)"),
        Line(0, ""),
        Line(0, ""),
    ]
    lines += [Line(0, f"WRT = {active}")]
    return lines, active


def render(lines: list[Line]) -> str:
    """Return the text of lines."""
    return "".join(f"{'    ' * line.depth}{line.text}".rstrip() + "\n" for line in lines)


def body_lines(lines: list[Line]) -> list[Line]:
    """Return the lines that are the program proper: no blank ones, imports, arguments or WRT."""
    skip = ("import", "from", "WRT", "def arguments")
    return [line for line in lines[:-7] if line.text and not line.text.startswith(skip)]
