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
def p77028(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    if k > 0.5:
        if b[2] > 0.5:
            a[c > s] = t
            b = hpick(b, x)
            b = a[[2, 0, 1]]
    else:
        t += 0.7
        c = hpick(b, a)
    i = 0
    while i < 3 and a[i] < 2.0:
        c, c = c, x
        i += 1
    c[a > k] = k
    if 0.7 > 0.9:
        return a @ a + k
    c = a * s
    b = hpick(c, c)
    if t > k:
        if t > k:
            b[a > x[2]] = 0.7
            b = a + 0.0
            c = hshift(b)
        else:
            if 0.7 > s:
                c, c = c, b
        t = c.sum()
        b = np.sin(x) + a
    if k > 0.5:
        s = hput(b, t)
        a = b - a
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
