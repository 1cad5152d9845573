"""Programs that write memory with several names, for tests/test_writes_aliases.py."""

import contextlib

import numpy as np

PROGRAMS = []
X = np.array([0.3, -1.2, 0.7, 1.5, -0.4, 0.9])


def prog(f):
    PROGRAMS.append(f)
    return f


# names that change places


@prog
def double_buffer(x):
    old = x * 1.5
    new = x.copy()
    for _ in range(4):
        new[1:-1] = old[1:-1] + 0.1 * (old[2:] * old[1:-1] - 2.0 * old[1:-1] + old[:-2])
        old, new = new, old
    return np.sum(old**2)


@prog
def triple_buffer(x):
    a, b, c = x.copy(), x * 2.0, np.zeros(6)
    for _ in range(4):
        c[1:-1] = 2.0 * b[1:-1] - a[1:-1] + 0.1 * np.sin(b[2:] * b[:-2])
        a, b, c = b, c, a
    return np.sum(b * a * c)


@prog
def both_written_and_swapped(x):
    u, v = x.copy(), x * 2.0
    for _ in range(3):
        u[0] = v[1] * u[2]
        v[1] *= u[0]
        u, v = v, u
    return np.sum(u * u * v)


@prog
def swapped_by_hand(x):
    a, b = x.copy(), x * 2.0
    held = a
    a = b
    b = held
    b[0] = a[1] ** 2
    a[2] = b[0] * b[1]
    return np.sum(a * b)


# arrays in structures


def pushed(a, b):
    a[:] = 0.5 * (a + b * b)


@prog
def two_items_of_a_list_given(x):
    parts = [x * x, x * 2.0]
    pushed(parts[0], parts[1])
    return np.sum(parts[1] ** 2 * parts[0])


# callees


def middle(a):
    return a[1:-1]


@prog
def view_from_a_callee(x):
    y = x * 2.0
    m = middle(y)
    m[0] = x[5] ** 2
    y[2] *= m[0]
    return np.sum(y**2 * x)


@prog
def closure_writes_in_a_loop(x):
    y = x * 2.0

    def put(i):
        y[i] = y[i - 1] * x[i]

    for i in range(1, 6):
        put(i)
    return np.sum(y**2)


@prog
def rows_of_both(x):
    A = np.outer(x, x)
    B = A + 1.0
    for a, b in zip(A, B):
        a += b * a
    return np.sum(A**2)


@prog
def rows_of_a_part(x):
    A = np.outer(x, x)
    for row in A[1:]:
        row *= A[0]
    return np.sum(A**2)


@prog
def view_outlives_its_base(x):
    y = x * 2.0
    z = y[1:]
    del y
    z[0] = z[1] * x[2]
    return np.sum(z**2)


class Held:
    def __init__(self, x):
        self.u = x * 1.0


@prog
def field_outlives_its_object(x):
    held = Held(x)
    u = held.u
    del held
    u[0] = u[1] * u[2]
    return np.sum(u**2)


# who is whom is known only when the program runs


@prog
def other_name_bound_anew(x):
    y = x.copy()
    z = y
    y = y + 1
    z[0] = y[1]
    y[2] = z[0] * z[1]
    return np.sum(y * z)


@prog
def one_of_two(x):
    u = x * 1.0
    v = x * 2.0
    if x[0] > 0:
        w = u
    else:
        w = v
    w[0] = x[1] * v[2]
    w[1:] *= u[:-1]
    return np.sum(u * u * v)


@prog
def one_of_two_read(x):
    u = x * 1.0
    v = x * 2.0
    w = u if x[0] > 0 else v[::-1]
    u[2] = x[1] * v[2]
    return np.sum(u * u * v * w)


@prog
def one_of_two_in_a_loop(x):
    a = x * 1.0
    b = x * 2.0
    c = a
    for i in range(4):
        if x[i] > 0:
            c = a
        else:
            c = b
        c[i] = a[i] * b[i] + c[5]
        a[5] *= 1.1
    return np.sum(a * b * c)


