"""explain: what it says of activity and of what is saved, and that the text does as it says."""

import dataclasses
import inspect

import numpy as np
import pytest
import test_golden
import writing
import writing_calls
import writing_given

import s2sad
from s2sad import Active, Const, Duplicated, api
from s2sad.operators.higher import derive
from s2sad.operators.reports import places_kept, pushes_in
from s2sad.tools import looking


def here(f, line):
    """The number in this file of a line of a function, counted from its def."""
    return f.__code__.co_firstlineno + line


def horner(x, c):
    y = 0.0
    for a in c:
        y = y * x + a
    return y


def chain(x, y):
    z = x * np.sin(y)
    x = z * z + x
    return x * y


def cell(h, x, W):
    a = W @ h + x
    return np.tanh(a)


def rnn(W, xs, h):
    n = len(xs)
    for t in range(n):
        if xs[t, 0] > 0.0:
            h = cell(h, xs[t], W)
        else:
            h = h * np.sin(h)
    r = h * h
    return np.sum(r)


GOLDEN = test_golden.pairs()
RNN = np.eye(3), np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]), np.full(3, 0.5)


def test_activity_has_causes():
    report = s2sad.explain(rnn, args=RNN)
    h = report["h"]
    assert h.active and h.cause.number == here(rnn, 4) and h.used_by.number == here(rnn, 7)
    assert h.cause.text == "h = cell(h, xs[t], W)" and h.cause.file == __file__
    assert report["W"].active and report["W"].why.startswith("it is differentiated")
    assert not report["xs"].active and report["xs"].why == "it does not depend on W"
    assert not report["n"].active and report["n"].why == "an int carries no derivative"
    assert [f.name for f in report.functions] == ["rnn", "cell"]
    inside = {v.name: v for v in report.functions[1].variables}
    assert inside["h"].active and inside["h"].cause.number == here(rnn, 4)
    assert inside["a"].active and not inside["x"].active


def test_saved_has_causes():
    report = s2sad.explain(horner, args=(2.0, [1.0, 2.0, 3.0]))
    y = report["y"]
    (saved,) = y.saves
    assert y.saved and saved.taped and saved.where == "on the list saved"
    assert saved.overwritten_by.number == here(horner, 3)
    assert [line.number for line in saved.read_by] == [here(horner, 3)]
    assert (saved.times, saved.rounds, saved.bytes) == (3, 3, 24)
    assert y.bytes_per_iteration == 8 and y.bytes == 24 and report.bytes == 24
    assert not report["x"].saved and "nothing has changed it" in report["x"].why_saved


def test_straight_code_keeps_under_another_name():
    report = s2sad.explain(chain, wrt=(0, 1), args=(2.0, 3.0))
    x = report["x"]
    (saved,) = x.saves
    assert saved.where == "as x" and saved.overwritten_by.number == here(chain, 2)
    assert [line.number for line in saved.read_by] == [here(chain, 1)]
    assert saved.bytes == report.bytes == 8
    assert f"reads it for line {here(chain, 3)}, with its last value" in x.why_saved
    assert report["sin_y"].expression == "np.sin(y)" and not report["sin_y"].saved


def test_branches_and_calls():
    report = s2sad.explain(rnn, args=RNN)
    (saved,) = report["h"].saves
    assert [line.number for line in saved.overwriting] == [here(rnn, 4), here(rnn, 6)]
    assert f"line {here(rnn, 4)} or line {here(rnn, 6)} overwrites it" in saved.why
    assert saved.rounds == saved.times == 3
    assert report["h"].bytes_per_iteration == 24
    assert report["value"].function == "cell" and report["value"].bytes == 48
    assert report["value"].bytes_per_iteration == 24
    assert "24 bytes a call, 2 calls, 48 bytes in all" in str(report)
    (kept,) = [v for v in report.variables if "keeps" in v.why_saved]
    assert kept.saved and kept.made_up and f"the call of line {here(rnn, 4)}" in kept.why_saved


def test_what_is_written_in_place():
    def grow(x, steps):
        for _ in range(steps):
            x *= 1.0 - x

    x = np.array([0.1, 0.2, 0.3])
    wrapped = s2sad.explain(grow, args=(Duplicated(x, np.zeros(3)), Const(4)))
    for report in (wrapped, s2sad.explain(grow, args=(x, 4))):
        (saved,) = report["x"].saves
        assert saved.value == "x.copy()" and saved.overwritten_by.number == here(grow, 2)
        assert saved.bytes_per_iteration == 24 and saved.rounds == 4
    assert x.tolist() == [0.1, 0.2, 0.3]


