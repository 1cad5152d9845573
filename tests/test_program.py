"""The program beside the tree: what is read comes back, and what it says computes the same.

Every program of the corpus is taken from its normalised tree to a program and back, in two ways:
under its own names, which gives the tree that was read, and with a name for each binding, which is
run beside the plain function.
"""

import contextlib
import copy
import inspect
import io
import linecache
import random
import types

import gast
import numpy as np
import pytest
from frozen_programs import held
from pairs import limited
from properties import same

import s2sad
from s2sad import kinds as K
from s2sad.errors import InternalError
from s2sad.ir import program as P
from s2sad.ir.alive import alive
from s2sad.ir.flows import active_with, flows
from s2sad.ir.from_tree import program_of
from s2sad.ir.mapped import mapped
from s2sad.ir.printed import flat, printed
from s2sad.ir.show import show
from s2sad.ir.verify import verify
from s2sad.nodes import clone
from s2sad.primitives import language as L
from s2sad.steps.derivation import Derivation, analyse, memory_of
from s2sad.syntax.flow import live_in
from s2sad.write.printer import function as text_of

pytestmark = pytest.mark.filterwarnings("ignore")
HELD = {h.name: h for h in held()}
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# What these compute depends on whether a gradient is being computed, or on what a checkpoint keeps.
OF_DERIVATIVES = ("inside.", "test_checkpoint", "checkpoint")
# These ask for their own names, which are others where each binding has one.
OF_NAMES = ("test_unseen.by_locals",)
# These are refused behind the analysis: for the order of `x[0] += f(x)`, for one array twice.
REFUSED_LATER = ("small.added_e", "small.added_i", "small.views_deepcopy")
NOT_RUN = (*OF_DERIVATIVES, *OF_NAMES, *REFUSED_LATER)


def analysed(f, args):
    """Return a derivation, and what is known of all functions that it met."""
    d = Derivation()
    d.refs.prefer(f)
    d.home = f
    bound = inspect.signature(f).bind(*args)
    bound.apply_defaults()
    entry = analyse(d, f, {n: K.kind_of(v, n) for n, v in bound.arguments.items()})
    return d, entry, bound


def programs_of(d, entry):
    """Yield the functions of a derivation, each with its program."""
    for a in dict.fromkeys([entry, *d.analysed.values()]):
        memory = memory_of(d, a) if a is entry else d.memories.get(a)
        yield a, verify(program_of(a.function, a.kinds, memory.changes if memory else {}))


def taken(body, decided):
    """Return a block with the arms that kinds have decided in the place of their branches."""
    out = []
    for s in body:
        if s in decided:
            out += taken(s.body if decided[s] else s.orelse, decided)
            if out and isinstance(out[-1], gast.Break | gast.Raise):
                break
            continue
        new = clone(s)
        if not isinstance(s, gast.FunctionDef | gast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                if getattr(s, field, None):
                    rest = taken(getattr(s, field), decided)
                    setattr(new, field, rest or ([gast.Pass()] if field == "body" else []))
        for field in ("handlers", "cases"):
            for mine, theirs in zip(getattr(new, field, []), getattr(s, field, []), strict=True):
                mine.body = taken(theirs.body, decided) or [gast.Pass()]
        while isinstance(new, gast.With) and len(new.items) > 1:  # each manager has its own
            new = gast.With(new.items[:-1], [gast.With(new.items[-1:], new.body, None)], None)
        out.append(new)
        if isinstance(s, gast.Break | gast.Raise):
            break
    return out


def test_what_is_read_comes_back(name):
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType):
        pytest.skip("no plain function")
    try:
        d, entry, _ = analysed(p.f, p.arguments())
    except (s2sad.Error, TypeError):
        pytest.skip("refused before there is a program")
    for a, program in programs_of(d, entry):
        node = clone(a.function.node)
        node.body = taken(a.function.node.body, a.kinds.decided)
        assert text_of(printed(program)) == text_of(node)
        assert show(program).startswith(program.name)


