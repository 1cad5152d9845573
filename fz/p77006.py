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
def p77006(x, k):
    a = x * k
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(a) * z + b[1]
    def capa():
        return b + 0.0
    a = capa()
    for i in range(3):
        c -= t * c
        if k > 0.1:
            if c[1] > k:
                s = b.sum()
                c = np.where(a > x[i], a, b)
                b = np.sin(x) + c
            else:
                c = np.concatenate([b[1:], a[:1]])
                b -= c[0] * c
        else:
            a = hshift(b)
            b = x / 2
        a = hpick(c, x)
    s = cap()
    b = b * x[1]
    for i in range(2):
        a = hpick(c, x)
        a = hpick(x, b)
    b = x[[2, 0, 1]]
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
