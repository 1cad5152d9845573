"""Reverse mode from program to program: which way control went, and how often.

Each program is derived by name and by identity, and held beside central differences.
"""

import contextlib
import math

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.errors import UnsupportedError
from s2sad.ir import program as P
from s2sad.ir.from_tree import program_of
from s2sad.ir.left_last import leaves_loop, left_last
from s2sad.ir.printed import flat
from s2sad.ir.verify import verify
from s2sad.linear.programs_seen import active_in, seen
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request
from s2sad.steps.derivation import Derivation, analyse, memory_of
from s2sad.write.printer import function

X = np.array([0.3, 0.7, 1.1, -0.4])


def halved_until_small(x):
    s = np.sum(x * x)
    while s > 0.1:
        s = 0.5 * s * np.cos(x[0])
    return s


def array_of_the_last_round(x):
    for i in range(3):
        u = np.sin(x) * (i + 1.0)
        u[0] = x[1] * i
    return np.sum(u * x)


def arrays_of_two_lengths(x):
    s = 0.0
    for i in range(3):
        u = x[: i + 1] * s
        s = s + np.sum(x * x)
    return s * np.sum(u)


def array_of_a_while(x):
    i = 0
    while i < 2:
        i += 1
        u = np.exp(x) * i
    return np.sum(u)


def number_bound_in_some_rounds(x):
    s = 0.0
    for i in range(3):
        if i == 1:
            y = x[0] * x[1]
        if i >= 1:
            s = s + y * y * x[2]
    return s


def array_bound_in_some_rounds(x):
    s = 1.0
    for i in range(4):
        if i % 2 == 1:
            y = x * (x + i)
        for k in range(2):
            if i >= 1 and k == 1:
                s = s + np.sum(y * y * x[2]) * s
                w = y * s
    return s + np.sum(w * y)


def pair_bound_in_one_arm(x):
    if x[0] > 0.1:
        pair = x * x, x[0]
    if x[0] > 0.2:
        return np.sum(pair[0]) * pair[1]
    return x[1]


def as_often_as_counted(x):
    s, n = x[0], 0
    while n < 3:
        s = s + x[1]
        n += 1
    return s * s


def left_in_an_inner_branch(x):
    s = 1.0
    for i in range(4):
        if i > 0:
            if s > 1.2:
                s = s * x[3]
                break
            s = s + x[1] * x[i]
        else:
            s = s * x[0]
        s = s + x[2]
    else:
        s = s * x[0]
    return s * s


def left_with_another_value(x):
    best = x[0]
    for i in range(4):
        y = x[i] * x[1]
        if y > 0.4:
            best = y * x[2]
            break
        best = best + y
    return best


def passed_over(x):
    s = x[0]
    for i in range(4):
        if i == 1:
            continue
        s = s * (1.0 + x[i])
        if i == 2:
            continue
        s = s + x[3]
    return s


def returned_from_two_loops(x):
    s = 1.0
    for i in range(3):
        for j in range(4):
            s = s * (1.0 + x[j] ** 2)
            if s > 2.5:
                return s * x[i]
        s = s + x[i]
    return s


def while_over_memory(x):
    u = x * 2.0
    k = 0
    while u[0] < 4.0:
        u[1:] += u[:-1] * x[0]
        if k == 2:
            u[k] *= x[1]
            break
        u[0] *= 2.0
        k += 1
    else:
        u[3] = x[2]
    return np.sum(u * u) * k


def loops_in_loops_that_are_left(x):
    s = 0.0
    for i in range(3):
        t = x[i]
        k = 0
        while True:
            for y in x:
                t = np.sin(t + y)
                if t < -0.2:
                    break
            k += 1
            if k > i:
                break
        s = s + t * x[3]
    return s


def left_at_once(x):
    s = x[0]
    for i in range(3):
        s = s * x[1]
        if x[2] > 5.0:
            raise ValueError("large")
        break
    return s * s


def sorts_by_case(x):
    s = x[0]
    for i in range(4):
        match i:
            case 0:
                s = s * x[1]
            case 1 if s > 10.0:
                s = 0.0
            case 2:
                s = np.exp(s)
                t = s * x[2]
                s = t + s
            case _:
                s = s + x[3]
                if s > 3.0:
                    break
    return s


def inside_a_manager(x):
    s = x[0]
    with np.errstate(all="ignore"):
        t = np.exp(s * x[1])
        for i in range(3):
            with np.errstate(all="ignore"):
                s = s * t
                if s > 1.0:
                    break
    return s * t


