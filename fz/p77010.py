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
def p77010(x, k):
    a = -x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    def cap():
        return b[0] * k
    def cap2(z):
        return np.sum(b) * z + b[1]
    def capa():
        return b
    def capl():
        return sum(l) + L[0][0]
    if a[0] > 0.1:
        s, t = t, s
        a, b = b, a
    t = cap2(x[-1])
    for i in range(len(x)):
        if k > 0.9:
            return x @ c + t
        if a[i] > 0.9:
            return a @ c + 0.7
        t = cap2(k)
        c = -b
    c = capa()
    s = cap()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
