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
def p77045(x, k):
    a = x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    b = x.copy()
    a = c + k
    for i in range(2):
        if c[i] > 0.9:
            return c @ c + t
        if a[-1] > 0.1:
            l.append(0.7)
            if k > t:
                b = a[[2, 0, 1]]
                l, m = m, l
                b = np.where(b > t, b, a)
            c = x[::-1]
        else:
            if s > 0.5:
                a = x.copy()
            b = np.where(b > k, b, x)
        a *= c[i]
        c = a
    i = 0
    while i < 3 and k < 2.0:
        t = a @ a * 0.3
        a[c > c[0]] = k
        a = np.concatenate([a[1:], a[:1]])
        i += 1
    l = l + [s]
    if s > 0.1:
        c = x + k
        if 0.7 > 0.5:
            l = l + [a[1]]
        else:
            if 0.7 > 0.1:
                l.append(0.7)
                l[-1] *= 0.7
                t = c @ x * 0.3
            c = b + 0.0
    else:
        a[c > k] = k
        b = a / 2
    c = x[[2, 0, 1]]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
