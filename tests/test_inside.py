"""What a function says to its derivative: stop_gradient, within_gradient, adjoint_hook."""

import ast
import copy
import functools
import subprocess
import sys

import inside_programs as programs
import numpy as np
import pytest

import s2sad
from s2sad import UnsupportedError, adjoint_hook, inside, stop_gradient, within_gradient
from s2sad.tree import map_leaves, ravel

STEP = 1e-6


def named(table):
    return [pytest.param(fn, args, id=fn.__name__) for fn, args in table.items()]


def floats(args):
    """Return the positions of the arguments that have derivatives."""
    return tuple(i for i, a in enumerate(args) if not isinstance(a, int))


def knows_nothing_of_s2sad(text):
    """Say whether a text imports nothing of s2sad's, and names nothing of it."""
    nodes = list(ast.walk(ast.parse(text)))
    found = {n.id for n in nodes if isinstance(n, ast.Name)}
    found |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    found |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    return not any(word.partition(".")[0] == "s2sad" for word in found)


# --- stop_gradient -------------------------------------------------------------------------------


class Held:
    """Stands for stop_gradient where slopes are measured: it gives what it gave the first time."""

    def __init__(self):
        self.kept = None
        self.at = 0

    def start(self):
        self.kept, self.at = [] if self.kept is None else self.kept, 0

    def __call__(self, x):
        if self.at == len(self.kept):
            self.kept.append(copy.deepcopy(x))
        self.at += 1
        return self.kept[self.at - 1]


class Twice(Held):
    """Stands for adjoint_hook with a hook that twices: 2 x less x as it was the first time."""

    def __call__(self, x, fn):
        kept = super().__call__(x)
        return map_leaves(lambda a, b: 2.0 * a - b, x, kept)


def slopes(fn, args, monkeypatch):
    """Return the central differences of fn where what is stopped stays what it is."""
    held, twice = Held(), Twice()
    monkeypatch.setattr(programs, "stop_gradient", held)
    monkeypatch.setattr(programs, "adjoint_hook", twice)
    monkeypatch.setattr(s2sad, "stop_gradient", held)
    wrt = floats(args)
    vector, unravel = ravel(tuple(args[i] for i in wrt))

    def at(moved):
        whole = list(args)
        for i, part in zip(wrt, unravel(moved), strict=True):
            whole[i] = part
        held.start()
        twice.start()
        return fn(*whole)

    at(vector)
    steps = np.eye(len(vector)) * STEP
    found = np.array([(at(vector + e) - at(vector - e)) / (2 * STEP) for e in steps])
    monkeypatch.undo()
    return found


@pytest.mark.parametrize(("fn", "args"), named(programs.STOPPING))
def test_what_is_stopped_has_no_derivative(fn, args, monkeypatch):
    if fn is programs.chosen:
        pytest.skip("the oracle cannot stand for a function that a tuple holds")
    want = slopes(fn, args, monkeypatch)
    wrt = floats(args)
    value, gradient = s2sad.value_and_grad(fn, wrt=wrt)(*args)
    assert value == fn(*args)
    assert ravel(gradient)[0] == pytest.approx(want, rel=1e-6, abs=1e-8)
    _, pullback = s2sad.vjp(fn, *args, wrt=wrt)
    assert ravel(pullback(2.0))[0] == pytest.approx(2.0 * want, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("fn", "args"), named(programs.STOPPING))
def test_forward_mode_agrees(fn, args):
    wrt = floats(args)
    given = tuple(args[i] for i in wrt)
    vector, unravel = ravel(given)
    along = np.random.default_rng(3).normal(size=len(vector))
    tangents = [None] * len(args)
    for i, part in zip(wrt, unravel(along), strict=True):
        tangents[i] = part
    y, dy = s2sad.jvp(fn, args, tuple(tangents))
    assert y == fn(*args)
    assert dy == pytest.approx(ravel(s2sad.grad(fn, wrt=wrt)(*args))[0] @ along, rel=1e-9)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize(("fn", "args"), named({**programs.STOPPING}))
def test_the_text_does_not_know_stop_gradient(fn, args, mode):
    if fn is programs.chosen:
        pytest.skip("which function it is, is asked in the text: it is imported")
    text = s2sad.source(fn, mode=mode, wrt=floats(args), args=args)
    assert "stop_gradient" not in text
    assert knows_nothing_of_s2sad(text)


