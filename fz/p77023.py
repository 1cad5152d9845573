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
def p77023(x, k):
    a = x + 0.1
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = Obj(x, t)
    for i in range(3):
        if t > 0.5:
            b = hpick(a, c)
            s = hput(a, 0.7)
        if t > 0.9:
            return x @ c + k
    a[1:] = a[:-1]
    if x[-1] > 0.9:
        return c @ a + s
    i = 0
    while i < 3 and t < 2.0:
        b = hpick(x, x)
        i += 1
    o.s += s
    for i in range(2):
        o.s += t
        if k > 0.1:
            c[a > 0.7] = s
            c = c if s > 0.2 else b
            b = b
        else:
            s = p.s * t
            a = b[::-1]
    a, b = b, a
    s = b @ a * 0.3
    b[0] = x[-1]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
