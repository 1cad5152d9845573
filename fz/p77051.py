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
def p77051(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = o
    t = p.s * s
    b = hshift(a)
    for i in range(len(x)):
        s = hput(b, k)
        s = b.sum()
        b = np.where(x > s, x, c)
        if t > 0.5:
            a = hshift(a)
            a += a
        if s > c[i]:
            continue
        b = np.tanh(c)
        a[0] = s
    for i in range(len(x)):
        a, c = c, c
        o.bump(s)
        if k > s:
            break
        t = p.s * 0.7
        s = p.s * t
    c, c = hswap(c, a)
    a, b = b, a
    t = hput(c, s)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
