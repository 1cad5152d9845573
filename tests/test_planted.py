"""Bugs planted on purpose, one per analysis and pass: the battery below finds every one of them.

Each plant models a mistake that somebody could make. It is put in place of one function while the
battery runs: a dozen programs picked by hand, programs that must be refused, and the first of the
random programs. Everything is derived anew from fresh modules, so no cache hides a plant.
"""

import dataclasses
import functools
import itertools
import sys

import duals
import gast
import numpy as np
import programs
import pytest

import s2sad
from s2sad import kinds as K
from s2sad.capture import normalise as normalise_module
from s2sad.ir import (
    first_terms,
    flows,
    folding,
    gathered,
    handed_last,
    handings,
    needs,
    simpler,
    to_tree,
)
from s2sad.linear import (
    both_sweeps,
    cotangents_of,
    ready,
    rematerialised,
    reverse_entry,
    reverse_pairs,
    rounds,
    slots,
    structural_zeros,
    sweep_state,
    turned_regions,
)
from s2sad.nodes import blocks_of
from s2sad.steps import derivation
from s2sad.syntax import pairs

RANDOM = 60
HEAD = "import math\n\nimport numpy as np\n\n\n"
V3 = "np.array([0.7, -1.3, 0.4])"
W3 = "np.array([1.1, 0.6, -0.8])"

# name: (text of f and what it calls, its arguments, the active positions)
PICKED = {
    "a mask before a root": (
        """
        def f(x):
            y = np.sqrt(x)
            return np.sum(np.where(x > 0.5, 2.0 * np.log(y), 0.0))
        """,
        "(np.array([0.0, 1.0, 2.0]),)",
        (0,),
    ),
    "loop with else": (
        """
        def f(x):
            s = x
            for i in range(3):
                s = s * x + 0.1
                if s > 100.0:
                    break
            else:
                s = s * s
            return s
        """,
        "(1.2,)",
        (0,),
    ),
    "swap": (
        """
        def f(x, y):
            for _ in range(3):
                x, y = y * y, x + 0.5
            return x * 2.0 + y
        """,
        "(0.6, 0.9)",
        (0, 1),
    ),
    "a sum that starts as an int": (
        """
        def f(x):
            s = 0
            for i in range(3):
                s = s + x * (i + 1.0)
            return s * s
        """,
        "(0.8,)",
        (0,),
    ),
    "carried around twice": (
        """
        def f(x):
            a = 1.0
            b = 1.0
            for i in range(4):
                a = b * 0.5
                b = x * 1.5
            return a
        """,
        "(0.8,)",
        (0,),
    ),
    "a test that is overwritten": (
        """
        def f(x):
            if x > 1.0:
                x = x * x - 2.0
            else:
                x = x * 3.0
            return x * x
        """,
        "(1.5,)",
        (0,),
    ),
    "used twice": (
        """
        def f(x):
            y = np.sin(x)
            return np.sum(y * x) + np.sum(np.cos(y))
        """,
        f"({V3},)",
        (0,),
    ),
    "overwritten in a loop": (
        """
        def f(x, n):
            h = x
            for i in range(n):
                h = math.tanh(h * x)
            return h
        """,
        "(0.9, 3)",
        (0,),
    ),
    "minus": (
        """
        def f(x, y):
            return np.sum(y / x) - np.sum(x - y * y)
        """,
        f"({V3}, {W3})",
        (0, 1),
    ),
    "swept over": (
        """
        def f(x, y):
            t = x * y
            x = x + 1.0
            return t * x * math.exp(-t)
        """,
        "(0.4, 0.7)",
        (0, 1),
    ),
    "ones": (
        """
        def f(x):
            return np.sum(x)
        """,
        f"({V3},)",
        (0,),
    ),
    "turned around": (
        """
        def f(x, limit):
            s = 1.0
            for i in range(4):
                if s > limit:
                    continue
                s = s * x + math.sin(x)
            return s
        """,
        "(1.7, 5.0)",
        (0,),
    ),
    "a call with one or both": (
        """
        def g(a, b):
            a = a * a
            return a * b


        def f(x, y):
            return g(x, y) + g(x, 2.0)
        """,
        "(0.7, 1.2)",
        (0, 1),
    ),
    "broadcast": (
        """
        def f(x, b):
            return np.sum((x + b) * x)
        """,
        f"({V3}, np.array([0.3]))",
        (0, 1),
    ),
    "a second name is written": (
        """
        def f(x):
            y = x * x
            z = y
            z[0] = y[1] * y[2]
            return np.sum(y * z)
        """,
        f"({V3},)",
        (0,),
    ),
    "content that is overwritten": (
        """
        def f(x):
            y = x.copy()
            s = 0.0
            for i in range(2):
                s += math.sin(y[i]) * y[i + 1]
                y[i + 1] = s * y[i]
            return s
        """,
        f"({V3},)",
        (0,),
    ),
    "an argument is written": (
        """
        def f(x, y):
            x *= y
            y[1:] = x[:-1]
            return np.sum(x * y)
        """,
        f"({V3}, {W3})",
        (0, 1),
    ),
    "an array that may be another": (
        """
        def f(x):
            y = x * 2.0
            z = y if x[0] > 0.0 else x * 3.0
            z[0] = 5.0 * x[1]
            return np.sum(y * z)
        """,
        f"({V3},)",
        (0,),
    ),
}

