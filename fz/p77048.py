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
def p77048(x, k):
    a = np.cos(x)
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(a) * z + a[1]
    def capa():
        return c[::-1]
    b = -c
    if 0.7 > s:
        for i in range(len(x)):
            b[i] = t
            s = cap()
            c[:] = x
            t = c.sum()
        b, c = hswap(b, a)
        c = hshift(b)
    b = hshift(a)
    if k > b[-1]:
        if s > 0.5:
            c = hshift(c)
    else:
        if k > 0.1:
            b[1] += t
            s = a.sum()
        else:
            c[1] = 0.7
    a = hpick(c, a)
    c, c = hswap(b, a)
    for i in range(2):
        if 0.7 > 0.9:
            return x @ a + k
        s = cap()
        if k > 0.9:
            return x @ c + b[i]
        c = hshift(c)
        if c[i] > k:
            continue
        s = cap2(0.7)
    c[b > k] = t
    t = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