def test_what_is_stopped_is_itself():
    x = np.ones(3)
    assert stop_gradient(x) is x


def test_a_state_that_is_stopped_is_not_kept():
    text = s2sad.source(programs.truncated, wrt="w", args=programs.STOPPING[programs.truncated])
    copies = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign)]
    assert not [n for n in copies if ast.unparse(n.targets[0]) == ast.unparse(n.value)]
    assert "h_0 = h\n" not in text
    assert text.count("saved.append") == 1


LOG = []


def logged(x):
    loss = np.sum(x * x)
    LOG.append(stop_gradient(loss))
    return loss


def stored(x):
    loss = np.sum(x * x)
    LOG.append(loss)
    return loss


def test_a_loss_is_appended_to_a_captured_log():
    LOG.clear()
    x = np.array([1.0, 2.0])
    assert s2sad.grad(logged)(x) == pytest.approx(2 * x)
    assert s2sad.jvp(logged, (x,), (x,))[1] == 10.0
    assert [5.0, 5.0] == LOG
    losses = []

    def captured(x):
        loss = np.sum(x * x)
        losses.append(stop_gradient(loss))
        return loss

    assert s2sad.grad(captured)(x) == pytest.approx(2 * x)
    assert losses == [5.0]


def test_the_refusal_to_store_says_how_to_stop():
    with pytest.raises(s2sad.ActivityError, match="stop_gradient"):
        s2sad.grad(stored)(np.ones(2))

    def into_const(x: s2sad.Active, log: s2sad.Const):
        log[0] = x * x
        return x * 2.0

    with pytest.raises(s2sad.ActivityError, match="stop_gradient"):
        s2sad.grad(into_const)(1.0, np.zeros(1))


def test_a_buffer_that_is_constant_takes_what_is_stopped():
    def into_const(x: s2sad.Active, log: s2sad.Const):
        log[0] = stop_gradient(x * x)
        return x * 2.0

    assert s2sad.grad(into_const)(1.5, np.zeros(1)) == 2.0


def written_after(w, xs):
    a = np.zeros(len(xs))
    a[0] = w
    y = stop_gradient(a)
    a[1] = w
    return np.sum(y)


def written_through(w, xs):
    a = xs * w
    y = stop_gradient(a)
    y[0] = w
    return np.sum(a)


def view_written(w, xs):
    a = np.zeros((2, len(xs)))
    row = stop_gradient(a)[0]
    a[0] = w * xs
    return np.sum(row)


def written_after_a_call(w, xs):
    a = xs * w
    y = programs.detached(a)
    a[1] = w
    return np.sum(y * a)


def dict_set_after(w, xs):
    d = {"a": xs * w}
    e = stop_gradient(d)
    d["b"] = w * w
    return np.sum(e["a"]) * e["b"]


def held_in_a_tuple(w, xs):
    a = np.zeros(len(xs))
    a[0] = w
    pair = (w * xs, stop_gradient(a))
    return np.sum(pair[0] * pair[1])


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize(
    "fn",
    [
        written_after,
        view_written,
        written_after_a_call,
        dict_set_after,
        held_in_a_tuple,
    ],
)
def test_what_is_stopped_and_written_is_refused(fn, mode):
    with pytest.raises(UnsupportedError, match="stop_gradient") as refused:
        s2sad.source(fn, mode=mode, wrt="w", args=(0.5, np.ones(3)))
    assert refused.value.place is not None


def test_a_write_through_what_is_stopped_is_one_of_the_array():
    w, xs = 0.5, np.array([1.0, 2.0, 3.0])
    assert s2sad.grad(written_through)(w, xs) == 6.0
    assert s2sad.jvp(written_through, (w, xs), (1.0, None))[1] == 6.0


def test_a_copy_of_what_is_stopped_may_be_written():
    def copied(w, xs):
        a = xs * w
        y = stop_gradient(a).copy()
        y[0] = w * w
        return np.sum(y * a)

    w, xs = 0.5, np.array([1.0, 2.0, 3.0])
    want = 2 * w * xs[0] * w + w * w * xs[0] + (w * xs[1:] * xs[1:]).sum()
    assert s2sad.grad(copied)(w, xs) == pytest.approx(want)
    assert s2sad.jvp(copied, (w, xs), (1.0, None))[1] == pytest.approx(want)