def raised_in_an_arm(x):
    s = x[0] * x[1]
    if s > 100.0:
        raise ValueError("large")
    else:
        t = np.exp(s)
        s = s * t
    return s * t


def view_read_in_an_arm(x):
    u = x * 1.0
    u[0] = x[1]
    v = u[1:]
    s = 0.0
    if x[2] > 0.0:
        s = np.sum(v * v)
    return s


def tried_in_a_loop(x):
    s, missing = 0.0, 0
    for i in range(4):
        try:
            y = math.log(x[i])
            t = y * x[0]
        except ValueError:
            missing += 1
            s = s * x[i]
            continue
        else:
            t = t * x[1]
        s = s + t
    return s * (1.0 + missing)


def tried_again_until_it_works(x):
    shift = -0.5
    for _ in range(6):
        try:
            y = np.sqrt(x) * math.log(shift + x[0] ** 2)
            break
        except ValueError:
            shift = 2.0 * shift + 1.5 + x[1] ** 2
    return np.sum(y[:2] * x[:2])


def written_in_the_end(x):
    u = x * 2.0
    try:
        s = np.sum(u * u) * math.log(x[0])
    except ValueError:
        s = np.sum(u) * x[1]
    finally:
        u[0] = x[1]
    return s * np.sum(u * x)


def written_at_the_end_of_a_try(x):
    u = x * 2.0
    s = x[0]
    for i in range(4):
        try:
            u[i] = s * math.log(x[i])
        except ValueError:
            u[i] *= s
        s = s + u[0]
    return np.sum(u * u) * s


def scaled_at_the_end_of_a_try(x):
    u = x * 2.0
    for i in range(4):
        try:
            u[i] *= math.log(x[i])
        except ValueError:
            u[i] *= x[0]
    return np.sum(u * u)


def raised_again(x):
    u = x * 1.0
    try:
        u[0] = u[1] * x[2]
        s = 1.0 / (u[0] - 100.0)
    except ZeroDivisionError as error:
        raise ValueError("no value") from error
    return s * u[0]


def tried_within_a_try(x):
    s = x[3]
    try:
        try:
            s = math.log(x[0]) * s
        except ValueError:
            t = 1.0 / x[1]
            s = t * math.sqrt(x[3])
    except ValueError:
        s = s * x[2]
    return s * s


def numbers_that_inner_functions_read(x):
    k = x[0]
    total = 0.0

    def scaled(v):
        return k * v

    for i in range(3):
        if x[i] > 0.0:
            k = k * x[1] + scaled(x[i])
        total = total + scaled(x[2])
    return total * k


def arrays_that_inner_functions_read(x):
    w = x * 2.0

    def product(v):
        return np.sum(w * v)

    total = product(x)
    for i in range(2):
        if x[i] > 0.5:
            w = np.sin(w) * x[1]
        total = total * product(w)
    return total


def left_with_a_constant(x):
    u = np.zeros(4)
    s = x[0] * 2.0
    for i in range(4):
        u[i] = s * x[1]
        s = 0.5
        if i == 2:
            break
    return np.sum(u) * x[2] * s


def forgotten(x):
    y = x * x
    s = np.sum(y)
    del y
    y = s * x
    return np.sum(y * x)


def popped_until_it_is_empty(x):
    ys = [v * x for v in x]
    total = 0.0
    while ys:
        total = total + np.sum(ys.pop() * x)
    return total


def popped_by_number(x):
    ys = [v * x for v in x]
    total = 0.0
    for i in range(3):
        total += np.sum(ys.pop() * x) * x[i]
    return total


def pairs_on_a_stack(x):
    stack = [(x[0], x[1])]
    total = 0.0
    while stack:
        left, right = stack.pop()
        if left < 1.05:
            stack.append((left + 0.5, x[2] * left))
        total = total + left
    return total


def wave(u, k):
    return u + k * np.sin(u)


def filled(v, x):
    v[1] = x[0]


def called_behind_a_write_of_its_own(x):
    u = np.zeros(4)
    for i in range(3):
        try:
            v = x * i
            v[0] = x[1]
            u = wave(v, 0.1) * math.log(x[i])
        except ValueError:
            u = u + x
    return np.sum(u * u)


def filled_by_a_call_in_a_try(x):
    try:
        v = x * 2.0
        filled(v, x)
        y = math.log(v[1])
    except ValueError:
        y = x[0] * x[1]
    return y


