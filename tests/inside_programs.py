"""Programs that say something to their own derivative: each a function and arguments for it.

`STOPPING` call stop_gradient, `ASKING` within_gradient(), `HOOKING` adjoint_hook, with hooks that
twice the adjoint.
"""

import numpy as np

import s2sad
from s2sad import adjoint_hook, stop_gradient, within_gradient

RNG = np.random.default_rng(7)
X = RNG.normal(size=4)
Y = RNG.normal(size=4)
W = RNG.normal(size=(3, 3)) * 0.4
XS = RNG.normal(size=(5, 3))


class State:
    def __init__(self, w, scale):
        self.w = w
        self.scale = scale

    def frozen(self):
        return stop_gradient(self.w) * self.scale


# --- stop_gradient -------------------------------------------------------------------------------


def number(x, y):
    return stop_gradient(x) * y + x * x


def in_an_expression(x, y):
    return np.sum(np.sin(x) * stop_gradient(np.cos(y) * x) + y)


def by_keyword(x, y):
    return np.sum(x * stop_gradient(x=y) * y)


def by_its_module(x, y):
    return np.sum(x * s2sad.stop_gradient(x) * y)


def imported_here(x, y):
    from s2sad import stop_gradient as held

    return np.sum(x * held(x) * y)


def of_a_dict(x, p):
    q = stop_gradient(p)
    return np.sum(x * q["w"] * p["w"]) * q["b"] + p["b"]


def of_a_tuple(x, p):
    w, b = stop_gradient(p)
    return np.sum(x * w * p[0]) * b * p[1]


def of_an_object(x, p):
    q = stop_gradient(p)
    return np.sum(x * q.w * p.w) * q.scale


def in_a_method(x, p):
    return np.sum(x * p.frozen() * p.w)


def truncated(w, xs, every):
    h = np.zeros(3)
    loss = 0.0
    for i, x in enumerate(xs):
        if i % every == 0:
            h = stop_gradient(h)
        h = np.tanh(w @ h + x)
        loss += h @ h
    return loss


def truncated_in_place(w, xs, every):
    h = np.zeros(3)
    loss = 0.0
    for i, x in enumerate(xs):
        if i % every == 0:
            h = stop_gradient(h).copy()
        h[:] = np.tanh(w @ h + x)
        loss += h @ h
    return loss


def truncated_number(w, xs):
    h = 0.1
    i = 0
    while i < 5:
        h = np.sin(w * h + xs[i])
        if i == 2:
            h = stop_gradient(h)
        i += 1
    return h * h


def of_memory(w, xs):
    a = np.zeros(len(xs))
    for i in range(len(xs)):
        a[i] = w * xs[i] ** 2
    target = stop_gradient(a)
    return np.sum((a - 0.5 * target) ** 2)


def of_a_view(w, xs):
    a = np.zeros((2, len(xs)))
    a[0] = w * xs
    a[1] = w * w * xs
    row = stop_gradient(a[0])
    return np.sum(row * a[1] * a[0])


def view_of_it(w, xs):
    a = np.zeros((2, len(xs)))
    a[0] = w * xs
    a[1] = w * w * xs
    row = stop_gradient(a)[0]
    return np.sum(row * a[1])


def detached(v):
    return stop_gradient(v)


def by_a_function(w, xs):
    a = np.zeros(len(xs))
    a[0] = w
    a[1:] = w * xs[1:]
    return np.sum(detached(a) * a)


def pair_of(v):
    return v * v, stop_gradient(v) * 3.0


def partly(x, y):
    a, b = pair_of(x)
    return np.sum(a * b * y)


def both(v):
    return {"kept": v, "stopped": stop_gradient(v)}


def partly_in_a_dict(x, y):
    q = both(x * y)
    return np.sum(q["kept"] * q["stopped"])


def target_network(x, y):
    """What a target is made of is stopped, a whole computation."""

    def predict(p):
        return np.tanh(x * p)

    return np.sum((predict(y) - 0.9 * stop_gradient(predict(y))) ** 2)


def given_as_an_argument(x, y):
    def apply(fn, v):
        return fn(v) * v

    return np.sum(apply(stop_gradient, x) * y)


def chosen(x, y):
    total = 0.0
    for fn in (stop_gradient, np.sin):
        total = total + np.sum(fn(x) * y * x)
    return total


def in_a_comprehension(x, y):
    return sum([stop_gradient(v) * v for v in x]) * y[0]


def in_a_lambda(x, y):
    square = lambda v: stop_gradient(v) * v  # noqa: E731
    return np.sum(square(x) + square(y))


def in_a_test(x, y):
    if stop_gradient(x) > 0.0 or stop_gradient(y) > 0.0:
        return x * y
    return x + y


