"""The statements of the random programs that write arrays in place, and look at them through views.

They stand in the body of f alone, at any depth there: what they write is an array that f has made
or been given. `WRITING` holds them apart from the other statements; some programs consist of these
for the most part.
"""

from __future__ import annotations

from grammar import MATRIX_NAMES, VECTOR_NAMES, Writer, closed
from statements import Statement, body, helper, new_scalar, update

WRITING: list[Statement] = []


def writing(weight: float = 1.0, place: str = "any"):
    """Register a production that writes arrays."""

    def register(write):
        WRITING.append(Statement(write, weight, place))
        return write

    return register


def one_writing(w: Writer) -> None:
    """Write a production that writes arrays, or reads them in between."""
    if not w.vectors():
        return
    root = w.at_root and w.depth == 1
    fit = [s for s in WRITING if s.place == "any" or (root and s.place == "root")]
    fit = [s for s in fit if w.depth < 4 or s.weight >= 2]
    w.rng.choices(fit, [s.weight for s in fit])[0].write(w)


def target(w: Writer, least: int = 2) -> tuple[str, int]:
    """Return a vector that may be written, and its length."""
    name, length = w.pick([(k, n) for k, n in sorted(w.scope.vectors.items()) if n >= least])
    return name, length


def put(w: Writer, base: str, text: str, *tags: str) -> None:
    """Write a statement that writes `base`."""
    given = ("argument_write",) if base in {p.name for p in w.parameters} else ()
    loops = ("loop_write",) if w.loops else ()
    blocks = ("branch_write",) if w.depth > 1 + w.loops else ()
    w.put(text, *tags, *given, *loops, *blocks)


def small(w: Writer, depth: int = 1) -> str:
    """Return a scalar that stays small."""
    return w.tame(w.scalar(depth))


def small_vector(w: Writer, length: int, depth: int = 1) -> str:
    """Return a vector that stays small."""
    text = w.vector(depth, length)
    if not w.loops and w.chance(0.5):
        return text
    w.mark("elementwise")
    return w.pick([f"np.tanh({text})", f"np.sin({text})"])


def other(w: Writer, length: int) -> str:
    """Return a vector of this length, as likely as not the one that is written."""
    return w.pick([k for k, n in sorted(w.scope.vectors.items()) if n == length])


