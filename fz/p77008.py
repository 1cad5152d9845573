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
def p77008(x, k):
    a = -x
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    def cap():
        return b[0] * b[2]
    def cap2(z):
        return np.sum(c) * z + b[1]
    def capa():
        return a[::-1]
    a = np.concatenate([c[1:], x[:1]])
    s = cap2(t)
    if s > k:
        s = cap()
        for i in range(len(x)):
            c += b
            d[f"n{len(d)}"] = t
            a = b / 2
            if 0.7 > s:
                break
            t = cap()
            e = {**d}
        for i in range(3):
            s = cap()
            a = x * k
            a = np.where(c > 0.7, c, c)
            s += s
            if b[2] > t:
                break
            e = dict(d)
            a = b + a[i]
    else:
        b = capa()
    s = cap2(x[2])
    t = cap2(t)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
