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
def p77038(x, k):
    a = np.cos(x)
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    def cap():
        return c[0] * k
    def cap2(z):
        return np.sum(b) * z + c[1]
    def capa():
        return a + 0.0
    def capl():
        return sum(l) + L[0][0]
    L = [q * k for q in L]
    i = 0
    while i < 3 and t < 2.0:
        if k > 0.9:
            return x @ x + k
        if k > 0.5:
            a, b = b, a
            a -= k * c
            c = np.sin(c) + a
        else:
            if k > 0.5:
                c -= k * c
        i += 1
    s = cap2(x[1])
    if 0.7 > 0.7:
        s = capl()
        s, t = t, s
    else:
        for i in range(len(x)):
            s = capl()
            s = cap2(x[0])
            if s > t:
                continue
            c -= k * x
            a = np.tanh(c)
    s = cap2(t)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
