"""Random numbers of the standard library: what was drawn moves with its parameters.

As in rules/distributions.py.
"""

import random

from s2sad.registry import pullback, pushforward, refuse
from s2sad.rules.distributions import zero


@pullback(random.Random.uniform)
def pull_uniform_number(out_bar, out, a, b):
    share = (out - a) / (b - a)
    return out_bar * (1.0 - share), out_bar * share


@pushforward(random.Random.uniform)
def push_uniform_number(out, a, b, a_dot, b_dot):
    share = (out - a) / (b - a)
    return zero(a_dot) * (1.0 - share) + zero(b_dot) * share


@pullback(random.Random.gauss, random.Random.normalvariate)
def pull_normal_number(out_bar, out, mu=0.0, sigma=1.0):
    return out_bar, out_bar * (out - mu) / sigma


@pushforward(random.Random.gauss, random.Random.normalvariate)
def push_normal_number(out, mu=0.0, sigma=1.0, mu_dot=None, sigma_dot=None):
    return zero(mu_dot) + zero(sigma_dot) * (out - mu) / sigma


refuse(
    random.Random,
    "choice choices sample shuffle",
    because="it chooses among values at random",
    instead="Draw indices, and index with them: x[random.randrange(len(x))].",
)
