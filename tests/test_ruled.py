"""Rules as parts of a program: every row of the rule tables, spliced, computes what the rule does.

For each row of tests/rules a program is made whose parameters are the rule's arrays, and whose body
is the spliced rule. It is printed, run, and compared with the rule itself.
"""

import collections
import importlib
import inspect
import itertools
import warnings
from pathlib import Path

import gast
import numpy as np
import pytest

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.printed import flat
from s2sad.ir.verify import verify
from s2sad.linear import rule_programs
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_refusals import RuleRefusal
from s2sad.linear.ruled import spliced
from s2sad.names import Names
from s2sad.primitives import language as L
from s2sad.steps.derivation import Derivation, analyse
from s2sad.steps.refs import Refs
from s2sad.syntax.decided import settled
from s2sad.testing import _Call
from s2sad.tools.oracle import random_like
from s2sad.write.printer import function as text_of

RULES = Path(__file__).resolve().parent / "rules"
TABLES = sorted(p.stem for p in RULES.glob("test_*.py") if "check_rule(" in p.read_text("utf-8"))
LITERALS = (type(None), bool, int, float, complex, str)
SEED = 1982
pytestmark = pytest.mark.filterwarnings("ignore")


# --- the rows ------------------------------------------------------------------------------------


def marked(test):
    """Yield the arguments with which a parametrized test is run."""
    axes = []
    for mark in getattr(test, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        names = mark.args[0]
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
        values = [getattr(v, "values", v) if hasattr(v, "marks") else v for v in mark.args[1]]
        if len(names) == 1:
            values = [v if hasattr(w, "marks") else (v,) for v, w in zip(values, mark.args[1])]
        axes.append([dict(zip(names, v, strict=True)) for v in values])
    for chosen in itertools.product(*axes):
        yield {n: v for one in chosen for n, v in one.items()}


def rows_of(table, monkeypatch):
    """Return the calls that a table gives to check_rule, by function: (fn, args, settings)."""
    monkeypatch.syspath_prepend(str(RULES))
    monkeypatch.syspath_prepend(str(RULES.parent))
    module = importlib.import_module(table)
    found = []
    monkeypatch.setattr(module, "check_rule", lambda *a, **kw: found.append((a[0], a[1:], kw)))
    for test in list(vars(module).values()):
        if not inspect.isfunction(test) or not test.__name__.startswith("test_"):
            continue
        marks = getattr(test, "pytestmark", [])
        skipped = any(m.name == "skip" or (m.name == "skipif" and m.args[0]) for m in marks)
        if skipped or "check_rule" not in test.__code__.co_names:
            continue
        for given in marked(test):
            if inspect.signature(test).parameters.keys() <= given.keys():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    test(**given)
    return found


# --- programs ------------------------------------------------------------------------------------


class Program:
    """A program in the making: its parameters with their values, and the spliced operations."""

    def __init__(self):
        self.params, self.values, self.ops = [], [], []

    def operand(self, name, value, setting=False):
        if setting and type(value) in LITERALS:
            return P.Const(value)
        if setting and type(value) is tuple and all(type(v) in LITERALS for v in value):
            out = P.Var(name, K.kind_of(value, name, literal=True))
            self.ops.append(P.Op((out,), L.TUPLE, tuple(map(P.Const, value))))
            return out
        if value is None:
            return P.Const(None)
        v = P.Var(f"{name}_{len(self.params)}", K.kind_of(value, name))
        self.params.append(v)
        self.values.append(value)
        return v

    def run(self, refs, made):
        out = P.Var("found", K.UNKNOWN)
        given = tuple(P.Const(None) if r is None else r for r in made.results)
        ops = (*self.ops, *made.ops, P.Op((out,), L.TUPLE, given))
        words = ", ".join(v.name for v in self.params)
        source = gast.parse(f"def spliced({words}): pass").body[0]
        program = P.Program(
            "spliced", P.Block(tuple(self.params), ops, P.End("next", (out,))), source
        )
        text = text_of(flat(verify(program)))
        space = {**refs.modules, **refs.functions}
        exec(text, space)
        with np.errstate(all="ignore"):
            return space["spliced"](*self.values), text


def same(one, two):
    """Say whether two results are equal, whatever scalars they are made of."""
    if one is None or two is None:
        return one is two
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    if hasattr(one, "toarray"):
        one, two = one.toarray(), two.toarray()
    if isinstance(one, dict) or not isinstance(one, (int, float, complex, np.generic, np.ndarray)):
        return type(one) is type(two)
    a, b = np.asarray(one), np.asarray(two)
    alike = a.shape == b.shape and a.dtype == b.dtype
    return alike and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def fits(value, kind):
    """Say whether a value is of the kind that the program says: axes, dtype, number of items.

    Of which class a number is, its own or NumPy's or an array without axes, is another question.
    """
    if isinstance(kind, K.Union):
        return any(fits(value, k) for k in kind.options)
    if isinstance(kind, K.Tuple):
        return len(value) == len(kind.items) and all(map(fits, value, kind.items))
    if not isinstance(kind, K.Num | K.Array):
        return True
    if np.ndim(value) != getattr(kind, "rank", 0):
        return False
    found = np.asarray(value).dtype
    if isinstance(kind, K.Num) and kind.dtype in (None, "any"):
        return found.kind in {"bool": "b", "int": "iu", "float": "f", "complex": "c"}[kind.type]
    return found == kind.dtype


def spliced_rule(rule, given, settings, count, arrays):
    """Splice a rule and run it; return the results, how it was spliced, and what is expected.

    `given` are the arguments by position, `settings` those by name.
    """
    program, refs = Program(), Refs(Names())
    names = registry.positional_names(rule, 0)
    operands = {}
    for name, value in zip(names, given, strict=False):
        if value is not None:
            operands[name] = program.operand(name, value)
    gathers = [
        p.name for p in inspect.signature(rule).parameters.values() if p.kind is p.VAR_POSITIONAL
    ]
    if gathers:
        rest = given[len(names) :]
        operands[gathers[0]] = tuple(
            program.operand(f"{gathers[0]}{i}", v) for i, v in enumerate(rest)
        )
    for name, value in settings.items():
        operands[name] = program.operand(name, value, setting=True)
    before = len(program.ops)
    made = spliced(refs, rule, operands, None, count, arrays)
    own = getattr(rule, "func", rule)
    whole = [o for o in made.ops if isinstance(o, P.Op) and o.primitive is L.CALL]
    is_called = any(getattr(o.operands[0].kind, "value", None) is own for o in whole)
    found, text = program.run(refs, made)
    assert len(program.ops) == before
    for value, operand in zip(found, made.results, strict=True):
        assert operand is None or fits(value, kind_of(operand)), (value, kind_of(operand), text)
    return found, is_called, text


def expected(rule, given, settings, count):
    """Return what a rule returns, as a tuple; numbers it cannot take are arrays."""
    named = dict(settings)
    names = registry.positional_names(rule, 0)
    defaults = {n: p.default for n, p in inspect.signature(rule).parameters.items()}
    given = [
        defaults[n] if v is None and defaults[n] is not inspect.Parameter.empty else v
        for n, v in zip(names, given)
    ] + list(given[len(names) :])
    with np.errstate(all="ignore"):
        try:
            found = rule(*given, **named)
        except (AttributeError, TypeError, IndexError):
            plain = (int, float, complex)
            made = [np.asarray(v) if type(v) in plain else v for v in given]
            found = rule(*made, **named)
    kinds = {p.kind for p in inspect.signature(rule).parameters.values()}
    several = count > 1 or (count == 1 and inspect.Parameter.VAR_POSITIONAL in kinds)
    if not several:
        return (found,)
    return (None,) * count if found is None else tuple(found)


def uses_of(fn, args, settings):
    """Yield each of a function's rules with what it is given, and how much it returns."""
    rule = registry.rule_for(fn)
    call = _Call(rule, fn, args, dict(settings)).by_rule()
    names = call.names()
    arrays, own = call.arrays(names), call.settings_only(names)
    out = call.primal()
    rng = np.random.default_rng(SEED)
    if rule.partials is not None:
        yield rule.partials, (out, *arrays), own, len(arrays)
    if rule.pullback is not None:
        yield rule.pullback, (random_like(out, rng), out, *arrays), own, len(arrays)
    if rule.pushforward is not None:
        dots = [None if a is None else random_like(a, rng) for a in arrays]
        yield rule.pushforward, (out, *arrays, *dots), own, 0


def compare(fn, args, settings):
    """Compare the spliced rules of one row with the rules; return how many are called, of which."""
    counts = collections.Counter()
    for rule, given, own, count in uses_of(fn, args, settings):
        where = f"{getattr(rule, '__name__', rule)}{given}, {own}"
        try:
            right = expected(rule, given, own, count)
        except NotImplementedError as refusal:
            with pytest.raises(RuleRefusal) as caught:
                spliced_rule(rule, given, own, count, registry.wants_arrays(fn))
            assert str(caught.value) in str(refusal)
            counts["refused"] += 1
            continue
        found, is_called, text = spliced_rule(rule, given, own, count, registry.wants_arrays(fn))
        assert same(found, right), f"{where}\n{text}\n{found}\n{right}"
        counts["called" if is_called else "spliced"] += 1
    return counts


PLANE = np.linspace(0.2, 0.9, 6).reshape(2, 3)
SOME = {
    "a float": 0.4,
    "a NumPy float": np.float64(0.4),
    "a single": np.float32(0.4),
    "a complex": 0.4 + 0.3j,
    "no axes": np.array(0.4),
    "one axis": PLANE[0],
    "two axes": PLANE,
    "single precision": PLANE.astype(np.float32),
    "complex numbers": PLANE * (1.0 + 0.5j),
    "one row": PLANE[:1],
    "nothing": PLANE[:0],
}
OF_ALL = [np.sin, np.absolute, np.square, np.sum, np.cumsum, np.ravel, np.conj, np.sinc, np.mean]
REDUCED = [np.sum, np.mean, np.prod, np.max, np.var, np.nansum, np.cumsum]


@pytest.mark.parametrize("x", SOME.values(), ids=SOME)
def test_a_rule_is_spliced_for_all_kinds_of_numbers(x):
    for fn in OF_ALL:
        compare(fn, (x,), {})
    for fn in (np.multiply, np.true_divide, np.power, np.add, np.hypot):
        for pair in ((x, x), (x, 2.0), (2.0, x), (x, 2)):
            # The helper in the rule of powers is given np.asarray(2.0), which is double precision.
            wider = fn is np.power and type(pair[0]) is float and np.asarray(x).dtype == np.float32
            if not wider and not (fn is np.hypot and np.iscomplexobj(x)):
                compare(fn, pair, {})


@pytest.mark.parametrize("fn", REDUCED)
@pytest.mark.parametrize("axis", [0, -1, (0, 1), None])
def test_a_rule_is_spliced_for_settings(fn, axis):
    for more in ({}, {"keepdims": True}, {"keepdims": False}):
        if fn is np.cumsum and (more or isinstance(axis, tuple)):
            continue
        counts = compare(fn, (PLANE,), {"axis": axis, **more})
        assert not counts["called"]


@pytest.fixture(params=TABLES)
def table(request):
    return request.param


@pytest.mark.sampled(4)
def test_a_spliced_rule_computes_what_the_rule_does(table, monkeypatch):
    """One row of each function, of some tables every day; all rows are for test-full."""
    rows = [r for r in rows_of(table, monkeypatch) if registry.rule_for(r[0]) is not None]
    if not rows:
        pytest.skip("its functions have no rules of their own: objects have")
    first = {r[0]: r for r in reversed(rows)}
    counts = sum((compare(*row) for row in first.values()), collections.Counter())
    assert counts["spliced"] or counts["called"]


@pytest.mark.full
def test_every_row_computes_what_the_rule_does(table, monkeypatch):
    rows = [r for r in rows_of(table, monkeypatch) if registry.rule_for(r[0]) is not None]
    counts = sum((compare(*row) for row in rows), collections.Counter())
    assert not rows or 2 * counts["spliced"] > counts["called"]


# --- what kinds decide ---------------------------------------------------------------------------


def decided(fn, **kinds):
    """Return the tests of a function that its kinds decide."""
    d = Derivation()
    return list(analyse(d, fn, kinds).kinds.decided.values())


def asks_identity(x, where=True):
    if where is not True:
        return x * where
    return x


def asks_of_several(x, norm=None):
    if norm == "ortho":
        return x * 2.0
    return x


def has_a_flag(x):
    flag = True
    if flag is True:
        return x
    return x * 2.0


ARRAY = K.Array("float64", (K.Dim("x.0"),))


def test_settings_that_a_rule_is_given_decide_its_tests():
    for value, found in ((True, [False]), (False, [True])):
        where = settled(K.Num("bool", None, value))
        assert decided(asks_identity, x=ARRAY, where=where) == found
    assert decided(asks_identity, x=ARRAY, where=K.Array("bool", ())) == [True]
    assert decided(asks_identity, x=ARRAY, where=K.BOOL) == []
    assert decided(asks_of_several, x=ARRAY, norm=K.NONE) == [False]
    assert decided(asks_of_several, x=ARRAY, norm=K.Str()) == []
    assert decided(asks_of_several, x=ARRAY, norm=settled(K.Str("ortho"))) == [True]


def test_a_literal_of_the_users_decides_nothing():
    assert decided(has_a_flag, x=ARRAY) == []
    assert decided(asks_identity, x=ARRAY, where=K.Num("bool", None, True)) == []


# --- one splice ----------------------------------------------------------------------------------


def splice(fn, word, count, **given):
    """Splice the pullback, or the like, of a function; return what it gives, and the names used."""
    refs = Refs(Names())
    rule = getattr(registry.rule_for(fn), word)
    return spliced(refs, rule, given, "here", count, registry.wants_arrays(fn)), refs


def var(name, *shape):
    dims = tuple(K.Dim(s) for s in shape)
    return P.Var(name, K.Array("float64", dims) if shape else K.FLOAT)


def words(made):
    """Return the primitives of operations, calls by what is called."""
    return [
        o.operands[0].name if o.primitive is L.CALL else o.primitive.name
        for o in made.ops
        if not (o.primitive is L.SAME or o.primitive is L.TUPLE)
    ]


def test_a_sum_over_all_is_a_broadcast():
    x = var("x", "n", "m")
    made, refs = splice(np.sum, "pullback", 2, out_bar=var("s_bar"), out=var("s"), a=x)
    assert words(made) == ["get_shape", "np.broadcast_to"]
    assert refs.modules == {"np": np} and made.results[1] is None
    assert made.results[0].kind.dims == x.kind.dims
    assert all(o.origin == "here" for o in made.ops)


def test_each_splice_has_variables_of_its_own():
    a, b = (
        splice(np.sum, "pullback", 2, out_bar=var("s_bar"), out=var("s"), a=var("x", *dims))[0]
        for dims in (("n", "m"), ("p", "q"))
    )
    assert not {v for o in a.ops for v in o.outs} & {v for o in b.ops for v in o.outs}
    assert [d.symbol for d in a.results[0].kind.dims] == ["n", "m"]
    assert [d.symbol for d in b.results[0].kind.dims] == ["p", "q"]


def test_lengths_share_one_analysis_where_they_agree():
    rule_programs._kept.clear()
    for dims in (("n", "m"), ("p", "q"), ("n", "n"), ("=1", "m")):
        splice(np.sum, "pullback", 2, out_bar=var("s_bar"), out=var("s"), a=var("x", *dims))
    assert len(rule_programs._kept) == 3


def test_a_rule_that_is_registered_empties_what_is_kept():
    given = {"out": var("y", "n"), "x": var("x", "n")}

    def doubled(x):
        return 2.0 * x

    for factor in (2.0, 3.0):
        registry.elementwise(doubled)(_partial(factor))
        made, _ = splice(doubled, "partials", 1, **given)
        (result,) = made.results
        if isinstance(result, P.Var):  # a result that is a literal is bound by nothing
            result = made.ops[-1].operands[0]
        assert result.value == factor


def _partial(factor):
    return two if factor == 2.0 else three


def two(out, x):
    return 2.0


def three(out, x):
    return 3.0


def test_numpy_is_not_told_what_it_takes_anyway():
    given = {"out": var("s"), "a": var("x", "n"), "a_dot": var("x_dot", "n")}
    made, _ = splice(np.sum, "pushforward", 0, **given)
    (op,) = (o for o in made.ops if o.primitive is L.CALL)
    assert not op.settings and op.operands[1:] == (given["a_dot"],)


def test_a_shape_is_asked_of_numpy_for_a_number():
    given = {"out_bar": var("s_bar"), "out": var("s"), "a": var("x")}
    made, _ = splice(np.sum, "pullback", 2, **given)
    assert words(made) == ["np.shape", "np.broadcast_to"]


def test_a_rule_refuses_with_its_own_words():
    registry.pullback(chosen)(pull_chosen)
    given = {"out_bar": var("y_bar", "n"), "out": var("y", "n"), "x": var("x", "n")}
    with pytest.raises(RuleRefusal, match="^chosen takes no mode 'odd'$"):
        splice(chosen, "pullback", 1, **given, mode=P.Const("odd"))
    assert splice(chosen, "pullback", 1, **given)[0].results == (given["out_bar"],)


def chosen(x, mode="even"):
    return np.positive(x)


def pull_chosen(out_bar, out, x, *, mode="even"):
    if mode == "odd":
        raise NotImplementedError("chosen takes no mode 'odd'")
    return out_bar


def test_somebody_elses_rule_that_may_return_none_is_called_and_looked_at():
    registry.pullback(perhaps)(pull_perhaps)
    given = {"out_bar": var("y_bar", "n"), "out": var("y", "n"), "x": var("x", "n")}
    made, refs = splice(perhaps, "pullback", 1, **given)
    assert words(made)[0] == "pull_perhaps" and refs.functions["pull_perhaps"] is pull_perhaps
    assert "or_zeros" in words(made) and len(made.results) == 1


def perhaps(x):
    return np.positive(x)


def pull_perhaps(out_bar, out, x):
    if np.sum(x) > 0.0:
        return out_bar
    return None
