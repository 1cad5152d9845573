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
def p77050(x, k):
    a = -x
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q, v in enumerate(x):
        d[f"x{q}"] = v
    e = {"u": s, "z": x[1]}
    def cap():
        return c[0] * k
    def cap2(z):
        return np.sum(b) * z + c[1]
    def capa():
        return a + 0.0
    s = cap2(k)
    d = d.copy()
    if k > s:
        t = cap()
    t = a.sum()
    a = c / 2
    a = np.concatenate([x[1:], b[:1]])
    t = sum(d.values())
    if c[0] > 0.5:
        b = capa()
        s = d["u"] * t
    else:
        a, c = c, b
        e = dict(d)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