REFUSED = {
    "an array that changes its shape": (
        """
        def f(x):
            y = x * 2.0
            y.resize(2)
            return np.sum(y * y)
        """,
        f"({V3},)",
    ),
    "two arrays that a ufunc writes": (
        """
        def f(x):
            y, z = np.zeros(3), np.zeros(3)
            np.modf(x, out=(y, z))
            return np.sum(y * y)
        """,
        f"({V3},)",
    ),
    "an array from outside that is written": (
        """
        TABLE = np.zeros(3)


        def f(x):
            TABLE[0] = x[1]
            return np.sum(TABLE * x)
        """,
        f"({V3},)",
    ),
}


def _text(code, arguments, wrt):
    lines = code.splitlines()[1:]
    body = "\n".join(line[8:] for line in lines).rstrip()
    return f"{HEAD}{body}\n\n\ndef arguments():\n    return {arguments}\n\n\nWRT = {wrt}\n"


def _arrays(structure):
    if isinstance(structure, np.ndarray):
        yield structure
    elif isinstance(structure, list | tuple):
        for item in structure:
            yield from _arrays(item)
    elif isinstance(structure, dict):
        for item in structure.values():
            yield from _arrays(item)


def borrowed(module):
    """Say whether a gradient shares memory with an argument or another, or cannot be written."""
    args = module.arguments()
    gradients = s2sad.grad(module.f, wrt=module.WRT)(*args)
    ours, theirs = list(_arrays(gradients)), list(_arrays(args))
    pairs = itertools.chain(itertools.combinations(ours, 2), itertools.product(ours, theirs))
    if not all(a.flags.writeable for a in ours):
        return True
    return any(np.shares_memory(a, b) for a, b in pairs)


def wrong(text):
    """Say what is wrong with what is derived from a program, or return an empty string."""
    module = programs.load(text)
    try:
        word, details = programs.trouble(s2sad, module, module.WRT)
        return f"{word}: {details}" if word else "borrowed memory" if borrowed(module) else ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        programs.unload(module)


def accepted(text):
    """Say that a program that must be refused was derived, or return an empty string."""
    module = programs.load(text)
    try:
        s2sad.grad(module.f)(*module.arguments())
    except s2sad.Error:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        programs.unload(module)
    return "a program that must be refused was accepted"


def findings(random=RANDOM):
    """Yield what the battery finds: the name of a program and what is wrong."""
    for name, (code, arguments, wrt) in PICKED.items():
        if said := wrong(_text(code, arguments, wrt)):
            yield name, said
    for name, (code, arguments) in REFUSED.items():
        if said := accepted(_text(code, arguments, (0,))):
            yield name, said
    for seed in range(random):
        said = wrong(programs.generate(seed).text)
        if said and not said.startswith("UnsupportedError"):  # what may be refused is no finding
            yield f"random program {seed}", said


# --- the plants ----------------------------------------------------------------------------------


