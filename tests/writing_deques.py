"""Programs with deques: windows, queues and stacks."""

from collections import deque

import numpy as np

from tests.writing_lazy import A5, B5, A, B

PROGRAMS = []


def two(f):
    PROGRAMS.extend((f, args) for args in ((A, B), (A5, B5)))
    return f


@two
def win_sum(x, y):
    w = deque(maxlen=2)
    s = 0.0
    for a, b in zip(x, y):
        w.append(a * b)
        s += sum(w) / len(w) * b
    return s


@two
def win_arr(x, y):
    w = deque([0.0] * 3, maxlen=3)
    s = 0.0
    for a in x:
        w.append(a)
        s += np.dot(np.array(w), y[:3]) ** 2
    return s


@two
def win_left(x, y):
    w = deque([0.0, 0.0], maxlen=2)
    s = 0.0
    for a in x:
        w.appendleft(a)
        s += w[0] * y[0] + w[1] * y[1] * w[0]
    return s


@two
def queue(x, y):
    q = deque([x[0], y[0]])
    s = 0.0
    for k in range(4):
        v = q.popleft()
        s += v * v * k
        q.append(v * 0.5 + q[0] * y[1])
    return s + q[-1]


@two
def stack(x, y):
    q = deque(x)
    s = 0.0
    while q:
        s = s * q.pop() + y[0]
    return s


@two
def whileq(x, y):
    q = deque()
    for a in x:
        q.append(a * y[0])
    s = 0.0
    while q:
        s = s * 0.5 + q.popleft()
    return s


@two
def dq_iter(x, y):
    q = deque(a * b for a, b in zip(x, y))
    s = 0.0
    for k, v in enumerate(q):
        s += v * v * k
    return s + max(q)


@two
def dq_mean(x, y):
    q = deque(maxlen=2)
    out = []
    for a in x:
        q.append(a)
        out.append(np.mean(q))
    return np.dot(out, y)


@two
def dq_mem(x, y):
    q = deque([x], maxlen=3)
    for k in range(5):
        q.append(q[-1] * y + 0.1 * q[0])
    return np.sum(np.array(q) ** 2)


@two
def dq_list(x, y):
    q = deque(maxlen=2)
    for a in x:
        q.append(a * y[0])
    return list(q)[0] * q[1]


@two
def dq_set(x, y):
    q = deque(x)
    q[0] = q[1] * y[0]
    return q[0] * q[1]


@two
def dq_full(x, y):
    q = deque(maxlen=2)
    s = 0.0
    for a in x:
        q.append(a)
        if len(q) == q.maxlen:
            s += q[0] * q[1] * y[0]
    return s


@two
def dq_inactive(x, y):
    q = deque([0, 1])
    s = 0.0
    while q:
        i = q.popleft()
        s += x[i] * y[i]
        if i < 1:
            q.append(2)
    return s


@two
def dq_rev(x, y):
    q = deque(x)
    s = 0.0
    for v in reversed(q):
        s = s * v + y[0]
    return s


@two
def lbfgs(x, y):
    S = deque(maxlen=2)
    z = x
    for k in range(4):
        zn = z - 0.1 * z * y
        S.append((zn - z, zn * y))
        z = zn
    r = 0.0
    for s, t in S:
        r += np.dot(s, t)
    return r


@two
def longer_than_it_may_be(x, y):
    n = 2
    q = deque([a * a for a in x], maxlen=n)
    n = 5
    q.extend([y[0] * x[0], y[1], x[2]])
    return q[0] * q[1] * len(q) + n


@two
def moving_average(x, y):
    q = deque([0.0] * 2, 2)
    out = []
    for a in x:
        q.appendleft(a)
        out.append((q[0] - q[-1]) / q.maxlen)
    return np.sum(np.array(out) * y)
