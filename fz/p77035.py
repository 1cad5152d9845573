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
def p77035(x, k):
    a = np.cos(x)
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    for i in range(3):
        a = np.sin(c) + c
        c[2] = k
        b = np.sin(a) + c
        if 0.7 > 0.1:
            t = hput(b, s)
    c = hpick(b, x)
    a = x * x[-1]
    if c[-1] > 0.1:
        for i in range(2):
            b[2] += s
            s = hput(b, s)
            if x[0] > s:
                continue
            if k > 0.5:
                b[:2] *= c[1:]
                b = hshift(c)
            else:
                l.append(s)
                a = hshift(x)
            t = c @ a * 0.3
        b -= s * x
    l = l + [c[-1]]
    t += c[2]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