def in_an_index(x, y):
    return x[int(stop_gradient(abs(y[0])))] * y[1]


def kept_in_a_list(x, y):
    seen = []
    loss = np.sum(x * y)
    seen.append(stop_gradient(loss))
    seen.append(loss)
    return seen[0] * seen[1]


def straight_through(x, y):
    return np.sum((x + stop_gradient(np.round(x) - x)) * y)


def all_of_it(x, y):
    return stop_gradient(np.sum(x)) + 0.0 * np.sum(y)


STOPPING = {
    number: (0.7, 1.3),
    in_an_expression: (X, Y),
    by_keyword: (X, Y),
    by_its_module: (X, Y),
    imported_here: (X, Y),
    of_a_dict: (X, {"w": Y, "b": 0.4}),
    of_a_tuple: (X, (Y, 0.4)),
    of_an_object: (X, State(Y, 0.4)),
    in_a_method: (X, State(Y, 0.4)),
    truncated: (W, XS, 2),
    truncated_in_place: (W, XS, 2),
    truncated_number: (0.6, XS[:, 0]),
    of_memory: (0.6, X),
    of_a_view: (0.6, X),
    view_of_it: (0.6, X),
    by_a_function: (0.6, X),
    partly: (X, Y),
    partly_in_a_dict: (X, Y),
    target_network: (X, Y),
    given_as_an_argument: (X, Y),
    chosen: (X, Y),
    in_a_comprehension: (X, Y),
    in_a_lambda: (X, Y),
    in_a_test: (0.7, -1.3),
    in_an_index: (X, Y),
    kept_in_a_list: (X, Y),
    straight_through: (X, Y),
    all_of_it: (X, Y),
}


# --- within_gradient -----------------------------------------------------------------------------


def scaled(x):
    if within_gradient():
        return np.sum(x * 2.0)
    return np.sum(x * 3.0)


def in_an_if_expression(x):
    return np.sum(x) * (2.0 if within_gradient() else 3.0)


def in_a_variable(x):
    training = within_gradient()
    scale = 3.0
    if training:
        scale = 2.0
    return np.sum(x) * scale


def negated(x):
    if not within_gradient():
        return np.sum(x) * 3.0
    return np.sum(x) * 2.0


def compared(x):
    if within_gradient() is False:
        return np.sum(x) * 3.0
    return np.sum(x) * 2.0


def with_another_test(x):
    if within_gradient() and len(x) > 2:
        return np.sum(x) * 2.0
    return np.sum(x) * 3.0


def layer(x, training):
    return np.sum(x) * 2.0 if training else np.sum(x) * 3.0


def passed_on(x):
    return layer(x, within_gradient())


def factor(n):
    if within_gradient():
        return np.full(n, 2.0)
    return np.full(n, 3.0)


def factor_of(n):
    return factor(n) * 1.0


def inactive_call(x):
    return np.sum(x * factor(len(x)))


def inactive_call_of_a_call(x):
    return np.sum(x * factor_of(len(x)))


def inactive_in_a_test(x):
    if factor(1)[0] == 2.0:
        return np.sum(x) * 2.0
    return np.sum(x) * 3.0


def given_to_map(x):
    return np.sum(x) * sum(map(lambda n: factor(n)[0], [1, 1])) / 2.0


def captured(x):
    scale = 1.0

    def inner(n):
        return (2.0 if within_gradient() else 3.0) * np.full(n, scale)

    return np.sum(x * inner(len(x)))


def maker(scale):
    def of_a_closure(x):
        return np.sum(x * helper(len(x)))

    def helper(n):
        return (2.0 if within_gradient() else 3.0) * np.full(n, scale)

    return of_a_closure


class Layer:
    def mask(self, n):
        return np.full(n, 2.0 if within_gradient() else 3.0)

    @property
    def scale(self):
        return 2.0 if within_gradient() else 3.0

    def __call__(self, x):
        return x * (2.0 if within_gradient() else 3.0)


LAYER = Layer()


def by_a_method(x, made):
    return np.sum(x * made.mask(len(x)))


def by_a_property(x, made):
    return np.sum(x * made.scale)


def by_a_callable(x, made):
    return np.sum(made(x))


def by_a_callable_outside(x):
    return np.sum(LAYER(x))


def by_a_method_outside(x):
    return np.sum(x * LAYER.mask(len(x)))


TABLE = {"factor": factor}


def by_a_table(x):
    return np.sum(x * TABLE["factor"](len(x)))


def by_an_argument(x, fn):
    return np.sum(x * fn(len(x)))


def asked_by_another_name(x):
    ask = within_gradient
    return np.sum(x) * (2.0 if ask() else 3.0)


