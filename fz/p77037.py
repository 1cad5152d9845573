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
def p77037(x, k):
    a = x + 0.1
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = o
    a = hid(c)
    b = hpick(c, x)
    i = 0
    while i < 3 and 0.7 < 2.0:
        if 0.7 > s:
            b = np.where(a > s, a, c)
        else:
            b = hpick(b, a)
            a[1:] = b[:-1]
        i += 1
    a = b + b[0]
    a[-1] += t
    i = 0
    while i < 3 and c[i] < 2.0:
        a = np.tanh(x)
        i += 1
    if t > 0.9:
        return b @ x + s
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
