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
def p77090(x, k):
    a = np.cos(x)
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(a) * z + b[1]
    def capa():
        return a
    c = hpick(c, x)
    i = 0
    while i < 3 and c[2] < 2.0:
        s = cap2(t)
        if t > 0.1:
            s = cap()
            s = cap()
        else:
            s = cap()
        i += 1
    if s > 0.5:
        b = x
        for i in range(2):
            a = hshift(b)
            t = hput(a, t)
    else:
        t = hput(a, 0.7)
        if t > 0.1:
            if s > 0.5:
                a, b = b, a
                s = cap()
            a, b = b, a
            c[2] += t
        else:
            if 0.7 > 0.5:
                t = cap2(t)
            else:
                b = hid(a)
            c[1:] = b[:-1]
    t = cap()
    t = cap()
    a, b = b, a
    c = hid(a)
    for i in range(len(x)):
        s = cap2(k)
        if a[i] > 0.9:
            return a @ b + s
        s = hput(a, k)
        s = hput(c, 0.7)
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
