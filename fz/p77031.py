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
def p77031(x, k):
    a = -x
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    b, c = c, b
    if 0.7 > 0.7:
        b = np.concatenate([x[1:], a[:1]])
        c[x > t] = 0.7
    a, c = c, b
    a *= t
    a = np.where(x > s, x, c)
    if x[2] > t:
        for i in range(3):
            a[:] = c
            c = x + 0.0
            a = a + k
        c, c = c, x
        a[x > s] = b[-1]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
