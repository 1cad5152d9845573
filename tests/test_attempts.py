"""Derivatives of programs with try: the path that was taken is the path that is undone."""

import math

import numpy as np
import pytest

import s2sad

TABLE = {"a": 2.0, "b": -0.5}


class Refused(Exception):
    """Raised by programs below for what they do not like."""


def agrees(f, *args, wrt=0, rel=1e-6):
    """Hold value, gradient and both calls of a pullback against the plain function."""
    value, gradient = s2sad.value_and_grad(f, wrt=wrt)(*args)
    plain = f(*args)
    assert type(value) is type(plain) and np.array_equal(value, plain)
    vector, unravel = s2sad.ravel((args[wrt],))

    def at(moved):
        return f(*[unravel(moved)[0] if i == wrt else a for i, a in enumerate(args)])

    steps = np.eye(len(vector)) * 1e-6
    slopes = [(at(vector + e) - at(vector - e)) / 2e-6 for e in steps]
    assert s2sad.ravel((gradient,))[0] == pytest.approx(slopes, rel=rel, abs=1e-7)
    again = s2sad.grad(f, wrt=wrt)(*args)
    assert np.array_equal(s2sad.ravel((again,))[0], s2sad.ravel((gradient,))[0])
    _, pullback = s2sad.vjp(f, *args, wrt=wrt)
    first, second = (s2sad.ravel((pullback(1.0),))[0] for _ in range(2))
    assert np.array_equal(first, second)
    assert first == pytest.approx(s2sad.ravel((gradient,))[0], rel=1e-12, abs=1e-15)
    return s2sad.source(f, mode="value_and_grad", wrt=wrt, args=args)


