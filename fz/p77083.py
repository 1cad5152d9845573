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
def p77083(x, k):
    a = x * k
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    if 0.7 > t:
        if s > s:
            s, t = t, s
            b = np.where(c > s, c, x)
            b[:2] *= x[1:]
        else:
            if 0.7 > t:
                c = b
                c[1] += s
            else:
                c = b[[2, 0, 1]]
            c[1] += t
    if 0.7 > 0.5:
        b = b
        if s > 0.5:
            c = np.where(b > s, b, b)
        else:
            a[c > s] = x[-1]
    else:
        a = b.copy()
        if s > 0.1:
            c = np.concatenate([c[1:], x[:1]])
            c = c / 2
            if 0.7 > 0.1:
                a = x[[2, 0, 1]]
            else:
                a, c = c, x
        else:
            a = b * 0.7
            b = c / 2
    a = np.sin(c) + b
    s = b.sum()
    a, c = c, b
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
