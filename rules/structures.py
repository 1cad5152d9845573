"""Rules of helpers that derived text calls on structures: they give zeros, whatever is in them."""

from s2sad.emitted.found import surely_real
from s2sad.registry import declare, nondifferentiable
from s2sad.runtime import refuse_twice, twin_of, zeros_like

nondifferentiable(zeros_like, twin_of, refuse_twice, surely_real)
declare(refuse_twice, surely_real, does="refuses", writes="nothing")
declare(twin_of, held=True)
