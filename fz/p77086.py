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
def p77086(x, k):
    a = np.cos(x)
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(c) * z + a[1]
    def capa():
        return c[::-1]
    def put(z):
        a[1] = z * a[0]
    c[:] = b
    for i in range(len(x)):
        put(k)
        t = cap2(s)
        if c[i] > b[i]:
            break
        s = k * k
        a = x * s
    i = 0
    while i < 3 and 0.7 < 2.0:
        c = c if s > 0.2 else b
        a[:2] *= a[1:]
        i += 1
    b = b if 0.7 > 0.2 else b
    c[0] = c[1]
    t = cap2(t)
    c = b + a[1]
    a = np.sin(c) + x
    i = 0
    while i < 3 and s < 2.0:
        s = cap2(t)
        i += 1
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
