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
def p77011(x, k):
    a = np.cos(x)
    b = a - 1.0
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    o = Obj(c * 1.0, k)
    p = Obj(x, t)
    s, t = t, s
    o.v[-1] = k
    t = k * 0.7
    a, b = b, a
    s = c @ b * 0.3
    L.append(x)
    p.v[1] *= 0.7
    if s > 0.1:
        a -= k * a
        b[:2] *= b[1:]
        for i in range(2):
            L[0][1] = b[i]
            c[-1] += k
            t = math.tanh(s)
            if t > 0.7:
                break
            p = Obj(o.v, o.s)
            o.new()
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1] + o.v @ p.v + o.s * p.s
