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
def p77004(x, k):
    a = x * k
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q, v in enumerate(x):
        d[f"x{q}"] = v
    e = {"u": s, "z": x[1]}
    i = 0
    while i < 3 and k < 2.0:
        c[2] += k
        i += 1
    b[:2] *= x[1:]
    b = np.sin(a) + a
    if k > s:
        if t > 0.5:
            a *= 0.7
            d, e = e, d
            e["u"] += k
    else:
        b = a + 0.0
    b, c = c, b
    e = {**d}
    c = np.where(x > t, x, a)
    c += x
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
