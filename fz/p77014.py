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
def p77014(x, k):
    a = x
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    t += 0.7
    b = x + 0.0
    s, t = t, s
    c = hpick(a, b)
    b = np.sin(c) + c
    if k > 0.1:
        b = x - x
        c = np.concatenate([a[1:], c[:1]])
        b = hshift(b)
    else:
        b, c = hswap(c, b)
    c = hshift(b)
    a = a
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
