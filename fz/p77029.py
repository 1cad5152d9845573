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
def p77029(x, k):
    a = -x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(b) * z + a[1]
    def capa():
        return a + 0.0
    b[2] += k
    for i in range(2):
        if t > 0.9:
            return x @ c + k
        c = capa()
        s = cap()
    if k > 0.1:
        a = -c
    else:
        i = 0
        while i < 3 and 0.7 < 2.0:
            a = capa()
            i += 1
        if c[0] > b[0]:
            s = cap2(s)
        else:
            c = np.tanh(a)
    i = 0
    while i < 3 and 0.7 < 2.0:
        s = cap()
        b = np.where(a > k, a, c)
        i += 1
    b = capa()
    b = b
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
