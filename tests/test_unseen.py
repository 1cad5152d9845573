"""What may reach active variables out of sight is refused in every mode: never zero in silence."""

import contextlib
import functools
import inspect
import operator
import sys
import traceback

import numpy as np
import pytest

import s2sad

X = np.array([0.7, -1.3, 0.4])


def class_reads(x):
    class Model:
        def value(self):
            return x[0] ** 2

    return Model().value()


def class_reads_later(x):
    class Model:
        def value(self):
            return w * 2

    w = x[0]
    return float(Model().value())


def class_attribute(x):
    class Model:
        w = x[0]

    y = np.zeros(3)
    y[0] = Model.w
    return np.sum(y)


def class_writes(x):
    buffer = np.zeros(2)

    class Log:
        def add(self, v):
            buffer[0] = v

    Log().add(x[0])
    return buffer[0] * 2


def class_rebinds(x):
    total = 0.0

    class Log:
        def add(self, v):
            nonlocal total
            total += v

    log = Log()
    log.add(x[0])
    return total * x[1]


def made_class(x):
    return float(type("Model", (), {"w": x[0]})().w)


def evaluated(x):
    y = np.zeros(3)
    y[0] = eval("x[0] ** 2")
    return np.sum(y)


def by_locals(x):
    y = x[0] ** 2
    return locals()["y"]


def by_globals(x):
    globals()["found"] = x[0]
    y = np.zeros(3)
    y[0] = found  # noqa: F821
    return np.sum(y)


def manager_gives(x):
    with contextlib.nullcontext(x[0] * 2) as v:
        return v**2


def manager_gives_for_store(x):
    y = np.zeros(3)
    with contextlib.nullcontext(x[0] ** 2) as v:
        y[0] = v
    return np.sum(y)


def manager_writes(x):
    buffer = np.zeros(3)

    @contextlib.contextmanager
    def around():
        buffer[0] = x[0] ** 2
        yield

    with around():
        y = buffer[0] * 2
    return y


def manager_writes_later(x):
    @contextlib.contextmanager
    def around():
        buffer[0] = x[1] ** 2
        yield

    buffer = np.zeros(3)
    with around():
        y = buffer[0] * 2
    return y


def exception_holds(x):
    y = np.zeros(3)
    try:
        raise ValueError(x[0])
    except ValueError as e:
        y[0] = e.args[0]
    return np.sum(y)


def appended_by_class(x):
    found = []
    list.append(found, x[0])
    return float(found[0]) ** 2


def in_called(x):
    y = np.zeros(3)
    y[0] = class_reads(x)
    return np.sum(y)


class Settings:
    def __init__(self):
        self.rate = 0
        self.log = []


def special_method(x):
    table = [1, 2]
    table.__setitem__(0, x[0])
    return table[0] * 2.0


def special_method_of_dict(x):
    table = {"rate": 0}
    table.__setitem__("rate", x[0])
    return table["rate"] * 2.0


def special_method_of_object(x):
    settings = Settings()
    settings.__setattr__("rate", x[0])
    return settings.rate * 2.0


def special_method_of_list(x):
    table = [0, 0]
    list.__setitem__(table, 0, x[1])
    return table[0] * 2.0


def operator_sets(x):
    table = [0, 0]
    operator.setitem(table, 1, x[0])
    return table[1] * 2.0


def operator_sets_inside(x):
    table = {"a": [0, 0]}
    operator.setitem(table["a"], 0, x[0])
    return table["a"][0] * 2.0


def operator_fills(x):
    table = []
    operator.iadd(table, [x[0], x[1]])
    return table[0] * table[1]


def kept_setter(x):
    table = [0]
    put = table.__setitem__
    put(0, x[0])
    return table[0] * 2.0


def kept_update(x):
    table = {"rate": 0}
    put = table.update
    put(rate=x[0])
    return table["rate"] * 2.0


def kept_setattr(x):
    settings = Settings()
    put = functools.partial(setattr, settings, "rate")
    put(x[0])
    return settings.rate * 2.0


def imported_here(x):
    import bisect

    found = [3]
    bisect.insort(found, x[0])
    return found[0] * 2.0


