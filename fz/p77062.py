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
def p77062(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return c[0] * k
    def cap2(z):
        return np.sum(a) * z + c[1]
    def capa():
        return c[::-1]
    if s > 0.1:
        t = hput(b, k)
    else:
        s = cap2(k)
        for i in range(2):
            c, c = hswap(b, x)
            s = hput(c, k)
            if t > 0.7:
                continue
            b = x * k
            s += s
    t = cap()
    t = cap2(s)
    s = 0.7 * 0.7
    c = hpick(a, a)
    s = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
