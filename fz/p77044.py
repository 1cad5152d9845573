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
def p77044(x, k):
    a = x * k
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(b) * z + b[1]
    def capa():
        return c + 0.0
    def put(z):
        b[1] = z * b[0]
    a, c = c, b
    if 0.7 > 0.1:
        a[1:] = c[:-1]
        c = np.sin(b) + x
    if t > 0.5:
        t = cap()
        if k > b[-1]:
            a = c / 2
            b = capa()
        c = c[::-1]
    a = a.copy()
    t = a[2] * a[1]
    a, b = b, a
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