def imported_here_empty(x):
    import bisect

    found = []
    for v in x:
        bisect.insort(found, v)
    return found[0] * found[1]


PROGRAMS = (
    *(special_method, special_method_of_dict, special_method_of_object, special_method_of_list),
    *(operator_sets, operator_sets_inside, operator_fills, kept_setter),
    *(kept_update, kept_setattr),
    *(class_reads, class_reads_later, class_attribute, class_writes, class_rebinds, made_class),
    *(evaluated, by_locals, by_globals, manager_gives, manager_gives_for_store, manager_writes),
    *(manager_writes_later, exception_holds, appended_by_class, in_called),
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_refused(f):
    ways = (
        lambda: s2sad.grad(f)(X),
        lambda: s2sad.vjp(f, X),
        lambda: s2sad.jvp(f, (X,), (np.ones(3),)),
        lambda: s2sad.jacobian(f, mode="reverse")(X),
        lambda: s2sad.jacobian(f, mode="forward")(X),
        lambda: s2sad.hvp(f, (X,), (np.ones(3),)),
        lambda: s2sad.autodiff(s2sad.Forward, f, s2sad.Duplicated(X.copy(), np.ones(3))),
    )
    for way in ways:
        with pytest.raises(s2sad.Error) as caught:
            way()
        assert not isinstance(caught.value, s2sad.errors.InternalError)


def aside(x):
    """Classes and managers that see nothing active are left alone."""

    class Entry:
        size = 3

    names = []
    with contextlib.nullcontext("a") as label:
        names.append(label)
    return np.sum(x**2), Entry.size


def test_aside():
    gradient, _ = s2sad.grad(aside, has_aux=True)(X)
    assert gradient == pytest.approx(2 * X)


def filled_later(x, y):
    fill = x.fill
    fill(y)
    return np.sum(x * x)


def set_later(x, y):
    setters = [x.__setitem__]
    setters[0](0, y)
    return np.sum(x * x)


def imported_inside(x, y):
    import functools

    scale = functools.partial(np.multiply, x, out=x)
    scale(y)
    return np.sum(x * x)


@pytest.mark.parametrize("f", [filled_later, set_later, imported_inside])
def test_what_is_kept_to_be_called_may_write_what_it_belongs_to(f):
    args = np.array([0.7, -1.3]), 0.6
    with pytest.raises(s2sad.Error):
        s2sad.grad(f, wrt=(0, 1))(*args)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, args, (np.ones(2), 1.0))


def filled_in_a_test(x):
    seen = []

    def big(v):
        seen.append(v * v)
        return v > 0.5

    found = any(big(v) for v in x)
    return found * np.sum(x) + seen[0] @ np.ones(())


def filled_by_a_key(x):
    seen = []

    def key(v):
        seen.append(v * v)
        return v

    ordered = sorted(x, key=key)
    return ordered[0] * len(seen) * seen[-1]


def filled_and_gone_through(x):
    seen, total = [], np.sum(x)

    def big(v):
        seen.append(v * v)
        return v > 0.5

    found = any(big(v) for v in x)
    for v in seen:
        total = total + v
    return total * found


def test_a_list_that_a_test_fills_is_gone_through():
    x = np.array([0.3, 0.7, 0.9])
    assert s2sad.grad(filled_and_gone_through)(x) == pytest.approx([1.6, 2.4, 1.0])
    y, dy = s2sad.jvp(filled_and_gone_through, (x,), (np.ones(3),))
    assert (y, dy) == pytest.approx((filled_and_gone_through(x), 5.0))


def test_a_list_that_is_filled_in_a_test_is_refused():
    f, x = filled_in_a_test, np.array([0.3, 0.7, 0.9])
    for derived in (lambda: s2sad.grad(f)(x), lambda: s2sad.jvp(f, (x,), (x,))):
        with pytest.raises(s2sad.Error):
            derived()


