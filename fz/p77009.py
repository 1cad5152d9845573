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
def p77009(x, k):
    a = np.cos(x)
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = Obj(x, t)
    b = hid(x)
    b, c = hswap(b, x)
    if s > k:
        if c[0] > t:
            b, c = hswap(c, b)
            c = o.get()
            b = hpick(x, x)
    else:
        b = x.copy()
        s = a @ c * 0.3
    c[c > t] = a[-1]
    s = hput(c, s)
    a[1] = k
    b[:] = a
    b = hid(a)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
