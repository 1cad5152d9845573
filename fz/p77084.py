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
def p77084(x, k):
    a = -x
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    i = 0
    while i < 3 and s < 2.0:
        b = hpick(a, c)
        i += 1
    a, b = b, a
    b[a > a[2]] = b[2]
    t = x.sum()
    b = c[[2, 0, 1]]
    b *= b[0]
    for i in range(2):
        c = c / 2
        a = hpick(c, x)
        b = hpick(b, a)
        t = hput(b, k)
    b[2] = 0.7
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
