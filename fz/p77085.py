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
def p77085(x, k):
    a = x * k
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(c) * z + b[1]
    def capa():
        return a + 0.0
    for i in range(3):
        s = cap()
        s += a[i]
        if t > c[1]:
            continue
        c = capa()
        t = 0.7 * 0.7
    b = np.concatenate([a[1:], a[:1]])
    a = capa()
    b[2] += k
    s, t = t, s
    if k > 0.1:
        a, b = b, a
    else:
        t = cap2(k)
    if t > 0.9:
        return b @ b + s
    c = c / 2
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
