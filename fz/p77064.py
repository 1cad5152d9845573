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
def p77064(x, k):
    a = -x
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k, "v": x[2]}
    e = {"u": s, "z": x[1]}
    def cap():
        return a[0] * a[2]
    def cap2(z):
        return np.sum(c) * z + a[1]
    def capa():
        return b[::-1]
    if k > 0.7:
        s = cap()
    else:
        b = capa()
    t = cap2(s)
    e = dict(d)
    c += c
    t = d["u"] * k
    if a[-1] > k:
        if k > 0.5:
            s = cap()
            b = capa()
        else:
            t = cap2(t)
            t = cap2(k)
        if s > 0.5:
            a[x > 0.7] = k
            if s > 0.5:
                c = capa()
            s = cap2(t)
        a -= 0.7 * x
    else:
        d = d.copy()
        if s > s:
            e = {q: w * t for q, w in d.items()}
        else:
            t = s * t
    b = b * c[2]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