# --- within_gradient -----------------------------------------------------------------------------


@pytest.mark.parametrize(("fn", "args"), named(programs.ASKING))
def test_within_gradient_is_true_in_derived_code_alone(fn, args):
    x = np.array([1.0, 2.0, 4.0])
    assert fn(x, *args) == pytest.approx(21.0)
    value, gradient = s2sad.value_and_grad(fn)(x, *args)
    assert value == pytest.approx(14.0)
    assert gradient == pytest.approx(np.full(3, 2.0))
    y, dy = s2sad.jvp(fn, (x, *args), (np.ones(3), *[None for _ in args]))
    assert (y, dy) == (pytest.approx(14.0), pytest.approx(6.0))
    y, pullback = s2sad.vjp(fn, x, *args, wrt=0)
    assert y == pytest.approx(14.0)
    assert pullback(1.0) == pytest.approx(np.full(3, 2.0))
    assert fn(x, *args) == pytest.approx(21.0)


@pytest.mark.parametrize("mode", ["grad", "value_and_grad", "vjp", "jvp"])
@pytest.mark.parametrize(("fn", "args"), named(programs.ASKING))
def test_the_branch_not_taken_is_not_in_the_text(fn, args, mode):
    text = s2sad.source(fn, mode=mode, wrt="x", args=(np.ones(3), *args))
    assert "within_gradient" not in text
    assert knows_nothing_of_s2sad(text)
    both = (programs.in_a_while, programs.inactive_in_a_test, programs.question_given)
    if fn not in (*both, programs.with_another_test, programs.asked_by_another_name):
        assert "3.0" not in text


def test_what_asks_is_derived_anew_when_it_is_another():
    namespace = {"np": np, "within_gradient": within_gradient}
    text = "def f(x):\n    return x * helper()\n"
    for scale in (2.0, 5.0):
        lines = f"def helper():\n    return {scale} if within_gradient() else 1.0\n"
        name = f"<asks {scale}>"
        import linecache

        for source, where in ((lines, name), (text, "<asks>")):
            linecache.cache[where] = (len(source), None, source.splitlines(True), where)
        exec(compile(lines, name, "exec"), namespace)
        if scale == 2.0:
            exec(compile(text, "<asks>", "exec"), namespace)
        assert s2sad.grad(namespace["f"])(1.0) == scale


def test_closures_of_one_code_ask_for_themselves():
    for scale in (1.0, 3.0):
        assert s2sad.grad(programs.maker(scale))(np.ones(2)) == pytest.approx(2.0 * scale)


def test_derived_text_derived_once_more_stays_derived():
    namespace = {}
    text = s2sad.source(programs.inactive_call, args=(np.ones(3),))
    import linecache

    linecache.cache["<again>"] = (len(text), None, text.splitlines(True), "<again>")
    exec(compile(text, "<again>", "exec"), namespace)

    def total(x):
        return np.sum(namespace["inactive_call_grad"](x) * x)

    assert s2sad.grad(total)(np.ones(3)) == pytest.approx(np.full(3, 2.0))


class Hidden:
    """Its method is called by a built-in function."""

    def __len__(self):
        return 2 if within_gradient() else 3


def hidden(x, made):
    return x * len(made)


def test_a_method_that_a_built_in_function_calls_is_seen():
    assert s2sad.value_and_grad(hidden)(1.0, Hidden()) == (2.0, 2.0)
    assert hidden(1.0, Hidden()) == 3.0


def test_plain_calls_of_the_three_give_back_what_they_get():
    x = {"a": 1.0}
    assert inside.stop_gradient(x) is x
    assert inside.adjoint_hook(x, print) is x
    assert inside.within_gradient() is False


# --- adjoint_hook --------------------------------------------------------------------------------


def clipped(x):
    y = adjoint_hook(x * x, lambda y_bar: np.clip(y_bar, -1.0, 1.0))
    return 10.0 * y


def test_a_hook_may_name_its_parameter_as_the_derived_text_names_an_adjoint():
    assert s2sad.grad(clipped)(0.7) == 1.4