@prog
def smaller_one_grows(x):
    a, b = x * 1.0, x * 2.0
    for i in range(3):
        small = a if a[0] < b[0] else b
        small[0] += 1.5
        small *= x[i]
    return np.sum(a * b)


@prog
def forward_or_back(x):
    a = np.zeros(6)
    b = a
    for i in range(6):
        a[i] = x[i] ** 2
        b = a if i % 2 == 0 else a[::-1]
        b[0] += 0.1 * x[0]
    return np.sum(a * x) + np.sum(b**2)


@prog
def one_of_two_shapes(x):
    u = x * 1.0
    w = u.reshape(2, 3) if x[0] > 0 else u.reshape(3, 2)
    w[0] *= 2.0
    t = w.ravel()
    t[3] = t[0] * x[1]
    return np.sum(u**2)


@prog
def chosen_by_a_callee(x):
    def pick(a, b, first):
        return a if first else b

    u = x * 1.0
    v = x * 3.0
    w = pick(u, v, x[1] > 0)
    w[2] = u[0] * v[1]
    return np.sum(u * v * w)


# structures


@prog
def tuple_and_list(x):
    y = x * 2
    t = (y, [y, y[1:]])
    t[1][0][0] = 3 * x[1]
    t[1][1][0] *= 2.0
    return np.sum(t[0] ** 2)


@prog
def history(x):
    y = x * 2.0
    hist = []
    for i in range(3):
        hist.append(y)
        y[i] *= x[0]
        hist.append(y.copy())
    s = 0.0
    for h in hist:
        s += np.sum(h**2)
    return s


@prog
def history_written(x):
    y = x * 1.0
    hist = []
    for i in range(4):
        hist.append(y)
        y = y * x[i]
        y[i] = hist[-1][0] ** 2
        if i % 2 == 0:
            hist[0][i] = y[i] * x[1]
    s = 0.0
    for k, h in enumerate(hist):
        s += np.sum(h**2) * (k + 1)
    return s


@prog
def dict_of_parts(x):
    y = x * 2.0
    d = {"u": y, "v": y[1:]}
    d["u"][0] = x[1] ** 2
    d["v"][0] *= d["u"][0]
    return np.sum(d["u"] ** 2)


@prog
def dict_of_rows(x):
    A = np.outer(x, x)
    d = {"top": A[:3], "low": A[3:], "all": A, "flat": A.ravel()}
    d["top"][0] *= d["low"][1]
    d["flat"][7] = d["top"][0, 0] * 2
    d["all"] *= 0.5
    return np.sum(d["all"] ** 2) + np.sum(d["flat"])


@prog
def keys_given_new_arrays(x):
    u = x * 1.0
    d = {}
    d["x"] = u
    d["y"] = d["x"]
    d["x"][0] = 5 * x[1]
    d["y"] = d["x"] * 2.0
    d["y"][1] = u[0] ** 2
    d["x"] = d["y"]
    d["x"][2] *= u[3]
    return np.sum(d["x"] * d["y"] * u)


@prog
def names_of_fields(x):
    fields = {"u": x * 1.0, "v": x * 2.0}
    for n in ["u", "v", "u"]:
        f = fields[n]
        f[1:-1] = f[2:] * f[:-2]
    w = fields["u"] if x[3] > 0 else fields["v"]
    w *= 3.0
    return np.sum(fields["u"] * fields["v"])


@prog
def repeated_list(x):
    a = x * 1.0
    L = [a] * 3
    L[0][0] = x[1] * 2
    L[1][0] *= x[2]
    L[2] = L[2] * 2.0
    L[2][0] += L[0][0]
    return np.sum(L[1] * L[2])


@prog
def overlapping_windows(x):
    u = x * 1.0
    for v in [u[i : i + 2] for i in range(5)]:
        v[1] = v[0] * v[1]
    return np.sum(u)


