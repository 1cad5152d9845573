"""Reverse mode on the program: which structures have cotangents that names tell apart.

What is in BY_NAME needs no shadows by identity; what is in BY_IDENTITY is like it, and does.
"""

import dataclasses

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

X = np.array([0.3, 0.7, 1.1])


def one_structure_in_each_round(x):
    row, rows = [x[0], x[1] * x[2]], []
    for _ in range(3):
        rows.append(row)
    return rows[0][1] * rows[2][1] * row[0]


# --- slices of lists of structures ---------------------------------------------------------------


def slices_of_layers(x):
    layers = [{"W": x * 2.0, "b": x[0]}, {"W": x * x, "b": x[1]}, {"W": x + 1.0, "b": x[2]}]
    h = x
    for layer in layers[:-1]:
        h = np.tanh(h * layer["W"] + layer["b"])
    for layer in layers[1:]:
        for other in layers[::-1][:2]:
            h = h * layer["W"] + other["b"]
    return np.sum(h) * layers[-1]["b"]


def slices_on_one_path(x):
    rows = [[x[0], x[1]], [x[1] * 2.0, x[2]], [x[2] * x[0], x[0]]]
    s = 0.0
    for k in range(3):
        if x[k] > 0.5:
            tail = rows[k - 1 :]
            s = s + tail[0][0] * tail[-1][1]
        s = s * rows[k][0]
    return s + rows[1:][0][1]


def slice_that_grows(x):
    rows = [[x[0], x[1]], [x[1] * 2.0, x[2]]]
    tail = rows[1:]
    tail.append([x[0] * x[1], x[1]])
    return tail[1][0] * tail[0][1] * rows[0][0]


def slice_of_rows_that_are_replaced(x):
    rows = [[x[0], x[1]], [x[1] * 2.0, x[2]]]
    tail = rows[1:]
    rows[1] = [x[2] * 3.0, x[0]]
    return tail[0][0] * tail[0][1] * rows[1][0]


# --- slices of lists of arrays -------------------------------------------------------------------


def taken_out_and_read_before(x):
    z = np.sin(x)
    xs = [x * 1.0, x * 2.0]
    a = xs[1]
    v = xs.pop()
    y = v + z
    return np.sum(y * y * y) + np.sum(a * x)


def overlapping_slices(x):
    xs = [x * 1.0, x * 2.0, x * x]
    y = xs[1] + np.sin(x)
    for t in xs[1:]:
        y = y * t
    for t, u in zip(xs[:-1], xs[1:]):
        y = y + t * u
    return np.sum(y * y)


def slices_of_lists_that_are_made_anew(x):
    xs = [x * 1.0, x * 2.0, x * x]
    s = 0.0
    for k in range(3):
        for t in xs[k:]:
            s = s + np.sum(t * x[k])
        xs = [a * b for a, b in zip(xs, xs[::-1])]
    return s * np.sum(xs[0])


def triangle_of_slices(x):
    points = [x, x * x, np.sin(x), x * 3.0]
    while len(points) > 1:
        points = [0.4 * p + q * x[0] for p, q in zip(points[:-1], points[1:])]
    return np.sum(points[0] ** 2)


def slice_in_no_round(x):
    xs, s = [x * 2.0], 0.0
    for t in xs[1:]:
        s = s + np.sum(t)
    return s + np.sum(xs[0] * x)


def slice_of_a_list_that_grows_later(x):
    xs = [x * 1.0, x * 2.0, x * x]
    s = 0.0
    for k in range(3):
        tail = xs[1:]
        xs.append(x * k)
        for t in tail:
            s = s + np.sum(t * x[k])
    return s * np.sum(xs[0])


def last_two_of_each_round(x):
    xs, s = [], 0.0
    for k in range(4):
        ys = []
        for t in xs[-2:]:
            s = s + np.sum(t * t)
            ys.append(t * x)
        ys.append(x * k)
        for y in ys[1:]:
            s = s * 0.5 + np.sum(y)
        xs = ys
    return s


