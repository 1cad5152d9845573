"""Programs with objects of different classes in one list, or chosen by a branch.

Each is checked by tests/test_writes_containers.py.
"""

import functools

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, -1.3, 0.4])
W = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.25]])
V = np.ascontiguousarray(W.T * 0.7 + 0.1)


class Layer:
    def __call__(self, x):
        return self.forward(x)


class Dense(Layer):
    def __init__(self, W, b):
        self.W = W
        self.b = b

    def forward(self, x):
        return self.W @ x + self.b


class Linear(Layer):
    def __init__(self, W):
        self.W = W

    def forward(self, x):
        return self.W @ x


class Tanh(Layer):
    def forward(self, x):
        return np.tanh(x)


class Softplus(Layer):
    def forward(self, x):
        return np.log1p(np.exp(x))


class Scale(Layer):
    def __init__(self, k):
        self.k = k

    def forward(self, x):
        return self.k * x


class Centred(Layer):
    """It remembers the mean of what it has seen."""

    def __init__(self):
        self.mean = 0.0
        self.last = None

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * np.mean(x)
        self.last = x - self.mean
        return self.last * 1.5


class Net(Layer):
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def loss(self, x, y):
        return np.sum((self.forward(x) - y) ** 2)


class Chain(Layer):
    def __init__(self, *layers):
        self.layers = layers

    def forward(self, x):
        return functools.reduce(lambda a, layer: layer(a), self.layers, x)


class Grown:
    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)
        return self

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


@prog(W, V, X)
def layers_made_here(W, V, x):
    layers = [Linear(W), Tanh(), Dense(V, x), Softplus()]
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


