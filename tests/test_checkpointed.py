"""Loops over checkpointed(...): derivatives as of the plain loop, states kept, rounds run."""

import ast
import importlib.util
import inspect
import itertools
import tracemalloc

import numpy as np
import pytest

import s2sad
from s2sad import checkpointed, grad

if importlib.util.find_spec("checkpoint_schedules") is None:
    pytest.skip("checkpoint_schedules is not installed", allow_module_level=True)

U = np.linspace(0.1, 1.0, 6)


def flow(u, c, n):
    s = 0.0
    for i in checkpointed(range(n), snapshots=3):
        u[1:] += c * u[:-1] * np.sin(u[1:])
        s += u[0] * i
        if i % 2:
            continue
        s = s * 0.9
    return np.sum(u**2) * s + s


def leapfrog(u, c, n):
    v = np.zeros_like(u)
    energy = 0.0
    for _ in checkpointed(range(n), snapshots=2):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += c * v
        energy = energy + np.sum(v * v)
    return energy + np.sum(u**2)


def rebinding(u, c, n):
    for k in checkpointed(range(2, 2 + n), 2):
        u = np.tanh(c * u) + k * 0.01
        t = u[0] * 2.0
        u = u + t
    return np.sum(u**3)


def over_data(u, c, n):
    total = 0.0
    for x in checkpointed(np.arange(1.0, n + 1.0), snapshots=4):
        u = u * np.cos(c * x)
        total += np.sum(u) * x
    return total


def many(u, c, n):
    a, b = 1.0, 0.0
    for i in checkpointed(range(n), snapshots=1):
        for j in range(2):
            if j > 5:
                break
            a = a * np.cos(c) + b
        b = np.sin(a) * u[i % 6]
        if a > 100.0:
            continue
        u = u + b
    return a * b + np.sum(u)


def buffered(u, c, n):
    new = np.empty_like(u)
    for _ in checkpointed(range(n), snapshots=3):
        np.multiply(u, c, out=new)
        new[0] = u[-1]
        u[:] = np.sin(new)
    return np.sum(u)


def twice(u, c, n):
    for _ in range(2):
        for i in checkpointed(range(n), snapshots=2):
            u = u * np.cos(c * i) + 0.1
    return np.sum(u**2)


def called(u, c, n):
    def inner(u):
        for _ in checkpointed(range(n), snapshots=2):
            u = np.sin(u) * c
        return u

    return np.sum(inner(u) * inner(2.0 * u))


def structured(u, c, n):
    p = {"a": c, "b": [c, 2.0]}
    for _ in checkpointed(range(n), snapshots=2):
        u = np.sin(u * p["a"]) * p["b"][0] + p["b"][1] * 0.1
    return np.sum(u)


def shared_unwritten(u, c, n):
    v = u
    for _ in checkpointed(range(n), snapshots=2):
        v = np.sin(v * c) + u
    return np.sum(v * u)


def over_pairs(u, c, n):
    for i, (x, y) in checkpointed(enumerate(zip(u[:n], 2.0 * u[:n])), snapshots=2):
        c = np.sin(c * x) + y * i
    for x in checkpointed(reversed([1.0, 2.0, 3.0][:n]), snapshots=1):
        c = c * np.cos(x * c)
    return c


def over_entries(u, c, n):
    rates = {k: 0.1 * k for k in range(n)}
    for k, rate in checkpointed(rates.items(), snapshots=2):
        u = np.sin(u * c) + rate * k
    return np.sum(u)


def with_else(u, c, n):
    i = -1
    for i in checkpointed(range(0, 2 * n, 2), snapshots=2):
        u = np.sin(u * c) + 0.1
    else:
        u = u * c
    return np.sum(u) * i


def broken_off(u, c, n):
    i = 0
    for i in checkpointed(range(n), snapshots=2):
        u[1:] += c * u[:-1]
        if np.sum(u) > 6.0:
            break
        if i % 2:
            continue
        u *= 1.1
    else:
        u = u * 10.0 * c
    return np.sum(u * u) * (i + 1)


