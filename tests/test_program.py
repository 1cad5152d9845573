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
from s2sad.facts.activity import activity
from s2sad.ir import program as P
from s2sad.ir.alive import alive
from s2sad.ir.flows import active
from s2sad.ir.from_tree import program_of
from s2sad.ir.show import show
from s2sad.ir.to_tree import flat, named
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
        assert text_of(named(program)) == text_of(node)
        assert show(program).startswith(program.name)


def test_facts_of_variables_are_those_of_the_tree(name):
    """What is alive is what the tree says, or less; what is active is at least that."""
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
    before = kinds.before.get(function.node.body[0], {})
    wrt = frozenset(n for n in function.params if K.differentiable(before.get(n, K.UNKNOWN)))
    old, live = activity(function, kinds, wrt, memory), {}
    live_in(function.node.body, frozenset(), live.__setitem__)
    found, behind = active(program, memory.classes, wrt), alive(program)
    for operation in P.every(program.block):
        s = operation.origin
        if not isinstance(operation, P.Op) or not isinstance(s, gast.Assign):
            continue
        named_ones = {v.name for v in behind[operation] if v.name and not v.cell}
        if any(v.name for v in operation.outs) and s in live:
            assert named_ones <= live[s]
        for v in operation.outs:
            if v.name in old.after(s) and not isinstance(v.kind, K.Known):
                assert v in found, v.name


def test_each_binding_on_its_own_computes_the_same(name):
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
    node = flat(program_of(entry.function, entry.kinds, memory.changes))
    node.name = "flat_one"
    space = {**words_of(d, p.f), **loaded(text_of(node), f"<flat {name}>", words_of(d, p.f))}
    by_place = [q.name for q in parameters if q.kind is q.POSITIONAL_ONLY]
    ends = []
    for f in (p.f, space["flat_one"]):
        given = copy.deepcopy(dict(bound.arguments))
        first = [given[n] for n in by_place]
        ends.append(
            (outcome(f, first, {n: v for n, v in given.items() if n not in by_place}), given)
        )
    (plain, left), (got, also_left) = ends
    assert plain[0] is got[0] and same(plain[1], got[1])
    assert same(left, also_left)


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
    found = active(program, {}, ["k"])
    assert {v.name for v in found} >= {"k", "u", "t_3", "peak", "value"}
    (branch,) = (r for r in P.every(program.block) if isinstance(r, P.If))
    assert branch.test not in found and not active(program, {}, ["steps"])


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
