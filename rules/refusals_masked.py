"""Masked arrays have no derivative here."""

import numpy as np

from s2sad.registry import held, refuse


def is_masked(name):
    """Return whether a name in np.ma belongs to a function of masked arrays."""
    home = getattr(held(np.ma, name), "__module__", None) or ""
    return not name.startswith("_") and home.startswith("numpy.ma")


refuse(
    np.ma,
    " ".join(filter(is_masked, dir(np.ma))),
    because="masked arrays are not plain arrays",
    instead="Use where= of the reductions, np.where, or np.nansum and its kin.",
)
