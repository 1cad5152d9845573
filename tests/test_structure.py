"""Structured programs do what the user's program does, and leave only where they may."""

import ast

import gast
import numpy as np
import pytest

from s2sad.capture.structure import completes, structure
from s2sad.errors import UnsupportedError
from s2sad.names import Names
from s2sad.nodes import name, walk

DOCSTRING = """
def f(xs, limit):
    s = 1.0
    for x in xs:
        if x < 0.0:
            continue
        s = s * x
        if s > limit:
            return np.log(s)
    return s
"""
ELSE = """
def f(xs, limit):
    for x in xs:
        if x > limit:
            break
    else:
        return -1.0
    return x
"""
NESTED = """
def f(xs, limit):
    s = 0.0
    for x in xs:
        for y in xs:
            if y > limit:
                break
            if x * y > 2.0:
                return s + 100.0
            if y < 0.0:
                continue
            s = s + x * y
        else:
            s = s + 1000.0
            continue
        s = s - 1.0
    return s
"""
WHILE = """
def f(xs, limit):
    i = 0
    while True:
        if i >= len(xs):
            return None
        i = i + 1
        if xs[i - 1] > limit:
            if i == 1:
                return i
            elif i == 2:
                continue
            break
    return -i
"""
MATCH = """
def f(xs, limit):
    for x in xs:
        match x:
            case 1.0:
                continue
            case 2.0 if limit > 1.0:
                return x
            case _:
                limit = limit - 0.1
        limit = limit + x
    return limit
"""
BRANCHES = """
def f(xs, limit):
    if limit > 3.0:
        if limit > 4.0:
            return 4.0
        limit = limit * 2.0
    elif limit > 2.0:
        return 2.0
    with np.errstate(all="ignore"):
        if limit < 0.0:
            return 0.0
    return limit
"""
TRY = """
def f(xs, limit):
    done = []
    s = 0.0
    for x in xs:
        try:
            y = 1.0 / (x - 1.0)
            if y > limit:
                done.append("over")
                continue
            if x == 3.0:
                return s + 100.0 / (limit - 5.0)
        except ZeroDivisionError:
            if limit > 3.0:
                break
            y = 7.0
        else:
            done.append("else")
            s = s + 1.0
        finally:
            done.append("finally")
        s = s + y
    try:
        s = s / (limit - 0.9)
        return s, done
    except ZeroDivisionError as e:
        done.append(str(e))
    return done
"""
RETURNS = """
def f(xs, limit):
    try:
        if limit > 3.0:
            return xs[0]
        if limit > 2.0:
            raise KeyError(limit)
    except IndexError:
        return -1.0
    except KeyError as e:
        if not xs:
            return e.args
    finally:
        xs.append("finally")
    with np.errstate(all="raise"):
        if limit < 0.0:
            return np.float64(limit) + np.float64(1e308) * 1e1 if xs[0] != 1.0 else 5.0
    return xs
"""
RETRY = """
def f(xs, limit):
    tried = []
    for attempt in range(4):
        try:
            v = xs[4 - attempt] / (limit - 1.5)
            break
        except IndexError:
            tried.append(attempt)
        except ZeroDivisionError:
            try:
                return tried, xs[1]
            except IndexError:
                tried.append("none")
                continue
            finally:
                tried.append("last")
    else:
        v = None
    while True:
        try:
            xs.pop()
            try:
                if xs[0] > limit:
                    return v, tried
            finally:
                tried.append(len(xs))
        except IndexError:
            break
        else:
            tried.append("else")
    return v, tried, xs
"""
PROGRAMS = (DOCSTRING, ELSE, NESTED, WHILE, MATCH, BRANCHES, TRY, RETURNS, RETRY)
INPUTS = [
    (xs, limit)
    for xs in ([], [1.0], [2.0, 1.0], [0.5, -1.0, 3.0], [1.0, 2.0, 2.5, -3.0])
    for limit in (-1.0, 0.9, 1.5, 2.2, 3.5, 5.0)
]


def structured(text):
    node = gast.parse(text).body[0]
    names = Names({n.id for n in walk(node) if isinstance(n, gast.Name)})
    node.body, result = structure(node.body, names, lambda n: None)
    node.body.append(gast.Return(name(result)))
    return node


def filled(node):
    """Write the empty arms as `pass`, as the printer does."""
    for n in walk(node):
        for block in [n, *getattr(n, "cases", [])]:
            if getattr(block, "body", None) == []:
                block.body = [gast.Pass()]
    return node


def run(node, *args):
    space = {"np": np}
    filled(node)
    module = ast.fix_missing_locations(gast.gast_to_ast(gast.Module([node], [])))
    exec(compile(module, "<structured>", "exec"), space)
    try:
        return space["f"](*args)
    except UnboundLocalError:
        return "unbound"
    except (ArithmeticError, IndexError) as e:
        return repr(e)


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_program_does_the_same(text):
    original, rewritten = gast.parse(text).body[0], structured(text)
    for xs, limit in INPUTS:
        assert run(rewritten, list(xs), limit) == run(original, list(xs), limit), (xs, limit)


@pytest.mark.parametrize("text", PROGRAMS)
def test_one_return_and_no_continue(text):
    nodes = list(walk(structured(text)))
    assert sum(isinstance(n, gast.Return) for n in nodes) == 1
    assert not any(isinstance(n, gast.Continue) for n in nodes)
    assert not any(n.orelse for n in nodes if isinstance(n, gast.For | gast.While))
    for loop in nodes:
        if isinstance(loop, gast.For | gast.While):
            inner = [n for s in loop.body[:-1] for n in walk(s)]
            covered = {m for n in inner if isinstance(n, gast.For | gast.While) for m in walk(n)}
            assert not any(isinstance(n, gast.Break) and n not in covered for n in inner)


def test_leaving_finally_is_refused():
    with pytest.raises(UnsupportedError, match="in a finally block drops the exception"):
        structured("def f(x):\n    try:\n        g(x)\n    finally:\n        return 1\n")


def test_what_follows_a_try_is_not_guarded_by_it():
    node = structured(
        "def f(x):\n"
        "    try:\n        y = g(x)\n"
        "    except ValueError:\n        return 0.0\n"
        "    return y + 1.0\n"
    )
    attempt = node.body[0]
    assert len(attempt.body) == 1 and len(attempt.orelse) == 1


@pytest.mark.parametrize(
    "text, reached",
    [
        ("x = 1", True),
        ("raise ValueError", False),
        ("while True:\n    pass", False),
        ("while True:\n    break", True),
        ("if a:\n    raise ValueError\nelse:\n    return 1", False),
        ("if a:\n    raise ValueError", True),
    ],
)
def test_completes(text, reached):
    assert completes(gast.parse(text).body) is reached
