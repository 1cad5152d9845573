"""Random numbers of distributions with parameters: what was drawn moves with them.

A location moves a number as it is, a scale in proportion ("reparametrisation": Kingma and Welling
2013, arXiv:1312.6114). Whole numbers, and what a draw picks, do not move.
"""

import numpy as np

from s2sad.registry import pullback, pushforward, refuse
from s2sad.runtime import unbroadcast

BOTH = (np.random.Generator, np.random.RandomState)


def zero(dot):
    """Return a tangent, or 0 for a constant."""
    return 0.0 if dot is None else dot


@pullback(*[getattr(c, n) for c in BOTH for n in ("normal", "laplace", "logistic", "gumbel")])
def pull_moved(out_bar, out, loc=0.0, scale=1.0, *, size=None):
    standard = (out - loc) / scale
    return (
        unbroadcast(out_bar, np.shape(loc)),
        unbroadcast(out_bar * standard, np.shape(scale)),
    )


@pushforward(*[getattr(c, n) for c in BOTH for n in ("normal", "laplace", "logistic", "gumbel")])
def push_moved(out, loc=0.0, scale=1.0, loc_dot=None, scale_dot=None, *, size=None):
    return zero(loc_dot) + zero(scale_dot) * (out - loc) / scale


@pullback(*[c.uniform for c in BOTH])
def pull_uniform(out_bar, out, low=0.0, high=1.0, *, size=None):
    share = (out - low) / (high - low)
    return (
        unbroadcast(out_bar * (1.0 - share), np.shape(low)),
        unbroadcast(out_bar * share, np.shape(high)),
    )


@pushforward(*[c.uniform for c in BOTH])
def push_uniform(out, low=0.0, high=1.0, low_dot=None, high_dot=None, *, size=None):
    share = (out - low) / (high - low)
    return zero(low_dot) * (1.0 - share) + zero(high_dot) * share


@pullback(*[getattr(c, n) for c in BOTH for n in ("exponential", "rayleigh")])
def pull_scaled(out_bar, out, scale=1.0, *, size=None):
    return unbroadcast(out_bar * out / scale, np.shape(scale))


@pushforward(*[getattr(c, n) for c in BOTH for n in ("exponential", "rayleigh")])
def push_scaled(out, scale=1.0, scale_dot=None, *, size=None):
    return scale_dot * out / scale


@pullback(*[c.lognormal for c in BOTH])
def pull_lognormal(out_bar, out, mean=0.0, sigma=1.0, *, size=None):
    standard = (np.log(out) - mean) / sigma
    return (
        unbroadcast(out_bar * out, np.shape(mean)),
        unbroadcast(out_bar * out * standard, np.shape(sigma)),
    )


@pushforward(*[c.lognormal for c in BOTH])
def push_lognormal(out, mean=0.0, sigma=1.0, mean_dot=None, sigma_dot=None, *, size=None):
    return out * (zero(mean_dot) + zero(sigma_dot) * (np.log(out) - mean) / sigma)


for home in BOTH:
    refuse(
        home,
        "choice permutation permuted shuffle",
        because="it chooses among values at random",
        instead="Draw indices, and index with them: x[rng.permutation(len(x))].",
    )
