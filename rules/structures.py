"""Rules of helpers that derived text calls on structures: zeros and copies, whatever is in them."""

from s2sad.emitted.found import surely_real
from s2sad.registry import declare, nondifferentiable, pullback, pushforward
from s2sad.runtime import apart, refuse_twice, twin_of, zeros_like

nondifferentiable(zeros_like, twin_of, refuse_twice, surely_real)
declare(refuse_twice, surely_real, does="refuses", writes="nothing")
declare(twin_of, held=True)


@pullback(apart, nested=True)
def pull_apart(out_bar, out, value):
    """A copy has the cotangents of what it is a copy of, part by part."""
    return out_bar


@pushforward(apart)
def push_apart(out, value, tangent):
    """Parts that share memory have tangents that do: the copies as well."""
    return apart(tangent)
