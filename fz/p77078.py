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
def p77078(x, k):
    a = x * k
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    def cap():
        return c[0] * c[2]
    def cap2(z):
        return np.sum(a) * z + c[1]
    def capa():
        return c + 0.0
    d = d.copy()
    if b[-1] > 0.1:
        c = capa()
        for i in range(2):
            t = cap()
            a = x
            e = {**d}
            t = cap2(s)
            if t > 0.7:
                break
            e["u"] += s
            b = np.concatenate([x[1:], c[:1]])
    else:
        a, b = b, a
    d, e = e, d
    a = a if x[1] > 0.2 else a
    a[:] = b
    d.update(e)
    if s > 0.1:
        a = b.copy()
        t = cap()
        d = d.copy()
    else:
        if k > 0.5:
            d = d.copy()
            c += x
        b = a[::-1]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
