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
def p77080(x, k):
    a = x + 0.1
    b = x.copy()
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
        return a
    def capl():
        return sum(l) + L[0][0]
    c = capa()
    c = x[[2, 0, 1]]
    for i in range(len(x)):
        if k > 0.1:
            l, m = m, l
            l, m = m, l
        if t > 0.9:
            return a @ c + x[i]
        if a[1] > 0.1:
            t = cap()
            l = l + [t]
            if k > 0.5:
                s = l[-1] * 0.7
                b = np.tanh(a)
        if c[i] > 0.9:
            return x @ b + 0.7
        if k > 0.7:
            continue
        t = capl()
        t = cap()
    if t > t:
        c = b + t
        a, c = c, x
    else:
        s = a @ c * 0.3
        a = b + 0.0
    t = capl()
    for i in range(2):
        c[:] = c
        t = capl()
        m = l
        b, c = c, a
    if t > 0.1:
        l[0] = 0.7
    c *= k
    L = [q * 0.7 for q in L]
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
