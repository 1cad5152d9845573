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
def p77068(x, k):
    a = x + 0.1
    b = a * 0.5
    c = np.sin(b) + k
    s, t = k * 0.5, x[0]
    l = [k, x[1], 0.3]
    m = [v for v in x]
    L = [x * 0.5, c]
    d = {"u": k, "v": x[2]}
    e = {"u": s, "z": x[1]}
    b = L[0] + 0.7
    for i in range(len(x)):
        if 0.7 > 0.1:
            s = math.tanh(s)
            b = c[[2, 0, 1]]
        s, t = t, s
    d["u"] = s
    a = x
    c[c > k] = t
    e["u"] += 0.7
    if k > t:
        if s > 0.5:
            t = math.tanh(s)
        if k > 0.1:
            L.append(x)
            a, c = c, x
    else:
        c = np.sin(a) + b
    return a @ b * 0.5 + c @ x + s * t + s + c[0] + sum(l) * sum(m) + L[0] @ L[-1] + sum(d.values()) * k + sum(e.values())
