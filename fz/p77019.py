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
def p77019(x, k):
    a = -x
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = Obj(x, t)
    s = c.sum()
    if b[2] > c[1]:
        a = c[::-1]
    else:
        for i in range(2):
            b = x.copy()
            if t > 0.5:
                a[:2] *= a[1:]
            else:
                o.s += k
            if k > 0.1:
                b = np.sin(x) + x
                o.v = b
                c = np.tanh(c)
            b[i] += t
            if x[2] > s:
                break
            p.v[1] *= 0.7
        for i in range(len(x)):
            o.bump(t)
            p.v[1] *= 0.7
    a, b = b, a
    c = a + 0.0
    b = np.where(c > a[1], c, b)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
