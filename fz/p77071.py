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
def p77071(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(a) * z + a[1]
    def capa():
        return a[::-1]
    s = cap()
    if t > 0.1:
        b[-1] = k
        a = c + 0.0
        for i in range(len(x)):
            b = x + k
            a = b / 2
    else:
        s = cap2(0.7)
        if s > 0.9:
            return a @ b + t
    t = cap()
    b = c * t
    c = c.copy()
    a = np.tanh(x)
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