def test_facts_of_variables_are_those_of_the_tree(name):
    """What is alive is what the tree says, or less."""
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType):
        pytest.skip("no plain function")
    try:
        d, entry, _ = analysed(p.f, p.arguments())
        memory = memory_of(d, entry)
    except (s2sad.Error, TypeError):
        pytest.skip("refused before there is a program")
    function, kinds = entry.function, entry.kinds
    program = verify(program_of(function, kinds, memory.changes))
    live, behind = {}, alive(program)
    live_in(function.node.body, frozenset(), live.__setitem__)
    for operation in P.every(program.block):
        s = operation.origin
        if not isinstance(operation, P.Op) or not isinstance(s, gast.Assign):
            continue
        named_ones = {v.name for v in behind[operation] if v.name and not v.cell}
        if any(v.name for v in operation.outs) and s in live:
            assert named_ones <= live[s]


def renamed(program, word):
    """Return a program in which all variables have one name, or none."""
    own = {v: v for v in program.block.params}

    def change(v):
        return v if v.cell else own.get(v) or P.Var(word, v.kind)

    return verify(mapped(program, change))


WAYS = {
    "flat": lambda program, temps: flat(program),
    "printed": printed,
    "nameless": lambda program, temps: printed(renamed(program, "")),
    "one name": lambda program, temps: printed(renamed(program, "v")),
}


def test_each_way_of_printing_computes_the_same(name):
    """Each binding on its own; values inside of their uses; and names mean nothing."""
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType) or name.startswith(NOT_RUN):
        pytest.skip("no plain function")
    try:
        d, entry, bound = analysed(p.f, p.arguments())
        memory = memory_of(d, entry)
    except (s2sad.Error, TypeError):
        pytest.skip("refused before there is a program")
    parameters = inspect.signature(p.f).parameters.values()
    if any(q.kind in VARIADIC for q in parameters):
        pytest.skip("arguments of any number")
    program = program_of(entry.function, entry.kinds, memory.changes)
    by_place = [q.name for q in parameters if q.kind is q.POSITIONAL_ONLY]
    words = words_of(d, p.f)
    plain, left = called(p.f, bound.arguments, by_place)
    for way, make in WAYS.items():
        node = make(program, entry.function.temps)
        node.name = "made_one"
        text = text_of(node)
        space = {**words, **loaded(text, f"<{way} {name}>", words)}
        got, also_left = called(space["made_one"], bound.arguments, by_place)
        assert plain[0] is got[0] and same(plain[1], got[1]), text
        assert same(left, also_left), text


def called(f, arguments, by_place):
    """Return what a call gives, and what it leaves of its arguments."""
    given = copy.deepcopy(dict(arguments))
    first = [given[n] for n in by_place]
    return outcome(f, first, {n: v for n, v in given.items() if n not in by_place}), given


def words_of(d, f):
    """Return what names mean in a function: its globals, what it captures, s2sad's helpers."""
    captured = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    known = {}
    for n, cell in captured:
        with contextlib.suppress(ValueError):
            known[n] = cell.cell_contents
    return {**d.refs.modules, **d.refs.functions, **f.__globals__, **known}


def loaded(text, file, space):
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(space)
    exec(compile(text, file, "exec"), space)
    return space


def outcome(f, args, keywords):
    """Return the class of the exception that a call raises, if any, and its result."""
    random.seed(0)
    np.random.seed(0)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            with limited(20.0):
                return None, f(*args, **keywords)
        except (ArithmeticError, LookupError, ValueError, TypeError, AssertionError) as error:
            return type(error), None


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        marks = pytest.mark.sampled(30)
        every = [n if n.startswith("golden.") else pytest.param(n, marks=marks) for n in HELD]
        metafunc.parametrize("name", every)


# --- one example, and programs that are broken ----------------------------------------------------


def loss(k, u0, steps):
    u = u0.copy()
    peak = 0.0
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        if u[3] > peak:
            peak = u[3]
    return peak * peak + np.sum(u)