def test_seeds_and_active_arguments():
    def run(a, x):
        x[...] = np.sin(a * x)
        return x * x

    x = np.array([0.1, 0.2])
    report = s2sad.explain(run, args=(Active(2.0), Duplicated(x, np.zeros(2))))
    assert not report.unmeasured and report["x"].bytes == 16 and x.tolist() == [0.1, 0.2]


def test_results_that_are_no_scalars():
    report = s2sad.explain(lambda v, w: np.sin(v) * w, args=(np.ones(3), np.ones(3)))
    assert report["v"].active and not report["w"].active


def test_not_active_has_causes():
    def f(x, y):
        i = int(x)
        s = np.sign(x)
        u = x * 2.0
        del u
        return x * s + i

    report = s2sad.explain(f, args=(2.0, 1.0))
    assert report["i"].cause.number == here(f, 1) and not report["i"].active
    assert report["s"].cause.number == here(f, 2) and "derivative zero" in report["s"].why
    assert report["u"].cause.number == here(f, 3)
    assert "the result does not depend on it" in report["u"].why
    assert report["y"].why == "it does not depend on x"


def test_annotations_instead_of_arguments():
    def f(x: float, n: int):
        for _ in range(n):
            x = x * x
        return x

    report = s2sad.explain(f)
    assert report["x"].saved and report["x"].bytes is None and report.bytes is None
    assert "no sizes: there are no example arguments" in str(report)


def test_examples_that_raise():
    def f(x):
        assert x > 1.0
        return x * x

    report = s2sad.explain(f, args=(0.0,))
    assert report["x"].active and "AssertionError" in report.unmeasured


def test_refusals_are_errors():
    with pytest.raises(s2sad.ActivityError, match="no parameter"):
        s2sad.explain(chain, wrt="w", args=(1.0, 2.0))


