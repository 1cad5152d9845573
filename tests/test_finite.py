"""What may be infinite or nan at finite arguments, and what is known of signs."""

import linecache

import numpy as np
import pytest

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.finite import Sign
from s2sad.linear.programs_seen import seen
from s2sad.linear.strong_zeros import finite_of
from s2sad.steps.derivation import Derivation, analyse

ANY, NONNEGATIVE, POSITIVE, TINY = Sign.ANY, Sign.NONNEGATIVE, Sign.POSITIVE, Sign.TINY


def facts_of(f, *args, wild=frozenset()):
    d = Derivation()
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    params = {n: K.kind_of(a, n) for n, a in zip(names, args, strict=True)}
    found = seen(d, analyse(d, f, params))
    (last,) = found.program.block.end.results
    (total,) = [op for op in P.every(found.program.block) if last in op.outs]
    return finite_of(d, found, frozenset(wild)).of(total, total.operands[1])


def own(v):
    return np.log(v)


def countdown(v, n):
    if n == 0:
        return v
    return countdown(v, n - 1)


X = np.array([0.5, 2.0])


def case(text):
    space = {"np": np, "own": own, "countdown": countdown, "GIVEN": np.ones(2)}
    name = f"<finite {len(linecache.cache)}>"
    body = "".join(f"    {line}\n" for line in text.split("; "))
    source = f"def f(x, s):\n{body}    return np.sum(y)\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), space)
    return space["f"]


CASES = [
    ("y = x * x", NONNEGATIVE, False),
    ("y = x**2 + 1.0", POSITIVE, False),
    ("y = x * 2.0", ANY, False),
    ("y = x[0] * x[0] + 0.1", POSITIVE, False),
    ("y = x[0] * x[1] + 0.1", ANY, False),
    ("v = GIVEN; t = v[0]; GIVEN[0] = s; y = t * v[0] + 0.1", ANY, False),
    ("x = x * 1.0; t = x[0]; x[0] = s; y = t * x[0] + 0.1", ANY, False),
    ("y = np.exp(x) + 1.0", POSITIVE, False),
    ("y = 1.0 / (1.0 + np.exp(-x))", TINY, False),
    ("y = 1.0 / x", ANY, False),
    ("y = x / 3.0", ANY, False),
    ("y = x / len(x)", ANY, False),
    ("y = x / s", ANY, False),
    ("y = np.exp(x) * np.exp(s)", TINY, False),
    ("y = np.exp(x) + x * x", TINY, False),
    ("y = np.exp(x) ** 0.5 + 1.0", POSITIVE, False),
    ("y = np.var(x) + 1e-5", POSITIVE, False),
    ("y = 1.0 + x @ x", POSITIVE, False),
    ("y = x * x - 1.0", ANY, False),
    ("y = 1.0 / s + x * 0.0", ANY, False),
    ("y = np.log(x)", ANY, True),
    ("y = np.log(x * x + 1e-9)", ANY, False),
    ("y = np.sqrt(x)", ANY, False),
    ("y = np.sqrt(np.sum(x * x)) * np.abs(x)", NONNEGATIVE, False),
    ("y = np.log1p(x * x)", ANY, False),
    ("y = np.abs(x) ** 0.5", NONNEGATIVE, False),
    ("y = np.abs(x) ** -0.5", NONNEGATIVE, False),
    ("y = x**3", ANY, False),
    ("y = np.arcsin(x)", ANY, False),
    ("y = np.cbrt(x)", ANY, False),
    ("y = np.maximum(x, 1e-3)", POSITIVE, False),
    ("y = min(s, 1.0, 2.0)", ANY, False),
    ("y = min(s * s + 1.0, 1.0, 2.0)", POSITIVE, False),
    ("y = np.clip(x, 0.1, 2.0)", POSITIVE, False),
    ("y = np.where(x > 0.0, np.log(x), 0.0)", ANY, True),
    ("y = x * (np.log(x) > 0.0)", ANY, False),
    ("y = x.sum(); y += 1.0", ANY, False),
    ("y = 0.0; y += (x * x).sum()", NONNEGATIVE, False),
    ("y = 1.0; y = y - s", ANY, False),
    ("y = np.ones(2); y = np.log(x)[0]; y = y * 2.0", ANY, True),
    ("y = own(x)", ANY, True),
    ("y = countdown(x, 2)", ANY, True),
    ("y = [1.0 / v for v in x]; y = y[0]", ANY, False),
]


@pytest.mark.parametrize(("text", "sign", "wild"), CASES, ids=[c[0] for c in CASES])
def test_what_is_known_of_a_value(text, sign, wild):
    found = facts_of(case(text), X, 2.0)
    assert (found.sign, found.wild) == (sign, wild)


def test_what_comes_in_may_be_infinite():
    assert facts_of(case("y = x + 1.0"), X, 2.0, wild={"x"}).wild


WRITTEN = [
    ("y = np.exp(x); v = y[:1]; v[0] = s", ANY),
    ("y = np.exp(x); v = y[:1]; v *= s", ANY),
    ("v = np.exp(x); v[0] = s; y = v[1]", ANY),
    ("v = np.exp(x); y = v.reshape(2, 1); v[0] = s", ANY),
    ("v = [np.exp(x)]; y = v[0]; v[0][0] = s", ANY),
    ("v = np.zeros(2); v[0] = s; y = 1.0 / (1.0 + np.exp(-v))", TINY),
    ("y = np.exp(x); v = 1.0 * y; v[0] = s", TINY),
    ("GIVEN[0] = np.exp(s); y = 1.0 * GIVEN", ANY),
    ("v = GIVEN; v[0] = np.exp(s); y = 1.0 * GIVEN", ANY),
]


@pytest.mark.parametrize(("text", "sign"), WRITTEN, ids=[c[0] for c in WRITTEN])
def test_written_memory_has_no_sign(text, sign):
    assert facts_of(case(text), X, 2.0).sign == sign
