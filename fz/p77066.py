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
def p77066(x, k):
    a = x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    def cap():
        return a[0] * k
    def cap2(z):
        return np.sum(c) * z + a[1]
    def capa():
        return c + 0.0
    def capl():
        return sum(l) + L[0][0]
    l[0] = t
    if a[1] > s:
        if k > 0.1:
            t = sum(l)
            s = a.sum()
        else:
            a[c > t] = 0.7
            s = a @ x * 0.3
        s = capl()
    for i in range(2):
        b += a
        if s > 0.9:
            return x @ c + s
    for i in range(2):
        t = b[1] * x[0]
        t = cap()
        L[-1] += 0.7
    L.append(x * 1.0)
    c = np.where(x > 0.7, x, x)
    t = cap()
    t = x.sum()
    for i in range(2):
        a, b = b, a
        if t > 0.9:
            return b @ b + s
        t = cap2(t)
        if t > k:
            break
        t += 0.7
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