def slice_that_is_handed_on(x):
    xs = [x * 1.0, x * 2.0]
    tail, s = xs[1:], 0.0
    for k in range(3):
        for t in tail:
            s = s + np.sum(t * t) * x[k]
        ys = [x * s]
        for t in tail:
            ys.append(t * x)
        tail = ys[:-1]
    return s


# --- structures in tuples ------------------------------------------------------------------------


def grown(x, s):
    numbers = []
    for k in range(3):
        s = s * x[k] + 1.0
        numbers.append(s)
    return s, numbers


def returned_in_a_tuple(x):
    s, numbers = grown(x, x[0])
    last, others = grown(x * 2.0, s)
    return s * numbers[1] + sum(others) * last


def returned_beside_tables(x):
    def tables(y):
        return {"w": y * x, "s": [y[0], y[2] * x[0]]}, np.sum(y)

    table, total = tables(x * x)
    for k in range(2):
        other, s = tables(table["w"])
        total = total + s * other["s"][k]
    return total * table["s"][0]


def in_a_tuple_that_is_taken_apart(x):
    pair = ([x[0], x[1] * x[2]], x[2])
    numbers, s = pair
    return numbers[0] * numbers[1] * s


def in_a_tuple_and_changed(x):
    numbers = [x[0], x[1] * x[2]]
    pair = (numbers, x[2])
    others, s = pair
    numbers[0] = x[1] * s
    return others[0] * numbers[1] * s


def taken_apart_twice(x):
    pair = grown(x, x[1])
    s, numbers = pair
    _, others = pair
    numbers[1] = others[0] * x[1]
    return others[1] * s


def returned_twice(x):
    def both(y):
        numbers = [y[0], y[1] * y[2]]
        return numbers, numbers

    numbers, others = both(x)
    numbers[0] = others[1] * x[0]
    return others[0] * others[1]


# --- lists whose items come from others ----------------------------------------------------------


def slices_of_numbers(x):
    numbers = list(x * x)
    others = [2.0] + numbers[:2]
    both = list((x[2], x[0] * x[1])) + others
    s = 0.0
    for k in range(2):
        if x[k] > 0.5:
            tail = both[k:]
            tail.append(x[0])
            s = s + tail[-1] * tail[0]
        both[k] = s
    numbers.pop()
    numbers[1] = s * x[2]
    return s * both[0] + both[1] * both[3] + sum(numbers) * others[2]


def lists_of_arrays_joined(x):
    rows = [x * 2.0, x * x[0]]
    both = rows + [x]
    last = both[::-1][:2]
    return np.sum(last[0] * both[1]) * np.sum(last[1] ** 2) + np.sum(rows[0])


def lists_of_arrays_that_are_written(x):
    rows = [x * 2.0, x * x[0]]
    both = rows + [x]
    both[0][1] = x[2]
    return np.sum(rows[0] * both[1])


# --- memory that is written before it is shown ---------------------------------------------------


def diagonal_of_what_was_written(x):
    A, s = np.outer(x, x), 0.0
    A[0] *= x
    for k in range(3):
        d = np.diag(A)
        s = s + np.sum(d * x)
        A[k, k] = s * x[k]
    return s + np.sum(A)


def diagonal_that_changes(x):
    A, s = np.outer(x, x), 0.0
    d = np.diag(A)
    for k in range(3):
        s = s + np.sum(d * x)
        A[k, k] = s * x[k]
    return s + np.sum(A)


def diagonal_in_a_list(x):
    A = np.outer(x, x)
    A[0] *= x
    kept = [np.diag(A)]
    A[1, 1] = 5.0 * x[0]
    return np.sum(kept[0] ** 2)


def tail(u):
    return u[1:]


def view_from_a_call(x):
    u = x * 2.0
    u[0] = u[1]
    return np.sum(tail(u) * u[:-1])


def view_from_a_call_that_changes(x):
    u = x * 2.0
    u[0] = u[1]
    v = tail(u)
    u[1] = x[0] ** 2
    return np.sum(v * u[:-1])


