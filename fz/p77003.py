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
def p77003(x, k):
    a = -x
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    b = c - c
    a[:] = x
    c *= 0.7
    for i in range(2):
        L.append(x * 1.0)
        t = math.tanh(s)
        if t > k:
            break
        if x[1] > 0.9:
            return x @ x + t
        a[1:] = a[:-1]
    for i in range(2):
        a += b
        if a[i] > 0.1:
            b = np.concatenate([a[1:], x[:1]])
            c = b + 0.0
            c = x - c
    if k > 0.1:
        c, c = c, c
        a -= k * c
        for i in range(3):
            c = -c
            if t > 0.5:
                l.append(t)
                b = c[[2, 0, 1]]
            else:
                L[-1] += s
                l[0] = s
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
