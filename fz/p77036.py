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
def p77036(x, k):
    a = x * k
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(b) * z + b[1]
    def capa():
        return b
    if t > 0.1:
        t = b.sum()
    else:
        if x[-1] > t:
            s = cap2(t)
        else:
            e["u"] += t
    s = cap()
    b[x > x[2]] = 0.7
    t = cap()
    t = b @ a * 0.3
    for i in range(3):
        if s > 0.1:
            t = cap()
        a[1:] = x[:-1]
        t = cap2(k)
        if k > t:
            break
        s = cap2(t)
        e["u"] += b[i]
    a = b * 0.7
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
