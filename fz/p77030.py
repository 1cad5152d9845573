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
def p77030(x, k):
    a = x
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(b) * z + a[1]
    def capa():
        return a + 0.0
    def put(z):
        a[1] = z * a[0]
    c = capa()
    a = c
    t = cap()
    b = a.copy()
    s = c @ b * 0.3
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
