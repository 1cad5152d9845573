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
def p77024(x, k):
    a = x * k
    b = x.copy()
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(b) * z + a[1]
    def capa():
        return c
    def capl():
        return sum(l) + L[0][0]
    for i in range(2):
        a = b + b[1]
        s = a.sum()
        s = capl()
        if t > t:
            b = a + 0.0
            c = np.concatenate([x[1:], a[:1]])
            L[0][1] = k
        if 0.7 > s:
            break
        c = capa()
    c[c > 0.7] = a[2]
    if k > 0.9:
        return c @ a + s
    if 0.7 > t:
        if s > 0.5:
            a, b = b, a
        else:
            t = b @ x * 0.3
    else:
        if c[-1] > 0.1:
            t = cap2(s)
            s += 0.7
        c = np.tanh(c)
    t = cap()
    b += a
    s = cap()
    a = capa()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