def question_given(x):
    def scale(ask):
        return 2.0 if ask() else 3.0

    return np.sum(x) * scale(within_gradient)


def recursive(n):
    return (2.0 if within_gradient() else 3.0) if n == 0 else recursive(n - 1)


def by_recursion(x):
    return np.sum(x) * recursive(3)


def in_a_while(x):
    n = 0
    while within_gradient():
        n += 1
        if n == 2:
            break
    return np.sum(x) * (2.0 if n == 2 else 3.0)


ASKING = {
    scaled: (),
    in_an_if_expression: (),
    in_a_variable: (),
    negated: (),
    compared: (),
    with_another_test: (),
    passed_on: (),
    inactive_call: (),
    inactive_call_of_a_call: (),
    inactive_in_a_test: (),
    given_to_map: (),
    captured: (),
    maker(1.0): (),
    by_a_method: (Layer(),),
    by_a_property: (Layer(),),
    by_a_callable: (Layer(),),
    by_a_callable_outside: (),
    by_a_method_outside: (),
    by_a_table: (),
    by_an_argument: (factor,),
    asked_by_another_name: (),
    question_given: (),
    by_recursion: (),
    in_a_while: (),
}


# --- adjoint_hook --------------------------------------------------------------------------------


def twice(g):
    return 2.0 * g


def twice_in_place(g):
    g *= 2.0


def twice_each(g):
    return {key: 2.0 * part for key, part in g.items()}


def twice_in_a_pair(g):
    return tuple(2.0 * part for part in g)


def twice_in_a_list(g):
    for i, part in enumerate(g):
        g[i] = 2.0 * part


def twice_in_an_object(g):
    g.w = 2.0 * g.w
    g.scale = 2.0 * g.scale
    return g


def hooked_number(x, y):
    x = adjoint_hook(x, twice)
    return x * y + np.sin(x)


def hooked_result(x, y):
    return adjoint_hook(x * y, twice) * y


def hooked_array(x, y):
    z = np.sin(x)
    z = adjoint_hook(z, twice)
    return np.sum(z * y * x)


def hooked_in_place(x, y):
    z = adjoint_hook(np.sin(x), twice_in_place)
    return np.sum(z * y * x)


def hooked_by_keywords(x, y):
    return np.sum(adjoint_hook(fn=twice, x=x) * y)


def hooked_and_not(x, y):
    z = adjoint_hook(x, twice)
    return np.sum(z * x * y)


def hooked_lambda(x, y):
    k = 2.0
    z = adjoint_hook(x * y, lambda g: k * g)
    k = 3.0
    return np.sum(z) * k


def hooked_inner(x, y):
    k = 2.0

    def grow(g):
        return k * g

    return np.sum(adjoint_hook(x * y, grow))


def hooked_with_default(x, y):
    total = 0.0
    for i in range(3):
        k = 1.0 + float(i == 1)

        def grow(g, k=k):
            return k * g

        total = total + np.sum(adjoint_hook(x * y, grow)) * (i == 1)
    return total


def hooked_in_a_loop(w, xs, every):
    h = np.zeros(3)
    for i, x in enumerate(xs):
        h = np.tanh(w @ h + x)
        if i % every == 0:
            h = adjoint_hook(h, twice)
    return h @ h


def hooked_in_a_while(x, y):
    n = 0
    while n < 3:
        x = np.sin(adjoint_hook(x * y, twice))
        n += 1
    return np.sum(x)


def a_layer(v):
    return adjoint_hook(np.tanh(v), twice)


def hooked_in_a_call(x, y):
    return np.sum(a_layer(a_layer(x) * y))


def a_recursion(v, n):
    return v if n == 0 else adjoint_hook(a_recursion(np.sin(v), n - 1), twice)


def hooked_in_a_recursion(x, y):
    return np.sum(a_recursion(x, 3) * y)


def hooked_by_an_argument(x, y):
    def through(v, fn):
        return adjoint_hook(v * v, fn)

    return np.sum(through(x, twice) * y)


def hooked_memory(w, xs):
    a = np.zeros(len(xs))
    for i in range(len(xs)):
        a[i] = w * xs[i]
    a = adjoint_hook(a, twice)
    a[0] = w * w
    return np.sum(a * a * xs)


def hooked_memory_by_another_name(w, xs):
    a = w * xs
    a[1] = w
    b = adjoint_hook(a, twice)
    b[0] = 3.0 * w
    return np.sum(b * xs)


def hooked_memory_in_a_loop(w, xs):
    a = np.zeros(len(xs))
    for i in range(len(xs)):
        a[i] = w * xs[i]
        a = adjoint_hook(a, twice)
    return np.sum(a * a)


def hooked_dict(x, p):
    p = adjoint_hook(p, twice_each)
    return np.sum(x * p["w"]) * p["b"]