@prog
def buffers_by_parity(x):
    bufs = [x * 1.0, x * 2.0]
    for i in range(5):
        src, dst = bufs[i % 2], bufs[(i + 1) % 2]
        dst[1:] = src[:-1] * 0.5 + dst[1:] * x[0]
    return np.sum(bufs[0] * bufs[1])


@prog
def stack_of_views(x):
    y = x * 2
    q = [y, y[::2], x * 1.0]
    while len(q) > 1:
        a = q.pop()
        q[0][1] = np.sum(a) * 0.1
        a[0] *= 2.0
    return np.sum(q[0] ** 2)


@prog
def stack_that_grows(x):
    stack = [x * 2]
    while len(stack) < 4:
        top = stack[-1]
        top[len(stack)] *= x[0]
        stack.append(top if len(stack) % 2 else top.copy())
    return sum(np.sum(s**2) for s in stack)


@prog
def tuple_with_a_number(x):
    y = x * 2
    t = (y, x[0] * 3.0)
    t[0][1] = t[1] * t[0][0]
    z, s = t
    z[2] *= s
    return np.sum(y**2) * t[1]


@prog
def tuple_from_a_callee(x):
    def parts(a):
        return (a, a[1:], np.sum(a))

    y = x * 2
    p, q, s = parts(y)
    q[0] = p[0] * s
    p[3] *= q[1]
    return np.sum(y**2) + s


# objects


class Field:
    def __init__(self, x):
        self.u = x * 1.0
        self.inner = self.u[1:-1]

    def step(self):
        self.inner[0] = self.u[0] * self.u[1]
        self.u[2] *= self.inner[2]


@prog
def two_fields_of_one_array(x):
    field = Field(x)
    field.step()
    field.step()
    return np.sum(field.u**2)


def pair_of_one(x):
    y = x * 2.0
    return [y, y]


@prog
def list_from_a_callee(x):
    ys = pair_of_one(x)
    ys[0][1] = ys[1][0] * x[2]
    return np.sum(ys[1] ** 2)


class Scaled:
    def __init__(self, s, a):
        self.s = s
        self.a = a


@prog
def two_objects_of_one_array(x):
    y = x * 2.0
    one, two = Scaled(x[0], y), Scaled(x[1], y)
    one.a[0] *= two.s
    two.a[1:] = one.a[:-1] * one.s
    one.s = two.a[2] * 2
    return np.sum(one.a * two.a) + one.s * two.s


@prog
def object_with_two_names(x):
    one = Scaled(x[0] * 2, x * 1.0)
    two = one
    a = two.a
    a[1] = one.s * x[2]
    two.s = a[1] * x[0]
    return one.s * np.sum(one.a**2)


class Node:
    def __init__(self, value, previous):
        self.value = value
        self.previous = previous


@prog
def linked(x):
    one = Node(x * 1.0, None)
    two = Node(one.value[2:], one)
    two.value[0] = two.previous.value[0] * x[1]
    two.previous.value[3] *= two.value[0]
    return np.sum(one.value**2)


class Kept:
    def __init__(self, u):
        self.u = u


@prog
def uneven_parts(x):
    y = x * 1.0
    a, b = np.array_split(y, 2)
    a *= 2.0
    return np.sum(y * y)


@prog
def list_of_parts(x):
    y = x * 1.0
    for part in np.split(y, 2):
        part *= part
    return np.sum(y)


@prog
def one_of_two_views(x):
    y = x * 2.0
    Y = y[:, None]
    for k in range(3):
        Y = y.reshape(2, 3) if k == 1 else y[::-1].reshape(2, 3)
        Y *= x[k]
    return np.sum(y * y) + Y[0, 0]


@prog
def objects_unpacked(x):
    boxes = [Kept(x[0]), Kept(x[1])]
    a, b = boxes
    a.u = b.u * x[2]
    return boxes[0].u * b.u