def chosen_by_a_branch(x):
    u, v = x * 2.0, x * x
    u[0] = v[1]
    w = u if x[0] > 0.1 else v
    return np.sum(w * u) * v[0]


def chosen_and_changed(x):
    u, v = x * 2.0, x * x
    u[0] = v[1]
    w = u if x[0] > 0.1 else v
    u[2] = x[1] * w[2]
    return np.sum(w * u) * v[0]


def twice_in_a_tuple(x):
    u = x * 2.0
    u[0] = x[1]
    pair = (u, u)
    a, b = pair
    return np.sum(a * b * u)


def twice_in_a_tuple_and_changed(x):
    u = x * 2.0
    u[0] = x[1]
    pair = (u, u)
    a, b = pair
    a[1] = x[2] * b[1]
    return np.sum(a * b * u)


def rows_of_what_was_written(x):
    A = np.outer(x, x)
    A[2] = x
    first, second, third = A
    return np.sum(first * second) * np.sum(third * A[0])


def rows_that_change(x):
    A = np.outer(x, x)
    A[2] = x
    first, second, third = A
    A[0, 0] = x[2] ** 2
    return np.sum(first * second) * np.sum(third * A[0])


def carried_until_it_is_written(x):
    u, q = x * 1.0, x * x
    for k in range(3):
        s = np.sum(u)
        q[k] = s * x[0]
        u = q
    return np.sum(u**2)


def kept_while_it_is_written(x):
    u, kept = x * 1.0, []
    for k in range(3):
        u[k] = x[0] * u[k - 1]
        kept.append(u)
    return sum(np.sum(y**2) for y in kept)


def kept_when_it_has_been_written(x):
    kept, s = [], 1.0
    for k in range(3):
        u = x * s
        u[k] = x[0] * u[k - 1]
        kept.append(u)
        s = s + np.sum(u * u)
    return sum(np.sum(y**2) for y in kept)


def views_kept_while_it_is_written(x):
    A, kept = np.outer(x, x), []
    for k in range(3):
        A[k, k] = x[k] * A[0, k]
        d = np.diag(A)
        kept.append(d)
    return sum(np.sum(d**2) for d in kept)


def view_carried_while_it_is_written(x):
    A, d, s = np.outer(x, x), x, 0.0
    for k in range(3):
        A[k, k] = x[k] * np.sum(d)
        s = s + np.sum(d**2)
        d = np.diag(A)
    return s


def written_last_by_another_name(x):
    A = np.outer(x, x)
    rows = np.reshape(A, -1)
    rows[1:3] = x[0] * x[1]
    return np.sum(A**2)


def captured_and_changed(x):
    u = x * 1.0
    u[0] = x[1]
    R = np.reshape(u, (1, 3))

    def total():
        return np.sum(R)

    u[1] = x[2] ** 2
    return total()


# --- dicts that are filled -----------------------------------------------------------------------


def step_of_a_dict(x):
    p = {"a": x * 2.0, "b": x * x[0]}
    slopes = {k: 2.0 * v * x for k, v in p.items()}
    q = {k: v - 0.1 * slopes[k] for k, v in p.items()}
    return np.sum(q["a"] * q["b"]) + np.sum(q["b"] ** 2)


def filled_by_index(x):
    table = {}
    for k in range(3):
        table[k] = x * x[k]
    return np.sum(table[0] * table[2]) + np.sum(table[1])


def filled_under_equal_keys(x):
    table = {}
    for k in [0, 1, 0]:
        table[k] = x * x[k]
    return np.sum(table[0] * table[1])


def filled_and_put_again(x):
    table = {}
    for k in range(3):
        table[k] = x * x[k]
    table[0] = table[1] * x
    return np.sum(table[0] * table[1])


def filled_in_two_rounds(x):
    table = {}
    for i in range(2):
        for k in range(2):
            table[k] = x * x[k + i]
    return np.sum(table[0] * table[1])


def filled_with_what_is_written(x):
    table, u = {}, x * 2.0
    for k in range(3):
        u[k] = x[k] * u[k - 1]
        table[k] = u
    return np.sum(table[0] * table[2])


