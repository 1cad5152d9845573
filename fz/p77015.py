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
def p77015(x, k):
    a = np.cos(x)
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(b) * z + a[1]
    def capa():
        return a * 2
    i = 0
    while i < 3 and s < 2.0:
        a, b = b, a
        b = x + 0.0
        i += 1
    if b[0] > 0.5:
        if b[1] > 0.1:
            a[:2] *= c[1:]
        b = np.sin(x) + b
    else:
        s = x.sum()
        i = 0
        while i < 3 and 0.7 < 2.0:
            a = a if x[1] > 0.2 else b
            b[:2] *= a[1:]
            a, b = b, a
            i += 1
    if b[1] > 0.5:
        a[2] = t
        c = c[[2, 0, 1]]
    else:
        s += a[1]
        c = a + b[2]
    s += k
    t = cap()
    c = np.tanh(c)
    s = x.sum()
    for i in range(len(x)):
        c = x + 0.0
        if k > 0.9:
            return a @ a + s
        if 0.7 > 0.7:
            b = c[[2, 0, 1]]
            a, b = b, a
            c = c if k > 0.2 else a
        else:
            b[2] += s
        if k > 0.7:
            break
        if 0.7 > 0.9:
            return c @ b + s
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
