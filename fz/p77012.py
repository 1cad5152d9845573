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
def p77012(x, k):
    a = x + 0.1
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    d = {"u": k}
    for q, v in enumerate(x):
        d[f"x{q}"] = v
    e = {"u": s, "z": x[1]}
    i = 0
    while i < 3 and t < 2.0:
        t = x.sum()
        if s > 0.1:
            L = [q * s for q in L]
            if s > 0.5:
                b = np.where(b > 0.7, b, b)
                c[i] = x[1]
                s = sum(e.values()) * 0.4
            else:
                d["w"] = k
                t = l.pop()
        if k > x[-1]:
            l[0] = c[0]
        i += 1
    c[:] = x
    t = sum(e.values()) * 0.4
    if 0.7 > t:
        if c[0] > 0.1:
            b = L[-1]
        L[-1] += k
    else:
        a = b
    b = x / 2
    m.reverse()
    c = a[::-1]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1] + sum(d.values()) * k + sum(e.values())
