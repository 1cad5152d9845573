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
def p77060(x, k):
    a = x + 0.1
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k, "v": x[2]}
    e = {"u": s, "z": x[1]}
    b[0] += s
    if t > 0.1:
        d.update(e)
        s = d["u"] * s
        a = -x
    else:
        t = sum(d.values())
        c = x[[2, 0, 1]]
    if k > 0.7:
        for i in range(3):
            e = d
            d[f"n{len(d)}"] = c[1]
    else:
        if k > 0.9:
            return b @ a + k
        b = b + k
    c = x[::-1]
    d, e = e, d
    for i in range(len(x)):
        s = c @ a * 0.3
        d["w"] = t
    a, c = c, x
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
