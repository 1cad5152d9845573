"""Several directions abreast: each is what it is alone, the value is computed once."""

import copy
import inspect
import warnings

import corpus
import numpy as np
import programs
import pytest
import tables
import test_whole_rules as whole
from properties import Program, leaves
from test_jvp import COUNT, REFUSED, direction

import s2sad
from s2sad import AliasError, BatchDuplicated, Const, Duplicated, Forward, autodiff


def given(program, args, tangents):
    """Return arguments in their activities, with one tangent or several."""
    out = []
    listed = inspect.signature(program.f).parameters.values()
    more = [p.default for p in listed if p.default is not p.empty][len(args) - len(listed) :]
    for i, a in enumerate([*args, *(more if len(args) < len(listed) else [])]):
        a = float(a) if type(a) is int and i in program.wrt else a
        if i not in program.wrt:
            out.append(Const(a))
        elif len(tangents) == 1:
            out.append(Duplicated(a, tangents[0][i]))
        else:
            out.append(BatchDuplicated(a, tuple(t[i] for t in tangents)))
    return out


def check(program):
    """Compare three directions abreast with each alone: values, tangents and what is left."""
    rng = np.random.default_rng(3)
    args = program.arguments()
    tangents = [
        [direction(a, rng) if i in program.wrt else None for i, a in enumerate(args)]
        for _ in range(3)
    ]
    alone, apart = [], copy.deepcopy(tangents)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in apart:
            mine = program.arguments()
            value, value_dot = autodiff(Forward, program.f, *given(program, mine, [t]))
            alone.append((leaves(value), leaves(value_dot), leaves(t), leaves(mine)))
        value, dots = autodiff(Forward, program.f, *given(program, args, tangents))
    for (y, y_dot, t, mine), dot, twin in zip(alone, dots, tangents, strict=True):
        assert leaves(value).tobytes() == y.tobytes()
        assert leaves(args).tobytes() == mine.tobytes()
        assert leaves(dot) == pytest.approx(y_dot, rel=1e-12, abs=1e-12)
        assert leaves(twin) == pytest.approx(t, rel=1e-12, abs=1e-12)


# A shadow of the caller's belongs to memory that has lost its name when it is written.
RENAMED = {"writing.written_before_and_after_a_name_is_bound"}
CORPUS = sorted(set(corpus.PROGRAMS) - set(REFUSED) - RENAMED)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CORPUS)
def test_corpus(name):
    check(corpus.PROGRAMS[name])


CONSTRUCTS = [c for c in tables.constructs() if "flat" not in c.title]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda c: c.title)
def test_language(construct):
    f = tables.function(construct.text)
    try:
        check(Program(construct.title, f, lambda: [tables.X.copy()], (0,)))
    except s2sad.Error:
        if construct.refusal is None:
            raise
        pytest.skip("refused in every mode")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("line", whole.PROGRAMS)
def test_rule_in_a_program(line):
    variable, _, expression = line.partition(": ")
    f = whole.program(3000 + whole.PROGRAMS.index(line), expression)
    check(Program(line, f, lambda: [whole.NAMES[variable]], (0,)))


@pytest.mark.parametrize("chunk", range(4))
def test_random_programs(chunk):
    for seed in range(5000 + chunk, 5000 + COUNT // 4, 4):
        module = programs.load(programs.generate(seed).text)
        try:
            check(Program(str(seed), module.f, module.arguments, tuple(module.WRT)))
        except s2sad.Error as error:
            assert "Internal" not in type(error).__name__, (seed, error)
        finally:
            programs.unload(module)


# --- text and promises ---------------------------------------------------------------------------


def rounds(w, xs):
    h = 0.0
    for x in xs:
        if x > 0.0:
            h = np.tanh(w * h + x)
    return h * h


TEXT = '''import numpy as np


def rounds_jvp(w, xs, w_dots):
    """Value and tangents of rounds (test_abreast.py), given the tangents of w."""
    h = 0.0
    h_dots = [0.0 for _ in w_dots]
    for x in xs:
        if x > 0.0:
            t_dots = [w_dot * h + h_dot * w for w_dot, h_dot in zip(w_dots, h_dots)]
            h = np.tanh(w * h + x)
            t = 1.0 - h * h
            h_dots = [t_dot * t for t_dot in t_dots]
    return h * h, [2.0 * h_dot * h for h_dot in h_dots]
'''


def test_text():
    args = (BatchDuplicated(0.5, (1.0, 2.0)), Const(np.array([1.0, -2.0])))
    assert s2sad.source(rounds, mode="jvp", args=args) == TEXT


def test_emitted(tmp_path):
    args = (BatchDuplicated(0.5, (1.0, 2.0)), Const(np.array([1.0, -2.0])))
    path = s2sad.emit(rounds, tmp_path / "several.py", mode="jvp", args=args)
    names = {}
    exec(path.read_text(), names)
    y, dots = names["rounds_jvp"](0.5, np.array([1.0, -2.0]), [1.0, 2.0])
    assert (y, tuple(dots)) == autodiff(Forward, rounds, *args)


def test_the_value_is_computed_once(capsys):
    def f(x):
        print("once")
        return x * x

    y, dots = autodiff(Forward, f, BatchDuplicated(3.0, (1.0, 2.0, 3.0)))
    assert (y, dots) == (9.0, (6.0, 12.0, 18.0))
    assert capsys.readouterr().out == "once\n"


def test_nothing_returned():
    def put(A, x):
        A[0] = x * x

    A, dots = np.ones(2), (np.zeros(2), np.ones(2))
    got = autodiff(Forward, put, BatchDuplicated(A, dots), BatchDuplicated(3.0, (1.0, 2.0)))
    assert got == (None, (None, None))
    assert A.tolist() == [9.0, 1.0]
    assert [d.tolist() for d in dots] == [[6.0, 0.0], [12.0, 1.0]]


def test_one_array_several_times():
    """Nothing is written: who shares memory with whom does not matter."""

    def product(x, y):
        return np.sum(x * y)

    def scaled(x, y):
        x *= y
        return np.sum(x)

    x = np.array([1.0, 2.0])
    assert autodiff(Forward, product, Duplicated(x, x), Duplicated(x, x)) == (5.0, 10.0)
    both = BatchDuplicated(x, (x, x))
    assert autodiff(Forward, product, both, both) == (5.0, (10.0, 10.0))
    y, ones = np.ones(2), np.ones(2)
    for given in (
        (Duplicated(x, x), Const(y)),
        (Duplicated(x, ones), Duplicated(y, ones)),
        (BatchDuplicated(x, (ones, ones)), Const(y)),
        (Duplicated(x, ones), Const(x)),
    ):
        with pytest.raises(AliasError):
            autodiff(Forward, scaled, *given)


def test_numbers_in_tuples():
    def f(p):
        return p[0] * p[1]

    assert autodiff(Forward, f, Duplicated((2.0, 3.0), (1.0, 0.5))) == (6.0, 4.0)