def clear_caches():
    """Forget what s2sad remembers of the kinds and rules it has met."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "s2sad":
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def _around(monkeypatch, owner, name, wrapper):
    """Put wrapper(original, *args) in the place of a function."""
    original = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *args: wrapper(original, *args))


def _statements(block):
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from _statements(part)


def structure_forgets_the_else_of_a_loop(m):
    def plant(structure, body, names, place):
        for s in _statements(body):
            if isinstance(s, gast.For | gast.While):
                s.orelse = []
        return structure(body, names, place)

    _around(m, normalise_module, "structure", plant)


def normalise_assigns_a_tuple_one_by_one(m):
    def split(block):
        for s in list(block):
            for part in blocks_of(s):
                split(part)
            if not isinstance(s, gast.Assign) or not isinstance(s.value, gast.Tuple):
                continue
            target = s.targets[0]
            if isinstance(target, gast.Tuple) and len(target.elts) == len(s.value.elts):
                at = block.index(s)
                block[at : at + 1] = [
                    gast.copy_location(gast.Assign([t], v, None), s)
                    for t, v in zip(target.elts, s.value.elts)
                ]

    def plant(normalise, source, node, *rest):
        split(node.body)
        return normalise(source, node, *rest)

    _around(m, derivation, "normalise", plant)


def kinds_take_what_comes_first_where_paths_meet(m):
    def plant(join, left, right):
        both = isinstance(left, K.Num) and isinstance(right, K.Num)
        return K.erase_value(left) if both else join(left, right)

    _around(m, K, "join", plant)


def activity_forgets_what_a_loop_carries_around(m):
    original = flows.handings

    def plant(block):
        carried = {param for _, param in handings.carried(block)}
        return [s for s in original(block) if getattr(s, "target", None) not in carried]

    m.setattr(flows, "handings", plant)


def zeros_forget_masks(m):
    m.setattr(structural_zeros._Walk, "masks", lambda self, op, operand: False)


def alias_forgets_views(m):
    m.setattr(pairs.Pairs, "unite", lambda self, some, others: None)


def fence_is_off(m):
    for home in (both_sweeps, ready):
        m.setattr(home, "fence", lambda *args, **settings: None)


def what_reads_memory_is_asked_again(m):
    m.setattr(rematerialised.Part, "_is_steady", lambda self, v, maker: True)


def cotangents_replace_where_they_should_add(m):
    m.setattr(cotangents_of.Cotangents, "summed", lambda self, one, other, of: other)


def entries_of_a_tape_change_places(m):
    original = slots._Narrow.made

    def plant(self, op, entry):
        return original(self, op, dataclasses.replace(entry, stay=entry.stay[::-1]))

    m.setattr(slots._Narrow, "made", plant)


def the_backward_sweep_begins_a_round_late(m):
    _around(m, rounds, "plus", lambda plus, sweep, t, given, more: plus(sweep, t, given, more - 1))


def sums_lose_a_minus(m):
    original = gathered._Worker.terms

    def plant(self, op, sign, found):
        count = original(self, op, sign, found)
        for term in found:
            term.product.coefficient = abs(term.product.coefficient)
        return count

    m.setattr(gathered._Worker, "terms", plant)


def text_moves_past_writes(m):
    for home in (folding, handed_last):
        m.setattr(home, "commute", lambda a, b: True)


def needs_forget_writes(m):
    m.setattr(needs._Walk, "written", lambda self, op, known: None)


def copies_hold_what_is_written_later(m):
    for question in ("private", "steady"):
        m.setattr(simpler._Touched, question, lambda self, given: True)


def nothing_is_put_back(m):
    m.setattr(turned_regions, "undone", lambda sweep, op, t: [])


def memory_is_read_as_it_is_later(m):
    m.setattr(sweep_state.Sweep, "is_lost", lambda self, v, op: False)


def sums_put_what_they_should_add(m):
    def plant(self, op, here):
        base = self.found.parts.maker(self.found.parts.base(op.operands[0]))
        return base if base in here and first_terms.makes_zeros(base) else None

    m.setattr(first_terms._Worker, "zeros", plant)


def arguments_are_not_copied(m):
    m.setattr(reverse_entry, "work_on_copies", lambda *args: [])


def text_turns_an_arm_around_and_not_its_test(m):
    m.setattr(to_tree, "_denied", lambda test: test)


def calls_share_one_pair_for_all_activities(m):
    original = reverse_pairs.reverse_pair

    def plant(d, call, *rest, **settings):
        made = d.__dict__.setdefault("planted", {})
        if call.fn not in made:
            made[call.fn] = original(d, call, *rest, **settings)
        return made[call.fn]

    m.setattr(reverse_pairs, "reverse_pair", plant)


def names_always_tell_memory_apart(m):
    m.setattr(both_sweeps, "by_identity", lambda first: False)


PLANTS = [
    structure_forgets_the_else_of_a_loop,
    normalise_assigns_a_tuple_one_by_one,
    kinds_take_what_comes_first_where_paths_meet,
    activity_forgets_what_a_loop_carries_around,
    zeros_forget_masks,
    alias_forgets_views,
    fence_is_off,
    what_reads_memory_is_asked_again,
    cotangents_replace_where_they_should_add,
    entries_of_a_tape_change_places,
    the_backward_sweep_begins_a_round_late,
    sums_lose_a_minus,
    text_moves_past_writes,
    needs_forget_writes,
    copies_hold_what_is_written_later,
    nothing_is_put_back,
    memory_is_read_as_it_is_later,
    sums_put_what_they_should_add,
    arguments_are_not_copied,
    text_turns_an_arm_around_and_not_its_test,
    calls_share_one_pair_for_all_activities,
    names_always_tell_memory_apart,
]


@pytest.mark.parametrize("random", [10, pytest.param(RANDOM, marks=pytest.mark.full)])
def test_without_a_bug_the_battery_finds_nothing(random):
    """Nor do test_random_programs.py, of which all these are the first."""
    assert list(findings(random)) == []


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant, monkeypatch):
    plant(monkeypatch)
    clear_caches()
    found = next(findings(), None)
    monkeypatch.undo()
    clear_caches()
    print(found)
    assert found is not None, f"{plant.__name__} was not found"
    # A plant that no longer fits what it stands in for is no finding.
    assert not found[1].startswith(("TypeError", "AttributeError", "NameError")), found


def test_the_oracle_sees_every_picked_program_as_active():
    for code, arguments, wrt in PICKED.values():
        module = programs.load(_text(code, arguments, wrt))
        gradients = duals.gradient(module.f, module.arguments(), wrt)
        assert all(np.any(duals.ravel(g)) for g in gradients)
        programs.unload(module)
