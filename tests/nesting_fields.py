"""Programs as people write them who learn, fit and simulate, with operators inside.

Meta-learning, implicit layers, losses with derivatives of networks in them, Hamiltonian dynamics,
Newton and Gauss-Newton steps, bilevel optimisation, Laplace approximations, scores, natural
gradients. test_nesting.py lets JAX run them, with its own operators in the place of these.
"""

from functools import partial

import numpy as np

from s2sad import grad, hessian, hvp, jacobian, jvp, ravel, tree_map, value_and_grad


def pull1(pull, y):
    return pull(y)


def ros(x):
    return np.sum(10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def vec(x):
    return np.sin(x) * np.roll(x, 1) + x[0] * x


def mlp(p, x):
    h = np.tanh(p["w1"] @ x + p["b1"])
    return p["w2"] @ h + p["b2"]


def mse(p, x, y):
    return np.mean((mlp(p, x) - y) ** 2)


def par(x):
    w1, w2 = np.outer(x, np.cos(x))[:3], np.outer(x, x)[:2, :3]
    return {"w1": w1, "b1": x[:3] * 0.1, "w2": w2, "b2": x[:2]}


def maml(x):
    p = par(x)

    def task_loss(p, t):
        return mse(p, x * t, np.array([1.0, -1.0]) * t)

    total = 0.0
    for t in [0.5, 1.0, 1.5]:
        g = grad(task_loss)(p, t)
        q = tree_map(lambda a, b: a - 0.1 * b, p, g)
        total = total + task_loss(q, t)
    return total


def inner_loop(x):
    p = par(x)
    lr = 0.1
    for _ in range(3):
        g = grad(mse)(p, x, 0.3)
        p = tree_map(lambda a, b: a - lr * b, p, g)
    return mse(p, x, 0.1)


def adapt(loss, p, lr, steps):
    for _ in range(steps):
        p = tree_map(lambda a, b: a - lr * b, p, grad(loss)(p))
    return p


def adapted(x):
    q = adapt(lambda p: mse(p, x, 0.3), par(x), 0.05, 2)
    return mse(q, x, 0.2)


def tuple_params(x):
    def loss(p):
        w, b = p
        return np.sum((np.tanh(w @ x) + b) ** 2)

    p = (np.outer(x, x), x * 0.5)
    for _ in range(2):
        p = tree_map(lambda a, b: a - 0.1 * b, p, grad(loss)(p))
    return loss(p)


def layers_list(x):
    def forward(ps, h):
        for w, b in ps:
            h = np.tanh(w @ h + b)
        return h

    def loss(ps):
        return np.sum(forward(ps, x) ** 2)

    ps = [(np.outer(x, x) * 0.3, x), (np.outer(x, np.sin(x)), 0.1 * x)]
    for _ in range(2):
        ps = tree_map(lambda a, b: a - 0.1 * b, ps, grad(loss)(ps))
    return loss(ps)


def momentum(x):
    p = par(x)
    m = tree_map(lambda a: 0.0 * a, p)
    for i in range(3):
        g = grad(mse)(p, x, 0.3)
        m = tree_map(lambda u, v: 0.9 * u + v, m, g)
        p = tree_map(lambda a, u: a - 0.05 * u, p, m)
    return mse(p, x, 0.1)


def adam(x):
    p = {"a": x, "b": np.sum(x)}

    def loss(p):
        return np.sum((p["a"] - 1.0) ** 2) * p["b"] ** 2 + np.sum(np.sin(p["a"]))

    m = tree_map(lambda a: 0.0 * a, p)
    v = tree_map(lambda a: 0.0 * a, p)
    for i in range(1, 4):
        g = grad(loss)(p)
        m = tree_map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree_map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
        a, b = 1 - 0.9**i, 1 - 0.99**i
        p = tree_map(lambda q, u, w: q - 0.1 * (u / a) / (np.sqrt(w / b) + 1e-3), p, m, v)
    return loss(p)


def raveled(x):
    p = {"w": np.outer(x, x), "b": x}

    def loss(p):
        return np.sum(np.tanh(p["w"] @ x + p["b"]) ** 2)

    v, unravel = ravel(p)
    g = grad(lambda u: loss(unravel(u)))(v)
    return np.sum(g * v) + loss(unravel(v - 0.1 * g))


def newton_solve(f, df, x0, n):
    x = x0
    for _ in range(n):
        x = x - f(x) / df(x)
    return x


def newton_by_args(x):
    a = np.sum(x * x)
    g = lambda z: z**3 + a * z - 2.0
    r = newton_solve(g, grad(g), 1.0, 6)
    return r * r * np.sum(x)


def loop_of_functions(x):
    g = lambda y: np.sum(np.sin(y) * y)
    h = lambda y: np.sum(y**3)
    s = 0.0
    for f in [g, h, ros]:
        s = s + np.sum(grad(f)(x) ** 2)
    return s


def jac_assigned(x):
    J = jacobian(vec)
    A = J(x)
    return np.linalg.slogdet(np.eye(4) * 3 + A @ A.T)[1] + np.sum(J(x * 0.5))


def partial_grad(x):
    def f(a, w):
        return np.sum(a * np.sin(w * a))

    df = partial(grad(f), x)
    return np.sum(df(x * x) ** 2)


def grad_partial(x):
    def f(a, w):
        return np.sum(a * np.sin(w * a))

    df = grad(partial(f, x))
    return np.sum(df(x * x) ** 2)


def two_levels(x):
    def make(a):
        def inner(b):
            def innermost(c):
                return np.sum(np.sin(a * b * c))

            return innermost

        return inner

    f = make(x)(x * x)
    return np.sum(grad(f)(np.cos(x)) ** 2)


def hamiltonian(x):
    m = x[3] ** 2 + 1.0

    def H(q, p):
        return np.sum(p**2) / (2 * m) + 0.25 * np.sum(q**4) + q[0] * q[1]

    q, p = x[:2], x[2:]
    for _ in range(5):
        p = p - 0.05 * grad(H, 0)(q, p)
        q = q + 0.1 * grad(H, 1)(q, p)
        p = p - 0.05 * grad(H, 0)(q, p)
    return H(q, p) + np.sum(q)


def ham_rk4(x):
    def H(z):
        return 0.5 * z[1] ** 2 + 0.25 * z[0] ** 4 + x[2] * np.cos(z[0])

    J = np.array([[0.0, 1.0], [-1.0, 0.0]])

    def field(z):
        return J @ grad(H)(z)

    z = x[:2]
    h = 0.1
    for _ in range(3):
        k1 = field(z)
        k2 = field(z + 0.5 * h * k1)
        k3 = field(z + 0.5 * h * k2)
        k4 = field(z + h * k3)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(z**2)


def pinn(x):
    def u(w, s):
        return np.sum(w[:2] * np.tanh(w[2:] * s))

    def residual(w, s):
        u_xx = grad(grad(u, 1), 1)(w, s)
        return u_xx + u(w, s) ** 2 - np.sin(s)

    total = 0.0
    for s in [0.1, 0.4, 0.9]:
        total = total + residual(x, s) ** 2
    return total


def burgers(x):
    p = {"w": x, "v": np.cos(x)}

    def u(p, s, t):
        return np.sum(p["v"] * np.tanh(p["w"] * s + t))

    u_s = grad(u, 1)
    u_ss = grad(u_s, 1)
    u_t = grad(u, 2)
    r = 0.0
    for i in range(3):
        s, t = 0.2 * i, 0.3 * i
        r = r + (u_t(p, s, t) + u(p, s, t) * u_s(p, s, t) - 0.01 * u_ss(p, s, t)) ** 2
    return r


def laplacian(x):
    def u(z):
        return np.sum(np.tanh(np.outer(x, z)) ** 2)

    return np.trace(hessian(u)(np.array([0.3, -0.2])))


def laplace(x):
    def nlp(t):
        return 0.5 * np.sum((t - x) ** 2) + 0.1 * np.sum(t**4)

    t = x
    for _ in range(3):
        t = t - np.linalg.solve(hessian(nlp)(t), grad(nlp)(t))
    H = hessian(nlp)(t)
    return -nlp(t) - 0.5 * np.linalg.slogdet(H)[1]


def score_matching(x):
    def logp(z, th):
        return -0.5 * np.sum(th[:2] * z**2) + th[2] * np.sin(z[0] * z[1])

    score = grad(logp)
    data = np.array([[0.1, 0.2], [0.5, -0.3], [1.0, 0.4]])
    J = 0.0
    for z in data:
        s = score(z, x)
        J = J + np.trace(jacobian(score)(z, x)) + 0.5 * np.sum(s * s)
    return J / 3


def stein(x):
    def logp(z):
        return -0.5 * np.sum((z - x[:2]) ** 2) - 0.1 * np.sum(z**4)

    def k(a, b):
        return np.exp(-0.5 * np.sum((a - b) ** 2))

    pts = [x[:2], x[2:], np.array([0.1, 0.2])]
    tot = 0.0
    for a in pts:
        phi = np.zeros(2)
        for b in pts:
            phi = phi + k(b, a) * grad(logp)(b) + grad(k)(b, a)
        tot = tot + np.sum(phi**2)
    return tot


def natural_gradient(x):
    def logits(w):
        return np.array([[1.0, 0.5], [-0.3, 1.0], [0.2, 0.8]]) @ w[:2] * w[2] + w[3]

    def loss(w):
        return np.sum((logits(w) - 1.0) ** 2)

    J = jacobian(logits)(x)
    F = J.T @ J + 0.1 * np.eye(4)
    d = np.linalg.solve(F, grad(loss)(x))
    return loss(x - 0.5 * d)


def bilevel(x):
    def inner(w, lam):
        return np.sum((w - x[:2]) ** 2) + lam * np.sum(np.cosh(w))

    def outer(lam):
        w = np.zeros(2)
        for _ in range(5):
            w = w - 0.2 * grad(inner)(w, lam)
        return np.sum((w - x[2:]) ** 2)

    v, dl = value_and_grad(outer)(0.3)
    return outer(0.3 - 0.1 * dl) + v


def deq(x):
    def layer(z, a):
        return np.tanh(0.3 * z + a)

    z = np.zeros(4)
    for _ in range(8):
        z = layer(z, x)
    J = jacobian(layer)(z, x)
    return np.sum(np.linalg.solve(np.eye(4) - J.T, z))


def deq_while(x):
    def g(z):
        return z - np.cos(x * z)

    z = np.ones(4) * 0.5
    n = 0
    while n < 6:
        z = z - np.linalg.solve(jacobian(g)(z), g(z))
        n += 1
    return np.sum(z**2)


def lm(x):
    t = np.array([0.0, 0.5, 1.0, 1.5, 2.0])

    def res(p):
        return p[0] * np.exp(-p[1] * t) + p[2] - x[3] * np.cos(t)

    p = x[:3]
    mu = 0.1
    for _ in range(3):
        r = res(p)
        J = jacobian(res)(p)
        step = np.linalg.solve(J.T @ J + mu * np.eye(3), J.T @ r)
        new = p - step
        if np.sum(res(new) ** 2) < np.sum(r**2):
            p = new
            mu = mu * 0.5
        else:
            mu = mu * 2.0
    return np.sum(p**2)


def trajectory(x):
    path = []
    w = x
    for _ in range(4):
        w = w - 0.01 * grad(ros)(w)
        path.append(w)
    return sum([np.sum(w**2) for w in path])


def vg_dict(x):
    p = {"a": x, "b": x[0]}

    def loss(p):
        return np.sum(p["a"] ** 2) * p["b"]

    v, g = value_and_grad(loss)(p)
    return v + np.sum(g["a"]) * g["b"]


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, q):
        return np.sum(np.tanh(self.w * q) ** 2)