def without_end(u, c, n):
    total = 0.0
    for k in checkpointed(itertools.count(1), snapshots=2):
        u = np.sin(u) * c + u
        total += u[0] * k
        if k > n:
            break
    return np.sum(u) * total * k


def in_periods(u, c, n):
    for _ in checkpointed(range(2 * n), snapshots=1, period=4):
        for j in checkpointed(range(3), snapshots=1):
            u = np.sin(u) * c + u
            if j > 1:
                break
    return np.sum(u)


PROGRAMS = [
    shared_unwritten,
    over_pairs,
    over_entries,
    with_else,
    broken_off,
    without_end,
    in_periods,
    flow,
    leapfrog,
    rebinding,
    over_data,
    many,
    buffered,
    twice,
    called,
    structured,
]


class _Plain(ast.NodeTransformer):
    def visit_Call(self, node):
        node = self.generic_visit(node)
        if getattr(node.func, "attr", "") == "count":
            return ast.Call(ast.Name("range"), [*node.args, ast.Constant(99)], [])
        return node.args[0] if getattr(node.func, "id", "") == "checkpointed" else node


def plain(f, tmp_path):
    """Return the function with plain loops."""
    tree = _Plain().visit(ast.parse(inspect.getsource(f)))
    path = tmp_path / f"{f.__name__}_plain.py"
    path.write_text("import itertools\nimport numpy as np\n" + ast.unparse(tree))
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space[f.__name__]


def same(one, other):
    assert np.allclose(s2sad.ravel(one)[0], s2sad.ravel(other)[0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 12])
@pytest.mark.parametrize("f", PROGRAMS)
def test_as_the_plain_loop(f, n, tmp_path):
    other = plain(f, tmp_path)
    assert f(U.copy(), 0.3, n) == other(U.copy(), 0.3, n)
    value, got = s2sad.value_and_grad(f, (0, 1))(U, 0.3, n)
    expected = s2sad.value_and_grad(other, (0, 1))(U, 0.3, n)
    assert value == expected[0]
    same(got, expected[1])


@pytest.mark.parametrize("f", PROGRAMS)
def test_other_modes(f, tmp_path):
    other = plain(f, tmp_path)
    expected = grad(other, (0, 1))(U, 0.3, 5)
    _, pullback = s2sad.vjp(f, U, 0.3, 5, wrt=(0, 1))
    same(pullback(1.0), expected)
    same(pullback(1.0), expected)
    tangents = (np.cos(U), 0.5, None)
    same(s2sad.jvp(f, (U, 0.3, 5), tangents), s2sad.jvp(other, (U, 0.3, 5), tangents))


def test_forward_mode_has_plain_loops():
    text = s2sad.source(flow, mode="jvp", wrt=(0, 1), args=(U, 0.3, 5))
    assert "checkpointed(" not in text and "for i in range(n)" in text


def rate_of(n):
    rate = 1.0
    for i in checkpointed(range(n), snapshots=2):
        rate = rate * 0.9 + 0.1 * i
    return rate


def through_others(u, n):
    rate = rate_of(n)

    def damped(u):
        for _ in checkpointed(range(n), snapshots=2):
            u = np.sin(u) * rate
        return u

    return np.sum(damped(u))


def test_loops_of_other_functions():
    text = s2sad.source(through_others, args=(U, 4))
    assert "run_checkpointed(advance" in text and " checkpointed(" not in text
    space = {}
    exec(text, space)
    assert np.array_equal(space["through_others_grad"](U, 4), grad(through_others)(U, 4))


def test_emitted(tmp_path):
    path = s2sad.emit(flow, tmp_path / "m.py", wrt=(0, 1), args=(U, 0.3, 5))
    space = {}
    exec(path.read_text(), space)
    same(space["flow_grad"](U, 0.3, 5), grad(flow, (0, 1))(U, 0.3, 5))
    assert "import s2sad" not in path.read_text() and "from s2sad" not in path.read_text()