def test_a_list_that_a_key_fills():
    x = np.array([0.3, 0.7, 0.9])
    assert s2sad.grad(filled_by_a_key)(x) == pytest.approx([3 * 0.81, 0.0, 3 * 0.3 * 1.8])
    y, dy = s2sad.jvp(filled_by_a_key, (x,), (np.ones(3),))
    assert (y, dy) == pytest.approx((filled_by_a_key(x), 3 * 0.81 + 3 * 0.3 * 1.8))


def test_a_list_that_stays_empty_is_gone_through():
    def f(x):
        seen, total = [], np.sum(x**2)

        def note(v):
            seen.append(v)

        if len(x) > 5:
            note(x[0])
        for v in seen:
            total = total + v
        return total

    s2sad.check_grads(f, (np.array([0.3, 0.7]),))


class Body:
    def __init__(self, place, speed):
        self.place = place
        self.speed = speed
        self.energy = 0.0


def kicked(body, dt):
    body.speed[1:] -= dt * body.place[1:]
    body.energy = body.energy + np.sum(body.speed**2)
    return body.energy, body


def test_an_array_of_an_object_is_written():
    def f(x):
        body = Body(x.copy(), x * 2.0)
        energy, body = kicked(body, 0.5)
        return energy * body.energy

    # speed = (2 x0, 1.5 x1, 1.5 x2)
    half = 4.0 * X[0] ** 2 + 2.25 * (X[1] ** 2 + X[2] ** 2)
    expected = 2.0 * half * np.array([8.0, 4.5, 4.5]) * X
    assert s2sad.grad(f)(X) == pytest.approx(expected)


def largest_row(x):
    rows = [[1, 2], [3, 4]]
    row = max(rows, key=lambda r: r[0])
    row[0] = x[0]
    return rows[1][0] * x[1]


def largest_value(x):
    rows = {"a": [1, 2], "b": [3, 4]}
    row = max(rows.values(), key=lambda r: r[0])
    row[0] = x[0]
    return rows["b"][0] * x[1]


def first_of_sorted(x):
    rows = [[1, 2], [3, 4]]
    row = sorted(rows)[0]
    row[0] = x[0]
    return rows[0][0] * x[1]


def largest_dict(x):
    rows = [{"v": 1}, {"v": 2}]
    row = max(rows, key=lambda r: r["v"])
    row["v"] = x[0]
    return rows[1]["v"] * x[1]


@pytest.mark.parametrize("f", [imported_here, imported_here_empty, largest_row, largest_dict])
def test_what_is_written_out_is_seen(f):
    x = np.array([0.5, 0.3])
    s2sad.check_grads(f, (x,))


@pytest.mark.parametrize("f", [largest_value, first_of_sorted])
def test_what_is_stored_in_a_part_of_unknown_kind_is_refused(f):
    x = np.array([0.5, 0.3])
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(x)
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.jvp(f, (x,), (np.ones(2),))


# --- what looks at running calls, and recursions without an end of kinds --------------------------


def of_its_name(x):
    return x * len(sys._getframe().f_code.co_name)


def of_the_stack(x):
    return x * len(inspect.stack()[0].function)


def of_extracted_names(x):
    return x * len(traceback.extract_stack()[-1].name)


@pytest.mark.parametrize("f", [of_its_name, of_the_stack, of_extracted_names])
def test_a_look_at_running_calls_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="calls that are running"):
        s2sad.grad(f)(0.7)
    with pytest.raises(s2sad.UnsupportedError, match="calls that are running"):
        s2sad.jvp(f, (0.7,), (1.0,))


def composed(g, n):
    return g if n == 0 else composed(lambda x: g(x) * x, n - 1)


def deeper(p, n):
    return p if n == 0 else deeper([p], n - 1)


def longer(t, n):
    return sum(t) if n == 0 else longer((*t, t[-1] * 2.0), n - 1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: composed(np.sin, 1)(x),
        lambda x: deeper(x, 2)[0][0],
        lambda x: longer((x,), 2),
    ],
)
def test_a_recursion_whose_arguments_grow_is_refused(f):
    for derive in (s2sad.grad(f), lambda x: s2sad.jvp(f, (x,), (1.0,))):
        with pytest.raises(s2sad.UnsupportedError):
            derive(0.7)