def log_or_square(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x * x
    return y * x


def returns(x):
    try:
        return math.log(x)
    except ValueError:
        return x * x


def falls_through(x):
    try:
        return math.log(x)
    except ValueError:
        pass
    y = x * x
    return y * math.sin(y)


def with_else(x):
    s = x * 2.0
    try:
        y = math.sqrt(x)
    except ValueError:
        s = s * s
    else:
        s = s * y + math.sin(y)
    return s * s


def two_handlers(x, key):
    try:
        y = math.log(x) * TABLE[key]
    except ValueError as e:
        print("caught", e, f"{e!r}")
        y = x * 3.0
    except (KeyError, IndexError):
        y = x * x
    return y * math.cos(x)


def second_statement_raises(x):
    y = math.sin(x)
    z = y * y
    try:
        y = y * 2.0
        z = math.log(y)
    except ValueError:
        y = 4.0 * x
    return z * x * y


def unpacks(x):
    a, b = x, x * x
    s = a * b
    try:
        a, b = b * 2.0, math.sqrt(a)
        a = math.log(b - 1.0) * a
    except ValueError:
        s = s * 3.0
        a = 1.0
    return a * s


def nested(x):
    try:
        try:
            y = math.log(x)
        except ValueError:
            y = math.sqrt(x + 2.0)
        z = y / (1.0 + y)
    except (ValueError, ZeroDivisionError):
        z = x * x
    return z * x


def raises_itself(x):
    try:
        if x > 1.0:
            raise Refused("too large")
        y = x * x * x
        if y < -8.0:
            raise Refused("too small")
        z = math.sin(y)
    except Refused as e:
        z = 5.0 * x if "large" in str(e) else x
    return z * z


def finally_counts(x):
    n = 0
    y = x
    try:
        y = y * x
        n += 1
    finally:
        n += 1
        y = y * n
    return y * n


def finally_after_handler(x):
    calls = []
    try:
        y = math.log(x)
    except ValueError:
        y = x
    finally:
        calls.append("done")
        y = y if False else y * x
    return y * len(calls)


def returns_through_finally(x):
    seen = []
    try:
        if x > 0.0:
            return math.log(x) * x
        y = math.exp(x)
    finally:
        seen.append(x)
    return y * y * len(seen)


def skips(xs):
    s = 1.0
    for x in xs:
        try:
            y = math.log(x)
        except ValueError:
            continue
        s = s + y * y * s
    return s


def breaks(xs):
    s = 1.0
    for x in xs:
        try:
            s = s * math.sqrt(x)
        except ValueError:
            break
        s = s + x
    return s * s


def partial_in_a_loop(xs):
    s = 1.0
    y = 0.5
    for x in xs:
        s = s * (1.0 + y * y)
        try:
            y = x * s
            z = math.log(x)
            y = y * z
        except ValueError:
            s = s * x
            y = math.sin(s)
    return s * y


def loop_inside(xs):
    s = 1.0
    for k in range(3):
        t = s * 0.5
        try:
            t = t + k
            total = s
            for x in xs[k:]:
                t = t * math.sqrt(x)
                total = total + t
            s = total
        except ValueError:
            t = s * 0.25 + k
            s = t * t
    return s * t


def returns_from_a_loop(xs):
    s = 1.0
    for x in xs:
        try:
            if x > 2.0:
                return math.log(s) * x
            s = s + math.sqrt(x)
        except ValueError:
            s = s * x * x
    return s * s


def jittered(A):
    jitter = 2e-3
    for attempt in range(8):
        try:
            L = np.linalg.cholesky(A + jitter * np.eye(2))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    else:
        raise Refused("not even with jitter")
    return np.sum(np.log(np.diag(L)))


def repaired(A):
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        A = A + 5.0 * np.eye(2)
        L = np.linalg.cholesky(A)
    return np.sum(np.log(np.diag(L)) * L[0, 0])


def looked_up(xs, table, keys):
    s = 0.0
    for key in keys:
        try:
            v = table[key]
        except KeyError:
            v = -1.0
        s = s + v * xs[0] ** 2
    return s


def writes_last(xs):
    out = np.zeros(3)
    for i in range(3):
        out[i] = xs[i]
        try:
            out[i] = math.log(xs[i])
        except ValueError:
            out[i] = out[i] * xs[i]
    return np.sum(out * out)


def fills_its_own(xs):
    s = xs * 2.0
    for k in range(2):
        try:
            rows = np.zeros(3)
            for i in range(3):
                rows[i] = math.sqrt(xs[i] + k) * s[i]
            s = rows * rows
        except ValueError:
            s = s * s
    return np.sum(s)


def left_in_a_loop(xs):
    s = xs[0] * 2.0
    for k in range(2):
        try:
            t = 0.0
            for i in range(3):
                t = t * t + math.sqrt(xs[i] + k) * s
            s = t
        except ValueError:
            s = s * s
    return s


def fills_a_copy(xs):
    s = xs * 1.0
    for k in range(3):
        try:
            u = s.copy()
            for i in range(3):
                u[i] += u[i - 1] * math.sqrt(xs[i] + 0.6 * k)
            s = u
        except ValueError:
            for _ in range(2):
                s = s * np.sin(s)
    return np.sum(s)


def left_with_a_list(xs):
    s = 0.0
    for k in range(3):
        try:
            out = []
            for x in xs:
                out.append(math.sqrt(x + 0.6 * k) * x)
            s += sum(out)
        except ValueError:
            s = s * s + xs[k]
    return s


def left_in_a_while(xs):
    s = 1.0
    for k in range(3):
        try:
            i, t = 0, 1.0
            while i < 3:
                t = t * math.sqrt(xs[i] + 0.6 * k) + s
                i += 1
            s = t
        except ValueError:
            s = s * s + xs[k]
    return s


def appends_last(xs):
    out = []
    for x in xs:
        try:
            out.append(math.log(x))
        except ValueError:
            out.append(x * x)
    return sum(out) * out[0]


def root(x):
    if x < 0.0:
        raise Refused("negative", x)
    return math.sqrt(x) * x


def items_of_a_list(xs):
    ys = [xs[0], xs[1]]
    for i in range(2):
        try:
            ys[i] = math.log(xs[i]) * xs[2]
        except ValueError:
            ys[i] = ys[i] * ys[1]
    return ys[0] * ys[1]


def calls_what_raises(xs):
    s = 1.0
    for x in xs:
        y = x * s
        try:
            y = root(x) + root(y)
        except Refused:
            s = s + y * y
        s = s + y
    return s


def caught_below(x):
    try:
        return root(x) * 2.0
    except Refused:
        return -x


def calls_what_catches(xs):
    s = 0.0
    for x in xs:
        s = s + caught_below(x) * x
    return s


def checked(x):
    try:
        y = np.float64(1.0) / x
        with np.errstate(all="raise"):
            z = np.log(x * y - 1.0 + x)
    except FloatingPointError:
        z = x * 2.0
    return z * x


def keeps_count(x):
    n = {"calls": 0}
    try:
        n["calls"] += 1
        y = math.log(x)
    except ValueError:
        n["calls"] += 10
        y = x
    return y * x


SCALARS = (
    log_or_square,
    returns,
    falls_through,
    with_else,
    second_statement_raises,
    unpacks,
    nested,
    raises_itself,
    finally_counts,
    finally_after_handler,
    returns_through_finally,
    caught_below,
)
VECTORS = (
    skips,
    breaks,
    partial_in_a_loop,
    loop_inside,
    returns_from_a_loop,
    writes_last,
    fills_its_own,
    fills_a_copy,
    left_in_a_loop,
    left_with_a_list,
    left_in_a_while,
    appends_last,
    items_of_a_list,
    calls_what_raises,
    calls_what_catches,
)


@pytest.mark.parametrize("f", SCALARS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.7, 2.5, -1.3, -3.0])
def test_every_path_of_a_number(f, x):
    agrees(f, x)


