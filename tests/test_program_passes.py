"""Passes from program to program: what comes out computes the same, and holds less.

Every program of the corpus is taken through each pass and run, one operation a line, beside the
plain function. Then one small program for each thing that goes, and for each that must stay.
"""

# ruff: noqa: F841  (names that nobody reads are what is tested)

import contextlib
import copy
import inspect
import io
import linecache
import re
import time
import types

import gast
import numpy as np
import pytest
from properties import children, same
from test_program import (
    HELD,
    NOT_RUN,
    VARIADIC,
    analysed,
    loaded,
    memory_of,
    outcome,
    words_of,
)

import s2sad
from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.from_tree import program_of
from s2sad.ir.printed import flat
from s2sad.ir.show import show
from s2sad.ir.simpler import simplified
from s2sad.ir.unused import without_unused
from s2sad.ir.verify import verify
from s2sad.primitives import language as L
from s2sad.write.printer import function as text_of

pytestmark = pytest.mark.filterwarnings("ignore")


def program_with(f, args):
    """Return what is known of a call, and the program of the function."""
    d, entry, bound = analysed(f, args)
    return d, bound, verify(program_of(entry.function, entry.kinds, memory_of(d, entry).changes))


def runnable(program, d, f, name="flat_one"):
    """Return the function that runs a program one operation at a time."""
    node = flat(verify(program))
    node.name = name
    words = words_of(d, f)
    return {**words, **loaded(text_of(node), f"<{name} {id(program)}>", words)}[name]


def beside(f, bound, run):
    """Return how a function and another one end, each with what is left of its arguments."""
    by_place = [
        q.name for q in inspect.signature(f).parameters.values() if q.kind is q.POSITIONAL_ONLY
    ]
    ends = []
    for fn in (f, run):
        given = copy.deepcopy(dict(bound.arguments))
        first = [given[n] for n in by_place]
        rest = {n: v for n, v in given.items() if n not in by_place}
        ends.append((outcome(fn, first, rest), given))
    return ends


def of_corpus(name):
    """Return a program of the corpus with what is known of it; skip what has none."""
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType) or name.startswith(NOT_RUN):
        pytest.skip("no plain function")
    if any(q.kind in VARIADIC for q in inspect.signature(p.f).parameters.values()):
        pytest.skip("arguments of any number")
    try:
        d, bound, program = program_with(p.f, p.arguments())
    except (s2sad.Error, TypeError):
        pytest.skip("refused before there is a program")
    return p.f, d, bound, program


def test_without_unused_computes_the_same(name):
    f, d, bound, program = of_corpus(name)
    (plain, left), (got, also_left) = beside(f, bound, runnable(without_unused(program), d, f))
    assert plain[0] is got[0] and same(plain[1], got[1])
    assert same(left, also_left)


def test_what_arguments_hold_needs_no_result(name):
    """Without a result all that is left is what a program does to others."""
    f, d, bound, program = of_corpus(name)
    block = program.block
    if block.end.how == "next":
        block = P.Block(block.params, block.ops, P.End("next", (P.Const(None),)))
    run = runnable(without_unused(P.Program(program.name, block, program.source)), d, f)
    (plain, left), (got, also_left) = beside(f, bound, run)
    if plain[0] is not None:
        pytest.skip("its errors may go")
    assert got == (None, None) and same(left, also_left)


def test_other_variables_stand_wherever_the_old_ones_did(name):
    """With parameters of the same names a program is the same text, and reads no old one."""
    _, _, _, program = of_corpus(name)
    table = {v: P.Var(v.name, v.kind) for v in program.block.params}
    inner = R.substituted(P.Block((), program.block.ops, program.block.end), table)
    block = P.Block(tuple(table.values()), inner.ops, inner.end)
    renamed = verify(P.Program(program.name, block, program.source))
    assert show(renamed) == show(program)


def test_a_literal_stands_in_calls_and_settings_and_has_no_memory():
    x, i, out = P.Var("x", K.FLOAT), P.Var("i", K.INT), P.Var("y", K.FLOAT)
    places = (P.Place(x), P.Place(P.Outer("A", K.UNKNOWN), (P.Item(i),)))
    given = (P.Outer("f", K.UNKNOWN), P.Spread(x), i)
    op = P.Op((out,), L.CALL, given, (("key", x), ("note", True)), places, places)
    new = R.op_with(op, {x: P.Const(2.0), i: P.Const(3)})
    assert new.operands[1:] == (P.Spread(P.Const(2.0)), P.Const(3))
    assert new.settings == (("key", P.Const(2.0)), ("note", True))
    left = (P.Place(P.Outer("A", K.UNKNOWN), (P.Item(P.Const(3)),)),)
    assert new.reads == new.writes == left