def item_of_the_last_round(x):
    for i in range(3):
        v = x * x[i]
    return v[0] * v[1]


def searched_along_a_line(x):
    w = x * 1.0
    for _ in range(2):
        g = 4.0 * w**3 - 1.0
        step, before = 1.0, np.sum(w**4) - np.sum(w)
        while True:
            trial = w - step * g
            if np.sum(trial**4) - np.sum(trial) < before or step < 1e-6:
                break
            step *= 0.5
        w = trial
    return np.sum(w**2)


def left_with_what_a_round_binds(x):
    step = 1.0
    for _ in range(9):
        trial = x - step * x**3
        if np.sum(trial) < 1.4:
            found = trial * step
            break
        found = trial * x
        step = step * 0.5
    return np.sum(trial**2) + np.sum(found)


def left_in_an_arm_of_an_arm(x):
    total, k = x * 1.0, 0
    while k < 6:
        part = np.sin(total) * x
        if part[0] > 0.1:
            if k > 2:
                part = part * 2.0
                break
            part = part + x
        total = total + part * 0.3
        k += 1
    return np.sum(total * part)


def list_asked_and_filled_later(x):
    queue, y = [], x * 1.0
    y = y * 3.0 if queue else y * y
    if y[0] > 0.1:
        queue.append(y * 2.0)
    if queue:
        y = y + queue.pop()
    t = 0.5 if queue and y[1] > 0.0 else 2.0
    queue.append(y * t)
    return np.sum(queue[0] * x)


def dict_asked_and_cleared_later(x):
    table, y = {}, x * 1.0
    for k in range(3):
        y = y * 0.5 if table else np.sin(y)
        table[k] = y[0]
        if k == 1:
            table.clear()
    return np.sum(y) + (table[2] if table else 0.0)


def array_asked_and_written_later(x):
    flag, y = np.zeros(()), x * 1.0
    for _ in range(2):
        y = y * 3.0 if flag else y * y
        flag[...] = 1.0
    return np.sum(y)


PROGRAMS = [
    list_asked_and_filled_later,
    dict_asked_and_cleared_later,
    array_asked_and_written_later,
    searched_along_a_line,
    left_with_what_a_round_binds,
    left_in_an_arm_of_an_arm,
    called_behind_a_write_of_its_own,
    filled_by_a_call_in_a_try,
    item_of_the_last_round,
    array_of_the_last_round,
    arrays_of_two_lengths,
    array_of_a_while,
    pairs_on_a_stack,
    popped_until_it_is_empty,
    popped_by_number,
    view_read_in_an_arm,
    tried_in_a_loop,
    written_in_the_end,
    written_at_the_end_of_a_try,
    scaled_at_the_end_of_a_try,
    raised_again,
    tried_within_a_try,
    numbers_that_inner_functions_read,
    arrays_that_inner_functions_read,
    forgotten,
    left_with_a_constant,
    halved_until_small,
    as_often_as_counted,
    left_in_an_inner_branch,
    left_with_another_value,
    passed_over,
    returned_from_two_loops,
    while_over_memory,
    loops_in_loops_that_are_left,
    left_at_once,
    sorts_by_case,
    inside_a_manager,
    raised_in_an_arm,
]


def derived(f, *args):
    """Return the function of value and gradient by the first argument, and its text."""
    names = f.__code__.co_varnames
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=False))
    request = Request(f, params, (names[0],), True, "value_and_grad")
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    return loaded(text, d)[d.entry], text.text


