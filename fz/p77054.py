import math
import numpy as np
class Obj:
    def __init__(self, v, s):
        self.v = v
        self.s = s
    def bump(self, c):
        self.v += c
        self.s = self.s * c
    def get(self):
        return self.v
    def new(self):
        self.v = self.v * self.s
def hid(z):
    return z
def hshift(z):
    return z - 0.5
def hput(z, c):
    z[1] = c * z[0]
    return z[2]
def hpick(z, w):
    if z[0] > w[0]:
        return z * 1.0
    return w + z
def hswap(z, w):
    return w, z
def p77054(x, k):
    a = -x
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    d = {"u": k}
    for q, v in enumerate(x):
        d[f"x{q}"] = v
    e = {"u": s, "z": x[1]}
    for i in range(2):
        if s > t:
            if k > 0.1:
                l, m = m, l
                s = d["u"] * s
                b = a + t
            else:
                c = np.tanh(x)
                d, e = e, d
        if a[-1] > 0.9:
            return c @ a + s
        if k > 0.9:
            return x @ b + s
        e = {q: w * t for q, w in d.items()}
        if a[i] > 0.7:
            break
        b[1:] = a[:-1]
    a = x[::-1]
    t = l.pop()
    a, c = c, a
    d = d.copy()
    s, t = t, s
    t = l.pop()
    c = -a
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1] + sum(d.values()) * k + sum(e.values())