def test_simplified_computes_the_same_but_for_rounding(name):
    f, d, bound, program = of_corpus(name)
    shorter = verify(simplified(program, frozenset()))
    for run in (shorter, without_unused(shorter)):
        (plain, left), (got, also_left) = beside(f, bound, runnable(run, d, f))
        assert plain[0] is got[0] and close(plain[1], got[1])
        assert close(left, also_left)


def test_what_is_fixed_is_computed_as_it_is_written(name):
    f, d, bound, program = of_corpus(name)
    run = runnable(simplified(program, variables_of(program)), d, f)
    (plain, left), (got, also_left) = beside(f, bound, run)
    assert plain[0] is got[0] and same(plain[1], got[1])
    assert same(left, also_left)


def variables_of(program):
    """Return all variables that a program binds."""
    inside = [v for o in P.every(program.block) for v in (*o.outs, *P.bound(o))]
    return frozenset({*program.block.params, *inside})


def close(a, b):
    """Say whether two structures hold the same but for the rounding of floats."""
    if isinstance(b, np.ndarray) and b.dtype.kind in "fc":
        alike = isinstance(a, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype
        return alike and np.allclose(a, b, rtol=1e-12, atol=1e-300, equal_nan=True)
    if isinstance(b, float | complex):
        return type(a) is type(b) and np.allclose(a, b, rtol=1e-12, atol=1e-300, equal_nan=True)
    mine, theirs = children(a), children(b)
    if not theirs:
        return same(a, b)
    return type(a) is type(b) and len(mine) == len(theirs) and all(map(close, mine, theirs))


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        marks = pytest.mark.sampled(30)
        every = [n if n.startswith("golden.") else pytest.param(n, marks=marks) for n in HELD]
        metafunc.parametrize("name", every)


# --- what goes, and what stays --------------------------------------------------------------------

X, V = 0.7, np.array([0.4, -1.1, 2.0])


def swept(f, *args):
    """Return the text of a function's program without what is unused; it computes the same."""
    d, bound, program = program_with(f, args)
    shorter = without_unused(program)
    (plain, left), (got, also_left) = beside(f, bound, runnable(shorter, d, f))
    assert plain[0] is got[0] and same(plain[1], got[1]) and same(left, also_left)
    assert show(without_unused(shorter)) == show(shorter)
    return show(shorter)


def reads_nothing(x):
    t = np.sin(x)
    s = 1.0 / (x + t)
    w = [x, s]
    return 2.0 * x


def carries_for_itself(x, n):
    count, other, total = 0, 1.0, 0.0
    for _ in range(n):
        count += 1
        other, last = other * x, count
        total += x
    return total


def swaps_for_itself(x, n):
    first, second, total = 1.0, 2.0, 0.0
    for _ in range(n):
        first, second = second, first
        total += x
    return total


def does_nothing_in_a_branch(x):
    if x > 0.0:
        t = x * x
    else:
        t = 3.0
    for i in range(3):
        if i > 1:
            break
        s = i * x
    return x + 1.0


def closes_with_nothing(x):
    y = x
    try:
        y = 2.0 * x
    finally:
        t = x * x
    return y


def only_writes(v):
    u = np.zeros_like(v)
    w = u[1:]
    for i in range(2):
        u[i] += v[i]
        w[i] = 1.0
    np.add.at(u, [0, 1], 1.0)
    kept = [u]
    kept.append(w)
    return v[0]


def hands_one_result_over(x):
    if x > 0.0:
        a, b = x, 2.0 * x
    else:
        a, b = 1.0, 3.0
    return b


def collects_for_nobody(v):
    squares = [x * x for x in v if x > 0.0]
    return v[0]


def binds_a_cell_for_nobody(x):
    y = x * x

    def inner(t):
        return t + y

    y = 2.0
    return x


GOES = {
    reads_nothing: ((X,), "1.0|np.sin|[x"),
    carries_for_itself: ((X, 3), "count|other|last"),
    swaps_for_itself: ((X, 3), "first|second"),
    does_nothing_in_a_branch: ((X,), "if|for|*"),
    closes_with_nothing: ((X,), "try|x * x"),
    only_writes: ((V,), "zeros_like|for|append|np.add.at"),
    hands_one_result_over: ((X,), "a: |1.0"),
    collects_for_nobody: ((V,), "list for"),
    binds_a_cell_for_nobody: ((X,), "closure|cell y"),
}


@pytest.mark.parametrize("f", GOES, ids=lambda f: f.__name__)
def test_what_nobody_needs_goes(f):
    args, words = GOES[f]
    text = swept(f, *args)
    assert not [w for w in words.split("|") if w in text.partition("\n")[2]], text


def prints(x):
    print("x")
    return x


def writes_an_argument(v):
    v[0] = 2.0
    w = v[1:]
    w += 1.0
    np.add.at(v, [1, 1], 1.0)
    return 3.0


def returns_a_list(x):
    xs = []
    ys = [xs]
    ys[0].append(x)
    return xs


def draws_from(x):
    rng = np.random.default_rng(3)
    a = rng.normal()
    return x * rng.normal()


def draws_from_an_iterator(x):
    items = iter([x, 2.0 * x])
    first = list(items)
    return next(items, 5.0)


def goes_through_an_iterator(x):
    items = enumerate([x, 2.0 * x])
    for _ in items:
        break
    (rest,) = items
    return rest


def asserts(x):
    t = x * x
    assert t > 0.0, "it is zero"
    return x


def raises_in_an_arm(x):
    if x < 0.0:
        t = x * 2.0
        raise ValueError(t)
    return x


def lends_a_cell(x):
    y = x

    def inner():
        return y * 2.0

    y = x * 3.0
    return inner()


def writes_by_an_inner_function(x):
    u = np.zeros(3)

    def add(i):
        u[i] += x

    add(1)
    return u


def writes_by_a_view(v):
    u = v.copy()
    w = u[1:]
    w[0] = 5.0
    return u


def writes_what_may_be_the_same(v):
    u = v.copy()
    w = u.conjugate()
    w[0] = 5.0
    return u


def writes_before_it_stores(v):
    u = np.zeros(3)
    kept = {"u": u}
    u[0] = v[0]
    return kept


def catches(x):
    y = x
    try:
        t = 1.0 / (x - x)
        y = 2.0 * x
    except ZeroDivisionError:
        y = 3.0 * x
    return y


def suppresses(x):
    y = x
    with contextlib.suppress(ZeroDivisionError):
        t = 1.0 / (x - x)
        y = 2.0 * x
    return y


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def swallows(x):
    y = x
    with Swallows():
        t = 1.0 / (x - x)
        y = 2.0 * x
    return y


def leaves_a_loop(x):
    total = 0.0
    for i in range(5):
        if i * x > 1.5:
            break
        total += x
    return total


def prints_until(x):
    for i in range(5):
        if i > 2:
            break
        print(i)
    return x


def calls_in_a_comprehension(x):
    [print(i) for i in range(3) if i > 1]
    x > 0.0 and print("positive")
    return x


def sorts_by(x):
    found = []

    def key(i):
        found.append(i)
        return i

    largest = max([1, 2], key=key)
    return found


def runs_a_generator(x):
    found = []

    def looked(i):
        found.append(i)
        return i

    total = sum(looked(i) for i in range(3))
    return found


def decorates(x):
    found = []

    def noted(f):
        found.append(1.0)
        return f

    @noted
    def inner():
        return x

    return found


STAYS = {
    prints: ((X,), "print"),
    writes_an_argument: ((V,), "= 2.0|+= 1.0|each item"),
    returns_a_list: ((X,), "append"),
    draws_from: ((X,), "a: float = rng.normal()|value"),
    draws_from_an_iterator: ((X,), "list(items)|next"),
    goes_through_an_iterator: ((X,), "for|break"),
    asserts: ((X,), "assert|t: float"),
    raises_in_an_arm: ((X,), "if|raise|x * 2.0"),
    lends_a_cell: ((X,), "closure|x * 3.0|cell y"),
    writes_by_an_inner_function: ((X,), "add(1)|closure|zeros"),
    writes_by_a_view: ((V,), "w[0] = 5.0"),
    writes_what_may_be_the_same: ((V,), "w[0] = 5.0"),
    writes_before_it_stores: ((V,), "u[0] ="),
    catches: ((X,), "1.0 / |try"),
    suppresses: ((X,), "1.0 / |try"),
    swallows: ((X,), "1.0 / |with"),
    leaves_a_loop: ((X,), "if|break|*"),
    prints_until: ((X,), "if|break|print"),
    calls_in_a_comprehension: ((X,), "for|if|print(i)|print('positive')"),
    sorts_by: ((X,), "max|closure"),
    runs_a_generator: ((X,), "for|append"),
    decorates: ((X,), "append(1.0)"),
}


@pytest.mark.parametrize("f", STAYS, ids=lambda f: f.__name__)
def test_what_does_something_stays(f):
    args, words = STAYS[f]
    text = swept(f, *args)
    assert all(w in text.partition("\n")[2] for w in words.split("|")), text


def test_what_is_printed_stays():
    for f in (prints, prints_until, calls_in_a_comprehension):
        d, _, program = program_with(f, (X,))
        said = []
        for run in (f, runnable(without_unused(program), d, f)):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                run(X)
            said.append(out.getvalue())
        assert said[0] == said[1] != ""


def test_a_value_that_acts_is_discarded_where_nobody_reads_it_any_more():
    first, x = P.Var("", K.UNKNOWN), P.Var("x", K.FLOAT)
    say = P.Op((first,), L.CALL, (P.Outer("print", K.Known(print)), x))
    half = P.Op((P.Var("t", K.UNKNOWN),), L.ITEM, (first, P.Const(0)))
    program = P.Program("f", P.Block((x,), (say, half), P.End("next", (x,))))
    ops = verify(without_unused(program)).block.ops
    assert ops[0] is not half and [o.primitive for o in ops] == [L.CALL, L.DISCARD]
    assert ops[1].operands == (first,)


def test_a_generator_that_is_gone_through_runs():
    code = gast.parse("(say(i) for i in items)").body[0].value
    items, g = P.Var("items", K.List(K.INT)), P.Var("g", K.Iterable_(K.INT))
    total = P.Op((P.Var("t", K.INT),), L.CALL, (P.Outer("sum", K.Known(sum)), g))
    made = P.Op((g,), L.CLOSURE, (items,), (("code", code),))
    for ops, left in (((made, total), (made, total)), ((made,), ())):
        block = P.Block((items,), ops, P.End("next", (P.Const(1),)))
        found = verify(without_unused(P.Program("f", block))).block.ops
        assert [o.primitive for o in found] == [o.primitive for o in left]


# --- algebra --------------------------------------------------------------------------------------


def simple(f, *args, fixed=False):
    """Return the text of a function's program, simplified and without what is unused then."""
    d, bound, program = program_with(f, args)
    kept = variables_of(program) if fixed else frozenset()
    shorter = without_unused(simplified(program, kept))
    (plain, left), (got, also_left) = beside(f, bound, runnable(shorter, d, f))
    assert plain[0] is got[0] and close(plain[1], got[1]) and same(left, also_left)
    return "\n".join(line.strip() for line in show(shorter).splitlines()[1:])


def text_function(source):
    space = {"np": np}
    text = f"def f(x, y, n, v, w, b, s):\n    return {source}\n"
    name = f"<algebra {source}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)
    return space["f"]


GIVEN = (0.7, -1.3, 3, V, V[::-1].copy(), True, np.float32(0.3))
SIMPLER = {
    "x * 1.0": "x",
    "1.0 * x": "x",
    "x * 1": "x",
    "x / 1.0": "x",
    "x + 0.0": "x",
    "0.0 + x": "x",
    "x - 0.0": "x",
    "x ** 1": "x",
    "n * 1": "n",
    "n + 0": "n",
    "s * 1.0": "s",
    "-(-x)": "x",
    "x + (-y)": "x - y",
    "(-x) + y": "y - x",
    "x - (-y)": "x + y",
    "(-x) * y": "-(x * y)",
    "x * (-y)": "-(x * y)",
    "(-x) / y": "-(x / y)",
    "(-x) * (-y)": "x * y",
    "x + (-y) * n": "x - y * n",
    "2.0 * (0.5 * x)": "x",
    "2.0 * (x * 4.0)": "8.0 * x",
    "np.sum(v * 1.0)": "np.sum(v)",
    "np.sum(v + (-w))": "np.sum(v - w)",
    "np.sum((-v) * w)": "np.sum(-(v * w))",
    "(2.0 + 3.0) * x": "5.0 * x",
    "(x if 1 < 2 else y)": "x",
    "(x if not True else y)": "y",
}
AS_IT_IS = (
    "0.0 * x",
    "x + x",
    "n * 1.0",
    "n / 1",
    "n + 0.0",
    "b * 1",
    "b + 0",
    "-(-b)",
    "x ** 2",
    "3.0 * (x / 3.0)",
    "3.0 * (0.1 * x)",
    "v * 1.0",
    "-(-v)",
    "[x] * 1",
    "np.zeros(()) * 1.0",
    "(1.0 / 0.0) * x",
    "1e300 * 1e300 + x",
)


@pytest.mark.parametrize("source", SIMPLER)
def test_algebra(source):
    """A text and its simpler one give the same program, but for names."""
    got = simple(text_function(source), *GIVEN)
    d, bound, program = program_with(text_function(SIMPLER[source]), GIVEN)
    wanted = show(without_unused(simplified(program, frozenset())))
    wanted = "\n".join(line.strip() for line in wanted.splitlines()[1:])
    assert shape_of(got) == shape_of(wanted)
    assert simple(text_function(source), *GIVEN, fixed=True) != got


@pytest.mark.parametrize("source", AS_IT_IS)
def test_what_algebra_leaves(source):
    f = text_function(source)
    assert shape_of(simple(f, *GIVEN)) == shape_of(simple(f, *GIVEN, fixed=True))


def shape_of(text):
    """Return a program's text with the names of values that have been made numbered in order."""
    table = {}
    for line in text.splitlines():
        word, found, _ = line.partition(" = ")
        if found:
            table.setdefault(word.partition(":")[0], f"#{len(table)}")
    return re.sub(r"[%\w.]+", lambda m: table.get(m[0], m[0]), re.sub(r": [^=\n]+ =", " =", text))


def arm_of_a_literal(x):
    if 2 > 1:
        y = x * 2.0
    else:
        y = x * 3.0
    for _ in range(3):
        y = y + x
        if not False:
            break
        y = 0.0
    assert 1 < 2
    return y


def test_the_arm_of_a_literal_stands_in_the_place_of_its_branch():
    text = simple(arm_of_a_literal, X)
    assert "if" not in text and "3.0" not in text and "assert" not in text
    assert "break" in text


def written_between(v):
    n = -v
    same_as = v * 1.0
    v[0] = 9.0
    z = v + n
    return z, same_as


def alias_that_is_returned(v):
    w = v * 1.0
    return w


def written_afterwards(v):
    w = v + 0.0
    w[0] = 9.0
    return w, v


def copied_before_a_cell_changes(x):
    y = x
    z = y

    def inner():
        return y

    y = 5.0
    return z + inner()


def negated_and_then_written(v):
    n = -v
    n[0] = 4.0
    return v + n


RESPECTED = {
    written_between: "-v|* 1.0",
    alias_that_is_returned: "* 1.0",
    written_afterwards: "+ 0.0",
    negated_and_then_written: "v + n",
}


@pytest.mark.parametrize("f", RESPECTED, ids=lambda f: f.__name__)
def test_algebra_respects_memory(f):
    text = simple(f, V.copy())
    assert all(words in text for words in RESPECTED[f].split("|")), text


def signs_in_place(v, x):
    u = v.copy()
    u[1:] += -(x * v[1:])
    u += -v
    u[0] -= -x
    return u


def test_what_is_added_in_place_loses_its_sign():
    text = simple(signs_in_place, V, X)
    assert text.count("-=") == 2 and text.count("+=") == 1 and " = -" not in text
    assert text.count("+=") < simple(signs_in_place, V, X, fixed=True).count("+=")


def one_sign_for_two(x, y):
    n = -x
    return n * y + n * 3.0


def test_a_sign_that_several_read_stays_where_it_is():
    assert "%" not in simple(one_sign_for_two, X, 2.0)


def test_a_look_into_a_cell_is_no_copy_of_the_cell():
    assert "cell y" in simple(copied_before_a_cell_changes, X)


# --- how long it takes ----------------------------------------------------------------------------


def test_passes_are_linear():
    """2,000 statements, in loops and branches, take well under a second."""
    x = P.Var("x", K.FLOAT)
    times = {}
    for count in (500, 2000):
        block, last = [], x
        for i in range(count // 4):
            u, test, a, b = (P.Var(f"{w}{i}", K.FLOAT) for w in ("u", "t", "a", "b"))
            negative, out, dead = (P.Var(f"{w}{i}", K.FLOAT) for w in ("n", "y", "dead"))
            block += [
                P.Op((negative,), L.PREFIX["USub"], (last,)),
                P.Op((u,), L.INFIX["Add"], (x, negative)),
                P.Op((test,), L.compare("Lt"), (u, P.Const(0.5))),
            ]
            arms = [
                P.Block((), (P.Op((v,), L.INFIX["Mult"], (u, P.Const(c))),), P.End("next", (v, v)))
                for v, c in ((a, 1.0), (b, 0.5))
            ]
            block.append(P.If((out, dead), test, *arms))
            last = out
        program = verify(P.Program("f", P.Block((x,), tuple(block), P.End("next", (last,)))))
        start = time.process_time()
        verify(without_unused(simplified(program, frozenset())))
        times[count] = time.process_time() - start
    assert times[2000] < 1.0 and times[2000] < 16 * max(times[500], 0.01), times
