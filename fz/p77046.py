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
def p77046(x, k):
    a = np.cos(x)
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k}
    for q in "vw":
        d[q] = x[1]
    e = {"u": s, "z": x[1]}
    d, e = e, d
    t = sum(e.values()) * 0.4
    if k > 0.1:
        e = {q: w * t for q, w in d.items()}
    c, c = c, b
    b = b if s > 0.2 else a
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
