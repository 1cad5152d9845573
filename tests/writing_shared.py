"""Programs in which lists, dicts and objects share arrays that are only read.

Others of their arrays are written. Each is checked by tests/test_writes_containers.py, and by
tests/test_autodiff_structures.py where structures are given.
"""

from collections import namedtuple

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(5)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


class Layer:
    def __init__(self, W, h):
        self.W = W
        self.h = h

    def step(self, x):
        self.h[:] = np.tanh(self.W @ self.h + x)
        return self.h


class Layer0:
    def __init__(self, W):
        self.W = W
        self.h = np.zeros(3)

    def step(self, x):
        self.h[:] = np.tanh(self.W @ self.h + x)


@prog(r(3, 3), r(3), r(3), r(3))
def two_objects(W, h1, h2, x):
    a = Layer(W, h1)
    b = Layer(W, h2)
    for _ in range(2):
        a.step(x)
        b.step(a.h)
    return np.sum(b.h * a.h)


@prog(r(3, 3), r(3))
def two_objects0(W, x):
    a = Layer0(W)
    b = Layer0(W)
    for _ in range(2):
        a.step(x)
        b.step(a.h)
    return np.sum(b.h * a.h)


@prog(r(3, 3), r(3), r(3), r(3))
def layer_list(W, h1, h2, x):
    layers = [Layer(W, h1), Layer(W, h2)]
    for _ in range(2):
        for layer in layers:
            layer.step(x)
            x = layer.h * 1.0
    return np.sum(x)


@prog(r(3, 3), r(3))
def layer_list0(W, x):
    layers = [Layer0(W) for _ in range(2)]
    for _ in range(2):
        for layer in layers:
            layer.step(x)
            x = layer.h.copy()
    return np.sum(x)


@prog(r(3, 3), r(3))
def layer_list_index(W, x):
    layers = [Layer0(W), Layer0(W)]
    for i in range(2):
        layers[i].step(x)
    layers[0].h *= layers[1].h
    return np.sum(layers[0].h)


@prog(r(3))
def rows_of(x):
    rows = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        for j in range(3):
            rows[i][j] += x[i] * x[j]
    for i in range(1, 3):
        rows[i] += rows[i - 1] * x
    return np.sum(rows[2])


@prog([r(3), r(3), r(3)], r(3))
def rows_given(rows, x):
    for i in range(1, 3):
        for j in range(3):
            rows[i][j] += rows[i - 1][j] * x[j]
    return np.sum(rows[2] * rows[1])


@prog(r(3), r(3))
def rows_picked(x, y):
    rows = [x * 1.0, y * 1.0, x * y]
    for k in range(1, 3):
        a = rows[k]
        b = rows[k - 1]
        a += b * x
    return np.sum(rows[2] * rows[1])


@prog(r(3), r(3))
def rows_with_given(x, y):
    rows = [x, y * 1.0, x * y]
    for k in range(1, 3):
        rows[k][0] += rows[k - 1][1] * x[2]
    return np.sum(rows[2] * rows[1])


@prog(r(3, 3), r(3), r(3))
def dicts_share(W, h, x):
    params = {"W": W}
    state = {"W": W, "h": h}
    for _ in range(2):
        state["h"][:] = np.tanh(params["W"] @ state["h"] + x)
    return np.sum(state["h"] @ state["W"])


class Params:
    def __init__(self, W, b):
        self.W = W
        self.b = b


class Cell:
    def __init__(self, p, h):
        self.p = p
        self.h = h

    def step(self, x):
        self.h[:] = np.tanh(self.p.W @ self.h + self.p.b + x)


@prog(r(3, 3), r(3), r(3))
def params_object(W, b, x):
    p = Params(W, b)
    cells = [Cell(p, np.zeros(3)), Cell(p, np.ones(3))]
    for _ in range(2):
        for c in cells:
            c.step(x)
        cells[1].h += cells[0].h * p.b
    return np.sum(cells[1].h)


@prog(r(3, 3), r(3), r(3))
def params_object2(W, b, x):
    p = Params(W, b)
    one = Cell(p, np.zeros(3))
    two = Cell(p, np.ones(3))
    one.step(x)
    two.step(one.h)
    one.step(two.h)
    return np.sum(one.h * p.b)


PT = namedtuple("PT", "W b")


@prog(PT(r(3, 3), r(3)), r(3))
def params_tuple(p, x):
    one = Cell(p, np.zeros(3))
    two = Cell(p, np.ones(3))
    one.step(x)
    two.step(one.h)
    one.step(two.h)
    return np.sum(one.h * p.b)


@prog(r(4), r(4), r(4))
def fields_grid(w, u0, v0):
    u = {"grid": w, "val": u0.copy()}
    v = {"grid": w, "val": v0.copy()}
    for _ in range(2):
        u["val"][1:-1] += u["grid"][1:-1] * (v["val"][2:] - v["val"][:-2])
        v["val"][1:-1] -= v["grid"][1:-1] * u["val"][1:-1]
    return np.sum(u["val"] * v["val"])


@prog(r(3), r(3))
def ring(x, y):
    bufs = [x.copy(), y.copy()]
    for t in range(3):
        bufs[t % 2][:] = bufs[(t + 1) % 2] * x + bufs[t % 2]
    return np.sum(bufs[0] * bufs[1])


@prog([r(3), r(2)], [r(3), r(2)], 0.1)
def momentum(params, grads, lr):
    vel = [np.zeros_like(p) for p in params]
    for _ in range(2):
        for p, v, g in zip(params, vel, grads):
            v *= 0.9
            v -= lr * g * p
            p += v
    return sum(np.sum(p * p) for p in params)


