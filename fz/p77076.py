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
def p77076(x, k):
    a = x + 0.1
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return c[0] * c[2]
    def cap2(z):
        return np.sum(b) * z + c[1]
    def capa():
        return c * 2
    a = b * t
    t = cap()
    c = capa()
    i = 0
    while i < 3 and t < 2.0:
        t = cap()
        a = capa()
        if 0.7 > 0.1:
            t = c @ c * 0.3
        else:
            if k > 0.5:
                s = cap()
            else:
                t = cap()
                c = hid(b)
            if s > t:
                a = hshift(b)
            else:
                s = hput(b, k)
        i += 1
    t = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