def test_data_is_frozen_and_found_by_name():
    report = s2sad.explain(chain, args=(2.0, 3.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.variables[0].active = False
    with pytest.raises(KeyError, match="'q' is not a variable here; the variables are x, y, z"):
        report["q"]


def test_text():
    text = str(s2sad.explain(horner, args=(2.0, [1.0, 2.0, 3.0])))
    first = horner.__code__.co_firstlineno
    assert text.splitlines()[:12] == [
        f"horner (test_explain.py:{first}), with respect to x",
        "derived: horner_grad",
        "",
        "  x: a float",
        f"      active: it is differentiated; the result depends on it by line {first + 3}",
        f"      not saved: the backward sweep reads it for line {first + 3}, and nothing has "
        "changed it by then",
        f"          {first + 3:4} | y = y * x + a",
        "",
        "  c: a list",
        "      not active: it does not depend on x",
        "      not saved: the backward sweep does not read it",
        "",
    ]
    assert text.splitlines()[-1] == "kept for the backward sweep in all: 24 bytes"


class Net:
    def __init__(self, W):
        self.W, self.h = W, np.zeros(2)

    def step(self, h, x):
        self.h = np.tanh(self.W @ h + x)
        return self.h


def test_methods_that_are_written_out():
    def run(net, xs):
        h = np.zeros(2)
        for x in xs:
            h = net.step(h, x)
        return np.sum(h)

    report = s2sad.explain(run, wrt="xs", args=(Net(np.eye(2)), np.ones((3, 2))))
    (kept,) = [v for v in report.variables if v.expression.startswith("np.tanh")]
    assert kept.bytes_per_iteration == 16
    assert [line.number for line in kept.read_by] == [here(Net.step, 1)]
    assert not [v.name for v in report.variables if v.name.startswith("value")]


def test_inner_functions():
    def f(x, n):
        def inner(y):
            return y * x

        for _ in range(n):
            x = inner(x)
        return x

    report = s2sad.explain(f, args=(1.5, 3))
    assert report["inner"].why == "a function carries no derivative"
    assert report["y"].bytes == 24 and report["y"].function == "inner"


def cube(x):
    return x * x * x


def test_derivatives_of_derivatives():
    def slope(x):
        return s2sad.grad(cube)(x) * x

    assert s2sad.explain(slope, args=(2.0,))["x"].active
    report = s2sad.explain(s2sad.grad(cube), args=(2.0,))
    assert report.functions[0].derived == ("cube_grad_grad",) and report["x"].active


def test_methods_and_decorated_functions():
    class Model:
        def __init__(self):
            self.w = np.ones(2)

        @s2sad.differentiate
        def loss(self, x):
            r = self.w * x
            return np.sum(r * r)

    report = s2sad.explain(Model().loss, args=(np.ones(2),))
    assert report["x"].active and report["r"].active and not report["self"].active


def test_readers_are_those_that_were_meant():
    p = GOLDEN["kalman"]
    report = s2sad.explain(p.f, wrt=p.operator_wrt, args=p.args)
    (saved,) = report["residual"].saves
    # In the text it is read below the heading of a third statement: there its reading was moved.
    texts = [line.text.partition(" ")[0] for line in saved.read_by]
    assert texts == ["nll", "m"]


@s2sad.checkpoint
def layer(h, W):
    a = W @ h
    return np.tanh(a) * a


def test_what_a_checkpoint_runs_again_is_kept_for_one_call():
    def net(W, h):
        for _ in range(3):
            h = layer(h, W)
        return np.sum(h)

    report = s2sad.explain(net, args=(np.eye(2), np.ones(2)))
    assert report["h"].bytes == report.bytes == 48
    assert "when layer has been run again" in report["a"].why_saved


def newton(x, n):
    rounds, y = 0, x
    while rounds < n:
        rounds += 1
        if np.sin(y) > 0.9:
            y = 0.5 * (y + x / y)
        else:
            y = y * y
    return y


def summed(x, n):
    s = 0.0
    while n > 0:
        n -= 1
        s += x
    return s


@pytest.mark.parametrize("operator", [s2sad.grad, s2sad.vjp])
def test_what_is_noted_of_the_path(operator):
    wanted = api.operator_for(newton, operator.__name__, "x", (2.0, 3))
    report = looking.report_for(wanted, (2.0, 3))
    whys = [s.why for v in report.variables for s in v.saves if v.made_up]
    assert whys == [f"it says which way line {here(newton, 4)} went"]
    (made_up,) = [v for v in report.variables if v.made_up]
    assert not made_up.active and not made_up.kind
    (saved,) = report["y"].saves
    both = [here(newton, 5), here(newton, 7)]
    assert [line.number for line in saved.overwriting] == both == [x.number for x in saved.read_by]
    assert saved.times == 3 and saved.bytes == 24
    report = looking.report_for(
        api.operator_for(summed, operator.__name__, "x", (2.0, 3)), (2.0, 3)
    )
    whys = [v.why_saved for v in report.variables if v.made_up]
    assert whys == [f"it says how many rounds the loop of line {here(summed, 2)} ran"]


# --- on many programs ----------------------------------------------------------------------------

WRITTEN = [p[:2] for p in (*writing.PROGRAMS, *writing_calls.PROGRAMS, *writing_given.PROGRAMS)]


def check(operator, args):
    """Check that all on the tapes is explained, and has readers and sizes."""
    d = derive(dataclasses.replace(operator._asked(args, {})[0], explained=True))
    for node in d.functions:
        _, story = d.stories[node.name]
        places = places_kept(node, story)
        lists = {id(owner) for _, owner, _ in places if isinstance(owner, list)}
        stacks = {k.holder for k in story.kept if k.taped}
        for holder, push in pushes_in(node):
            parts = getattr(push.args[0], "elts", None)
            assert holder not in stacks or {id(parts), id(push.args)} & lists
        for k, _, _ in places:
            assert k.readers or k.variable in {**story.calls, **story.notes}
    report = looking.report_for(operator, args)
    assert not report.unmeasured
    for v in report.variables:
        for s in v.saves:
            assert s.bytes is not None or s.why.startswith("it is what the call")
        for line in (v.cause, v.used_by, *v.read_by):
            assert line is None or line.text in inspect.getsource(inspect.getmodule(operator._f))
    return report


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    p = GOLDEN[name]
    mode = "grad" if p.mode == "vjp" else p.mode
    check(api.operator_for(p.f, mode, p.operator_wrt, p.args), p.args)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f, args", WRITTEN, ids=lambda x: getattr(x, "__name__", ""))
def test_written(f, args):
    check(looking.operator_fitting(f, None, args), args)