def bound_method(x):
    m = Model(x * 2)
    return np.sum(grad(lambda q: m.energy(q * x))(x) ** 2) + grad(lambda s: m.energy(s * x))(0.5)


def hvp_by_hand(x):
    v = np.cos(x)
    return np.sum(grad(lambda y: np.sum(grad(ros)(y) * v))(x) ** 2) / 100


def hutchinson(x):
    vs = [np.array([1.0, -1.0, 1.0, 1.0]), np.array([-1.0, -1.0, 1.0, -1.0])]
    t = 0.0
    for v in vs:
        y, dy = jvp(vec, (x,), (v,))
        t = t + np.sum(v * dy)
    return t / 2


def flow(x):
    def layer(z, a):
        return z + 0.3 * np.tanh(a * z)

    z = np.array([0.2, -0.4, 0.1, 0.8])
    ld = 0.0
    for k in range(3):
        J = jacobian(layer)(z, x * (k + 1))
        ld = ld + np.linalg.slogdet(J)[1]
        z = layer(z, x * (k + 1))
    return -0.5 * np.sum(z * z) + ld


def gradient_penalty(x):
    def critic(w, z):
        return np.sum(np.tanh(w * z) * w)

    pen = 0.0
    for i in range(3):
        z = np.cos(np.arange(4.0) + i)
        g = grad(critic, wrt=1)(x, z)
        pen = pen + (np.sqrt(np.sum(g**2)) - 1.0) ** 2
    return pen