@pytest.mark.parametrize(("fn", "args"), named(programs.HOOKING))
def test_a_hook_gives_the_adjoint_that_is_used(fn, args, monkeypatch):
    want = slopes(fn, args, monkeypatch)
    wrt = floats(args)
    value, gradient = s2sad.value_and_grad(fn, wrt=wrt)(*args)
    assert value == fn(*args)
    assert ravel(gradient)[0] == pytest.approx(want, rel=1e-6, abs=1e-8)
    for i in wrt:
        alone = s2sad.grad(fn, wrt=i)(*args)
        assert ravel(alone)[0] == pytest.approx(ravel(gradient[wrt.index(i)])[0])
    _, pullback = s2sad.vjp(fn, *args, wrt=wrt)
    for scale in (2.0, -1.0):
        assert ravel(pullback(scale))[0] == pytest.approx(scale * want, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("fn", "args"), named(programs.HOOKING))
def test_forward_mode_leaves_hooks_alone(fn, args, monkeypatch):
    if fn is programs.hooked_with_default:
        pytest.skip("a lambda of ours is given an inner function with a default: refused")
    wrt = floats(args)
    monkeypatch.setattr(programs, "adjoint_hook", lambda x, fn: x)
    want = ravel(s2sad.grad(fn, wrt=wrt)(*args))[0]
    monkeypatch.undo()
    vector, unravel = ravel(tuple(args[i] for i in wrt))
    along = np.random.default_rng(3).normal(size=len(vector))
    tangents = [None] * len(args)
    for i, part in zip(wrt, unravel(along), strict=True):
        tangents[i] = part
    y, dy = s2sad.jvp(fn, args, tuple(tangents))
    assert y == fn(*args)
    assert dy == pytest.approx(want @ along, rel=1e-9)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize(("fn", "args"), named(programs.HOOKING))
def test_the_text_does_not_know_adjoint_hook(fn, args, mode):
    text = s2sad.source(fn, mode=mode, wrt=floats(args), args=args)
    assert "adjoint_hook" not in text
    assert knows_nothing_of_s2sad(text)
    assert max(map(len, text.splitlines())) <= 100


def test_a_hook_is_called_once_per_execution_with_the_whole_adjoint():
    seen = []

    def f(x, w):
        for i in range(3):
            x = adjoint_hook(x, lambda g: seen.append((i, g.copy())))
            x = w * x + x
        return np.sum(x)

    x = np.array([1.0, 2.0])
    gradient = s2sad.grad(f)(x, 3.0)
    assert [i for i, _ in seen] == [2, 1, 0]
    for i, g in seen:
        assert g == pytest.approx(np.full(2, 4.0 ** (3 - i)))
    assert gradient == pytest.approx(np.full(2, 64.0))
    seen.clear()
    y, pullback = s2sad.vjp(f, x, 3.0, wrt=0)
    assert not seen
    pullback(1.0)
    pullback(2.0)
    assert [i for i, _ in seen] == [2, 1, 0, 2, 1, 0]
    assert f(x, 3.0) == y
    assert len(seen) == 6


def test_a_hook_of_a_pullback_sees_what_is_there():
    seen = []

    def f(x):
        x = adjoint_hook(x, seen.append)
        return x * x

    _, pullback = s2sad.vjp(f, 3.0)
    pullback(1.0)
    assert seen == [6.0]

    def g(x):
        return np.sum(adjoint_hook(x, seen.append))

    _, pullback = s2sad.vjp(g, np.ones(2))
    pullback(2.0)
    assert seen[1] == pytest.approx([2.0, 2.0])


def test_hooks_are_called_in_the_order_of_the_backward_sweep():
    seen = []

    def f(x, y):
        x = adjoint_hook(x, lambda g: seen.append(("x", g)))
        y = adjoint_hook(y, lambda g: seen.append(("y", g)))
        z = adjoint_hook(x * y, lambda g: seen.append(("z", g)))
        return z * z

    assert s2sad.grad(f, wrt=(0, 1))(2.0, 3.0) == (36.0, 24.0)
    assert seen == [("z", 12.0), ("y", 24.0), ("x", 36.0)]


def test_what_a_hook_does_to_its_argument_stays_its_own():
    kept = []

    def f(x, y):
        s = x + y
        s = adjoint_hook(s, kept.append)
        x = adjoint_hook(x, programs.twice_in_place)
        return np.sum(s * s) + np.sum(x)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    gx, gy = s2sad.grad(f, wrt=(0, 1))(x, y)
    assert gy == pytest.approx(2 * (x + y))
    assert gx == pytest.approx(2 * (x + y) + 2.0)
    assert kept[0] == pytest.approx(2 * (x + y))
    gx[:] = 0.0
    assert kept[0] == pytest.approx(2 * (x + y))


