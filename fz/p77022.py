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
def p77022(x, k):
    a = x
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    d = {"u": k, "v": x[2]}
    e = {"u": s, "z": x[1]}
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(b) * z + a[1]
    def capa():
        return a
    c = np.concatenate([b[1:], a[:1]])
    c[0] += t
    b = b * t
    e = d
    if 0.7 > 0.1:
        c = capa()
        t = cap()
    else:
        c[a > s] = s
    t = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(d.values()) * k + sum(e.values())