@prog
def twice(x):
    y = x * 2.0
    ys = [y, y]
    for v in ys:
        v *= 3.0
    return np.sum(ys[0])


@prog
def kept_by_object(x):
    u = x * 1.0
    b = Kept(u)
    u[0] = x[1] * x[2]
    b.u[1] = x[0] * u[0]
    return np.sum(u * b.u)


def pair_of(x):
    return x, 2.0 * x


@prog
def kept_in_tuple(x):
    a = x * x
    t = pair_of(a)
    b = t[1]
    a[0] = b[1]
    return np.sum(a * b)


def part_or_all(A, n):
    A[0] *= A[1]
    return A[n:]


@prog
def part_returned(x):
    a = x * x
    b = part_or_all(a, 1)
    return np.sum(a * a) + np.sum(b * b)


def kept_and_written(v):
    t = (v, 1.0)
    v *= v[0]
    return t


@prog
def tuple_of_written(x):
    a = x * x
    t = kept_and_written(a)
    return np.sum(t[0] * a)


@prog
def kept_before_its_memory_is_written(x):
    def same(a):
        return a

    a = x * 0.5
    c = same(a)
    c = c * c
    a *= x[1]
    return np.sum(a * x) + np.sum(c * x[::-1])


@prog
def one_array_changes_places_with_itself(x):
    a = x * 1.0
    b = np.cos(x)
    d = a
    a, d = d, a
    a[0] = a[2] * a[1]
    a[2] += a[0]
    b[1:] = a[:-1] * x[1]
    d = a[:]
    return np.sum(a * b) + np.sum(d * x)


# parts of complex arrays, and views in which elements stand again and again


@prog
def spread_out(x):
    y = x * 1.0
    B = np.broadcast_to(y, (2, 6))
    s = np.sum(B * B)
    y[0] = y[1] * s
    return np.sum(B * B * B)


@prog
def imaginary_part(x):
    z = x * (1.0 + 2.0j)
    z.imag *= x
    return np.sum(z.real**2 + z.imag**3)


@prog
def kept_imaginary_part(x):
    z = x * (1.0 + 2.0j)
    im = z.imag
    z *= 1j
    return np.sum(im * im)


@prog
def imaginary_part_kept_and_written(x):
    w = x * (1 + 0.5j)
    im = w.imag
    im[0] = x[1] ** 2
    im[1:] *= x[0]
    w *= w[2]
    im[3] += im[1] * w[0].real
    return np.sum(np.abs(w) ** 2 * x)


@prog
def imaginary_part_read_alone(x):
    z = x * 1j
    im = z.imag
    im[0] = x[1] * x[2]
    total = np.sum(im)
    for k in range(2):
        im[k] = im[k] * x[k + 1]
        total += im[k] ** 2
    return total


@prog
def part_of_an_imaginary_part(x):
    w = np.outer(x, x) * (1 + 0.5j)
    v = w[1:].imag[:, ::2]
    v[0] = v[1] * v[2]
    v[...] = v * x[0]
    return np.sum(w.real * w.imag)


@prog
def parts_assigned(x):
    w = x * (1 + 0.5j)
    for k in range(3):
        w.imag = w.real * w.imag
        w.real += w.imag[::-1]
        w.real[k] = 3.0
    return np.sum(w.real) + np.sum(w.imag**2)


@prog
def imaginary_part_read_after(x):
    w = x * (1 + 0.5j)
    im = w.imag
    w *= 1j
    return np.sum(im * im * w.real)


@prog
def imaginary_part_in_branches(x):
    w = x * (1 + 0.5j)
    if x[0] > 0:
        w.imag[::2] *= x[1]
    else:
        w.imag[1] = 0.0
    np.add.at(w.imag, [0, 0, 1], x[:3])
    i = w.imag
    s = np.sum(i[[0, 1, 1]] ** 2)
    i **= 2
    return s * np.sum(w.imag * w.real)