def hooked_tuple(x, p):
    w, b = adjoint_hook(p, twice_in_a_pair)
    return np.sum(x * w) * b


def hooked_list(x, p):
    p = adjoint_hook(p, twice_in_a_list)
    return np.sum(x * p[0]) + np.sum(p[1] * p[1])


def hooked_object(x, p):
    q = adjoint_hook(p, twice_in_an_object)
    return np.sum(x * q.w) * q.scale


def hooked_part(x, p):
    w = p["w"]
    w = adjoint_hook(w, twice)
    return np.sum(x * w) * p["b"]


def hooked_part_of_parts(x, p):
    inner = p["inner"]
    inner = adjoint_hook(inner, twice_each)
    return np.sum(x * inner["w"]) * inner["b"]


def hooked_dict_that_is_filled(x, y):
    d = {"a": x * y, "b": np.sum(y)}
    d = adjoint_hook(d, twice_each)
    d["a"] = d["a"] * 2.0
    return np.sum(d["a"]) * d["b"]


def hooked_list_that_grows(x, y):
    items = []
    for i in range(3):
        items.append(x[i] * y[i])
    items = adjoint_hook(items, twice_in_a_list)
    items.append(x[0])
    return items[0] * items[1] + items[3]


def hooked_or_not(x, y):
    z = x * y
    if x[0] > -100.0:
        z = adjoint_hook(z, twice)
    else:
        z = 3.0 * z
    return np.sum(z)


def hooked_single(x, y):
    z = adjoint_hook(x.astype(np.float32), lambda g: 2.0 * g.astype(np.float64))
    return np.sum(z.astype(np.float64) * y)


def twice_in_place_in_a_pair(g):
    g[0][...] *= 2.0
    g[1][:1] *= 2.0
    g[1][1:] *= 2.0


def hooked_pair_in_place(x, y):
    a, b = adjoint_hook((np.sin(x), x * y), twice_in_place_in_a_pair)
    return np.sum(a) + np.sum(b)


def hooked_dict_in_place(x, y):
    d = adjoint_hook({"w": np.sin(x), "scale": np.sum(y * y)}, twice_in_a_dict)
    return np.sum(d["w"]) * d["scale"]


def twice_in_a_dict(g):
    g["w"] *= 2.0
    g["scale"] = 2.0 * g["scale"]


def twice_the_parts(g):
    g.w *= 2.0
    g.scale = 2.0 * g.scale


def hooked_object_in_place(x, y):
    p = adjoint_hook(State(np.sin(x * y), np.sum(x)), twice_the_parts)
    return np.sum(p.w) * p.scale


def hooked_views_in_place(x, y):
    z = np.sin(x)
    z[0] = y[0]
    head = adjoint_hook(z[:1], twice_in_place)
    tail = adjoint_hook(z[1:], twice_in_place)
    return np.sum(head * y[:1]) + np.sum(tail * tail)


def hooked_memory_in_place(x, y):
    z = np.zeros(len(x))
    for i in range(len(x)):
        z[i] = np.sin(x[i] * y[i])
    z = adjoint_hook(z, twice_in_place)
    return np.sum(z * z)


HOOKING = {
    hooked_pair_in_place: (X, Y),
    hooked_dict_in_place: (X, Y),
    hooked_object_in_place: (X, Y),
    hooked_views_in_place: (X, Y),
    hooked_memory_in_place: (X, Y),
    hooked_number: (0.7, 1.3),
    hooked_result: (0.7, 1.3),
    hooked_array: (X, Y),
    hooked_in_place: (X, Y),
    hooked_by_keywords: (X, Y),
    hooked_and_not: (X, Y),
    hooked_lambda: (X, Y),
    hooked_inner: (X, Y),
    hooked_with_default: (X, Y),
    hooked_in_a_loop: (W, XS, 2),
    hooked_in_a_while: (X, Y),
    hooked_in_a_call: (X, Y),
    hooked_in_a_recursion: (X, Y),
    hooked_by_an_argument: (X, Y),
    hooked_memory: (0.6, X),
    hooked_memory_by_another_name: (0.6, X),
    hooked_memory_in_a_loop: (0.6, X),
    hooked_dict: (X, {"w": Y, "b": 0.4}),
    hooked_tuple: (X, (Y, 0.4)),
    hooked_list: (X, [Y, Y * 2.0]),
    hooked_object: (X, State(Y, 0.4)),
    hooked_part: (X, {"w": Y, "b": 0.4}),
    hooked_part_of_parts: (X, {"inner": {"w": Y, "b": 0.4}}),
    hooked_dict_that_is_filled: (X, Y),
    hooked_list_that_grows: (X, Y),
    hooked_or_not: (X, Y),
}
