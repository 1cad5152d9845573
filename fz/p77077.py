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
def p77077(x, k):
    a = x
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    a[x > k] = t
    t = hput(b, t)
    t = l[-1] * t
    b[0] += x[2]
    c[1:] = b[:-1]
    for i in range(3):
        c = b[::-1]
        t = hput(a, s)
        b[:2] *= a[1:]
    a = hshift(x)
    if 0.7 > 0.7:
        c = b[::-1]
    else:
        if c[0] > 0.7:
            if s > t:
                a = b - a
            if k > 0.1:
                b = c[::-1]
                s = hput(a, t)
            else:
                c *= s
            c, c = hswap(c, b)
        else:
            if a[0] > 0.1:
                s = math.tanh(t)
                a = hshift(c)
                c, c = c, b
            else:
                c = x - b
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
