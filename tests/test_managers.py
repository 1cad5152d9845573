"""With statements: what lets exceptions through is left alone, what may swallow them is refused."""

import contextlib
import io
import math
import threading
import time
import warnings

import numpy as np
import pytest
from slopes import check

import s2sad

LOCK = threading.Lock()
TIMES = []


class Timer:
    """Adds up how long its blocks take."""

    def __init__(self, label="all"):
        self.label = label
        self.blocks = 0

    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exception):
        self.blocks += 1


class Strict(Timer):
    """Says that it swallows nothing."""

    def __exit__(self, kind, value, traceback):
        return False


class Lenient(Timer):
    """Swallows some exceptions."""

    def __exit__(self, kind, value, traceback):
        return kind is ValueError


@contextlib.contextmanager
def timed(label):
    try:
        yield
    finally:
        TIMES.append(label)


@contextlib.contextmanager
def forgiving(label):
    try:
        yield
    except ValueError:
        TIMES.append(label)


@contextlib.contextmanager
def doubled(a):
    a *= 2.0
    yield
    a /= 2.0


def of_a_lock(x):
    with LOCK:
        y = x * x
    return y * y


def of_a_timer(x):
    with Timer("block") as timer, np.errstate(all="ignore"):
        y = x * x
        label = timer.label
    return y * y * len(str(label))


def of_a_strict_timer(x):
    with Strict():
        return x * x * x


def of_a_generator(x):
    with timed("of a generator"):
        y = x
        for _ in range(3):
            y = y * x
    return y


def of_a_library(x):
    with io.StringIO() as out, contextlib.redirect_stdout(out), warnings.catch_warnings():
        print("quiet")
        y = math.sin(x)
    return y * x


def suppressed(x):
    y = x
    with contextlib.suppress(ValueError, ZeroDivisionError), timed("suppressed"):
        y = math.log(x)
        return y * 3.0
    return x * x


def suppressed_alone(x):
    with contextlib.suppress(ValueError):
        x = math.log(x)
    return x * x


def left_early(xs):
    s = 1.0
    for x in xs:
        with timed("round"):
            if x < 0.0:
                continue
            s = s * x * s
    return s


class Model:
    """Holds a lock and a timer beside its weight."""

    def __init__(self):
        self.lock = threading.RLock()
        self.timer = Timer()
        self.weight = 2.0

    def locked(self, x):
        with self.lock:
            return self.weight * x * x

    def timed(self, x):
        with self.timer:
            y = self.weight * x * x
        return y


@pytest.mark.parametrize(
    "f",
    [of_a_lock, of_a_timer, of_a_strict_timer, of_a_generator, of_a_library, suppressed]
    + [suppressed_alone, Model().locked, Model().timed],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("x", [1.3, -0.7])
def test_the_block_is_undone_as_if_alone(f, x):
    check(f, x)
    assert s2sad.value_and_grad(f)(x)[0] == f(x)


def test_a_block_that_is_left_early():
    check(left_early, np.array([1.0, -2.0, 3.0]))


def test_managers_run_once():
    TIMES.clear()
    s2sad.grad(of_a_generator)(2.0)
    assert TIMES == ["of a generator"]
    model = Model()
    s2sad.grad(model.timed)(2.0)
    assert model.timer.blocks == 1


def test_a_lock_is_given_back_when_an_exception_leaves():
    lock = threading.Lock()

    def guarded(x, lock):
        with lock:
            return math.log(x)

    assert s2sad.grad(guarded)(2.0, lock) == 0.5
    with pytest.raises(ValueError, match="math domain error"):
        s2sad.grad(guarded)(-2.0, lock)
    assert not lock.locked()


def of_a_lenient_timer(x):
    with Lenient():
        y = x * x
    return y


def of_a_forgiving_generator(x):
    with forgiving("a"):
        y = x * x
    return y


def of_anything(x, manager):
    with manager:
        y = x * x
    return y


@pytest.mark.parametrize(
    "f, args",
    [
        (of_a_lenient_timer, (2.0,)),
        (of_a_forgiving_generator, (2.0,)),
        (of_anything, (2.0, Lenient())),
        (of_anything, (2.0, contextlib.ExitStack())),
    ],
)
def test_one_that_may_swallow_exceptions_is_refused(f, args):
    with pytest.raises(s2sad.UnsupportedError, match="may swallow an exception"):
        s2sad.grad(f)(*args)


def test_what_a_function_was_derived_for_is_asked_again():
    gradient = s2sad.grad(of_anything)
    assert gradient(2.0, Strict()) == gradient(2.0, Timer()) == 4.0
    with pytest.raises(s2sad.UnsupportedError, match="may swallow an exception"):
        gradient(2.0, Lenient())
    assert gradient(2.0, threading.Lock()) == 4.0


def of_a_changed_array(x, a):
    with doubled(a):
        y = np.sum(x * a)
    return y


def of_a_changed_copy(x, a):
    b = a.copy()
    with doubled(b):
        y = np.sum(x * b)
    return y


def of_a_changed_copy_in_a_call(x, a):
    return of_a_changed_copy(x, a) * x


@pytest.mark.parametrize("f", [of_a_changed_array, of_a_changed_copy, of_a_changed_copy_in_a_call])
def test_a_manager_that_may_change_what_is_read_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="that may change it"):
        s2sad.grad(f)(2.0, np.ones(2))