def comprehension(x):
    return sum([np.sum(grad(lambda y: np.sum(y**k))(x)) for k in (2, 3)])


def jac_grad(x):
    H = jacobian(grad(ros))(x)
    return np.trace(H) + np.sum(H @ x)


def geodesic(x):
    def metric(q):
        return np.array([[1.0 + q[0] ** 2, q[0] * q[1]], [q[0] * q[1], 1.0 + q[1] ** 2]])

    def acc(q, v):
        dG = jacobian(metric)(q)
        G = metric(q)
        lower = np.einsum("kij,i,j->k", np.transpose(dG, (0, 1, 2)), v, v)
        force = np.einsum("kji,i,j->k", dG, v, v) - 0.5 * np.einsum("ijk,i,j->k", dG, v, v)
        return -np.linalg.solve(G, force) + 0.0 * lower

    q, v = x[:2], x[2:]
    for _ in range(3):
        a = acc(q, v)
        q = q + 0.1 * v
        v = v + 0.1 * a
    return np.sum(q**2)


def descend(df, x, n):
    for _ in range(n):
        x = x - 0.01 * df(x)
    return x


def op_as_arg(x):
    return np.sum(descend(grad(ros), x, 3) ** 2)


def nested_tree(x):
    p = {"enc": {"w": np.outer(x, x), "b": x}, "dec": {"w": np.outer(x, np.cos(x))}}

    def loss(p):
        h = np.tanh(p["enc"]["w"] @ x + p["enc"]["b"])
        return np.sum((p["dec"]["w"] @ h - x) ** 2)

    for _ in range(2):
        g = grad(loss)(p)
        p = tree_map(lambda a, b: a - 0.01 * b, p, g)
    return loss(p)


