"""Each analysis of memory switched off as a whole: programs of the tests find it.

A plant is found by a wrong number or a changed argument, in each of a few programs named with it.
"""

import pytest
from corpus import PROGRAMS
from properties import broken
from test_planted import clear_caches

from s2sad import api
from s2sad.facts import alias
from s2sad.known.callees import Callees
from s2sad.modes import storage
from s2sad.operators import derived
from s2sad.polish import own

WRONG = {"gradient", "value", "arguments", "second call", "pullback", "second pullback"}


def alias_is_off(m):
    """No two names share memory, and none is a view of another."""
    m.setattr(alias, "_unite", lambda pairs, name, others: None)
    m.setattr(alias._Walker, "_link", lambda *args: None)


def recording_is_off(m):
    """Nothing that the forward sweep overwrites is kept; which way it went is."""
    original = storage.wanted
    m.setattr(storage, "wanted", lambda *args: set(filter(_note, original(*args))))


def rebound_names_count_as_not_needed(m):
    """Overwritten content is kept, but no value of a name that is bound anew."""
    original = storage.wanted
    kept = lambda key: _note(key) or _part(key)  # noqa: E731
    m.setattr(storage, "wanted", lambda *args: set(filter(kept, original(*args))))


def overwritten_content_counts_as_not_needed(m):
    """Values of names that are bound anew are kept, but no overwritten content."""
    original = storage.wanted
    kept = lambda key: not _part(key)  # noqa: E731
    m.setattr(storage, "wanted", lambda *args: set(filter(kept, original(*args))))


def ownership_is_off(m):
    """All memory is taken to be owned by who has it: nothing is copied."""
    m.setattr(Callees, "is_new", lambda self, node: True)
    m.setattr(own, "shared_by", lambda node, callees: set())
    m.setattr(own._Owner, "fresh", lambda self, node: True)


def _note(key):
    return isinstance(key, tuple) and key[0] == "note"


def _part(key):
    return isinstance(key, tuple) and key[0] == "part"


SWITCHES = {
    alias_is_off: (
        "writing.view_kept",
        "writing.transposed",
        "writing.rowwrite",
        "writing_calls.rows_normalised",
        "writing_aliases.double_buffer",
    ),
    recording_is_off: (
        "writing.overlap",
        "writing.selfdep",
        "writing.cholesky",
        "writing.pivoted",
        "writing_calls.burgers",
    ),
    rebound_names_count_as_not_needed: (
        "writing.lu",
        "writing.whiley",
        "writing.old_value_read_after_a_swap",
        "writing_calls.power_iteration",
        "golden.logistic_map",
    ),
    overwritten_content_counts_as_not_needed: (
        "writing.two_args",
        "writing.selfdep",
        "writing.rowwrite",
        "writing.rows_of_a_matrix_overwritten_whole_later",
        "writing.view_kept",
    ),
    ownership_is_off: (
        "writing.fancy_aug",
        "writing.neg_step",
        "writing.heat",
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
