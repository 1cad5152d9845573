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
def p77052(x, k):
    a = x
    b = a * 0.5
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
    t = cap2(k)
    if t > b[0]:
        c = np.sin(c) + b
        b[:2] *= a[1:]
        c, c = c, a
    else:
        b = c + 0.0
        for i in range(len(x)):
            a = a[[2, 0, 1]]
            c = np.tanh(x)
            l[-1] *= 0.7
            t = math.tanh(0.7)
            if b[i] > s:
                continue
            t = cap()
    c[:] = x
    s = capl()
    if k > 0.5:
        c = c if t > 0.2 else x
        s, t = t, s
    else:
        i = 0
        while i < 3 and k < 2.0:
            b = np.concatenate([a[1:], a[:1]])
            if s > 0.1:
                s = capl()
                b = a.copy()
            s = cap2(t)
            i += 1
    for i in range(3):
        s = l.pop()
        t = cap2(k)
        a = L[0] + c[2]
        a = c
        if t > k:
            break
        if s > 0.1:
            c = capa()
        else:
            a = b + 0.7
            if c[i] > 0.1:
                s = cap2(b[i])
                t = capl()
            else:
                L = L[::-1]
                t = cap2(c[-1])
    s = sum(l)
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1]