# --- lists that a loop hands from round to round -------------------------------------------------


def new_list_in_each_round(x):
    first = [x[0], x[1] * x[2]]
    best = first
    for k in range(3):
        new = []
        for j in range(len(best)):
            new.append(best[j] * best[j - 1] + x[k])
        new[0] += first[1] * x[k]
        new.append(best[0] * x[2])
        best = new
    return best[0] * best[1] * first[0] + best[4]


def two_names_for_one_list(x):
    best, before, s = [x[0], x[1]], [x[2], x[0] * x[1]], 0.0
    for k in range(3):
        if x[k] > 0.5:
            new = [best[0] * x[k], before[1] * best[1]]
            before = best
            best = new
            s = s + before[0] * best[1]
        else:
            before = best
            best = before
    return s + before[1] * best[0]


def one_list_goes_on_twice(x):
    a = [x[0], x[1]]
    b = a
    for k in range(3):
        new = [a[0] * b[1], b[0] + x[k]]
        a = new
        b = new
    return a[0] * b[1]


def lists_in_loops_in_loops(x):
    best = [x[0], x[1]]
    for i in range(2):
        for k in range(int(x[2] > 5.0), 2):
            best = [best[0] * x[k], best[1] + x[i] * best[0]]
        for _ in range(int(x[2] > 5.0)):
            best = [best[1], best[0]]
        s = best[0] * x[2]
        best = [s, best[1] * s]
    return best[0] * best[1]


def list_that_changes_under_its_name(x):
    best = [x[0], x[1]]
    for k in range(3):
        new = [best[0] * x[k], best[1]]
        best[0] = best[1] * x[2]
        best = new
    return best[0] * best[1]


def list_that_changes_under_an_old_name(x):
    best = [x[0], x[1]]
    old = best
    for k in range(3):
        s = old[0] * x[k]
        old.append(s)
        best = [best[0] * x[k], best[1] + s]
    return best[0] * best[1] + old[2]


def list_that_grew_before_it_was_handed_on(x):
    best, mine = [x[0], x[1]], [x[2]]
    for k in range(3):
        mine.append(best[0] * x[k])
        best = mine
        mine = [x[k]]
    return best[0] * best[1]


def list_that_changes_where_it_is_kept(x):
    best, kept = [x[0], x[1]], []
    for k in range(3):
        best = [best[0] * x[k], best[1] + x[k]]
        kept.append(best)
        kept[0][0] = x[2] * best[1]
    return best[0] * kept[1][1] * kept[0][0]


# --- structures that are values: regions and tuples hand them over -------------------------------


@dataclasses.dataclass(frozen=True)
class State:
    p: object
    q: object


@dataclasses.dataclass
class Cell:
    p: object
    q: object


def objects_made_in_each_round(x):
    s = State(x * x[0], x[1])
    for k in range(3):
        d = State(s.p * s.q, np.sum(s.p) * 0.1)
        s = State(s.p + 0.1 * d.p * x[k], s.q - d.q * s.q)
    return np.sum(s.p * x) * s.q


def object_changed_by_its_other_name(x):
    first = Cell(x * x[0], x[1])
    s = first
    for k in range(2):
        s = Cell(s.p * s.q, first.q * s.q)
        first.q = s.q * x[k]
    return np.sum(s.p * x) * s.q * first.q


def objects_with_two_names(x):
    s, t = Cell(x[0], x[1]), Cell(x[2], x[0])
    for k in range(3):
        if x[k] > 0.5:
            s = t
        else:
            s, t = t, Cell(s.p * t.q, s.q + x[1])
    return s.p * s.q + t.p * t.q * s.p


def object_that_changes_in_the_next_round(x):
    s, t = Cell(x[0], x[1]), Cell(x[2], x[0])
    for k in range(3):
        t.p = t.p * s.q
        s = Cell(s.p * x[k], t.p)
        t = s
    return s.p * s.q + t.p * t.q


