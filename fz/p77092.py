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
def p77092(x, k):
    a = x
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(c) * z + a[1]
    def capa():
        return c[::-1]
    if 0.7 > 0.5:
        t = sum(e.values()) * 0.4
    else:
        d.update(e)
    if s > 0.7:
        i = 0
        while i < 3 and k < 2.0:
            s = cap2(s)
            b = capa()
            t = cap()
            i += 1
    else:
        b = capa()
    for i in range(len(x)):
        if a[i] > 0.1:
            s = cap2(0.7)
        else:
            d["w"] = k
        if s > 0.1:
            if s > 0.1:
                s = a.sum()
                a[:2] *= b[1:]
                d["v"] = b[-1]
        else:
            s = cap()
            b = np.where(x > b[-1], x, c)
        if 0.7 > 0.7:
            break
        c = np.tanh(c)
    i = 0
    while i < 3 and t < 2.0:
        if 0.7 > 0.5:
            a = b[::-1]
        else:
            t = cap()
        i += 1
    t = sum(d.values())
    for i in range(len(x)):
        d["v"] = x[i]
        t = cap()
        t = b.sum()
        s = cap2(s)
    t = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