def ntk(x):
    def f(w, z):
        return np.sum(w[:2] * np.tanh(w[2:] * z))

    zs = np.array([0.1, 0.5, 0.9])
    J = np.stack([grad(f)(x, z) for z in zs])
    K = J @ J.T + np.eye(3)
    y = np.sin(zs)
    return y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1]


def influence(x):
    def f(w):
        return np.sum(np.log(np.cosh(w * x))) + 0.5 * np.sum(w**2)

    w = np.ones(4) * 0.3
    b = grad(f)(w)
    z = np.zeros(4)
    r = b
    p = r
    for _ in range(3):
        Ap = hvp(f, (w,), (p,))
        a = (r @ r) / (p @ Ap)
        z = z + a * p
        rn = r - a * Ap
        p = rn + (rn @ rn) / (r @ r) * p
        r = rn
    return b @ z


def sgd_data(x):
    xs = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.2]])
    ys = np.array([1.0, 0.0, 1.0])
    w = x[:2]

    def loss(w, a, y):
        return (np.tanh(a @ w) - y) ** 2 * x[2]

    for a, y in zip(xs, ys):
        w = w - 0.1 * grad(loss)(w, a, y)
    return np.sum(w * w)


def halley(x):
    f = lambda z: z**3 - np.sum(x * x)
    df = grad(f)
    ddf = grad(df)
    z = 1.5
    for _ in range(4):
        z = z - 2 * f(z) * df(z) / (2 * df(z) ** 2 - f(z) * ddf(z))
    return z * x[0]


PROGRAMS = [
    maml,
    inner_loop,
    adapted,
    tuple_params,
    layers_list,
    momentum,
    adam,
    raveled,
    newton_by_args,
    loop_of_functions,
    jac_assigned,
    partial_grad,
    grad_partial,
    two_levels,
    hamiltonian,
    ham_rk4,
    pinn,
    burgers,
    laplacian,
    laplace,
    score_matching,
    stein,
    natural_gradient,
    bilevel,
    deq,
    deq_while,
    lm,
    trajectory,
    vg_dict,
    bound_method,
    hvp_by_hand,
    hutchinson,
    flow,
    gradient_penalty,
    comprehension,
    jac_grad,
    geodesic,
    op_as_arg,
    nested_tree,
    ntk,
    influence,
    sgd_data,
    halley,
]
