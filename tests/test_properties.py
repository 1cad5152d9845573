"""The properties of every derivative, over all programs of the tests, the goldens, the examples."""

import pytest
from corpus import PROGRAMS
from properties import LAYOUTS, OTHERS, alone, broken, broken_as, broken_gradient, empty, single
from sampling import is_of_every_day

# Whose plain call with fewer elements reads what was never written, or stands at a singular point.
NOT_EMPTY = {"golden.dft"}
NOT_ALONE = {"writing_calls.loops_inside"}
# Single precision: central differences tell nothing.
ROUGH = {"writing_library.into_single"}
# np.float64 gives an array of that dtype itself, and of another a copy.
NOT_SINGLE = {"writing_library.argument_converted_to_what_it_is"}

CHEAP = (*LAYOUTS[:-1], empty)  # what is derived from plain arrays serves these, too
DEAR = tuple(change for change in (*LAYOUTS, *OTHERS) if change not in CHEAP)

each = pytest.mark.parametrize("p", PROGRAMS.values(), ids=PROGRAMS)


def found_as(p, changes):
    """List what does not hold where the arrays of a program's arguments are changed."""
    skipped = {
        empty: p.name in NOT_EMPTY,
        alone: p.name in NOT_ALONE | ROUGH,
        single: p.name in NOT_SINGLE,
    }
    chosen = [c for c in changes if not skipped.get(c, False)]
    if p.name in ROUGH:
        chosen = [c for c in chosen if c in CHEAP]
    return [found for change in chosen for found in broken_as(p, change)]


@each
def test_properties(p):
    """What holds of gradients; every day one program in two is also asked about pullbacks."""
    wrong = broken if is_of_every_day(f"pullback of {p.name}", 2) else broken_gradient
    assert [*wrong(p), *found_as(p, CHEAP)] == []


@pytest.mark.sampled(10)
@each
def test_other_arrays(p):
    assert found_as(p, DEAR) == []
