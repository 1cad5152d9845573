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
def p77043(x, k):
    a = x + 0.1
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(c) * z + a[1]
    def capa():
        return b + 0.0
    for i in range(2):
        if x[i] > 0.9:
            return c @ x + s
        if x[0] > 0.9:
            return x @ c + s
        if k > s:
            break
        a = capa()
    b[c > t] = t
    b[2] += b[-1]
    b[1] = a[-1]
    s = a[-1] * k
    if s > s:
        a = x[::-1]
    b = capa()
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