@prog({"a": r(3), "b": r(2)}, 0.1)
def adam(params, lr):
    m = {"a": np.zeros(3), "b": np.zeros(2)}
    for _ in range(2):
        for k in ("a", "b"):
            g = params[k] * 2.0
            m[k][:] = 0.9 * m[k] + 0.1 * g
            params[k] -= lr * m[k]
    return np.sum(params["a"] ** 2) + np.sum(params["b"])


@prog(r(3, 3), r(3))
def tied(W, x):
    enc = Layer(W, np.zeros(3))
    dec = Layer(None, np.zeros(3))
    dec.W = enc.W
    enc.step(x)
    dec.step(enc.h)
    return np.sum(dec.h)


@prog(r(3, 3), r(3))
def tied2(W, x):
    enc = Layer(W, np.zeros(3))
    dec = Layer(enc.W.T, np.zeros(3))
    enc.step(x)
    dec.step(enc.h)
    enc.step(dec.h)
    return np.sum(dec.h * enc.h)


@prog(r(3), r(3), r(3))
def data_dict(a, b, w):
    data = {"rows": [a.copy(), b.copy()], "W": w}
    for i in range(2):
        data["rows"][i] *= data["W"]
    data["rows"][1][0] += data["rows"][0][1]
    return np.sum(data["rows"][1] * data["W"])


@prog([r(3), r(3), r(3)], r(3))
def fields_unpacked(fields, x):
    rho, u, v = fields
    u[1:] += rho[1:] * v[:-1]
    v *= u
    rho -= 0.1 * u * x
    return np.sum(rho * v)


@prog(r(3))
def input_in_list(x):
    bufs = [x, x.copy()]
    bufs[1] += bufs[0]
    bufs[1][0] *= bufs[0][1]
    return np.sum(bufs[1])


class Node:
    def __init__(self, w, val, left=None, right=None):
        self.w = w
        self.val = val
        self.left = left
        self.right = right


@prog(r(3), r(3))
def tree_nodes(w, x):
    a = Node(w, x.copy())
    b = Node(w, x * 2.0)
    top = Node(w, np.zeros(3), a, b)
    top.left.val *= w
    top.val += top.left.val * top.right.val * top.w
    return np.sum(top.val)


def stepf(state, W, x):
    state[0][:] = np.tanh(W @ state[0] + x)
    state[1] += state[0]


@prog(r(3, 3), r(3))
def function_state(W, x):
    s1 = [np.zeros(3), np.zeros(3)]
    s2 = [np.ones(3), np.zeros(3)]
    for _ in range(2):
        stepf(s1, W, x)
        stepf(s2, W, s1[1])
    return np.sum(s2[1])


class Particle:
    def __init__(self, pos, vel, box):
        self.pos = pos
        self.vel = vel
        self.box = box

    def move(self, dt):
        self.pos += self.vel * dt
        self.vel -= self.pos * self.box


@prog(r(2, 2), r(2), 0.1)
def particles(X, box, dt):
    ps = [Particle(X[i].copy(), np.ones(2), box) for i in range(2)]
    for _ in range(2):
        for p in ps:
            p.move(dt)
    return np.sum(ps[0].pos * ps[1].pos)


@prog([Layer(r(3, 3), r(3)), Layer(r(3, 3), r(3))], r(3))
def given_layers(layers, x):
    for layer in layers:
        layer.h[:] = np.tanh(layer.W @ layer.h + x)
        x = layer.h * 1.0
    return np.sum(x)


_W = r(3, 3)


@prog([Layer(_W, r(3)), Layer(_W, r(3))], r(3))
def given_layers_shared(layers, x):
    for layer in layers:
        layer.h[:] = np.tanh(layer.W @ layer.h + x)
        x = layer.h * 1.0
    return np.sum(x)


@prog(Layer(_W, r(3)), Layer(_W, r(3)), r(3))
def given_objects_shared(a, b, x):
    a.step(x)
    b.step(a.h)
    return np.sum(b.h)


@prog(Layer(_W, r(3)), _W, r(3))
def given_object_and_W(a, W, x):
    a.step(x)
    return np.sum(W @ a.h)


@prog({"W": _W, "V": _W, "h": r(3)}, r(3))
def given_dict_twice(p, x):
    p["h"][:] = np.tanh(p["W"] @ p["h"] + p["V"] @ x)
    return np.sum(p["h"])


@prog(r(3, 3), r(3))
def closure(W, x):
    h = np.zeros(3)
    ws = [W, W]

    def step(i):
        h[:] = np.tanh(ws[i] @ h + x)

    step(0)
    step(1)
    return np.sum(h)


@prog(r(3, 3), r(3))
def same_list_twice(W, x):
    ws = [W, W, W]
    hs = [np.zeros(3), np.ones(3)]
    for i in range(2):
        hs[i][:] = np.tanh(ws[i] @ hs[i] + x)
        x = x + hs[i]
    return np.sum(hs[0] * hs[1])


@prog(r(3), r(3))
def history(x, w):
    state = {"h": x.copy(), "w": w}
    hist = []
    for _ in range(3):
        state["h"] *= state["w"]
        hist.append(state["h"].copy())
    return np.sum(hist[0] * hist[2])


@prog(r(3), r(3))
def history_alias(x, w):
    state = {"h": x.copy(), "w": w}
    hist = []
    for _ in range(3):
        state["h"] *= state["w"]
        hist.append(state["h"])
    return np.sum(hist[0] * hist[2])