def objects_that_a_loop_is_left_with(x):
    s = State(x[0], x[1])
    for k in range(5):
        t = State(s.p * x[2] + s.q, s.q * s.q)
        if t.p > 1.2 * x[1]:
            s = State(t.p * t.q, s.p)
            break
        s = t
    return s.p * s.q


def objects_while_they_grow(x):
    s, n = {"p": x[0], "q": x * x}, 0
    while s["p"] < 2.0:
        s = {"p": s["p"] + np.sum(s["q"]), "q": s["q"] * s["p"]}
        n += 1
    return s["p"] * np.sum(s["q"] * x) + n


def object_that_an_exception_chooses(x):
    s = Cell(x[0], x[1])
    for k in range(3):
        try:
            t = Cell(s.p * s.q, x[k])
            if t.p > 0.2:
                raise ValueError
            s = t
        except ValueError:
            s = Cell(s.q, s.p * x[2])
    return s.p * s.q


def object_that_a_function_changes(x):
    def moved(o, by):
        o.p = o.p * by
        return o.p

    s = Cell(x[0], x[1])
    for k in range(3):
        t = s if x[k] > 0.5 else Cell(s.q, s.p)
        moved(t, x[k])
        s = t
    return s.p * s.q * x[1]


def object_that_a_function_returns(x):
    def next_of(s, k):
        return s if x[k] > 1.0 else State(s.p * s.q, s.q + x[k])

    s = State(x[0], x[1])
    for k in range(3):
        s = next_of(s, k)
    return s.p * s.q


def object_in_a_tuple(x):
    s, y = State(x[0] * x[1], x[2]), x[1]
    pair = (s, y)
    for k in range(2):
        pair = (State(pair[0].p * x[k], pair[0].q), pair[1] * pair[0].p)
    s, y = pair
    return s.p * y + s.q * pair[1]


def object_in_a_tuple_that_changes(x):
    s, y = Cell(x[0] * x[1], x[2]), x[1]
    pair = (s, y)
    s.p = s.p * x[2]
    return pair[0].p * y + s.q * pair[1] * s.p


def list_in_a_pattern(x):
    match (x[0], (x[1] * x[1], [x[1], 3.0, x[2]])):
        case (a, (b, [c, *rest])) if c > 0.0:
            return a * b * c * rest[1]
        case (a, _):
            return a


def history_of_objects(x):
    s, seen = State(x[0], x[1]), []
    for k in range(3):
        seen.append(s)
        s = State(s.p * s.q, s.q + x[k] * s.p)
    return sum([o.p * o.q for o in seen]) + s.q * seen[1].p


def history_of_what_changes(x):
    s, seen = Cell(x[0], x[1]), []
    for k in range(3):
        seen.append(s)
        s = Cell(s.p * s.q, s.q + x[k] * s.p)
    seen[2].p = seen[2].p * x[1]
    return sum([o.p * o.q for o in seen]) + s.q * seen[1].p


# --- structures of numbers that change -----------------------------------------------------------


def entries_that_go(x):
    d = {"a": x[0], "b": x[1] * 2.0}
    y = d.setdefault("c", x[0] * x[1])
    y = y * d.pop("a") + d.pop("q", x[2]) * d.get("none", x[0])
    del d["b"]
    d["a"] = y
    return sum(d.values()) * d["c"]


def entries_that_are_counted(x):
    d = {}
    for k in range(3):
        d[k % 2] = d.get(k % 2, x[0]) + x[k] * x[k]
    d.clear()
    for k in range(3):
        d[k % 2] = d.get(k % 2, x[1]) * x[k]
    return d[0] * d[1]


def entries_of_what_has_two_names(x):
    d = {"a": x[0], "b": x[1] * 2.0}
    e = d if x[0] > 0.1 else {"a": x[2], "b": x[1]}
    d["b"] = x[2] * x[0]
    return e["a"] * e.get("b", x[2])