def example():
    d, entry, _ = analysed(loss, (0.1, np.ones(8), 3))
    return program_of(entry.function, entry.kinds, memory_of(d, entry).changes)


def test_bindings_have_versions_and_kinds():
    program = verify(example())
    (branch,) = (r for r in P.every(program.block) if isinstance(r, P.If))
    (loop,) = (r for r in P.every(program.block) if isinstance(r, P.For))
    (peak,) = branch.outs
    assert peak.name == "peak" and loop.body.end.results == (peak,)
    assert branch.orelse.end.results == loop.body.params
    assert len({peak, *loop.outs, *loop.body.params, *branch.then.end.results}) == 4
    bound = [v for op in P.every(program.block) for v in op.outs]
    assert all(K.is_numeric(v.kind) for v in bound if v.name)


def test_what_a_loop_carries_is_alive_where_it_is_read():
    program = example()
    behind = alive(program)
    (loop,) = (r for r in P.every(program.block) if isinstance(r, P.For))
    (carried,) = loop.body.params
    before_the_test = [o for o in loop.body.ops if not isinstance(o, P.If)][-1]
    assert carried in behind[before_the_test]
    assert {v.name for v in behind[loop]} == {"peak", "u"}


def test_a_test_carries_no_derivative():
    program = example()
    found = active_with(program, flows(program, {}), ["k"])
    assert {v.name for v in found} >= {"k", "u", "t_3", "peak", "value"}
    (branch,) = (r for r in P.every(program.block) if isinstance(r, P.If))
    assert branch.test not in found and not active_with(program, flows(program, {}), [])


def test_a_write_names_its_place():
    (write,) = (o for o in P.every(example().block) if isinstance(o, P.Op) and o.writes)
    (place,) = write.writes
    assert write.primitive is L.AUGMENTED_ITEM["Add"]
    assert place.object.name == "u" and isinstance(place.path[0], P.Item)


def changed(program, end=None, ops=None):
    block = program.block
    new = P.Block(block.params, block.ops if ops is None else ops, end or block.end)
    return P.Program(program.name, new, program.source)


def test_verify_finds_what_is_broken():
    program = example()
    last = program.block.ops[-1]
    stranger = P.Var("y", K.FLOAT)
    broken = {
        "value is read where it is not bound": changed(program, ops=program.block.ops[:-1]),
        "value is bound twice": changed(program, ops=(*program.block.ops, last)),
        "y is read where it is not bound": changed(program, P.End("next", (stranger,))),
        "a function has one result": changed(program, P.End("next")),
        "a break stands outside of a loop": changed(program, P.End("break")),
    }
    one = P.Op((P.Var("z", K.FLOAT),), L.INFIX["Add"], (P.Const(1.0),))
    broken["add takes 2 operands"] = changed(program, ops=(*program.block.ops, one))
    for words, wrong in broken.items():
        with pytest.raises(InternalError, match=words):
            verify(wrong)


# --- how programs print that came from no text ----------------------------------------------------


def op(primitive, *operands, name="", kind=K.FLOAT):
    return P.Op((P.Var(name, kind),), primitive, operands)


def body(*ops, ends=(), how="next", params=()):
    return P.Block(params, ops, P.End(how, ends))


def runs(params, *ops, gives):
    """Return the text of a program that is made here, and its function."""
    given = tuple(params)
    program = verify(P.Program("f", P.Block(given, ops, P.End("next", (gives,)))))
    text = text_of(printed(program))
    return text, loaded(text, "<made>", {})["f"]


def floats(*words):
    return tuple(P.Var(w, K.FLOAT) for w in words)