@prog([Dense(W, X), Tanh(), Linear(V), Scale(0.4)], X)
def layers_given(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return np.sum(x)


@prog((Tanh(), Dense(W, X), Linear(V), Scale(0.4)), X)
def layers_in_a_tuple(layers, x):
    for i, layer in enumerate(layers):
        x = layer(x) * (i + 1.0)
    return np.sum(x * x)


@prog(Net([Dense(W, X), Tanh(), Linear(V)]), X, X * 0.5)
def held_by_a_net(net, x, y):
    return net.loss(x, y) * np.sum(net(2.0 * x))


@prog(W, V, X)
def held_by_a_net_made_here(W, V, x):
    net = Net([Linear(W), Softplus(), Dense(V, x)])
    return net.loss(x, x * x)


@prog(Chain(Linear(W), Chain(Tanh(), Dense(V, X)), Net([Softplus()])), X)
def nets_in_nets(net, x):
    return np.sum(net(x) ** 2)


@prog(W, V, X)
def layers_added(W, V, x):
    net = Grown()
    net.add(Linear(W)).add(Tanh())
    net.add(Dense(V, x))
    return np.sum(net(x))


@prog([Centred(), Linear(W), Centred(), Tanh()], X)
def layers_with_a_memory(layers, x):
    for layer in layers:
        x = layer(x)
    for layer in reversed(layers):
        x = layer(x)
    return np.sum(x * x) + layers[0].mean * layers[2].mean


@prog(W, X)
def layers_with_a_memory_made_here(W, x):
    layers = [Linear(W), Centred(), Tanh(), Centred()]
    for _ in range(2):
        for layer in layers:
            x = layer(x)
    return np.sum(x * x) * layers[1].mean


@prog([Dense(W, X), Tanh(), Linear(V), Scale(0.4)], X)
def the_last_layer_apart(layers, x):
    for layer in layers[:-1]:
        x = layer(x)
    *body, last = layers
    for i in range(len(body)):
        x = layers[i](x)
    return np.sum(last(x)) * last.k


@prog([Dense(W, X), Tanh(), Linear(V), Scale(0.4)], X)
def penalised(layers, x):
    penalty = 0.0
    for layer in layers:
        x = layer(x)
        if isinstance(layer, Dense | Linear):
            penalty += np.sum(layer.W**2)
        if isinstance(layer, Dense):
            penalty += np.sum(layer.b**4)
        elif hasattr(layer, "k"):
            penalty *= layer.k
    return np.sum(x * x) + 0.1 * penalty


# models chosen by a branch


class Growth:
    def __init__(self, rate):
        self.rate = rate

    def slope(self, y):
        return self.rate * y


class Logistic:
    def __init__(self, rate, capacity):
        self.rate = rate
        self.capacity = capacity

    def slope(self, y):
        return self.rate * y * (1.0 - y / self.capacity)


def model_of(kind, rate):
    if kind == "growth":
        return Growth(rate)
    return Logistic(rate, 2.0 + rate)


@prog(0.3, 0.7)
def chosen_by_an_expression(rate, y):
    model = Growth(rate) if y > 1.0 else Logistic(rate, y * 3.0)
    for _ in range(3):
        y = y + 0.1 * model.slope(y)
    return y * model.rate


@prog(0.3, X)
def chosen_in_a_loop(rate, ys):
    total = 0.0
    for y in ys:
        if y > 0:
            model = Growth(rate * y)
        else:
            model = Logistic(rate, y)
        total += model.slope(y) * total + model.rate
    return total


@prog(0.3, 0.7)
def made_by_name(rate, y):
    a, b = model_of("growth", rate), model_of("logistic", rate * y)
    return a.slope(y) * b.slope(y)


@prog([Growth(0.3), Logistic(0.2, 1.5)], X)
def summed_over_models(models, ys):
    total = sum(m.slope(ys[0]) for m in models) * sum([m.rate for m in models])
    for i in range(3):
        total += models[i % 2].slope(ys[i])
    return total


def stepped(model, y, h):
    return y + h * model.slope(y)


def rescaled(model, factor):
    model.rate = model.rate * factor
    return model


@prog([Growth(0.3), Logistic(0.2, 1.5)], X)
def models_given_to_functions(models, ys):
    y = ys[0]
    for model, h in zip(models, ys, strict=False):
        y = stepped(model, y, h)
        rescaled(model, y)
    return y * models[0].rate * stepped(models[1], y, 0.1)


@prog({"a": Growth(0.3), "b": Logistic(0.2, 1.5)}, 0.7)
def models_in_a_dict(models, y):
    for model in models.values():
        y = stepped(model, y, 0.1)
    return models["a"].slope(y) * models["b"].capacity


# names that go from class to class


class Fixed:
    def __init__(self, k):
        self.k = k

    def f(self, x):
        return self.k * x

    def set(self, v):
        self.k = v


class Scaled:
    def __init__(self, k, m):
        self.k = k
        self.m = m

    def f(self, x):
        return self.k * x * self.m

    def set(self, v):
        self.m = v * self.k


class Shifted(Fixed):
    def f(self, x):
        return super().f(x) + self.k


class Holder:
    def __init__(self, m):
        self.m = m

    def go(self, x):
        return self.m.f(x)


@prog(0.3, 0.7)
def bound_anew_in_a_loop(p, x):
    m, s = Fixed(p), 0.0
    for i in range(4):
        s = s + m.f(x)
        m = Scaled(m.k, s) if i % 2 == 0 else Fixed(s * m.k)
    return s


@prog([Fixed(0.3), Scaled(0.2, 0.5), Shifted(0.4)], 0.7)
def backward_and_by_slices(ms, x):
    ms[1] = Fixed(x * ms[0].k)
    for m in reversed(ms):
        m.set(x * m.k)
        x = m.f(x)
    for m in ms[::-1]:
        x = x + m.f(x)
    return x


@prog([Fixed(0.3), Scaled(0.2, 0.5)], X)
def left_early(ms, xs):
    s = 0.0
    for x in xs:
        for m in ms:
            s = s + m.f(x)
            if s > 0.25:
                break
            m.set(s + 1.0)
        else:
            s = s * 2.0
    return s


@prog([Fixed(0.3), Scaled(0.2, 0.5)], X)
def asked_in_a_test(ms, xs):
    s = 0.0
    for i in range(3):
        for m in ms:
            if m.f(xs[i]) > 0.1:
                s = s + m.f(xs[0]) * m.k
                m.set(s)
            elif m.f(xs[i]) < -0.1:
                s = s - m.k
            else:
                s = s * 2.0 + m.k
    return s


@prog(0.3, 0.7)
def held_and_replaced(p, x):
    h, s = Holder(Fixed(p)), 1.0
    for i in range(3):
        s = s * h.go(x)
        h.m = Scaled(p, s) if i == 0 else Fixed(s)
    return s * h.go(x)


@prog([Holder(Fixed(0.3)), Holder(Scaled(0.2, 0.5))], X)
def holders_of_others(hs, xs):
    s = xs[0]
    for x in xs:
        for h in hs:
            s = h.go(s) + x
    return s


@prog(0.3, 0.7)
def the_best_of_several(p, x):
    ms = [Fixed(p), Scaled(p, x), Shifted(x)]
    best = None
    for m in ms:
        v = m.f(x)
        if best is None or v > best:
            best = v
    j = int(np.argmax([m.f(x) for m in ms]))
    return best * ms[j].f(x) * ms[j - 1].k


@prog([[Fixed(0.3), Scaled(0.2, 0.5)], [Scaled(0.1, 0.3), Fixed(0.4)]], 0.7)
def lists_of_lists(mss, x):
    for ms in mss:
        for m in ms:
            x = m.f(x) + x
    return x