def slopes(f, x, step=1e-6):
    return [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("f", PROGRAMS)
def test_beside_central_differences(f):
    both, _ = derived(f, X)
    for x in (X, np.array([1.2, -0.6, 0.4, 0.9]), np.array([-0.5, 0.2, 2.1, 0.3])):
        value, gradient = both(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(gradient, slopes(f, x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_leaves_a_loop_stands_last(f):
    d = Derivation()
    a = analyse(d, f, {"x": K.kind_of(X, "x")})
    program = program_of(a.function, a.kinds, memory_of(d, a).changes)
    made = verify(left_last(program))
    for operation in P.every(made.block):
        if isinstance(operation, P.For | P.While):
            assert not any(map(leaves_loop, operation.body.ops[:-1]))
        elif not isinstance(operation, P.Op):
            ends = [b for b in P.blocks(operation) if any(map(leaves_loop, b.ops[:-1]))]
            assert not ends
    space = {"np": np, "math": math, "wave": wave, "filled": filled}
    exec(function(flat(made)), space)
    assert space[f.__name__](X) == f(X)


def left_behind_a_write(x):
    u = x * 1.0
    try:
        u[0] = x[1] * x[2]
        s = math.log(x[3])
    except ValueError:
        s = x[0]
    return np.sum(u * u) * s


def left_behind_a_write_of_a_called_function(x):
    def both(u):
        u[0] = x[1]
        u[1] = math.log(x[3])

    u = x * 1.0
    try:
        both(u)
    except ValueError:
        u[2] = x[0]
    return np.sum(u * u)


def swallowed(x):
    u = x * 1.0
    with contextlib.suppress(ValueError):
        u[0] = x[1] * math.log(x[3])
        u[1] = u[0]
    return np.sum(u * u)


def bound_and_left(x):
    s = x[0]
    try:
        s = s * x[1]
        s = s * math.log(x[3])
    except ValueError:
        s = s * x[2]
    return s


@pytest.mark.parametrize(
    "f", [bound_and_left, left_behind_a_write, left_behind_a_write_of_a_called_function, swallowed]
)
def test_what_may_be_half_done_is_refused(f):
    with pytest.raises(UnsupportedError, match=r"(leave|left|leaves) .*(this|the|its) ") as refused:
        derived(f, X)
    assert "cannot tell" in refused.value.reason
    assert refused.value.place is not None
    assert refused.value.remedy


def tuple_bound_before(x):
    t = (x[0], x[1])
    try:
        t = (x[1] * x[0], x[2])
        y = math.log(x[3])
    except ValueError:
        y = 0.0
    return t[0] * t[1] + y


def test_a_tuple_that_a_try_binds_is_refused():
    with pytest.raises(UnsupportedError, match="in which order `t` is bound") as refused:
        derived(tuple_bound_before, X)
    assert "t = (" in refused.value.place.text


@pytest.mark.usefixtures("way")
def test_where_nothing_is_raised_but_at_last():
    x = np.array([0.3, 0.7, 1.1, 0.4])
    both, _ = derived(tried_again_until_it_works, x)
    value, gradient = both(x)
    assert value == tried_again_until_it_works(x)
    np.testing.assert_allclose(gradient, slopes(tried_again_until_it_works, x), rtol=1e-6)


def test_rounds_are_counted_where_nothing_else_is_kept():
    _, text = derived(as_often_as_counted, X)
    assert "rounds += 1" in text
    assert "for _ in range(rounds)" in text
    assert "append" not in text


def doubled(bar):
    return 2.0 * bar


def nothing_but_a_hook_in_an_arm(x):
    s = np.sum(x * x)
    if s > 0.0:
        s = s2sad.adjoint_hook(s, doubled)
    return 3.0 * s


def hook_reads_what_changes(x):
    k, total = 2.0, 0.0
    while k < 20.0:
        y = s2sad.adjoint_hook(k * x, lambda bar: k * bar)
        total = total + np.sum(y * y)
        k = k * 2.0
    return total


def hook_of_one_of_two_names(x):
    y = s2sad.adjoint_hook(x, doubled)
    return np.sum(x * x * y)


def hook_with_a_default(x):
    total = 0.0
    for i in range(3):
        k = float(i)

        def scaled(bar, k=k):
            return k * bar

        total = total + np.sum(s2sad.adjoint_hook(x * x, scaled))
    return total


def hook_of_memory_with_two_names(x):
    u = x * 1.0
    u[0] = x[1]
    v = s2sad.adjoint_hook(u, doubled)
    return np.sum(u * v)


def hook_of_numbers_in_a_list(x):
    numbers = [x[0], x[1]]
    for _ in range(2):
        numbers = s2sad.adjoint_hook(numbers, lambda bars: [2.0 * bar for bar in bars])
        numbers.append(numbers[0] * numbers[1])
    return numbers[-1] * numbers[-2]


def hook_of_a_dict_that_is_filled(x):
    d = {"a": x * x, "b": np.sum(x)}
    d = s2sad.adjoint_hook(d, lambda bars: {k: 2.0 * bar for k, bar in bars.items()})
    d["a"] = d["a"] * 3.0
    return np.sum(d["a"]) * d["b"]


def hooks_of_parts_that_are_apart(x):
    z = x * x
    z[0] = x[1]
    head = s2sad.adjoint_hook(z[:1], doubled)
    tail = s2sad.adjoint_hook(z[2:4], doubled)
    return head[0] + np.sum(tail * x[0])


def hook_of_a_part_of_a_part(x):
    p = {"inner": {"w": x * x, "b": x[0]}, "c": x[1]}
    inner = p["inner"]
    inner = s2sad.adjoint_hook(inner, lambda bars: {k: 2.0 * bar for k, bar in bars.items()})
    return np.sum(inner["w"]) * inner["b"] * p["c"]


HOOKED = {
    hooks_of_parts_that_are_apart: np.array(
        [np.sum(X[2:] ** 2), 2.0, 4.0 * X[0] * X[2], 4.0 * X[0] * X[3]]
    ),
    hook_of_a_part_of_a_part: np.sum(X * X) * X[0] * np.array([0.0, 1.0, 0.0, 0.0])
    + 4.0 * X * X[0] * X[1]
    + 2.0 * np.sum(X * X) * X[1] * np.array([1.0, 0.0, 0.0, 0.0]),
    hook_of_numbers_in_a_list: 8.0 * X[0] * X[1] * np.array([X[1], X[0], 0.0, 0.0]),
    hook_of_a_dict_that_is_filled: 12.0 * X * np.sum(X) + 6.0 * np.sum(X * X),
    nothing_but_a_hook_in_an_arm: 12.0 * X,
    hook_reads_what_changes: sum(2.0 * k**3 for k in (2.0, 4.0, 8.0, 16.0)) * X,
    hook_of_one_of_two_names: 4.0 * X * X,
    hook_with_a_default: 6.0 * X,
}


NOT_AGAIN = {
    hook_of_numbers_in_a_list: "does not know the type of what this hook returns",
}


@pytest.mark.parametrize("f", HOOKED)
def test_hooks_get_cotangents_and_replace_them(f):
    both, _ = derived(f, X)
    value, gradient = both(X)
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(gradient, HOOKED[f], rtol=1e-12)


def hooks_of_the_first_and_the_last(x):
    z = x[:1] * x[:1]
    z[0] = x[1]
    first = s2sad.adjoint_hook(z[0:1], doubled)
    last = z[-1:]
    return first[0] * last[0]


def test_parts_that_may_be_one_are_not_apart():
    with pytest.raises(UnsupportedError, match="has another name"):
        derived(hooks_of_the_first_and_the_last, X)


@pytest.mark.parametrize("f", [f for f in HOOKED if f is not hook_with_a_default])
def test_hooks_are_differentiated_with_the_text(f):
    """What a hook gives is a part of the gradient: the gradient is derived again."""
    along, h = np.array([0.3, -0.7, 0.2, 1.1]), 1e-6
    slope = s2sad.grad(f)
    want = (slope(X + h * along) - slope(X - h * along)) / (2 * h)
    if f in NOT_AGAIN:
        with pytest.raises(UnsupportedError, match=NOT_AGAIN[f]):
            s2sad.hvp(f, (X,), (along,))
        return
    got = s2sad.hvp(f, (X,), (along,))
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_memory_with_two_names_has_one_cotangent_and_no_hook():
    with pytest.raises(UnsupportedError, match="has another name"):
        derived(hook_of_memory_with_two_names, X)


def root_of_a_mask(x):
    return np.sum([math.sqrt(min(max(v, 0.0), 3.0)) for v in x]) + 1.0 / max(x[0], x[3])


def test_what_a_mask_keeps_out_is_not_computed():
    assert s2sad.grad(root_of_a_mask)(X) == pytest.approx(slopes_of(root_of_a_mask, X))
    assert s2sad.grad(lambda x: 1.0 / max(x, 0.0) if x > 0.0 else math.log(2.0))(-1.0) == 0.0


def slopes_of(f, x):
    return [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(len(x))]


def test_what_the_function_computes_raises_as_it_did():
    def f(x, y):
        t = 1.0 / y
        u = t if x > 2.0 else 0.0
        return x * x + u

    with pytest.raises(ZeroDivisionError):
        s2sad.value_and_grad(f)(1.0, 0.0)
    with pytest.raises(ZeroDivisionError):
        s2sad.grad(f, wrt=("x", "y"))(1.0, 0.0)


def called_by_whom(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v * v

    for step in [add]:
        step(x)
    return s


def test_what_a_function_binds_that_is_handed_on_may_depend_on_anything():
    d = Derivation()
    found = seen(d, analyse(d, called_by_whom, {"x": K.FLOAT}))
    assert {v.name for v in active_in(d, found, frozenset({"x"})) if v.cell} == {"s"}