def place(w: Writer, length: int) -> tuple[str, int, str]:
    """Return the text of a part of a vector, its length, and what construct that is."""
    k = w.rng.randrange(1, length)
    options = [
        (f"{k}:", length - k, "slice_write"),
        (f":{k}", k, "slice_write"),
        (f"-{k}:", k, "slice_write"),
        (":-1", length - 1, "slice_write"),
        (":", length, "slice_write"),
        ("...", length, "slice_write"),
        ("::2", (length + 1) // 2, "step_write"),
        ("1::2", length // 2, "step_write"),
        ("::-1", length, "step_write"),
        ("::-2", (length + 1) // 2, "step_write"),
    ]
    return w.pick(options)


def part_of(w: Writer, length: int) -> str:
    """Return the text of a vector of any length, often a part of one in scope."""
    found = []
    for k, n in sorted(w.scope.vectors.items()):
        if n > length:
            found += [f"{k}[{n - length}:]", f"{k}[:{length}]", f"{k}[-{length}:]"]
        if n == length:
            found += [k, f"{k}[::-1]"]
    if not found or w.chance(0.2):
        return f"np.array([{', '.join(w.leaf() for _ in range(length))}])"
    w.mark("slice_read")
    return w.pick(found)


OPERATORS = ("+=", "-=", "*=", "/=")


def augmented(w: Writer, operand: str) -> str:
    """Return an augmented operator with an operand that keeps what it changes small."""
    op = w.pick(OPERATORS)
    if op in ("+=", "-="):
        return f"{op} {w.number(0.1, 0.8)} * {closed(operand)}"
    if op == "*=":
        return f"*= {w.pick([f'np.cos({operand})', w.number(0.4, 0.9), f'np.tanh({operand})'])}"
    return f"/= {w.number(1.1, 1.9)} + {closed(operand)} ** 2"


@writing(3)
def item_write(w):
    name, length = target(w)
    i = w.rng.randrange(-length, length)
    tag = "item_write" if i >= 0 else "negative_write"
    put(w, name, f"{name}[{i}] = {small(w)}", tag)
    if w.chance(0.3):
        new_scalar(w, f"np.sum({name} ** 2) + {name}[{i}]", "reduction")


@writing(2.4)
def augmented_item(w):
    name, length = target(w)
    i = w.rng.randrange(-length, length)
    put(w, name, f"{name}[{i}] {augmented(w, w.leaf())}", "augmented_item")


@writing(3)
def slice_write(w):
    name, length = target(w)
    index, count, tag = place(w, length)
    form = w.rng.randrange(4)
    if form == 0:
        value = small(w)
    elif form == 1:
        value = f"{part_of(w, count)} * {w.leaf()}"
    elif form == 2:
        value = f"np.sin({part_of(w, count)}) + {part_of(w, count)}"
    else:
        value = part_of(w, count)
    value = f"np.tanh({value})" if w.loops and form else value
    put(w, name, f"{name}[{index}] = {value}", tag)


@writing(2.4)
def augmented_slice(w):
    name, length = target(w)
    index, count, tag = place(w, length)
    operand = part_of(w, count) if w.chance(0.7) else w.leaf()
    put(w, name, f"{name}[{index}] {augmented(w, operand)}", "augmented_slice", tag)


@writing(3)
def augmented_whole(w):
    name, length = target(w)
    form = w.pick([0, 0, 1, 2, 3])
    if form == 0:
        text = f"{name} /= 1.0 + np.sum({name} * {name})"
        w.mark("self_dependence")
    elif form == 1:
        text = f"{name} {augmented(w, w.leaf())}"
    elif form == 2:
        text = f"{name} **= 2"
    else:
        text = f"{name} {augmented(w, other(w, length))}"
    put(w, name, text, "augmented_whole")


@writing(2.4)
def mask_write(w):
    name, length = target(w)
    test = f"{w.pick([name, other(w, length)])} {w.pick('<>')} {w.number(-0.4, 0.4)}"
    index = test
    if w.chance(0.4):
        index = w.fresh(["mask", "chosen", "where_"])
        w.put(f"{index} = {test}")
    form = w.rng.randrange(4)
    if form == 0:
        text = f"{name}[{index}] = {small(w)}"
    elif form == 1:
        text = f"{name}[{index}] = np.sin({other(w, length)}[{index}])"
    elif form == 2:
        text = f"{name}[{index}] {augmented(w, w.leaf())}"
    else:
        text = f"{name}[{index}] *= np.cos({other(w, length)}[{index}])"
    put(w, name, text, "mask_write")


@writing(2.4)
def fancy_write(w):
    name, length = target(w)
    count = w.rng.randint(2, 4)
    numbers = [w.rng.randrange(length) for _ in range(count)]
    tags = ["fancy_write"] + (["fancy_repeat"] if len(set(numbers)) < count else [])
    index = f"{numbers}"
    if w.chance(0.5):
        index = w.fresh(["index", "order", "cells"])
        w.put(f"{index} = np.array({numbers})")
    form = w.rng.randrange(4)
    if form == 0:
        text = f"= {small(w)}"
    elif form == 1:
        text = f"= np.array([{', '.join(w.leaf() for _ in range(count))}])"
    elif form == 2:
        text = augmented(w, f"{other(w, length)}[{index}]")
    else:
        text = f"= np.sin({other(w, length)}[{index}])"
    put(w, name, f"{name}[{index}] {text}", *tags)


@writing(2)
def array_swap(w):
    free = {k: n for k, n in sorted(w.scope.vectors.items()) if k not in w.scope.frozen}
    pairs = [(a, b) for a in free for b in free if a < b and free[a] == free[b]]
    if not pairs:
        name, length = target(w)
        new = w.fresh(VECTOR_NAMES)
        w.put(f"{new} = np.sin({name})", "elementwise")
        w.scope.vectors[new] = length
        pairs = [(name, new)]
    a, b = w.pick(pairs)
    if w.chance(0.5):
        put(w, a, f"{a}[0] {augmented(w, w.leaf())}", "augmented_item")
    w.put(f"{a}, {b} = {b}, {a}", "array_swap")
    put(w, b, f"{b}[-1] = {small(w)}", "negative_write")


@writing(1.6)
def element_swap(w):
    name, length = target(w)
    i, j = w.rng.sample(range(length), 2)
    put(w, name, f"{name}[{i}], {name}[{j}] = {name}[{j}], {name}[{i}]", "element_swap")


@writing(3)
def view_of_part(w):
    name, length = target(w, 3)
    new = w.fresh(["part", "window", "inside", "edge"])
    k = w.rng.randrange(1, length - 1)
    index, count = w.pick(
        [(f"{k}:", length - k), (f":{k + 1}", k + 1), ("::-1", length), ("::2", (length + 1) // 2)]
    )
    w.put(f"{new} = {name}[{index}]", "view_slice")
    if count > 1:
        w.scope.vectors[new] = count
    base, via = (new, name) if w.chance(0.5) else (name, new)
    tag = "view_written" if base == new else "view_read"
    if w.chance(0.5):
        put(w, name, f"{base}[0] = {small(w)}", tag)
    else:
        put(w, name, f"{base} {augmented(w, w.leaf())}", tag)
    new_scalar(w, f"np.sum({via} ** 2)", tag, "reduction")


@writing(1.4)
def alias_written(w):
    name, length = target(w)
    new = w.fresh(VECTOR_NAMES)
    w.put(f"{new} = {name}", "alias")
    w.scope.vectors[new] = length
    a, b = (name, new) if w.chance(0.5) else (new, name)
    put(w, name, f"{a}[{w.rng.randrange(length)}] = {small(w)}", "alias_written")
    if w.chance(0.6):
        put(w, name, f"{b} {augmented(w, w.leaf())}", "alias_written")
    new_scalar(w, f"{name} @ {new}", "matmul")


@writing(2.4)
def filled(w):
    name, length = target(w)
    new, i = w.fresh(VECTOR_NAMES), w.fresh(["i", "k"])
    form, tag = w.pick(
        [
            (f"np.zeros({length})", "zeros_filled"),
            (f"np.zeros_like({name})", "zeros_filled"),
            (f"np.empty_like({name})", "empty_filled"),
            (f"np.empty({length})", "empty_filled"),
            (f"{name}.copy()", "copy_filled"),
            (f"np.copy({name})", "copy_filled"),
        ]
    )
    w.put(f"{new} = {form}")
    with w.block(f"for {i} in range({length}):", "for_range", loop=True):
        w.mark("index_read")
        if w.chance(0.35):
            with w.block(f"if {name}[{i}] > {w.number(-0.3, 0.3)}:", "if_else"):
                w.put(f"{new}[{i}] = {name}[{i}] * {closed(w.leaf())}", tag, "branch_write")
            with w.block("else:"):
                w.put(f"{new}[{i}] = {small(w)}", tag, "branch_write", "loop_write")
        else:
            w.put(f"{new}[{i}] = {small(w)} + {name}[{i}] ** 2", tag, "loop_write")
        if w.chance(0.3):
            w.put(f"{new}[{i}] *= {new}[0]", "augmented_item", "loop_write")
        if w.chance(0.3):
            w.scope.vectors[new] = length
            body(w)
    w.scope.vectors[new] = length
    new_scalar(w, f"np.sum({new} * {name})", "reduction", tag)


@writing(2)
def own_input(w):
    name, length = target(w)
    i = w.fresh(["i", "k"])
    head, near = w.pick(
        [
            (f"range(1, {length})", f"{i} - 1"),
            (f"range({length} - 1)", f"{i} + 1"),
            (f"range({length} - 2, -1, -1)", f"{i} + 1"),
            (f"range(1, len({name}))", f"{i} - 1"),
        ]
    )
    with w.block(f"for {i} in {head}:", "for_range_start", loop=True):
        text = w.pick(
            [
                f"{name}[{i}] = np.tanh({name}[{near}] * {w.leaf()} + {name}[{i}])",
                f"{name}[{i}] -= {w.number(0.1, 0.9)} * {name}[{near}] ** 2",
                f"{name}[{i}] = {name}[{near}] * math.cos({name}[{i}])",
                f"{name}[{i}] *= math.sin({name}[{near}])",
            ]
        )
        put(w, name, text, "own_input", "loop_write")
        end = w.rng.randrange(5)
        if end < 2:
            with w.block(f"if {name}[{i}] {w.pick('<>')} {w.number(-0.3, 0.6)}:"):
                if w.chance(0.5):
                    put(w, name, f"{name}[{i}] += {small(w)}", "augmented_item")
                w.put(w.pick(["break", "continue"]), "own_input")
            put(w, name, f"{name}[0] = {small(w)}", "item_write")
    if w.chance(0.5):
        new_scalar(w, f"np.sum({name} ** 2)", "reduction")


@writing(2)
def branch(w):
    name, length = target(w)
    with w.block(f"if {w.condition()}:", "if_else"):
        put(w, name, f"{name}[{w.rng.randrange(length)}] = {small(w)}", "branch_write")
        if w.chance(0.4):
            one_writing(w)
    if w.chance(0.7):
        with w.block("else:"):
            put(w, name, f"{name} {augmented(w, w.leaf())}", "branch_write")
            if w.chance(0.3):
                update(w)


@writing(2)
def loop(w):
    i = w.fresh(["i", "k", "round_"])
    trips = w.pick(["2", "3", "4", "2", "0"])
    with w.block(f"for {i} in range({trips}):", "for_range", loop=True):
        for _ in range(w.rng.randint(1, 2)):
            one_writing(w)
        if w.chance(0.4):
            with w.block(f"if {w.condition()}:"):
                if w.chance(0.6):
                    one_writing(w)
                w.put(w.pick(["break", "continue"]))
        update(w)
        if w.chance(0.3):
            one_writing(w)
    if w.chance(0.3):
        with w.block("else:"):
            one_writing(w)


@writing(1.8)
def while_write(w):
    name, length = target(w)
    n = w.fresh(["tries", "steps", "rounds"])
    w.put(f"{n} = 0")
    with w.block(f"while np.sum({name} ** 2) > {w.number(0.1, 0.7)} and {n} < 5:", loop=True):
        put(w, name, f"{name} *= {w.number(0.5, 0.8)}", "while_write", "augmented_whole")
        if w.chance(0.5):
            i = w.rng.randrange(length)
            put(w, name, f"{name}[{i}] += {w.number(0.1, 0.3)} * {small(w)}", "augmented_item")
        w.put(f"{n} += 1")
        if w.chance(0.4):
            one_writing(w)


@writing(1.8)
def stepping(w):
    """Time steps: old values copied, two buffers swapped, or a new array every round."""
    name, length = target(w, 3)
    i, new = w.fresh(["i", "n_", "t_"]), w.fresh(["old", "before", "previous_"])
    trips, form = w.rng.randint(2, 3), w.rng.randrange(3)
    rate = w.pick([w.number(0.1, 0.4), f"0.3 * {w.tame(w.leaf())}"])
    inner = f"{new}[1:-1] * ({new}[2:] - {new}[:-2])"
    if form == 0:
        with w.block(f"for {i} in range({trips}):", "for_range", loop=True):
            w.put(f"{new} = {name}.copy()", "copy_filled")
            put(w, name, f"{name}[1:-1] = {new}[1:-1] + {rate} * {inner}", "stepping")
            put(w, name, f"{name}[0] = {name}[1]", "item_write")
        return
    if name in w.scope.frozen:
        return
    if form == 1:
        w.put(f"{new} = np.empty_like({name})", "empty_filled")
        with w.block(f"for {i} in range({trips}):", "for_range", loop=True):
            w.put(f"{new}[1:-1] = np.sin({name}[2:]) - {rate} * {name}[:-2]", "stepping")
            w.put(f"{new}[0] = {name}[0]", "loop_write")
            w.put(f"{new}[-1] = {name}[-2] * {name}[0]", "negative_write")
            w.put(f"{name}, {new} = {new}, {name}", "array_swap")
    else:
        with w.block(f"for {i} in range({trips}):", "for_range", loop=True):
            w.put(f"{new} = np.zeros_like({name})", "zeros_filled")
            w.put(f"{new}[1:] = {name}[:-1] * {rate}", "stepping", "loop_write")
            w.put(f"{new}[0] = np.tanh({name}[-1] + {new}[1])", "loop_write")
            w.put(f"{name} = {new}", "reassign")


@writing(3)
def matrix_write(w):
    if not w.scope.matrices or w.chance(0.3):
        name, length = target(w)
        new = w.fresh(MATRIX_NAMES)
        w.put(f"{new} = np.outer({name}, {other(w, length)})", "outer")
        w.scope.matrices[new] = (length, length)
    name, (rows, columns) = w.pick(sorted(w.scope.matrices.items()))
    i, j = w.rng.randrange(rows), w.rng.randrange(columns)
    forms = [
        (f"{name}[{i}, {j}] = {small(w)}", "item_write"),
        (f"{name}[{i}] = {w.number(0.3, 0.9)} * {name}[{w.rng.randrange(rows)}]", "row_write"),
        (f"{name}[{i}] *= {w.tame(w.leaf())}", "row_write"),
        (f"{name}[:, {j}] = {small(w)}", "row_write"),
        (f"{name}[1:] -= 0.4 * {name}[:-1]", "row_write"),
        (f"{name}[[0, 1]] = {name}[[1, 0]]", "row_swap"),
        (f"{name}[[0, -1]] = {name}[[-1, 0]]", "row_swap"),
        (f"{name}[{name} > {w.number(-0.2, 0.5)}] *= {w.number(0.2, 0.8)}", "mask_write"),
        (f"{name} *= np.cos({name})", "augmented_whole"),
    ]
    text, tag = w.pick(forms)
    put(w, name, text, "matrix_write", tag)
    if w.chance(0.6):
        new_scalar(w, f"np.mean({name} ** 2)", "reduction")


@writing(2.4)
def row_view(w):
    if not w.scope.matrices:
        matrix_write(w)
    name, (rows, columns) = w.pick(sorted(w.scope.matrices.items()))
    form = w.rng.randrange(4)
    if form == 0:
        new = w.fresh(["row", "line_"])
        w.put(f"{new} = {name}[{w.rng.randrange(rows)}]", "view_row")
        w.scope.vectors[new] = columns
        put(w, name, f"{w.pick([new, name])} {augmented(w, w.leaf())}", "view_row")
        new_scalar(w, f"np.sum({name} * {new})", "reduction")
    elif form == 1:
        new = w.fresh(["turned", "flipped"])
        w.put(f"{new} = {name}.T", "view_transpose")
        w.scope.matrices[new] = (columns, rows)
        base = w.pick([new, name])
        put(w, name, f"{base}[0] = {small(w)}", "view_transpose", "row_write")
        new_scalar(w, f"np.sum({w.pick([new, name])} ** 2)", "reduction")
    elif form == 2:
        row = w.fresh(["row", "line_"])
        with w.block(f"for {row} in {name}:", "for_array", loop=True):
            w.put(f"{row}[0] = np.tanh(np.sum({row}))", "view_row", "loop_write")
            if w.chance(0.5):
                w.put(f"{row} *= math.cos({row}[1])", "view_row", "loop_write")
    else:
        i = w.fresh(["i", "k"])
        with w.block(f"for {i} in range({rows}):", "for_range", loop=True):
            row = w.fresh(["row", "line_"])
            w.put(f"{row} = {name}[{i}]", "view_row")
            w.put(f"{row}[{w.rng.randrange(columns)}] = {small(w)}", "view_row", "loop_write")
            w.put(f"{row} /= 1.0 + np.sum({row} ** 2)", "view_row", "loop_write")


@writing(1.6)
def kept_value(w):
    """A value read before what it was read from is written."""
    name, length = target(w)
    i = w.rng.randrange(length)
    text = w.pick([f"{name}[{i}]", f"np.sum({name})", f"{name}[:2] @ {name}[-2:]", f"{name}.max()"])
    old = new_scalar(w, text, "kept_value")
    put(w, name, f"{name}[{i}] = {old} * {small(w)}", "kept_value")
    new_scalar(w, f"{old} * {name}[{i}]", "kept_value")


@writing(1.6, "root")
def helper_before_and_after(w):
    """A helper that reads an array before and after it is written, or gives a part of it."""
    form = w.rng.randrange(4)

    def write(name, parameters):
        with w.block(f"def {name}({', '.join(parameters)}):"):
            if form == 1:
                w.put("r = v * p", "helper")
                w.put("r[0] = v[1]", "item_write")
                w.put("return r", "helper")
            elif form == 2:
                w.put(w.pick(["return v[::-1]", "return v", "return v[:]"]), "helper")
            else:
                w.put(f"return {w.value(1)} + np.sum(v ** 2) * p", "helper")

    made = helper(w, write, 1, 1)
    names = [k for k, n in sorted(w.scope.vectors.items()) if n == w.length]
    if not names:
        return
    name = w.pick(names)
    if form in (1, 2):
        new = w.fresh(VECTOR_NAMES)
        w.put(f"{new} = {made}({w.leaf()}, {name})", "helper_written")
        w.scope.vectors[new] = w.length
        put(w, name, f"{name}[0] = {small(w)}", "item_write", "helper_written")
        new_scalar(w, f"{new} @ {name}", "helper_written")
    else:
        new_scalar(w, f"{made}({w.leaf()}, {name})", "helper_written")
        put(w, name, f"{name}[1] {augmented(w, w.leaf())}", "augmented_item")
        new_scalar(w, f"{made}({w.leaf()}, {name})", "helper_written")


@writing(1)
def appended_copies(w):
    name, _ = target(w)
    kept, i = w.fresh(["history", "frames", "states"]), w.fresh(["i", "k"])
    w.put(f"{kept} = []")
    trips = w.rng.randint(2, 3)
    with w.block(f"for {i} in range({trips}):", "for_range", loop=True):
        one_writing(w)
        w.put(f"{kept}.append({name}.copy())", "list_append")
        put(w, name, f"{name}[0] {augmented(w, w.leaf())}", "augmented_item")
    new_scalar(w, f"np.sum({kept}[0] * {kept}[-1])", "list_index", "reduction")


@writing(0.9)
def bound_on_one_path(w):
    """A name that is one array or another when it is written."""
    name, length = target(w)
    new = w.fresh(VECTOR_NAMES)
    w.put(f"{new} = {name}", "alias")
    with w.block(f"if {w.condition()}:", "if_only"):
        w.put(f"{new} = np.sin({name})", "bound_on_one_path")
    w.scope.vectors[new] = length
    if w.chance(0.5):
        put(w, name, f"{name}[0] = {small(w)}", "bound_on_one_path")
    else:
        put(w, name, f"{new}[0] = {small(w)}", "bound_on_one_path")
    if w.chance(0.5):
        new_scalar(w, f"np.sum({new} ** 2)", "reduction")


@writing(1.6)
def reshaped_view(w):
    name, length = target(w)
    new = w.fresh(["column", "flat"])
    text, use = w.pick(
        [
            (f"{name}.reshape({length}, 1)", f"{new}[1, 0]"),
            (f"{name}[:, None]", f"{new}[1, 0]"),
            (f"np.ravel({name})", f"{new}[1]"),
        ]
    )
    w.put(f"{new} = {text}", "reshaped_view")
    put(w, name, f"{w.pick([use, f'{name}[0]'])} = {small(w)}", "reshaped_view")
    new_scalar(w, f"np.sum({name}) * {use}", "reshaped_view")