@prog
def real_part_of_a_real_array(x):
    w = x * 1.0
    w.real[1:] *= x[0]
    w.real = w * 2
    return np.sum(w**2)


@prog
def imaginary_part_in_a_loop(x):
    w = x.astype(np.complex128)
    s = 0.0
    for k in range(4):
        t = w.imag
        t[k] = w.real[k] * x[k + 1]
        w[k + 1] = w[k] * w[k + 1]
        s += t[k + 1]
    return s + np.sum(w.imag)


@prog
def rows_that_are_one(x):
    y = x * 2.0
    b = np.broadcast_to(y, (3, 6))
    y[0] = x[1] ** 2
    return np.sum(b**2)


@prog
def columns_that_are_one(x):
    y = x * 2.0
    b = np.broadcast_to(y[:, None], (6, 4))
    s = np.sum(b[2:] * b[:4])
    for k in range(3):
        y[k] = s * b[k + 1, 2]
        s += np.sum(b[[0, 0, 1]] * x[0]) * 0.01
    c = b[:, 1:3]
    y[5] *= x[0]
    L = [c, y]
    L[1][0] = c[1, 0]
    return np.sum(L[0] ** 2) + np.sum(b.ravel())


@prog
def mask_of_rows_that_are_one(x):
    y = x * 2.0
    b = np.broadcast_to(y, (3, 6))
    y *= x[0]
    m = b > 0
    return np.sum(b[m]) + np.sum(np.where(m, b, 0.5 * b) * x)


class Rows:
    def __init__(self, b, y):
        self.b = b
        self.y = y


def as_it_is(rows):
    return rows


@prog
def object_with_rows_that_are_one(x):
    y = x * 2.0
    rows = Rows(np.broadcast_to(y, (2, 6)), y)
    rows.y[1] *= 2
    z = as_it_is(rows)
    z.y[0] = np.sum(z.b)
    return np.sum(rows.b * x)


# other memory layouts, and functions that are given what may share memory


@prog
def axes_in_another_order(x):
    A = np.multiply.outer(np.outer(x, x), x[:2]).transpose(2, 0, 1).copy(order="K")
    B = A[0] if x[0] > 0 else A[1]
    B[0] *= x[1]
    L = [A, B]
    L[1][1] = L[0][1][2] * 2
    return np.sum(L[0] ** 2)


def larger(a, b):
    w = a if a[0] > b[0] else b
    w[0] *= b[1]
    return w


@prog
def callee_writes_one_of_two(x):
    u = x * 2.0
    v = np.cos(x)
    w = larger(u, v)
    w[3] *= u[0]
    return np.sum(u * v * w)


@prog
def fields_that_change_places(x):
    b = Scaled(x * 1.0, x * 2.0)
    for _ in range(3):
        b.a[1:] = b.s[:-1] * b.a[1:]
        b.s, b.a = b.a, b.s
    return np.sum(b.s * b.a)


@prog
def list_of_numbers_with_two_names(x):
    L = [x[0], x[1]]
    M = L
    M[0] = L[1] * x[2]
    d = {"a": L, "b": x * 1.0}
    d["a"][1] = d["b"][0] * L[0]
    d["b"][0] *= 2
    return L[0] * M[1] * np.sum(d["b"])


@prog
def captured_by_a_lambda(x):
    u = x * 1.0
    v = x * 2.0
    w = u if x[0] > 0 else v
    f = lambda i: w[i] * u[i]  # noqa: E731
    w[1] *= 3.0
    s = f(1)
    u[1] *= 2.0
    return s + f(1) + np.sum(v)


@prog
def array_without_axes(x):
    s = np.array(0.5)
    t = s if x[0] > 0 else np.array(1.0)
    t += x[1] * x[2]
    s *= x[3]
    return float(s * t * 2.0)


@prog
def left_early(x):
    u = x * 1.0
    L = [u, u[1:]]
    for k in range(3):
        L[k % 2][k] *= 2.0
        if k == 1 and x[0] > 0:
            return np.sum(L[0] ** 2)
    return np.sum(u)


