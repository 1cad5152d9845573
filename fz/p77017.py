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
def p77017(x, k):
    a = x * k
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    s = l[-1] * x[1]
    for i in range(2):
        if c[i] > 0.9:
            return b @ a + c[2]
        c[:] = b
        if c[-1] > 0.9:
            return a @ b + k
        if t > 0.7:
            continue
        l[-1] *= t
        if t > 0.5:
            m = list(l)
            if s > 0.7:
                c = b / 2
                c = b[::-1]
        else:
            s += 0.7
            t = x.sum()
    t = s * s
    s = 0.7 * s
    if a[2] > c[-1]:
        a, b = b, a
        t = c[2] * 0.7
        if s > t:
            c = b[::-1]
            l.append(t)
    b[:2] *= b[1:]
    for i in range(2):
        a[i] += t
        t = sum(l)
        if 0.7 > s:
            continue
        s += k
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
