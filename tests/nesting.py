"""Programs that nest operators; test_nesting.py lets JAX run them, with its own in their place."""

import numpy as np

from s2sad import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp


def pull1(pull, y):
    """Return the one cotangent that a pullback gives."""
    return pull(y)


def ros(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def vec(x):
    return np.sin(x) * np.roll(x, 1) + x[0] * x


def net(p, x):
    return np.tanh(p["W"] @ x + p["b"])


def loss(p, x, y):
    return np.mean((net(p, x) - y) ** 2) + 0.01 * np.sum(p["W"] ** 2)


def par(x):
    return {"W": np.outer(x, x)[:2], "b": x[:2] * 0.5}


def trained(x):
    p = par(x)
    for i in range(3):
        g = grad(loss)(p, x, 0.3)
        p = {k: p[k] - 0.5 * g[k] for k in p}
    return loss(p, x, 0.1)


def with_momentum(x):
    p = par(x)
    m = {"W": 0.0 * p["W"], "b": 0.0 * p["b"]}
    for i in range(3):
        v, g = value_and_grad(loss)(p, x, 0.3)
        m = {k: 0.9 * m[k] + g[k] for k in m}
        p = {k: p[k] - 0.1 * m[k] * v for k in p}
    return loss(p, x, 0.1)


def gradient_of_gradients(x):
    return np.sum(grad(lambda y: np.sum(grad(lambda z: np.sum(z**3 * y * x))(y) ** 2))(x))


def tangent_of_a_gradient(x):
    return jvp(lambda y: np.sum(grad(ros)(y) * x), (x,), (np.cos(x),))[1]


def jacobian_of_a_gradient(x):
    return np.sum(jacobian(lambda y: grad(ros)(y) * x)(x) @ x)


def trace_of_a_hessian(x):
    return np.trace(hessian(lambda y: np.sum(np.sin(y * x)) ** 2)(x))


def gradient_of_a_pullback(x):
    y, pull = vjp(vec, x)
    return np.sum(grad(lambda t: np.sum(pull1(vjp(vec, t)[1], y)))(x) * x)


def by_the_rate(x):
    def inner(lr):
        w = x
        for _ in range(3):
            w = w - lr * grad(ros)(w) / 100
        return ros(w)

    return grad(inner)(0.01) + hessian(inner)(0.02)


def by_a_hyperparameter(x):
    def hyper(lam):
        w = np.zeros(4)
        for _ in range(4):
            w = w - 0.1 * grad(lambda v: np.sum((v - x) ** 2) + lam * np.sum(v**2))(w)
        return np.sum((w - 1) ** 2)

    lam = 0.5
    for _ in range(3):
        lam = lam - 0.1 * grad(hyper)(lam)
    return lam


def implicit(x):
    def F(z, a):
        return z**3 + z - a

    z = 0.5 * x
    for _ in range(8):
        z = z - F(z, x) / jvp(lambda t: F(t, x), (z,), (np.ones(4),))[1]
    return np.sum(z * z)


def newton(x):
    for _ in range(2):
        x = x - np.linalg.solve(hessian(ros)(x) + 50 * np.eye(4), grad(ros)(x))
    return ros(x)


def gauss_newton(x):
    J = jacobian(vec)(x)
    r = vec(x)
    return np.sum((x - np.linalg.solve(J.T @ J + np.eye(4), J.T @ r)) ** 2)


def log_determinant(x):
    return np.linalg.slogdet(np.eye(4) + 0.1 * jacobian(vec)(x))[1]


def product_with_a_hessian(x):
    return np.sum(hvp(lambda y: np.sum(y**4 * x), (x,), (vec(x),)))


def by_two(x):
    a, b = grad(lambda u, w: np.sum(u**2 * np.sin(w)), wrt=(0, 1))(x, x * x)
    return np.sum(a * b)


def with_aux(x):
    g, aux = grad(lambda y: (np.sum(y**3), {"h": y * x}), has_aux=True)(x)
    return np.sum(g * aux["h"])


def captured_in_a_loop(x):
    s = 0.0
    for i in range(4):
        s = s + x[i] * grad(lambda y: np.sin(y * x[i]))(x[i])
    return s


def leapfrog(x):
    def energy(q):
        return np.sum(q**4) / 4 + np.sum(q[1:] * q[:-1])

    q = x
    p = np.zeros(4)
    for _ in range(4):
        p = p - 0.05 * grad(energy)(q)
        q = q + 0.1 * p
        p = p - 0.05 * grad(energy)(q)
    return np.sum(q * p)


def lagrangian(x):
    def L(q, v):
        return 0.5 * np.sum(v**2) * (1 + q[0] ** 2) - np.sum(np.cos(q))

    q, v = x, np.cos(x)
    H = hessian(L, wrt=1)(q, v)
    C = jacobian(grad(L, wrt=1), wrt=0)(q, v)
    a = np.linalg.solve(H, grad(L, wrt=0)(q, v) - C @ v)
    return np.sum(a * a)


def third_order(x):
    u = lambda t: np.tanh(t * x[0]) + x[1] * t**3
    return grad(grad(grad(u)))(x[2]) + grad(grad(u))(x[3]) * grad(u)(x[0])


def heat_equation(x):
    def u(s, t):
        return np.sin(s * x[0]) * np.exp(-t * x[1])

    r = 0.0
    for i in range(3):
        s, t = 0.1 * i + x[2], 0.2 * i
        r = r + (grad(u, wrt=1)(s, t) - x[3] * grad(grad(u))(s, t)) ** 2
    return r


def physics_informed(x):
    def pde(w):
        def u(s):
            return np.sum(w * np.tanh(s * w))

        return sum((grad(grad(u))(0.1 * i) + u(0.1 * i)) ** 2 for i in range(3))

    return ros(x - 0.1 * grad(pde)(x))


def gradient_captured(x):
    f = lambda y: np.sum(np.exp(y * x[1]))
    v, g = value_and_grad(f)(x)
    v2, g2 = value_and_grad(lambda y: np.sum(y * g))(x)
    return v * v2 + np.sum(g2)


def tangents_of_tangents(x):
    y, dy = jvp(lambda a, b: a * np.sin(b), (x, x * x), (np.ones(4), x))
    z, dz = jvp(lambda a: np.sum(a * dy), (y,), (x,))
    return z * dz


def pulled_by_two(x):
    y, pull = vjp(lambda a, b: np.sin(a) * b, x, x * x)
    a, b = pull(np.cos(x))
    return np.sum(a * b * y)


def pulled_in_a_loop(x):
    w = x
    for _ in range(3):
        y, pull = vjp(vec, w)
        w = w - 0.05 * pull1(pull, y)
    return np.sum(w)


def conjugate_gradients(x):
    def f(w):
        return np.sum((vec(w) - 1) ** 2)

    d = -grad(f)(x)
    r = d
    w = 0.0 * x
    for _ in range(3):
        Hd = hvp(f, (x,), (d,)) + 0.5 * d
        al = np.sum(r * r) / np.sum(d * Hd)
        w = w + al * d
        rn = r - al * Hd
        d = rn + np.sum(rn * rn) / np.sum(r * r) * d
        r = rn
    return np.sum(w * w)


def jacobian_of_a_matrix(x):
    return np.sum(jacobian(lambda A: A @ A)(np.outer(x, x)[:2, :2]) ** 2)


def jacobian_of_a_jacobian(x):
    return np.sum(jacobian(lambda y: jacobian(vec)(y) @ x)(x))


def blocks_of_a_hessian(x):
    B = hessian(lambda q: np.sum(q["a"] ** 2) * q["b"] ** 3)({"a": x, "b": x[0]})
    return np.sum(B["a"]["a"]) + np.sum(B["a"]["b"] * x) + B["b"]["b"]


def in_a_branch(x):
    if ros(x) > 10.0:
        g = grad(ros)(x)
    else:
        g = grad(lambda y: np.sum(y))(x)
    return np.sum(g * g) / 1e4


def through_where(x):
    def f(y):
        return np.where(y > 0, y**3, -(y**2))

    return np.sum(jacobian(f)(x) @ x)


def clipped(x):
    def clipped(y):
        g = grad(ros)(y)
        n = np.sqrt(np.sum(g * g))
        return g * np.minimum(1.0, 5.0 / n)

    for _ in range(3):
        x = x - 0.1 * clipped(x)
    return ros(x)


def entropy(x):
    def ent(logits):
        p = np.exp(logits) / np.sum(np.exp(logits))
        return -np.sum(p * np.log(p))

    return np.sum(hessian(ent)(x) @ grad(ent)(x))


def captured_powers(x):
    tot = 0.0
    for k in range(1, 4):
        tot = tot + grad(lambda y: np.sum(y**k) * x[k])(x)[0]
    return tot


def lists_of_layers(x):
    ws = [x, x[::-1] * 0.5]

    def f(ws):
        return np.sum(np.tanh(ws[0] * np.tanh(ws[1])))

    for _ in range(2):
        g = grad(f)(ws)
        ws = [w - 0.3 * d for w, d in zip(ws, g)]
    return f(ws)


def adversarial(x):
    def adv(e):
        return np.sum(vec(x + e) ** 2)

    e = np.zeros(4)
    for _ in range(2):
        e = e + 0.1 * np.tanh(grad(adv)(e))
    return adv(e)


def scores(x):
    def score(t):
        return -0.5 * np.sum((t - x) ** 2) - 0.1 * np.sum(t**4)

    t = 0.0 * x
    for _ in range(3):
        t = t + 0.1 * grad(score)(t) + 0.01 * np.diag(hessian(score)(t))
    return np.sum(t**2)


def metric(x):
    def metric(q):
        J = jacobian(lambda r: np.sin(r) * r[0])(q)
        return J.T @ J + np.eye(4)

    dG = jacobian(metric)(x)
    return np.sum(dG * x)


def three_deep(x):
    def outer(a):
        def mid(b):
            def inn(c):
                return np.sin(a * b * c) * x[0]

            return grad(inn)(b) * a + jvp(inn, (a,), (b,))[1]

        return grad(mid)(a) * x[1] + hessian(mid)(x[2])

    return grad(outer)(x[3]) + jacobian(outer)(x[0])


def of_a_gradient_by_name(x):
    def u(s):
        return x[0] * np.sin(x[1] * s)

    def slope(s):
        return grad(u)(s)

    return grad(slope)(x[2]) * u(x[3])


def beside_what_it_captures(x):
    def u(s):
        return x[0] * np.sin(x[1] * s)

    def slope(s):
        return grad(u)(s) * u(x[1]) + u(s)

    return grad(slope)(x[2])


def of_lambdas(x):
    u = lambda s: x[0] * np.sin(x[1] * s)  # noqa: E731
    slope = lambda s: jvp(u, (s,), (1.0,))[1]  # noqa: E731
    return jvp(slope, (x[2],), (x[3],))[1]


def given_a_function(x):
    def second(f, s):
        return grad(grad(f))(s)

    return second(lambda s: x[0] * np.sin(x[1] * s), x[2]) * x[3]


def by_two_of_a_lambda(x):
    u = lambda s: x[0] * s**3  # noqa: E731
    v = lambda s, k: u(s) * x[1] * np.sin(k)  # noqa: E731
    blocks = hessian(v, wrt=(0, 1))(x[2], x[3])
    return blocks[0][1] * blocks[0][0]


def residual(x):
    def u(a, b):
        return x[0] * a**3 * b**2 * np.sin(x[1] * a)

    total = 0.0
    for a, b in [(x[2], 0.2), (0.1, x[3])]:
        u_a, u_b = grad(u, (0, 1))(a, b)
        u_aa = grad(lambda z: grad(u)(z, b))(a)  # noqa: B023
        total += (u_aa + u_a * u_b * u(a, b)) ** 2
    return total


PROGRAMS = [
    trained,
    with_momentum,
    gradient_of_gradients,
    tangent_of_a_gradient,
    jacobian_of_a_gradient,
    trace_of_a_hessian,
    gradient_of_a_pullback,
    by_the_rate,
    by_a_hyperparameter,
    implicit,
    newton,
    gauss_newton,
    log_determinant,
    product_with_a_hessian,
    by_two,
    with_aux,
    captured_in_a_loop,
    leapfrog,
    lagrangian,
    third_order,
    heat_equation,
    physics_informed,
    gradient_captured,
    tangents_of_tangents,
    pulled_by_two,
    pulled_in_a_loop,
    conjugate_gradients,
    jacobian_of_a_matrix,
    jacobian_of_a_jacobian,
    blocks_of_a_hessian,
    in_a_branch,
    through_where,
    clipped,
    entropy,
    captured_powers,
    lists_of_layers,
    adversarial,
    scores,
    metric,
    three_deep,
    of_a_gradient_by_name,
    beside_what_it_captures,
    of_lambdas,
    given_a_function,
    by_two_of_a_lambda,
    residual,
]