@prog
def list_extended_by_parts(x):
    y = x * 1.0
    L = [y]
    L.extend([y, y[2:]])
    L[2][0] *= L[1][0]
    L[0][3] = L[2][1] ** 2
    return np.sum(y**2)


@prog
def list_beside_itself(x):
    y = x * 1.0
    L = [y, y * 2.0]
    for a, b in zip(L, L):
        a[0] *= b[1]
        b[2] += a[0]
    return np.sum(L[0] * L[1])


class Doubled:
    def __init__(self, p):
        self.a = p
        self.b = p


@prog
def object_that_holds_one_array_twice(x):
    o = Doubled(x * 1.0)
    o.b[0] = o.a[1] * x[0]
    return np.sum(o.a**2)


@prog
def perhaps_copies(x):
    y = x * 1.0
    c = np.conj(y)
    r = np.real(y)
    q = y.astype(float, copy=False)
    s = np.squeeze(y[None])
    c[0] = r[1] * x[2]
    s[2] *= q[0]
    return np.sum(y * c)


@prog
def turned_and_written(x):
    a = x * 1.0
    a[1:] = a[:-1] * x[5]
    for i in range(2):
        a = a[::-1]
        a[i] += 0.5
    return np.sum(a * x[::-1])


@prog
def bound_to_itself_by_another_name(x):
    y = np.sin(x)
    part = y
    energy = np.sum(y**2)
    y = part
    y[1] = 1.0
    return energy + np.sum(y**3)


@prog
def bound_to_itself_out_of_a_tuple(x):
    y = np.sin(x)
    part = y
    energy = np.sum(y**2)
    part, y = (1, part)
    y[part] = 0.5
    return energy + np.sum(y**3)


@prog
def bound_to_itself_by_a_view(x):
    y = np.sin(x)
    part = y[1:]
    energy = np.sum(y**2)
    for k in range(2):
        y = part
        y[k] = 0.5
    return energy + np.sum(y**3)


# views taken after a write, whose content changes again when the old one is put back


def scaled_by_second(v):
    v *= v[1]


@prog
def dot_with_a_view_taken_after(x):
    v = x * x
    t = v[0:2] * v[1:3]
    v *= v[1]
    return np.dot(v[0:2], t)


@prog
def times_an_element_taken_after(x):
    v = x * x
    t = v[0, ...] * v[1, ...]
    v *= v[1]
    return v[0, ...] * t + v[2, ...] ** 3


@prog
def dot_with_a_view_taken_after_a_call(x):
    v = x * x
    t = v[1:] * v[:-1]
    scaled_by_second(v)
    return np.dot(v[1:], t)


# names that get other memory in the blocks of with, match and try


def first_set(v, y):
    v[0] = y
    return v


@prog
def bound_anew_in_with(x):
    v = x
    with contextlib.nullcontext():
        v = first_set(v, x[1])
    return np.sum(v * x)


@prog
def bound_anew_in_match(x):
    v = x
    match x[1]:
        case y if y < 2.0:
            v = first_set(v, y)
    return np.sum(v * x)


@prog
def bound_anew_in_one_case(x):
    k = 1
    match k:
        case 1:
            v = x
        case _:
            v = x * 2
    v[0] = x[1]
    return np.sum(x * v)


@prog
def bound_anew_in_try(x):
    v = x
    try:
        v = first_set(v, x[2])
        v[1] = x[0] * x[3]
    finally:
        y = v[1] * x[0]
    return np.sum(v * x) * y


# rows that are written, and others of their array that are read then


@prog
def rows_times_an_element(x):
    w = np.outer(x[:2], x[:3])
    for row in w:
        row *= w[1, 0]
    return np.sum(w * w)


@prog
def rows_changed_twice(x):
    w = np.outer(x[:2], x[:3])
    for row in w:
        row *= w[1, 0]
        row += row * row
    return np.sum(w)
