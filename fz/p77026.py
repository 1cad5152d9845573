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
def p77026(x, k):
    a = -x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    d = {"u": k, "v": x[2]}
    e = {"u": s, "z": x[1]}
    d[f"n{len(d)}"] = k
    d["u"] = k
    for i in range(3):
        t = l.pop()
        L[0][1] = t
        if 0.7 > 0.9:
            return x @ x + 0.7
        if 0.7 > 0.9:
            return c @ x + k
        if s > t:
            continue
        c = c[::-1]
        t = math.tanh(k)
    c[:] = x
    s = l[-1] * s
    t = sum(d.values())
    e = dict(d)
    s = a.sum()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1] + sum(d.values()) * k + sum(e.values())