@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "xs",
    [[0.7, 1.5, 0.3], [1.2, -0.7, 2.5], [-0.4, 0.8, 1.1], [-0.4, -0.8, -1.1], [0.5, 0.9, -2.0]],
)
def test_every_path_of_an_array(f, xs):
    agrees(f, np.array(xs))


@pytest.mark.parametrize("x, key", [(0.5, "a"), (2.0, "b"), (-1.0, "a"), (1.5, "none")])
def test_the_handler_that_caught_it(x, key):
    agrees(two_handlers, x, key)


@pytest.mark.parametrize(
    "A", [[[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[-3.0, 0.1], [0.1, 2.0]]]
)
@pytest.mark.parametrize("f", [jittered, repaired], ids=lambda f: f.__name__)
def test_factorised_where_it_can_be(f, A):
    def of_triangle(v):
        return f(np.array([[v[0], 0.0], [v[1], v[2]]]))

    agrees(of_triangle, np.array([A[0][0], A[1][0], A[1][1]]), rel=1e-4)


@pytest.mark.parametrize("f", [jittered, repaired], ids=lambda f: f.__name__)
def test_what_nobody_catches_leaves_derived_code_too(f):
    A = np.array([[-1e9, 0.0], [0.0, 1.0]])
    with pytest.raises(Refused if f is jittered else np.linalg.LinAlgError):
        s2sad.grad(f)(A)


def test_a_table_may_have_no_such_key():
    agrees(looked_up, np.array([0.5, 2.0]), TABLE, ("a", "z", "b", "y"))


@pytest.mark.parametrize("x", [np.float64(2.0), np.float64(0.5), np.float64(-0.5)])
def test_floating_point_errors(x):
    agrees(checked, x)


def squares_first(xs, words):
    s = xs[0]
    n = 0
    try:
        for w in words:
            n += int(w)
        m = n
    except ValueError:
        m = -n
    return s * s * m * n


def entry_last(x):
    d = {"a": x}
    try:
        y = math.log(x)
        d["a"] = math.sin(x)
    except ValueError:
        y = 1.0
    return y + d["a"] * x


def scale_of(x, d):
    try:
        v = d["scale"] * x
        w = v * v
    except KeyError:
        w = x * 3.0
    return w * x


@pytest.mark.parametrize("words", [["1", "2"], ["1", "b", "3"], ["x"]])
def test_what_is_not_active_may_be_left_half_done(words):
    agrees(squares_first, np.array([1.5, 2.0]), words)


@pytest.mark.parametrize("f", [entry_last], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [2.0, -1.5])
def test_further_paths_of_a_number(f, x):
    agrees(f, x)


@pytest.mark.parametrize("d", [{"scale": 3.0}, {"other": 3.0}, {}])
def test_a_key_that_may_be_missing(d):
    agrees(scale_of, 2.0, d)


def test_one_gradient_serves_every_path():
    gradient = s2sad.grad(scale_of)
    for d in ({"scale": 3.0}, {"other": 2.0}, {"scale": 2.0}, {}):
        assert gradient(2.0, d) == s2sad.grad(scale_of)(2.0, d)


def reraises(x):
    try:
        return math.log(x)
    except ValueError as e:
        if x < -2.0:
            raise
        raise Refused("no logarithm") from e


def test_exceptions_are_raised_again():
    gradient = s2sad.grad(reraises)
    assert gradient(2.0) == 0.5
    with pytest.raises(ValueError, match="math domain error"):
        gradient(-3.0)
    with pytest.raises(Refused, match="no logarithm") as caught:
        gradient(-1.0)
    assert isinstance(caught.value.__cause__, ValueError)


def test_finally_is_done_where_an_exception_leaves():
    calls = []

    def counted(x, calls):
        try:
            return math.log(x) * x
        finally:
            calls.append("done")

    gradient = s2sad.grad(counted)
    assert gradient(1.0, calls) == 1.0 and calls == ["done"]
    with pytest.raises(ValueError, match="math domain error"):
        gradient(-1.0, calls)
    assert calls == ["done"] * 2


def test_emitted_without_s2sad(tmp_path):
    path = s2sad.grad(calls_what_raises).emit(tmp_path / "emitted.py", np.array([0.7, -1.0]))
    text = path.read_text()
    assert "except Refused:" in text and "import s2sad" not in text


def test_an_array_written_in_the_last_place():
    xs = np.array([0.7, -1.5, 0.3])
    x_bar = np.zeros(3)
    value, _ = s2sad.autodiff(s2sad.Reverse, writes_last, s2sad.Duplicated(xs, x_bar))
    assert value == writes_last(xs)
    assert x_bar == pytest.approx(s2sad.grad(writes_last)(xs))


def binds_by_walrus(x):
    try:
        y = (once := math.log(x)) + once * x
        z = y * once
    except ValueError:
        z = x * x
    return z * x


@pytest.mark.parametrize("x", [0.7, -1.3])
def test_a_walrus_inside(x):
    agrees(binds_by_walrus, x)


def deletes(xs):
    for i in range(2):
        y = xs[i] * xs[2]
        if i == 0:
            z = y * y
            del y
    return z * y


def test_a_name_that_is_gone():
    agrees(deletes, np.array([1.5, 2.0, 3.0]))


def retried(K, y):
    L = None
    jitter = 1e-6
    while True:
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(len(K)))
            break
        except np.linalg.LinAlgError:
            jitter *= 10.0
    u = np.linalg.solve(L, y)
    return u @ u + np.sum(np.log(np.diag(L)))