class Doubling:
    """Doubles its value on the way in, and on the way out."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.value *= 2.0
        return self

    def __exit__(self, *exception):
        self.value *= 2.0


class Logging:
    """Appends to a list that it is given."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)

    def __exit__(self, *exception):
        self.log.append(2.0)


@contextlib.contextmanager
def tripled(manager):
    manager.value *= 3.0
    yield


def read_behind(x, manager):
    with manager:
        x = x * x
    return x * manager.value


def read_inside(x, manager):
    with manager as inner:
        x = x * inner.value
    return x


def read_by_a_function(x, manager):
    with manager:
        x = x * x
    return x * value_of(manager)


def value_of(manager):
    return manager.value


def read_by_the_caller(x, manager):
    return entered(x, manager) * manager.value


def entered(x, manager):
    with manager:
        return x * x


def logged(x, log):
    with Logging(log):
        x = x * len(log)
    return x * sum(log)


def tripled_behind(x, manager):
    with tripled(manager):
        x = x * manager.value
    return x


@pytest.mark.parametrize("f", [read_behind, read_inside, read_by_a_function, tripled_behind])
def test_what_a_manager_writes_and_the_program_reads(f):
    def value(x):
        return f(x, Doubling(1.5))

    manager, slope = Doubling(1.5), (value(1.2 + 1e-6) - value(1.2 - 1e-6)) / 2e-6
    assert s2sad.grad(f)(1.2, manager) == pytest.approx(slope, rel=1e-7)
    result, tangent = s2sad.jvp(f, (1.2, manager), (1.0, None))
    assert (result, tangent) == (value(1.2), pytest.approx(slope, rel=1e-7))
    assert manager.value == 1.5


def test_what_a_manager_writes_for_the_caller_is_refused():
    manager = Doubling(1.5)
    with pytest.raises(s2sad.Error):
        s2sad.grad(read_by_the_caller)(1.2, manager)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(read_by_the_caller, (1.2, manager), (1.0, None))
    assert manager.value == 1.5


def test_a_manager_that_writes_into_an_argument():
    log = [3.0]
    assert s2sad.grad(logged)(1.2, log) == pytest.approx(12.0)
    assert log == [3.0]


def of_an_argument(x, timer):
    with timer:
        x = x * x
    return x


def of_its_own(x):
    timer = Timer()
    with timer:
        x = x * x
    with timer as again:
        x = x * x
    return x * timer.blocks + again.blocks


def test_what_a_manager_notes_down_stays():
    timer = Timer()
    assert s2sad.grad(of_an_argument)(1.5, timer) == 3.0
    assert timer.blocks == 1
    check(of_its_own, 1.2)