def counted(u, n, k):
    for i in checkpointed(range(n), snapshots=k):
        u = np.sin(u) + noted(i)
    return np.sum(u)


def noted(i):
    return float(i) * 0.0


def rounds(n, k):
    from checkpoint_schedules import EndReverse, MultistageCheckpointSchedule

    total = 0
    for action in MultistageCheckpointSchedule(n, k, 0):
        total += getattr(action, "n1", 0) - action.n0 if hasattr(action, "write_ics") else 0
        if isinstance(action, EndReverse):
            return total


@pytest.mark.parametrize("n, k", [(10, 3), (40, 4), (7, 7), (5, 1)])
def test_rounds_run_as_the_schedule_says(n, k):
    """The last round is run once more: its pullback is made on the way back."""
    space = {}
    exec(grad(counted).source(U, n, k), space)
    ran = []
    space["noted"] = lambda i: ran.append(i) or 0.0
    space["counted_grad"](U, n, k)
    assert len(ran) == rounds(n, k) + 1


def counted_until(u, n, k):
    for i in checkpointed(itertools.count(), snapshots=k, period=6):
        u = np.sin(u) + noted(i)
        if i == n - 1:
            break
    return np.sum(u)


def rounds_in_periods(n, k):
    from checkpoint_schedules import EndForward, EndReverse, Forward, TwoLevelCheckpointSchedule

    total, schedule = n, TwoLevelCheckpointSchedule(6, k)
    for action in schedule:
        if schedule.max_n is None:
            if action.n1 >= n:
                schedule.finalize(n)
        elif isinstance(action, Forward):
            total += action.n1 - action.n0
        elif isinstance(action, EndReverse):
            return total
        assert not isinstance(action, EndForward) or schedule.max_n == n


@pytest.mark.parametrize("n, k", [(1, 1), (6, 2), (7, 2), (40, 2), (40, 5)])
def test_rounds_run_where_nobody_knows_how_many_there_are(n, k):
    space = {}
    exec(grad(counted_until).source(U, n, k), space)
    ran = []
    space["noted"] = lambda i: ran.append(i) or 0.0
    space["counted_until_grad"](U, n, k)
    assert len(ran) == rounds_in_periods(n, k)


def wide_until(u, n, k):
    for i in checkpointed(itertools.count(), snapshots=k, period=16):
        u = np.sin(u) * 1.01
        if i == n - 1:
            break
    return np.sum(u)


def test_one_state_a_period_is_kept():
    def peak(n):
        u = np.full(50_000, 0.1)
        grad(wide_until)(u, n, 2)
        tracemalloc.start()
        grad(wide_until)(u, n, 2)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size / u.nbytes

    assert peak(128) - peak(64) == pytest.approx(64 / 16, abs=0.6)


def wide(u, n, k):
    for _ in checkpointed(range(n), snapshots=k):
        u = np.sin(u) * 1.01
    return np.sum(u)


def test_states_kept():
    def peak(k):
        u = np.full(50_000, 0.1)
        grad(wide)(u, 64, k)
        tracemalloc.start()
        grad(wide)(u, 64, k)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size / u.nbytes

    assert peak(16) - peak(4) < 13 and peak(4) < 20 < 64


def never_ends(u, n):
    for i in checkpointed(itertools.count(), snapshots=2):
        u = u * 2.0 / i
    return np.sum(u)


def a_dict(u, n):
    table = {"a": 2.0, "b": 3.0}
    for k in checkpointed(table, snapshots=2):
        u = u * table[k]
    return np.sum(u)


def read_by_a_function(u, n):
    def largest():
        return np.max(u)

    for _ in checkpointed(range(n), snapshots=2):
        u = u * largest()
    return np.sum(u)


