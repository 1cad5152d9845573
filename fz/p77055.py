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
def p77055(x, k):
    a = -x
    b = np.zeros(3)
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    b = c + 0.0
    if s > 0.5:
        c = a - a
        c = np.tanh(c)
    else:
        c[-1] += t
    b[1:] = b[:-1]
    b[1:] = b[:-1]
    a[0] = k
    a, b = b, a
    b += b
    s = math.tanh(s)
    for i in range(len(x)):
        a = a if t > 0.2 else x
        c = c + 0.0
        if s > k:
            continue
        b = np.sin(b) + c
    return a @ b * 0.5 + c @ x + s * t + s + c[0]
