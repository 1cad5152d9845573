"""Each analysis of memory switched off as a whole: programs of the tests find it.

A plant is found by a wrong number or a changed argument, in each of a few programs named with it.
"""

import pytest
from corpus import PROGRAMS
from properties import broken
from test_planted import clear_caches

from s2sad import api
from s2sad.facts import alias
from s2sad.linear import sweep_state, turned_regions
from s2sad.operators import derived
from s2sad.syntax import pairs

WRONG = {"gradient", "value", "arguments", "second call", "pullback", "second pullback"}


def alias_is_off(m):
    """No two names share memory, and none is a view of another."""
    m.setattr(pairs.Pairs, "unite", lambda self, some, others: None)
    m.setattr(alias._Walker, "_link", lambda *args: None)


def copies_are_off(m):
    """What is written is read as it is later."""
    m.setattr(sweep_state.Sweep, "is_lost", lambda self, v, op: False)


def putting_back_is_off(m):
    """What a statement overwrites stays overwritten while the backward sweep runs."""
    m.setattr(turned_regions, "undone", lambda sweep, op, t: [])


SWITCHES = {
    alias_is_off: (
        "writing.arg_written",
        "writing.transposed",
        "writing.const_buf",
        "writing.helper_keeps_what_is_written",
        "writing.old_value_read_after_a_swap",
    ),
    copies_are_off: (
        "writing.arg_written",
        "writing.overlap",
        "writing.selfdep",
        "writing.swap_rows",
        "writing.transposed",
    ),
    putting_back_is_off: (
        "writing.two_args",
        "writing.selfdep",
        "writing.rowwrite",
        "writing.rows_of_a_matrix_overwritten_whole_later",
        "writing.view_kept",
    ),
}
CASES = [
    pytest.param(switch, PROGRAMS[name], id=f"{switch.__name__}-{name}")
    for switch, names in SWITCHES.items()
    for name in names
]


def forget():
    """Derive everything anew."""
    derived.recipes.clear()
    api._products.clear()
    clear_caches()


@pytest.mark.parametrize("switch, p", CASES)
def test_an_analysis_switched_off_is_found(switch, p, monkeypatch):
    switch(monkeypatch)
    forget()
    found = next(broken(p, slopes=True), None)
    monkeypatch.undo()
    forget()
    print(found)
    assert found is not None, f"{switch.__name__} was not found"
    assert found[0] in WRONG, found


@pytest.mark.parametrize("name", sorted({n for names in SWITCHES.values() for n in names}))
def test_nothing_is_found_with_all_of_them(name):
    assert list(broken(PROGRAMS[name], slopes=True)) == []