def test_a_hook_outside_the_way_is_not_called():
    def f(x, y):
        y = adjoint_hook(y, lambda g: 1 / 0)
        return x * x + 0.0 * int(y)

    assert s2sad.grad(f)(3.0, 2.0) == 6.0


def shape_lost(x):
    return np.sum(adjoint_hook(x * x, lambda g: g[0]))


def made_complex(x):
    return np.sum(adjoint_hook(x * x, lambda g: 1j * g))


def number_lost(x):
    return adjoint_hook(x[0] * x[1], lambda g: np.ones(3))


def keys_lost(x):
    d = adjoint_hook({"a": x, "b": 2.0 * x}, lambda g: {"a": g["a"]})
    return np.sum(d["a"] * d["b"])


@pytest.mark.parametrize("fn", [shape_lost, made_complex, number_lost, keys_lost])
def test_what_is_no_adjoint_is_refused(fn):
    with pytest.raises(s2sad.ActivityError, match="adjoint hook") as refused:
        s2sad.grad(fn)(np.array([1.0, 2.0]))
    assert "adjoint_hook" in refused.value.place.text


def rebound(x):
    k = 2.0

    def grow(g):
        return k * g

    z = adjoint_hook(x * x, grow)
    k = 3.0
    return np.sum(z) * k


def unpacked(x):
    given = (x * x, programs.twice)
    return np.sum(adjoint_hook(*given))


def by_a_partial(x):
    hook = functools.partial(adjoint_hook, fn=programs.twice)
    return np.sum(hook(x * x))


@pytest.mark.parametrize("fn", [unpacked, by_a_partial])
def test_hooks_may_be_called_in_other_ways(fn):
    x = np.array([1.0, 2.0])
    assert s2sad.grad(fn)(x) == pytest.approx(4.0 * x)
    assert s2sad.jvp(fn, (x,), (np.ones(2),))[1] == pytest.approx(6.0)
    assert knows_nothing_of_s2sad(s2sad.source(fn, args=(x,)))


HOOK = functools.partial(adjoint_hook, fn=programs.twice)


def by_a_global_partial(x):
    return np.sum(HOOK(x))


@pytest.mark.parametrize("fn", [rebound, by_a_global_partial])
def test_hooks_that_cannot_be_seen_are_refused(fn):
    with pytest.raises(s2sad.Error):
        s2sad.grad(fn)(np.ones(2))


# --- second derivatives --------------------------------------------------------------------------


def weighed(x):
    return np.sum(stop_gradient(x * x) * np.sin(x))


def weighed_by(x, c):
    return np.sum(c * np.sin(x))


def repeated(x):
    h = x
    for _ in range(2):
        h = stop_gradient(h) * np.sin(h)
    return np.sum(h)


def repeated_by(x, c, d):
    return np.sum(d * np.sin(c * np.sin(x)))


def cut(x):
    h = np.sin(x)
    h = stop_gradient(h)
    return np.sum(h * x * x)


def cut_by(x, c):
    return np.sum(c * x * x)


POINT = np.array([0.3, 0.5, 0.7])
HELD = {
    weighed: (weighed_by, POINT * POINT),
    repeated: (repeated_by, POINT, POINT * np.sin(POINT)),
    cut: (cut_by, np.sin(POINT)),
}


@pytest.mark.parametrize("fn", HELD)
def test_what_is_stopped_is_constant_in_any_order(fn):
    by, *held = HELD[fn]
    along = np.array([0.2, -0.4, 0.5])
    want = s2sad.jvp(s2sad.grad(by), (POINT, *held), (along, *[None for _ in held]))[1]
    assert s2sad.hvp(fn, (POINT,), (along,)) == pytest.approx(want)
    assert s2sad.jvp(s2sad.grad(fn), (POINT,), (along,))[1] == pytest.approx(want)
    assert s2sad.vjp(s2sad.grad(fn), POINT)[1](along) == pytest.approx(want)
    text = s2sad.source(s2sad.grad(fn), args=(POINT,), mode="jvp")
    assert "stop_gradient" not in text
    assert knows_nothing_of_s2sad(text)


