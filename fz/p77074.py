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
def p77074(x, k):
    a = x * k
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    s = x[0] * 0.7
    s = math.tanh(k)
    if a[1] > 0.1:
        for i in range(3):
            c = np.where(c > k, c, c)
            e = dict(d)
            e = {q: w * k for q, w in d.items()}
            b -= s * x
            if k > k:
                continue
            e = {**d}
            a = np.concatenate([x[1:], c[:1]])
        if x[-1] > 0.9:
            return c @ a + 0.7
        d[f"n{len(d)}"] = k
    if s > 0.5:
        d, e = e, d
        c -= t * a
    b[c > s] = t
    c = a + 0.0
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