@pytest.mark.parametrize("words", [("a", "b"), ("v", "v"), ("", "")])
def test_values_that_change_places_do_so_at_once(words):
    x, y, n = floats("x", "y", "n")
    (i,), params, outs = floats("i"), floats(*words), floats(*words)
    rounds = op(L.CALL, P.Outer("range", K.UNKNOWN), n)
    loop = P.For(outs, rounds.outs[0], i, (x, y), body(ends=params[::-1], params=params))
    both = op(L.INFIX["Sub"], *outs)
    text, f = runs((x, y, n), rounds, loop, both, gives=both.outs[0])
    assert [f(5.0, 3.0, k) for k in range(3)] == [2.0, -2.0, 2.0]
    assert text.count(", ") == 4, text  # of the parameters, and of one tuple on both sides


@pytest.mark.parametrize("words", [("s", "s", "s"), ("", "", ""), ("v", "v", "v")])
def test_a_loop_gives_what_it_holds_where_it_ends(words):
    """After a break, after no rounds, and where what it starts with is read behind it, too."""
    xs, start = floats("xs", "start")
    (item,), (s,), (out,) = floats("x"), floats(words[0]), floats(words[1])
    big = op(L.compare("Gt"), item, P.Const(9.0))
    more = op(L.INFIX["Add"], s, item, name=words[2])
    leave = P.If((), big.outs[0], body(ends=(P.Const(-1.0),), how="break"), body())
    loop = P.For((out,), xs, item, (start,), body(big, leave, more, ends=more.outs, params=(s,)))
    both = op(L.TUPLE, out, start, kind=K.UNKNOWN)
    text, f = runs((xs, start), loop, both, gives=both.outs[0])
    assert f([], 2.0) == (2.0, 2.0)
    assert f([1.0, 3.0], 2.0) == (6.0, 2.0)
    assert f([1.0, 10.0, 3.0], 2.0) == (-1.0, 2.0), text


def test_what_a_loop_starts_with_keeps_one_name_if_nobody_else_reads_it():
    xs, start = floats("xs", "start")
    (item,), (s,), (out,) = floats("x"), floats(""), floats("")
    more = op(L.INFIX["Add"], s, item)
    loop = P.For((out,), xs, item, (start,), body(more, ends=more.outs, params=(s,)))
    text, f = runs((xs, start), loop, gives=out)
    assert f([1.0, 2.0], 3.0) == 6.0
    lines = ["for x in xs:", "start = start + x", "return start"]
    assert [t.strip() for t in text.splitlines()[1:]] == lines


def test_a_while_whose_test_is_no_expression():
    (n,), (k,), (out,) = floats("n"), floats("k"), floats("k")
    twice = op(L.INFIX["Mult"], k, P.Const(2))
    both = op(L.INFIX["Mult"], *twice.outs * 2)
    holds = op(L.compare("Lt"), both.outs[0], P.Const(100))
    more = op(L.INFIX["Add"], k, P.Const(1))
    test = body(twice, both, holds, ends=holds.outs)
    loop = P.While((out,), (k,), (n,), test, body(more, ends=more.outs))
    text, f = runs((n,), loop, gives=out)
    assert "while True" in text
    assert [f(0), f(5), f(7)] == [5, 5, 7]


def test_what_is_read_before_a_write_does_not_move_behind_it():
    u, i = P.Var("u", K.Array(1, "float64")), P.Var("i", K.INT)
    read = P.Op((P.Var("", K.FLOAT),), L.ITEM, (u, i), reads=(P.Place(u, (P.Item(i),)),))
    place = P.Place(u, (P.Item(i),))
    write = P.Op((), L.PUT_ITEM, (u, i, P.Const(0.0)), writes=(place,))
    double = op(L.INFIX["Mult"], read.outs[0], P.Const(2.0))
    text, f = runs((u, i), read, write, double, gives=double.outs[0])
    assert f([1.0, 2.0], 1) == 4.0 and "u_item = u[i]" in text
    text, f = runs((u, i), read, double, write, gives=double.outs[0])
    assert f([1.0, 2.0], 1) == 4.0
    text, f = runs((u, i), write, read, double, gives=double.outs[0])
    assert f([1.0, 2.0], 1) == 0.0 and "return u[i] * 2.0" in text


