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
def p77070(x, k):
    a = x * k
    b = a
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    t = math.tanh(0.7)
    c = hshift(c)
    for i in range(2):
        if s > 0.5:
            b[:] = x
        else:
            c[2] += b[2]
        if t > 0.9:
            return x @ a + c[i]
        b = a - b
        a = c / 2
    b[:] = a
    a += a
    a = b * k
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