def places_that_move(x):
    xs = [x[0], x[1], x[2]]
    xs[:] = [v * v for v in xs]
    xs.extend([x[0] * x[1], x[2]])
    del xs[1]
    ys = [x[1]] * 2 + xs
    ys[1:3] = [xs[0] * x[2]]
    del ys[-2:]
    return xs[0] * xs[2] + ys[0] * ys[1] * ys[-1]


def places_that_move_under_two_names(x):
    xs = [x[0], x[1], x[2]]
    ys = xs if x[0] > 0.1 else [x[1]]
    del xs[0]
    ys.extend([x[0] * x[1]])
    return xs[0] * ys[2] + ys[1]


# --- arrays in the places of others, and structures of new structures ----------------------------


def arrays_in_the_places_of_others(x):
    rows, held, o = [x * 2.0, x[:2]], {"w": x * x, "b": x[0]}, Cell(np.zeros(3), x[1])
    for k in range(2):
        rows[k] = np.sin(rows[k]) * x[k]
        o.p = 0.9 * o.p + held["w"]
        held["w"] = held["w"] - o.p * o.q
        held["b"] = held["b"] * x[1]
    rows[0], rows[1] = rows[1], rows[0]
    return np.sum(rows[0]) * np.sum(rows[1] * held["w"]) + held["b"] * np.sum(o.p)


def array_in_another_place_that_changes(x):
    rows, y = [x * 2.0, x * x], x * x[0]
    rows[0] = y
    y[1] = x[2] * x[1]
    return np.sum(rows[0] * rows[1])


def array_that_was_in_a_place_and_changes(x):
    rows = [x * 2.0, x * x]
    y = rows[0]
    rows[0] = rows[1] * x[0]
    y[1] = x[2] * x[1]
    return np.sum(rows[0] * rows[1] * y)


def rows_of_numbers(x):
    rows = [[x[i] * x[j] + (2.0 if i == j else 0.0) for j in range(3)] for i in range(3)]
    for k in range(3):
        for i in range(k + 1, 3):
            rows[i][k] = rows[i][k] / rows[k][k]
            for j in range(k + 1, 3):
                rows[i][j] -= rows[i][k] * rows[k][j]
    return rows[0][0] * rows[1][1] * rows[2][2]


def rows_that_are_one_row(x):
    row, rows = [x[0], x[1]], []
    for _ in range(2):
        rows.append(row)
    rows[0][1] = x[2] * x[0]
    return rows[1][1] * rows[0][0]


def an_array_and_its_transpose(x):
    u = np.outer(x, x)
    both = [u, u.T]
    both[0][0, 1] = x[2] * x[1]
    return np.sum(both[1] * u[0])


def array_in_an_object_under_its_first_name(x):
    y = x * 2.0
    rows = y
    cell = Cell(y, x[1])
    rows[0] = rows[0] * cell.q
    cell.p[1:] = rows[:-1] * x[0]
    return np.sum(rows * cell.p) + cell.p[2] * cell.q


