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
def p77007(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    t = math.tanh(0.7)
    if k > t:
        s, t = t, s
        t = l.pop()
    if 0.7 > 0.9:
        return c @ b + s
    a = -x
    c = hshift(c)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