def calls_what_changes(u, n):
    scale = 1.0

    def scaled(i):
        return scale * i + 1.0

    for i in checkpointed(range(n), snapshots=2):
        u = np.sin(u) * scaled(i)
    scale = 2.0
    return np.sum(u) * scale


def gives_what_it_captures(u, n):
    v, w = 1.0 * u, 2.0 * u
    for _ in checkpointed(range(n), snapshots=2):
        v = w
    v[0] = 7.0 * u[1]
    return np.sum(w * v)


def reads_a_view(u, n):
    u = u * 1.0
    edge = u[:2]
    for _ in checkpointed(range(n), snapshots=2):
        u[2:] *= np.sum(edge)
        u[:2] += 0.1
    return np.sum(u)


def logs(u, n):
    log = []
    for _ in checkpointed(range(n), snapshots=2):
        u = u * 2.0
        log.append(u[0])
    return np.sum(u) + log[0]


def prints(u, n):
    for i in checkpointed(range(n), snapshots=2):
        print(i)
        u = u * 2.0
    return np.sum(u)


def draws(u, n):
    rng = np.random.default_rng(0)
    for _ in checkpointed(range(n), snapshots=2):
        u = u * rng.normal()
    return np.sum(u)


def unbound(u, n):
    for _ in checkpointed(range(n), snapshots=2):
        v = u * 2.0
        u = v * 0.5
    return np.sum(v)


def binds_the_index(u, n):
    for i in checkpointed(range(n), snapshots=2):
        i = 2 * i
        u = u * 2.0
    return np.sum(u) * i


def fills(u, out, n):
    for _ in checkpointed(range(n), snapshots=2):
        halve(u, out)
        u = out * 1.0
    return np.sum(u)


def halve(u, out):
    out[:] = 0.5 * u


REFUSED = {
    never_ends: "needs a break",
    a_dict: "a dict has none",
    read_by_a_function: "made outside of the checkpointed loop reads `u`",
    calls_what_changes: "calls `scaled`, which reads a variable that may have changed",
    gives_what_it_captures: "may return memory of `w`",
    reads_a_view: "may share memory",
    prints: "another result the second time",
    draws: "another result the second time",
    unbound: "`v` may have no value",
    binds_the_index: "binds `i` as its loop variable",
}


@pytest.mark.parametrize("f", REFUSED)
def test_refused(f):
    with pytest.raises(s2sad.Error, match=REFUSED[f]) as raised:
        grad(f)(U, 5)
    assert "test_checkpointed.py" in str(raised.value)


def test_writers():
    want = np.full(6, 2.0**5)
    want[0] += 2.0
    assert grad(logs)(U, 5) == pytest.approx(want)
    assert grad(fills)(U, np.zeros(6), 5) == pytest.approx(np.full(6, 0.5**5))


def test_plain_call_and_bad_input():
    assert checkpointed(range(3), snapshots=1) == range(3)
    assert list(checkpointed([1, 2], 2)) == [1, 2]
    with pytest.raises(ValueError, match="at least one"):
        checkpointed(range(3), snapshots=0)
    with pytest.raises(TypeError, match="number of states"):
        checkpointed(range(3), snapshots=2.0)
    with pytest.raises(ValueError, match="period has at least one round"):
        checkpointed(range(3), snapshots=2, period=0)
    with pytest.raises(TypeError, match="number of rounds"):
        checkpointed(range(3), snapshots=2, period="4")