def bent(x):
    y = adjoint_hook(x * x, programs.twice)
    return np.sum(y * x)


def bent_number(x):
    return adjoint_hook(x * x, programs.twice) * x


def printed(x):
    y = adjoint_hook(x * x, lambda g: LOG.append(1))
    return np.sum(y * x)


def test_hooks_are_differentiated_with_the_gradient_that_they_change():
    along = np.array([0.2, -0.4, 0.5])
    assert s2sad.hvp(bent, (POINT,), (along,)) == pytest.approx(10.0 * POINT * along)
    assert s2sad.vjp(s2sad.grad(bent), POINT)[1](along) == pytest.approx(10.0 * POINT * along)
    assert s2sad.jvp(s2sad.grad(bent_number), (0.3,), (1.0,))[1] == pytest.approx(3.0)
    LOG.clear()
    assert s2sad.hvp(printed, (POINT,), (along,)) == pytest.approx(6.0 * POINT * along)
    assert LOG == [1]


# Of these it is not known what the hook gives, or they are recursive.
NOT_TWICE = ("with_default", "recursion", "object")


@pytest.mark.parametrize(("fn", "args"), named(programs.HOOKING))
def test_what_a_hook_gives_is_differentiated(fn, args):
    wrt = floats(args)
    vector, unravel = ravel(tuple(args[i] for i in wrt))
    along = np.cos(1.0 + np.arange(len(vector)))
    tangents = [None] * len(args)
    for i, part in zip(wrt, unravel(along), strict=True):
        tangents[i] = part
    if fn.__name__.endswith(NOT_TWICE):
        with pytest.raises(UnsupportedError):
            s2sad.hvp(fn, args, tuple(tangents))
        return

    def at(step):
        rest = [a for i, a in enumerate(args) if i not in wrt]
        return ravel(s2sad.grad(fn, wrt=wrt)(*unravel(vector + step * along), *rest))[0]

    product = s2sad.hvp(fn, args, tuple(tangents))
    got = ravel(tuple(part for part in product if part is not None))[0]
    assert got == pytest.approx((at(STEP) - at(-STEP)) / (2 * STEP), rel=1e-6, abs=1e-7)


def test_a_hook_that_is_not_understood_has_no_second_derivative():
    def clipped(x):
        return np.sum(adjoint_hook(x * x, lambda g: np.array(g.tolist())) * x)

    s2sad.grad(clipped)(POINT)
    with pytest.raises(UnsupportedError):
        s2sad.hvp(clipped, (POINT,), (POINT,))


def test_within_gradient_stays_true_in_any_order():
    along = np.array([0.2, -0.4, 0.5])

    def cubed(x):
        return np.sum(programs.factor(3) * x**3)

    assert s2sad.hvp(cubed, (POINT,), (along,)) == pytest.approx(12.0 * POINT * along)


# --- emitted files -------------------------------------------------------------------------------


def test_emitted_files_do_not_need_s2sad(tmp_path):
    x = np.array([1.0, 2.0, 4.0])
    home = tmp_path / "own.py"
    text = (
        "import numpy as np\n"
        "try:\n"
        "    from s2sad import stop_gradient, within_gradient\n"
        "except ImportError:\n"
        "    stop_gradient = within_gradient = None\n"
        "def noise(n):\n"
        "    return np.full(n, 2.0) if within_gradient() else np.full(n, 3.0)\n"
        "def metric(x):\n"
        "    return float(stop_gradient(x)[0])\n"
        "def model(x):\n"
        "    scale = stop_gradient(x) * noise(len(x))\n"
        "    return np.sum(x * scale) + metric(np.ones(2))\n"
    )
    home.write_text(text)
    sys.path.insert(0, str(tmp_path))
    try:
        import own

        path = tmp_path / "derived.py"
        s2sad.value_and_grad(own.model).emit(path, x)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("own", None)
    assert "import s2sad" not in path.read_text() and "from s2sad" not in path.read_text()
    code = (
        "import sys; sys.modules['s2sad'] = None\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import derived, numpy as np\n"
        "print(derived.model_value_and_grad(np.array([1.0, 2.0, 4.0])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == str(s2sad.value_and_grad(own.model)(x)).split()
