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
def p77020(x, k):
    a = x
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(c) * z + b[1]
    def capa():
        return a
    if a[1] > s:
        if k > x[0]:
            t = cap2(0.7)
            s = cap2(0.7)
        else:
            b[1:] = x[:-1]
    else:
        a = hid(x)
    t = hput(c, k)
    s = cap()
    b = hpick(x, x)
    s += c[0]
    a = capa()
    s = cap2(0.7)
    if s > 0.1:
        if t > k:
            c = hid(c)
            a = hshift(c)
            if t > k:
                s = cap()
            else:
                s = c @ b * 0.3
        else:
            t = a @ c * 0.3
        if k > 0.1:
            c, c = hswap(b, c)
        i = 0
        while i < 3 and b[i] < 2.0:
            a = b[::-1]
            b = hshift(c)
            a = a.copy()
            i += 1
    else:
        t = b @ c * 0.3
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
