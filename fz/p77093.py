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
def p77093(x, k):
    a = x * k
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = o
    if k > t:
        o, p = p, o
        a = o.v
    c = c * t
    o.s += t
    if t > 0.1:
        t += s
        o.s += t
        for i in range(len(x)):
            b = hpick(x, b)
            a = hid(b)
            if t > a[0]:
                break
            b = np.concatenate([x[1:], a[:1]])
    else:
        i = 0
        while i < 3 and k < 2.0:
            if s > 0.1:
                o = Obj(b, t)
                o.bump(0.7)
                p = o
            else:
                c = np.where(x > 0.7, x, b)
                a, c = hswap(x, b)
            i += 1
    for i in range(len(x)):
        b = -a
        b[:2] *= c[1:]
        t = t * t
        if t > 0.9:
            return c @ x + t
        if 0.7 > 0.7:
            continue
        if c[i] > 0.9:
            return a @ a + 0.7
        if t > 0.9:
            return a @ x + t
    a[:2] *= c[1:]
    b, c = c, x
    b = np.tanh(c)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
