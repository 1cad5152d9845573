"""The statements of the random programs that fill dicts by keys, and read them.

Registered with those of tests/statements.py when imported.
"""

from __future__ import annotations

from grammar import Writer, closed
from statements import body, new_scalar, statement

TABLES = ["table", "memo", "cache", "counts", "ledger"]
KEYS = ["i", "k", "n_", "m"]


def small(w: Writer, depth: int = 1) -> str:
    """Return a scalar that stays small."""
    return w.tame(w.scalar(depth))


def entry_name(w: Writer) -> str:
    return w.fresh(["entry", "kept", "found"])


@statement(1.0)
def dict_filled(w):
    """A recurrence over a dict, whose keys are numbers or pairs of them."""
    d, i = w.fresh(TABLES), w.fresh(KEYS)
    count = w.rng.randint(2, 4)
    pairs = w.chance(0.3)

    def at(text: str) -> str:
        return f"{d}[{text}, 0]" if pairs else f"{d}[{text}]"

    first = "(0, 0)" if pairs else "0"
    if w.chance(0.5):
        w.put(f"{d} = {{{first}: {w.value(1)}}}", "dict_filled")
    else:
        w.put(f"{d} = {{}}")
        w.put(f"{at('0')} = {w.value(1)}", "dict_filled")
    over = w.pick([i, i, f"{i} % 2"])
    with w.block(f"for {i} in range(1, {count}):", "for_range_start", loop=True):
        if w.chance(0.3):
            body(w)
        before = at(f"{i} - 1") if over == i else at("0")
        text = f"{before} * {w.number(0.3, 0.9)} + {small(w)}"
        w.put(f"{at(over)} = {w.pick([text, f'math.sin({before}) * {closed(small(w))}'])}")
        if w.chance(0.4):
            w.put(f"{at(over)} {w.pick(['+=', '*='])} {small(w)}", "dict_filled", "loop_carried")
    last = at(str(count - 1)) if over == i else at("1")
    uses = [f"{last} * {at('0')}", f"{last} + {at('0')} ** 2", f"sum({d}.values())"]
    uses += [f"sum(c * c for c in {d}.values()) * {last}", f"len({d}) * {last}"]
    new_scalar(w, w.pick(uses), "dict_filled")


@statement(1.1)
def dict_comprehension(w):
    """A dict of active values made by a comprehension, or two, one of the other."""
    d, i = w.fresh(TABLES), w.fresh(KEYS)
    count = w.rng.randint(2, 3)
    if w.chance(0.5):
        w.put(f"{d} = {{{i}: {w.leaf()} * {i} + {small(w)} for {i} in range({count})}}")
        keys = [str(n) for n in range(count)]
    else:
        keys = ["'low'", "'high'", "'mid'"][:count]
        pairs = ", ".join(f"{k}: {w.value(1)}" for k in keys)
        w.put(f"{d} = {{{pairs}}}", "assign")
    new, key, item = w.fresh(TABLES), w.fresh(["key", "name"]), entry_name(w)
    value = w.pick(
        [
            f"{item} * {w.number()} - {small(w)}",
            f"{item} ** 2 * {closed(w.leaf())}",
            f"math.tanh({item} + {d}[{keys[0]}])",
        ]
    )
    test = w.pick(["", "", f" if {item} > {w.number(-0.4, 0.4)} or {key} == {keys[0]}"])
    made = f"{{{key}: {value} for {key}, {item} in {d}.items(){test}}}"
    w.put(f"{new} = {made}", "dict_comprehension")
    name = w.pick([f"{new}[{keys[0]}] * sum({new}.values())", f"sum({new}.values())"])
    new_scalar(w, f"{name} + {d}[{keys[-1]}]", "dict_comprehension")


@statement(1.0)
def dict_changed(w):
    """Entries asked for, set, changed and taken out in a loop, by keys that come again."""
    d, i = w.fresh(TABLES), w.fresh(KEYS)
    count = w.rng.randint(3, 5)
    w.put(f"{d} = {w.pick(['{}', f'{{0: {w.leaf()}}}'])}")
    key = w.pick([f"{i} % 2", f"{i} % 3", f"{i} // 2", i])
    with w.block(f"for {i} in range({count}):", "for_range", loop=True):
        if w.chance(0.25):
            body(w)
        form = w.rng.randrange(5)
        if form == 0:
            w.put(f"{d}[{key}] = {d}.get({key}, 0.0) + {small(w)}", "dict_changed")
        elif form == 1:
            held = entry_name(w)
            w.put(f"{held} = {d}.get({key}, {w.leaf()})")
            w.put(f"{d}[{key}] = {held} * {w.number(0.4, 0.9)} - {small(w)}", "dict_changed")
        elif form == 2:
            with w.block(f"if {key} in {d}:", "if_else"):
                w.put(f"{d}[{key}] {w.pick(['+=', '*=', '-='])} {small(w)}", "dict_changed")
            with w.block("else:"):
                w.put(f"{d}[{key}] = {small(w)}", "dict_changed")
        elif form == 3:
            held = entry_name(w)
            w.put(f"{held} = {d}.setdefault({key}, {w.leaf()})")
            w.put(f"{d}[{key}] = {held} * {closed(w.leaf())}", "dict_changed")
        else:
            w.put(f"{d}[{key}] = {small(w)}", "dict_changed")
            with w.block(f"if len({d}) > 2:", "if_only"):
                w.put(f"{d}[{key}] += {d}.pop({w.pick(['0', '1', '7'])}, {w.number()})")
    if w.chance(0.3):
        last, item = w.fresh(KEYS), entry_name(w)
        with w.block(f"for {last}, {item} in {d}.items():", loop=True):
            w.put(f"{d}[{last}] = {item} * {closed(w.leaf())}", "dict_changed")
    use = w.pick([f"sum({d}.values())", f"max({d}.values()) * {w.leaf()}"])
    new_scalar(w, use, "dict_changed")
