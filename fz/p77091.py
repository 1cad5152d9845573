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
def p77091(x, k):
    a = x + 0.1
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    c = hshift(a)
    for i in range(3):
        a = hshift(a)
        if k > 0.1:
            a = -c
            s = hput(c, s)
        if 0.7 > 0.5:
            a = c.copy()
        c = hshift(a)
        if t > 0.7:
            continue
        b = hid(a)
        b = hid(c)
    a = L[0] + s
    s = s * k
    b = b / 2
    a = a if k > 0.2 else c
    b -= t * a
    for i in range(3):
        b = b.copy()
        a += a
        if t > 0.5:
            c = c if 0.7 > 0.2 else c
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
