"""Places in sorted lists: integers, which carry no derivative."""

import bisect

from s2sad.registry import nondifferentiable, written_out

nondifferentiable(bisect.bisect_left, bisect.bisect_right)


@written_out(bisect.insort_left)
def insort_left(a, x):
    """What is put in stands before what equals it."""
    a.insert(bisect.bisect_left(a, x), x)


@written_out(bisect.insort_right)
def insort_right(a, x):
    """What is put in stands behind what equals it."""
    a.insert(bisect.bisect_right(a, x), x)