BY_NAME = [
    taken_out_and_read_before,
    overlapping_slices,
    slices_of_lists_that_are_made_anew,
    triangle_of_slices,
    slice_in_no_round,
    slice_of_a_list_that_grows_later,
    last_two_of_each_round,
    slice_that_is_handed_on,
    new_list_in_each_round,
    one_list_goes_on_twice,
    lists_in_loops_in_loops,
    step_of_a_dict,
    filled_by_index,
    slices_of_layers,
    slices_on_one_path,
    returned_in_a_tuple,
    returned_beside_tables,
    in_a_tuple_that_is_taken_apart,
    slices_of_numbers,
    lists_of_arrays_joined,
    diagonal_of_what_was_written,
    view_from_a_call,
    chosen_by_a_branch,
    twice_in_a_tuple,
    rows_of_what_was_written,
    carried_until_it_is_written,
    kept_when_it_has_been_written,
    two_names_for_one_list,
    one_structure_in_each_round,
    objects_made_in_each_round,
    objects_with_two_names,
    objects_that_a_loop_is_left_with,
    objects_while_they_grow,
    object_that_a_function_returns,
    object_in_a_tuple,
    list_in_a_pattern,
    history_of_objects,
    entries_that_go,
    entries_that_are_counted,
    places_that_move,
    arrays_in_the_places_of_others,
    rows_of_numbers,
]
BY_IDENTITY = [
    array_in_an_object_under_its_first_name,
    object_changed_by_its_other_name,
    object_that_an_exception_chooses,
    object_that_changes_in_the_next_round,
    object_that_a_function_changes,
    object_in_a_tuple_that_changes,
    history_of_what_changes,
    entries_of_what_has_two_names,
    places_that_move_under_two_names,
    array_in_another_place_that_changes,
    array_that_was_in_a_place_and_changes,
    rows_that_are_one_row,
    an_array_and_its_transpose,
    list_that_changes_under_its_name,
    list_that_changes_under_an_old_name,
    list_that_grew_before_it_was_handed_on,
    list_that_changes_where_it_is_kept,
    filled_under_equal_keys,
    filled_and_put_again,
    filled_in_two_rounds,
    filled_with_what_is_written,
    slice_that_grows,
    slice_of_rows_that_are_replaced,
    lists_of_arrays_that_are_written,
    diagonal_that_changes,
    diagonal_in_a_list,
    view_from_a_call_that_changes,
    chosen_and_changed,
    twice_in_a_tuple_and_changed,
    rows_that_change,
    kept_while_it_is_written,
    views_kept_while_it_is_written,
    view_carried_while_it_is_written,
    written_last_by_another_name,
    captured_and_changed,
    in_a_tuple_and_changed,
    taken_apart_twice,
    returned_twice,
]


def derivation(f):
    params = (("x", K.kind_of(X, "x")),)
    request = Request(f, params, ("x",), True, "value_and_grad")
    return pipeline.derive(request, HIGHER)


def slopes(f, x):
    """Central differences."""
    return np.array([(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(len(x))])


@pytest.mark.parametrize("f", [*BY_NAME, *BY_IDENTITY])
def test_gradients(f):
    d = derivation(f)
    assert d.by_identity == (f in BY_IDENTITY)
    x = X.copy()
    value, gradient = loaded(printed(d), d)[d.entry](x)
    assert value == f(X.copy())
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(gradient, slopes(f, X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", BY_NAME)
def test_a_pullback_runs_twice_and_has_derivatives(f):
    _, pull = s2sad.vjp(f, X.copy())
    np.testing.assert_array_equal(pull(1.0), pull(1.0))
    np.testing.assert_allclose(pull(1.0), slopes(f, X), rtol=1e-6, atol=1e-8)
    along = np.array([0.4, -0.3, 0.8])
    change = slopes(lambda x: np.dot(s2sad.grad(f)(x), along), X)
    found = s2sad.grad(lambda x: np.dot(s2sad.grad(f)(x), along))(X)
    np.testing.assert_allclose(found, change, rtol=1e-5, atol=1e-7)


def test_a_list_of_cotangents_stays_as_it_is_given():
    """What a loop starts with backward is a copy: the loop takes cotangents off its end."""

    def grown(x):
        best = [x[0]]
        for k in range(2):
            new = []
            for v in best:
                new.append(v * x[k])
            new.append(x[2] * best[0])
            best = new
        return best

    values, pull = s2sad.vjp(grown, X)
    given = [1.0, -2.0, 0.5]
    want = slopes(lambda x: np.dot(grown(x), given), X)
    for _ in range(2):
        np.testing.assert_allclose(pull(given), want, rtol=1e-6)
    assert given == [1.0, -2.0, 0.5] and values == grown(X)


def test_a_given_object_gets_no_other_attributes():
    def kept_in_it(o):
        o.more = o.p[0] * o.p[1]
        return o.more * o.more * o.q

    given = Cell(X.copy(), 0.5)
    bar = s2sad.grad(kept_in_it)(given)
    assert vars(bar).keys() == {"p", "q"} == vars(given).keys()
    np.testing.assert_allclose(bar.p, [0.3 * 0.7**2, 0.7 * 0.3**2, 0.0])
