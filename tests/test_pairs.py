"""Random pairs of features, new ones every day: none may be wrong, none may die.

    S2SAD_PAIRS_SEED=739944 pytest tests/test_pairs.py      the programs of another day

What fails is printed with the command that runs it again. More programs, and what is refused:
`python tests/pairs.py --count 5000 --seed 1`.
"""

import datetime
import math
import os
import types

import pairs
import pytest

import s2sad

COUNT, CHUNKS = 400, 16
DAY = int(os.environ.get("S2SAD_PAIRS_SEED") or datetime.date.today().toordinal())


def ways(seed):
    """Return how a program is differentiated: autodiff in one of its modes."""
    first, second, *modes = pairs.WAYS
    return first, second, modes[seed % 2]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_pairs(chunk):
    for seed in range(DAY * COUNT + chunk, (DAY + 1) * COUNT, CHUNKS):
        got = pairs.outcome(pairs.generate(seed).text, ways=ways(seed))
        if got.word not in ("right", "refused"):
            pytest.fail(f"S2SAD_PAIRS_SEED={DAY}\n{pairs.show(seed)}", pytrace=False)


def test_every_combination_has_a_seed():
    assert len(pairs.FRAMES) >= 25 and len(pairs.STATEMENTS) >= 60
    assert math.gcd(pairs.STRIDE, pairs.COMBINATIONS) == 1
    for outer, inner, statement in [(0, 0, 0), (3, 70, 11), (74, 1, 155), (20, 20, 20)]:
        names = [pairs.FRAMES[at].__name__ for at in (outer, inner)]
        assert pairs.combination(pairs.seed_of(*names, statement)) == (outer, inner, statement)


def test_a_program_is_the_same_again_and_reaches_its_statement():
    text = pairs.generate(5).text
    pairs.generate.cache_clear()
    assert pairs.generate(5).text == text
    assert pairs.HERE not in text


def spoiled(**ways):
    """Return s2sad with some of its functions replaced."""
    return types.SimpleNamespace(**{**vars(s2sad), **ways})


def doubled(f, wrt):
    def gradient(*args):
        value, bars = s2sad.value_and_grad(f, wrt=wrt)(*args)
        return value, s2sad.tree_map(lambda part: 2.0 * part, bars)

    return gradient


def writing(f, wrt):
    def gradient(*args):
        made = s2sad.value_and_grad(f, wrt=wrt)(*args)
        args[0][0] = 0.0
        return made

    return gradient


def dying(f, wrt):
    raise ZeroDivisionError


def endless(f, wrt):
    while True:
        pass


def refusing(f, wrt):
    raise s2sad.UnsupportedError("no")


@pytest.mark.parametrize(
    ("way", "word", "reason"),
    [
        (s2sad.value_and_grad, "right", ""),
        (doubled, "wrong", "gradient"),
        (writing, "wrong", "arguments of the gradient"),
        (dying, "dead", "ZeroDivisionError: "),
        (endless, "dead", "no end after 0.5 s"),
        (refusing, "refused", "no"),
    ],
)
def test_what_is_found(way, word, reason):
    text = """import numpy as np

def f(x, y):
    x[1] = y
    return np.sum(x * x) * y

def arguments():
    return [np.array([0.5, 0.3]), 0.7]

WRT = (0, 1)
"""
    got = pairs.outcome(text, 0.5, tool=spoiled(value_and_grad=way))
    assert (got.word, got.reason) == (word, reason)
