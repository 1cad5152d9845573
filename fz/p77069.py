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
def p77069(x, k):
    a = np.cos(x)
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    s, t = t, s
    b[-1] = t
    c = -x
    b = np.tanh(b)
    if k > 0.5:
        a = b / 2
    if s > 0.5:
        for i in range(3):
            b = np.where(c > k, c, b)
            a = b
            a[:2] *= c[1:]
            if s > k:
                break
            if k > 0.5:
                b += c
                s = b @ x * 0.3
                a = np.where(c > t, c, x)
        b = np.where(c > 0.7, c, b)
        b[:] = b
    else:
        b = b if t > 0.2 else a
        b[2] = s
    s, t = t, s
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