def test_without_the_package(monkeypatch):
    real = importlib.util.find_spec
    absent = lambda n, *rest: None if n == "checkpoint_schedules" else real(n, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", absent)

    def f(u, n):
        for _ in checkpointed(range(n), snapshots=2):
            u = u * 0.5
        return np.sum(u)

    with pytest.raises(s2sad.UnsupportedError, match="pip install checkpoint-schedules"):
        grad(f)(U, 3)


def test_comprehensions_are_what_they_are():
    def f(u):
        return sum([u[i] ** 2 for i in checkpointed(range(3), snapshots=2)])

    assert np.allclose(grad(f)(U), np.where(np.arange(6) < 3, 2.0 * U, 0.0))


def tells_outside_of_gradients(x, n):
    for i in s2sad.checkpointed(range(n), snapshots=2):
        if not s2sad.within_gradient():
            print(i)
        x = np.sin(x)
    return x


def test_what_tells_may_stand_outside_of_gradients(capsys):
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(prints)(np.ones(2), 3)
    assert "if not s2sad.within_gradient()" in caught.value.remedy
    x = 0.7
    slope = np.cos(x) * np.cos(np.sin(x)) * np.cos(np.sin(np.sin(x)))
    assert s2sad.grad(tells_outside_of_gradients)(x, 3) == pytest.approx(slope, rel=1e-12)
    assert capsys.readouterr().out == ""


class Pendulum:
    def __init__(self, rate):
        self.rate = rate

    def slope(self, y):
        return np.array([y[1], -self.rate * np.sin(y[0])])


def advanced(slope, y, h):
    return y + h * slope(y + 0.5 * h * slope(y))


def swung(rate, y, loop):
    pendulum = Pendulum(rate)
    for _ in loop:
        y = advanced(pendulum.slope, y, 0.1)
    for _ in loop:
        y = advanced(lambda v: pendulum.slope(v) * rate, y, 0.1)
    return y @ y


def test_methods_may_be_handed_on_in_a_round():
    y, h = np.array([0.4, 0.1]), 1e-5
    slope = (swung(0.7 + h, y, range(5)) - swung(0.7 - h, y, range(5))) / (2 * h)
    assert s2sad.grad(swung)(0.7, y, range(5)) == pytest.approx(slope, rel=1e-8)
    assert s2sad.jvp(swung, (0.7, y, range(5)), (1.0, None, None))[1] == pytest.approx(slope)


def swung_by_rounds(rate, y):
    pendulum = Pendulum(rate)
    for _ in s2sad.checkpointed(range(5), snapshots=2):
        y = advanced(pendulum.slope, y, 0.1)
    for _ in s2sad.checkpointed(range(5), snapshots=2):
        y = advanced(lambda v: pendulum.slope(v) * rate, y, 0.1)
    return y @ y


def test_methods_and_lambdas_are_seen_where_a_round_calls_them():
    y = np.array([0.4, 0.1])
    plain = s2sad.grad(swung)(0.7, y, range(5))
    assert s2sad.grad(swung_by_rounds)(0.7, y) == pytest.approx(plain, rel=1e-12)


DRAWS = np.random.default_rng(3)


def drawn(i):
    return DRAWS.normal() * i


def sorted_by_draws(w, y):
    for _ in s2sad.checkpointed(range(4), snapshots=2):
        y = w * y[sorted([0, 1], key=drawn)] * np.array([1.0, 2.0])
    return y @ y


def sorted_by_draws_inside(w, y):
    for _ in s2sad.checkpointed(range(4), snapshots=2):
        y = w * y[sorted([0, 1], key=lambda i: DRAWS.normal() * i)]
    return y @ y


def sorted_by_size(w, y):
    for _ in s2sad.checkpointed(range(4), snapshots=2):
        y = w * y[sorted([0, 1], key=lambda i: -abs(i))] * np.array([1.0, 2.0])
    return y @ y


def test_keys_to_sort_by_may_not_draw():
    y = np.array([0.4, 0.1])
    for f in (sorted_by_draws, sorted_by_draws_inside):
        with pytest.raises(s2sad.UnsupportedError, match="the second time"):
            s2sad.grad(f)(0.7, y)
    assert s2sad.grad(sorted_by_size)(0.7, y) == pytest.approx(8 * sorted_by_size(0.7, y) / 0.7)
