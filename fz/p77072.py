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
def p77072(x, k):
    a = x * k
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return c[0] * c[2]
    def cap2(z):
        return np.sum(a) * z + c[1]
    def capa():
        return b * 2
    def put(z):
        c[1] = z * c[0]
    i = 0
    while i < 3 and t < 2.0:
        t = cap()
        t = cap()
        c = b - c
        i += 1
    t = c[0] * s
    if t > t:
        s = c.sum()
    a, c = c, x
    b[:] = a
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
