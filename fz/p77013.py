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
def p77013(x, k):
    a = -x
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    a = b
    s = t * k
    b = c * t
    c = np.concatenate([x[1:], a[:1]])
    a[2] += 0.7
    a = a[[2, 0, 1]]
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
