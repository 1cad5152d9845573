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
def p77079(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    o = Obj(c * 1.0, k)
    p = o
    for i in range(len(x)):
        if s > 0.9:
            return b @ x + k
        if b[-1] > k:
            if s > t:
                s = p.s * a[i]
                a, c = hswap(c, b)
            c = c if 0.7 > 0.2 else a
            if b[i] > c[i]:
                b = -c
                b = o.v
                t = hput(a, s)
        else:
            s = 0.7 * 0.7
        c = b + k
        if k > 0.9:
            return c @ a + s
        if 0.7 > t:
            break
        if 0.7 > 0.9:
            return a @ x + 0.7
        b = -a
    b, c = hswap(b, c)
    b = hid(b)
    if s > 0.1:
        b = b if 0.7 > 0.2 else a
        a, c = hswap(x, x)
        c = b[::-1]
    b[x > x[1]] = t
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + o.v @ p.v + o.s * p.s
