"""Imaginary parts that are written: parts of the array's shadow, with their sign turned.

    w.imag[0] *= v        v_bar = -w_bar.imag[0] * ...
                          w_bar.imag[0] *= v

The cotangent of a complex value is the derivative with respect to its real part minus i times that
with respect to its imaginary part. So no name can be bound to the shadow of `w.imag`: what is added
to it is subtracted from `w_bar.imag`, where it stands.
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.modes.asked import Asked
from s2sad.modes.cotangents import as_value
from s2sad.modes.structured import Contribution
from s2sad.nodes import Block, Node, attribute, call, clone, name, subscript, substitute
from s2sad.stages import Link


def turns(link: Link) -> bool:
    """Say whether a view is the imaginary part of a complex array."""
    imaginary = isinstance(link.value, gast.Attribute) and link.value.attr == "imag"
    return imaginary and K.is_complex(link.owner)


class Turned(Asked):
    """The shadows of imaginary parts."""

    links: dict[str, Link]
    arrays: frozenset[str]

    def turned(self, variable: str) -> tuple[str, Node, Kind] | None:
        """Return the array of which a variable is the imaginary part, and that part of its shadow.

        A part of an imaginary part is one, too.
        """
        place: Node = name(variable)
        if variable not in self.arrays or variable in self.asked:
            return None
        while variable in self.links:
            link = self.links[variable]
            place = substitute(place, {variable: clone(link.value)})
            variable = link.base
            if turns(link):
                place = substitute(place, {variable: name(self.bar(variable))})
                return variable, place, link.owner
        return None

    def add_turned(self, c: Contribution, place: Node, kind: Kind) -> Block:
        """Subtract from an imaginary part what is added to its shadow."""
        if c.path is None:
            place = subscript(place, gast.Constant(Ellipsis, None))
        elif c.repeats:
            ufunc = attribute(self.np("subtract", kind), "at")
            return [gast.Expr(call(ufunc, place, as_value(clone(c.path[1])), c.value))]
        else:
            place = subscript(place, clone(c.path[1]))
        place.ctx = gast.Store()
        return [gast.AugAssign(place, gast.Sub(), c.value)]