def test_what_acts_keeps_its_order():
    f, g = (P.Var(w, K.UNKNOWN) for w in "fg")
    first, second = op(L.CALL, f), op(L.CALL, g)
    turned = op(L.INFIX["Sub"], *second.outs, *first.outs)
    program = P.Program("f", P.Block((f, g), (first, second, turned), P.End("next", turned.outs)))
    space = loaded(text_of(printed(verify(program))), "<made>", {})
    heard = []
    assert space["f"](lambda: heard.append(1) or 1.0, lambda: heard.append(2) or 5.0) == 4.0
    assert heard == [1, 2]


def test_an_old_value_that_is_read_later_is_copied_before_it_is_added_to():
    x, y = floats("x", "y")
    added = op(L.AUGMENTED["Add"], x, y, name="x")
    both = op(L.TUPLE, x, *added.outs, kind=K.UNKNOWN)
    text, f = runs((x, y), added, both, gives=both.outs[0])
    assert f(1.0, 2.0) == (1.0, 3.0) and "x_1 = x\n    x_1 += y" in text
    text, f = runs((x, y), added, gives=added.outs[0])
    assert f(1.0, 2.0) == 3.0 and "    x += y\n    return x\n" in text


def test_a_made_up_name_gives_way_to_the_name_of_what_it_is_given_to():
    (x,) = floats("x")
    made = op(L.LIST, x, name="items", kind=K.UNKNOWN)
    given = op(L.SAME, *made.outs, name="rows", kind=K.UNKNOWN)
    both = op(L.TUPLE, *given.outs * 2, kind=K.UNKNOWN)
    program = P.Program("f", P.Block((x,), (made, given, both), P.End("next", both.outs)), None)
    plain, own = printed(program), printed(program, frozenset({"items"}))
    assert "    items = [x]\n    rows = items\n" in text_of(plain)
    assert text_of(own).splitlines()[1:] == ["    rows = [x]", "    return rows, rows"]


def test_an_inner_function_reads_what_it_was_given():
    """What it captures is alive as long as it may be called."""
    (x,) = floats("x")
    code = gast.parse("lambda t: held * t").body[0].value
    held = op(L.INFIX["Mult"], x, P.Const(3.0))
    inner = P.Op(
        (P.Var("", K.UNKNOWN),), L.CLOSURE, held.outs, (("code", code), ("names", ("held",)))
    )
    other = op(L.INFIX["Mult"], x, x)
    more = op(L.INFIX["Add"], *other.outs * 2)
    called = op(L.CALL, *inner.outs, *more.outs)
    text, f = runs((x,), held, inner, other, more, called, gives=called.outs[0])
    assert f(2.0) == 6.0 * 8.0, text


def test_a_name_that_is_not_bound_gives_no_other_value():
    x, t = floats("x", "t")
    (out,) = floats("")
    first = op(L.INFIX["Mult"], x, P.Const(2.0))
    used = op(L.INFIX["Mult"], *first.outs * 2)
    then = body(used, ends=used.outs)
    branch = P.If((out,), t, then, body(ends=(P.Unbound("late"),)))
    copied = op(L.SAME, out, name="kept")
    _, f = runs((x, t), first, branch, copied, gives=copied.outs[0])
    assert f(2.0, 1.0) == 16.0
    with pytest.raises(UnboundLocalError):
        f(2.0, 0.0)


def test_wide_expressions_keep_values_on_lines_of_their_own():
    xs = floats(*(f"quantity_{i}" for i in range(12)))
    ops, last = [], xs[0]
    for x in xs[1:]:
        ops.append(op(L.INFIX["Add"], last, x))
        (last,) = ops[-1].outs
    text, f = runs(xs, *ops, gives=last)
    assert f(*range(12)) == 66
    lines = text[text.index("):") :].splitlines()
    assert max(map(len, lines)) < 100 and len(lines) < 5, text