def test_while_true_is_left_by_its_breaks_alone():
    """What is None before it is an array behind it."""
    K = np.array([[2.0, 0.3], [0.3, 0.4]])
    agrees(retried, K, np.array([0.3, -0.7]))
    s2sad.grad(retried)(np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones(2))


def logged(x):
    """A list is appended to before something may raise; the handler takes that back."""
    found, y = [], x
    for k in range(3):
        height = len(found)
        try:
            found.append(y * y)
            y = math.log(y + k)
        except ValueError:
            del found[height:]
            y = y * y + 0.5
    return y + sum(found)


@pytest.mark.parametrize("x", [0.3, 2.5])
def test_appends_in_a_try_go_forward(x):
    slope = (logged(x + 1e-6) - logged(x - 1e-6)) / 2e-6
    assert s2sad.jvp(logged, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


def tries(x):
    try:
        unused = x * 2.0  # noqa: F841
    finally:
        pass
    try:
        print("trying")
    except (ValueError, TypeError):
        print("failing")
    return x * x


def test_a_try_statement_in_which_nothing_is_left_goes():
    text = s2sad.grad(tries).source(2.0)
    assert text.count("try:") == 1 and "else:" not in text and "finally:" not in text
    assert s2sad.grad(tries)(2.0) == 4.0
