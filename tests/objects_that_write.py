"""Programs in which methods write that no call names, and others whose calls write, by hand."""

from calls_that_write import HEAD, indent

CLASS = """
class Tool:
    def __init__(self, v):
        self.v = v
        self.n = 0

    def write(self):
        self.n = self.n + 1
        WRITE
        return self.v[0]

"""
METHODS = {
    "bool": (
        "def __bool__(self):\n    self.write()\n    return True",
        [
            "if t:\n    s += x[0]",
            "while t:\n    s += x[0]\n    if t.n > 2:\n        break",
            "s += x[0] if t else x[1]",
            "if not t:\n    s += x[0]",
            "if x[0] > -9.0 and t:\n    s += x[0]",
            "s += x[0] if bool(t) else x[1]",
            "assert t",
            "u = t and 1.0\ns += x[0]",
            "s += sum([x[i] for i in range(2) if t])",
            "s += sum(x[i] for i in range(2) if t)",
            "if any(t for i in range(2)):\n    s += x[0]",
            "if all([t, t]):\n    s += x[0]",
            "u = [x[0], x[1]]\ns += u[not t]",
            "s += x[0] * (not t)",
            "if x[0] > 90.0 or t:\n    s += x[0]",
            "s += sum(filter(None, [x[0]])) if t else 0.0",
        ],
    ),
    "contains": (
        "def __contains__(self, k):\n    self.write()\n    return k > 0.0",
        [
            "if 1.0 in t:\n    s += x[0]",
            "if 1.0 not in t:\n    s += x[0]",
            "while 1.0 in t:\n    s += x[0]\n    if t.n > 2:\n        break",
            "s += x[0] if -1.0 in t else x[1]",
            "if x[0] > -9.0 and x[0] in t:\n    s += x[0]",
            "u = 1.0 in t\ns += x[0] * u",
            "s += sum([x[i] for i in range(2) if 1.0 in t])",
            "s += x[int(1.0 in t)]",
            "assert 1.0 in t",
            "s += len(f'{1.0 in t}')",
        ],
    ),
    "len": (
        "def __len__(self):\n    self.write()\n    return 2",
        [
            "if t:\n    s += x[0]",
            "if len(t) > 1:\n    s += x[0]",
            "for i in range(len(t)):\n    s += x[i]",
            "s += x[0] * len(t)",
            "while len(t) < 9:\n    s += x[0]\n    if t.n > 2:\n        break",
            "if not t:\n    s += x[1]",
            "s += x[len(t)]",
        ],
    ),
    "getitem": (
        "def __getitem__(self, k):\n    self.write()\n    return 2.0",
        [
            "if t[0] > 1.0:\n    s += x[0]",
            "s += t[0] * x[0]",
            "s += t[0:1] * x[0]",
            "s += t[0, 1] * x[0]",
            "while t[0] > 1.0:\n    s += x[0]\n    if t.n > 2:\n        break",
        ],
    ),
    "eq": (
        "def __eq__(self, k):\n    self.write()\n    return True\n\n__hash__ = None",
        [
            "if t == 1.0:\n    s += x[0]",
            "if t != 1.0:\n    s += x[0]",
            "s += x[0] if t == t else x[1]",
            "if 1.0 == t:\n    s += x[0]",
            "if t in [3.0, t]:\n    s += x[0]",
            "match t:\n    case 1.0:\n        s += x[0]\n    case _:\n        s += x[1]",
        ],
    ),
    "lt": (
        "def __lt__(self, k):\n    self.write()\n    return True",
        [
            "if t < 1.0:\n    s += x[0]",
            "while t < 1.0:\n    s += x[0]\n    if t.n > 2:\n        break",
            "if 1.0 > t:\n    s += x[0]",
            "if x[0] < 9.0 and t < 1.0:\n    s += x[0]",
            "if 0.0 < x[0] < 9.0 and t < 1.0 < 2.0:\n    s += x[0]",
            "u = t < 1.0\ns += x[0] * u",
            "u = min(t, t)\ns += x[0]",
            "u = sorted([t, t])\ns += x[0]",
        ],
    ),
    "lt_value": (
        "def __lt__(self, k):\n    self.write()\n    return 0.5 * self.v[0]",
        ["if t < 1.0:\n    s += x[0]", "u = t < 1.0\ns += x[0] * u"],
    ),
    "add": (
        "def __add__(self, k):\n    self.write()\n    return k * 2.0",
        [
            "if t + 1.0 > 0.0:\n    s += x[0]",
            "s += x[0] * (t + 1.0)",
            "s += (t + x[0]) * 2.0",
            "while t + 1.0 > 0.0:\n    s += x[0]\n    if t.n > 2:\n        break",
            "s += sum([t + x[i] for i in range(2)])",
            "s += sum(t + x[i] for i in range(2))",
            "s += len(f'{t + 1.0}')",
        ],
    ),
    "radd": (
        "def __radd__(self, k):\n    self.write()\n    return k * 2.0",
        ["if 1.0 + t > 0.0:\n    s += x[0]", "s += x[0] + t"],
    ),
    "neg": (
        "def __neg__(self):\n    self.write()\n    return 2.0",
        ["if -t > 0.0:\n    s += x[0]", "s += x[0] * -t"],
    ),
    "abs": (
        "def __abs__(self):\n    self.write()\n    return 2.0",
        ["if abs(t) > 0.0:\n    s += x[0]", "s += x[0] * abs(t)"],
    ),
    "float": (
        "def __float__(self):\n    self.write()\n    return 2.0",
        ["if float(t) > 0.0:\n    s += x[0]", "s += x[0] * float(t)"],
    ),
    "index": (
        "def __index__(self):\n    self.write()\n    return 1",
        ["s += x[t]", "for i in range(t):\n    s += x[i]"],
    ),
    "int": ("def __int__(self):\n    self.write()\n    return 1", ["s += x[int(t)]"]),
    "str": (
        "def __str__(self):\n    self.write()\n    return 'abc'",
        [
            "s += len(f'{t}') * x[0]",
            "s += len(str(t)) * x[0]",
            "print(t, end='\\r')",
            "u = 'a%s' % t\ns += len(u) * x[0]",
            "u = 'a{}'.format(t)\ns += len(u) * x[0]",
        ],
    ),
    "repr": (
        "def __repr__(self):\n    self.write()\n    return 'abc'",
        ["s += len(f'{t!r}') * x[0]", "s += len(repr(t)) * x[0]", "s += len(str(t)) * x[0]"],
    ),
    "format": (
        "def __format__(self, how):\n    self.write()\n    return 'abc'",
        ["s += len(f'{t:5}') * x[0]", "s += len(format(t, '5')) * x[0]"],
    ),
    "hash": (
        "def __hash__(self):\n    self.write()\n    return 3",
        ["u = {t: 1.0}\ns += x[0] * u[t]", "u = {t}\ns += x[0] * len(u)", "s += x[0] * hash(t)"],
    ),
    "call": (
        "def __call__(self, k):\n    self.write()\n    return k",
        [
            "if t(1.0) > 0.0:\n    s += x[0]",
            "s += t(x[0])",
            "s += sum(map(t, [x[0], x[1]]))",
            "s += len(f'{t(1.0)}')",
            "u = sorted([2, 1], key=t)\ns += x[u[0]]",
        ],
    ),
    "property": (
        "@property\ndef q(self):\n    self.write()\n    return 2.0",
        [
            "if t.q > 0.0:\n    s += x[0]",
            "s += t.q * x[0]",
            "s += W[int(t.q)] * x[0]",
            "while t.q > 0.0:\n    s += x[0]\n    if t.n > 2:\n        break",
            "s += len(f'{t.q}')",
            "w = x * 1.0\nw[t.n if t.q > 9.0 else 0] = 2.0\ns += w[0] * w[1]",
        ],
    ),
    "property_int": (
        "@property\ndef q(self):\n    self.write()\n    return 1",
        [
            "s += W[t.q] * x[0]",
            "s += x[t.q]",
            "u = {1: x[0]}\ns += u[t.q]",
            "for i in range(t.q):\n    s += x[i]",
            "w = x * 1.0\nw[t.q] += x[0]\ns += w[0] * w[1]",
            "u = {t.q: x[0]}\ns += u[1]",
        ],
    ),
    "setter": (
        "@property\ndef q(self):\n    return 2.0\n\n@q.setter\ndef q(self, k):\n    self.write()",
        ["t.q = 1.0", "t.q += 1.0"],
    ),
    "setitem": ("def __setitem__(self, i, k):\n    self.write()", ["t[0] = 1.0", "t[0] = x[0]"]),
    "delitem": ("def __delitem__(self, i):\n    self.write()", ["del t[0]"]),
    "iadd": (
        "def __iadd__(self, k):\n    self.write()\n    return self",
        ["t += 1.0", "t += x[0]"],
    ),
    "enter": (
        (
            "def __enter__(self):\n"
            "    self.write()\n"
            "    return 2.0\n"
            "\n"
            "def __exit__(self, *args):\n"
            "    self.write()"
        ),
        ["with t as u:\n    s += x[0] * u", "with t:\n    s += x[0]"],
    ),
    "getattr": (
        (
            "def __getattr__(self, word):\n"
            "    if word.startswith('_') or word in ('v', 'n'):\n"
            "        raise AttributeError(word)\n"
            "    self.write()\n"
            "    return 2.0"
        ),
        [
            "s += t.foo * x[0]",
            "if t.foo > 1.0:\n    s += x[0]",
            "if hasattr(t, 'foo'):\n    s += x[0]",
        ],
    ),
    "static": (
        "@staticmethod\ndef q(p):\n    p *= 0.9\n    return sum(e for e in p)",
        ["if Tool.q(t.v) > -90.0:\n    s += x[0]", "if t.q(t.v) > -90.0:\n    s += x[0]"],
    ),
    "classmethod": (
        "@classmethod\ndef q(cls, p):\n    p *= 0.9\n    return sum(e for e in p)",
        ["if Tool.q(t.v) > -90.0:\n    s += x[0]"],
    ),
    "iter": (
        "def __iter__(self):\n    self.write()\n    return iter([1.0, 2.0])",
        [
            "for k in t:\n    s += k * x[0]",
            "s += sum(k * x[0] for k in t)",
            "a, b = t\ns += a * x[0]",
        ],
    ),
    "method_in_rounds": (
        "def run(self, k=1.0):\n    self.write()\n    return k",
        [
            "if sum([t.run() for e in (1, 2)]) > 0.0:\n    s += x[0]",
            "if x[0] > -9.0 and max([t.run(e) for e in (1, 2)]) > 0.0:\n    s += x[0]",
            "if len([e for e in (1, 2) if t.run() > 0.0]) > 0:\n    s += x[0]",
            "if sum({e: t.run() for e in (1, 2)}.values()) > 0.0:\n    s += x[0]",
            "if np.any(np.array([t.run() for e in (1, 2)]) > 0.0):\n    s += x[0]",
            "if sum([t.run() + d for e in (1, 2) for d in (3, 4)]) > 0.0:\n    s += x[0]",
            "if sum(map(lambda e: e * t.run(), (1, 2))) > 0.0:\n    s += x[0]",
            "if max([o.run() for o in [t, t]]) > 0.0:\n    s += x[0]",
            "while sum([t.run() for e in (1, 2)]) > 0.0:\n    s += x[0]\n    if t.n > 5: break",
            "assert sum([t.run() for e in (1, 2)]) > 0.0",
            "s += len(f'{sum([t.run() for e in (1, 2)]) > 0.0}')",
            "s += x[int(sum([t.run() for e in (1, 2)]) > 99.0)]",
            "u = {int(sum([t.run() for e in (1, 2)]) > 0.0): x[0]}\ns += u[1]",
            "for i in range(int(sum([t.run() for e in (1, 2)]) > 0.0) + 1):\n    s += x[i]",
            "s += x[0] if sum([t.run() for e in (1, 2)]) > 0.0 else x[1]",
        ],
    ),
    "picked": (
        "def run(self, k=1.0):\n    self.write()\n    return k\n\n@property\n"
        "def q(self):\n    self.write()\n    return 2.0",
        [
            "l = [t]\nif [e for e in l][0].run() > 0.0:\n    s += x[0]",
            "l = [t]\nif [e for e in l][0].q > 0.0:\n    s += x[0]",
            "l = [t]\nif sorted(l, key=lambda e: e.n)[0].run() > 0.0:\n    s += x[0]",
            "l = [t]\nif min(l, key=lambda e: e.n).q > 0.0:\n    s += x[0]",
            "l = [t]\nif next(e for e in l if e.n >= 0).q > 0.0:\n    s += x[0]",
            "l = [t]\ns += len(f'{(l[0] or t).q}')",
            "l = [t]\nif dict(enumerate(l))[0].run() > 0.0:\n    s += x[0]",
            "l = [t]\nif list(filter(lambda e: e.n >= 0, l))[0].run() > 0.0:\n    s += x[0]",
            "l = [t]\nif (*l,)[0].run() > 0.0:\n    s += x[0]",
            "l = [t]\nif all(e.run() > 0.0 for e in sorted(l, key=lambda e: e.n)):\n    s += x[0]",
            "l = [t]\nif Tool.run(min(l, key=lambda e: e.n)) > 0.0:\n    s += x[0]",
            "l = [t]\nassert [e for e in l][0].run() > 0.0",
            "l = [t]\ns += x[0] if [e for e in l][0].q > 0.0 else x[1]",
            "l = [t]\ns += x[int([e for e in l][0].q > 99.0)]",
        ],
    ),
    "property_in_rounds": (
        "@property\ndef q(self):\n    self.write()\n    return 2.0",
        [
            "if sum([t.q for e in (1, 2)]) > 0.0:\n    s += x[0]",
            "if not sum(e for e in [t.q, t.q]) > 9.0:\n    s += x[0]",
            "if len([e for e in (1, 2) if t.q > 0.0]) > 0:\n    s += x[0]",
        ],
    ),
    "add_in_rounds": (
        "def __add__(self, k):\n    self.write()\n    return k * 2.0",
        [
            "if sum([t + 1.0 for e in (1, 2)]) > 0.0:\n    s += x[0]",
            "if max(map(lambda e: t + e, (1, 2))) > 0.0:\n    s += x[0]",
        ],
    ),
    "matmul": (
        "def __matmul__(self, k):\n    self.write()\n    return k * 2.0",
        ["if t @ 1.0 > 0.0:\n    s += x[0]"],
    ),
}
OWN_WRITES = {"array": "self.v *= 0.9", "attr": "self.v = self.v * 0.9"}


def asked(name, use, write):
    """Return a program in which an object writes itself where one of its methods is not named."""
    method, uses = METHODS[name]
    made = CLASS.replace("WRITE", OWN_WRITES[write]) + indent(method)
    f = "def f(x):\n    t = Tool(x * x)\n    s = 0.0\n" + indent(uses[use])
    return f"{HEAD}{made}\n\n\n{f}\n    return np.sum(t.v * x) + s\n"


OTHER_HEAD = f"""{HEAD}
def scale(r):
    r *= 0.9
    return r[0]

def grow(r):
    r.append(r[0] * 0.5)
    return len(r)

class Cell:
    def __init__(self, v):
        self.v = v
    def bump(self, k=1.0):
        self.v = self.v * 0.9
        return self.v * k
"""

# each with its name on a line before it
OTHERS = """
# nonlocal_operand
def f(x):
    k = 2.0
    def bump():
        nonlocal k
        k = k + 1.0
        return 1.0
    return x[0] * (k * bump()) + np.sum(x)


# nonlocal_compare
def f(x):
    k = 2.0
    def bump():
        nonlocal k
        k = k + 1.0
        return 2.5
    if k < bump():
        return x[0] * k
    return x[1] * k


# sorted_key_fn
def f(x):
    rows = [x * 1.0, x * x]
    s = sorted(rows, key=scale)
    return np.sum(rows[0]) + np.sum(rows[1] * x)


# max_key_fn
def f(x):
    rows = [x * 1.0, x * x]
    s = max(rows, key=scale)
    return np.sum(rows[0]) + np.sum(rows[1] * x)


# map_fn
def f(x):
    rows = [x * 1.0, x * x]
    s = sum(map(scale, rows))
    return np.sum(rows[0]) + np.sum(rows[1] * x) + s


# map_list
def f(x):
    rows = [x * 1.0, x * x]
    s = list(map(scale, rows))
    return np.sum(rows[0]) + np.sum(rows[1] * x) + s[0]


# any_map
def f(x):
    rows = [x * 1.0, x * x]
    s = any(map(scale, rows))
    return np.sum(rows[0]) + np.sum(rows[1] * x)


# filter_fn
def f(x):
    rows = [x * 1.0, x * x]
    s = list(filter(scale, rows))
    return np.sum(rows[0]) + np.sum(rows[1] * x)


# zip_list
def f(x):
    r = [x[0], x[1]]
    if grow(r) > 2 and grow(r) > 3 or grow(r) > 99:
        return sum(r)
    return x[0]


# pop_test
def f(x):
    r = [x[0], x[1], x[2], 3.0]
    s = 0.0
    while r and r.pop() > -99.0:
        s = s + sum(r)
    return s


# pop_while
def f(x):
    r = [x[0], x[1], x[2], 3.0]
    s = 0.0
    while len(r) > 1 and (t := r.pop()) > -99.0:
        s = s + t * r[0]
    return s


# dict_pop
def f(x):
    d = {'a': x[0], 'b': x[1]}
    if d.pop('a') > 0.0:
        return d['b'] * x[2]
    return x[0]


# setdefault
def f(x):
    d = {'a': x[0]}
    if d.setdefault('b', x[1] * x[2]) > -9.0:
        return d['b'] * x[2]
    return x[0]


# method_chain
def f(x):
    c = Cell(x[0])
    return c.v * c.bump() * c.v + c.bump(c.v)


# method_args
def f(x):
    c = Cell(x[0])
    return c.bump(c.bump(c.bump())) + c.v


# method_tuple
def f(x):
    c = Cell(x[0])
    a, b, d = c.v, c.bump(), c.v
    return a * 2.0 + b * 3.0 + d * 5.0


# method_index
def f(x):
    c = Cell(x[0])
    r = [x[0], x[1], x[2]]
    r[int(c.bump() > 0.0)] += c.v
    return r[0] * r[1] + r[2]


# np_out_test
def f(x):
    y = x * 2.0
    if np.multiply(y, 0.5, out=y)[0] > 0.0 and y[0] > 0.0:
        return np.sum(y * y)
    return x[0]


# fill_or
def f(x):
    y = x * 2.0
    y.fill(1.0) or y.sum()
    return np.sum(y * x)


# append_and
def f(x):
    r = [x[0]]
    x[1] > -9.0 and r.append(x[1])
    x[1] > 9.0 and r.append(x[2])
    return sum(r) * len(r)


# ternary_stmt
def f(x):
    r = [x[0]]
    r.append(x[1]) if x[0] > 0.0 else r.append(x[2])
    return r[0] * r[1]


# listcomp_append
def f(x):
    r = []
    [r.append(v * v) for v in x]
    return sum(r) * r[0]


# recursive
def down(r, n):
    r *= 0.9
    return n == 0 or down(r, n - 1)


def f(x):
    y = x * 1.0
    if down(y, 3):
        return np.sum(y * y)
    return x[0]


# recursive_list
def walk(r, n):
    if n and walk(r, n - 1) > 0.0:
        r[0] = r[0] * 0.9
    return 1.0


def f(x):
    y = [x[0], x[1]]
    walk(y, 3)
    return y[0] * y[1]


# global_list
LOG = []


def note(v):
    LOG.append(1)
    return len(LOG)


def f(x):
    if note(x[0]) > 0:
        return x[0] * x[1]
    return x[2]


# loop_default
def f(x):
    s = 0.0
    y = x * 1.0
    for i in range(3):
        g = lambda k=scale(y): k * x[1]
        s = s + g()
    return s + np.sum(y)


# with_two
def f(x):
    y = x * 1.0
    with scaled(1.0) as a, scaled(scale(y)) as b:
        s = x[1]
    return s + np.sum(y * y)


# kw_order
def f(x):
    c = Cell(x[0])
    return twice(c.v, k=c.bump()) + twice(k=c.bump(), v=c.v)


# dict_order
def f(x):
    c = Cell(x[0])
    d = {'a': c.v, 'b': c.bump(), 'c': c.v}
    return d['a'] + 2.0 * d['b'] + 3.0 * d['c']


# dictcomp_order
def f(x):
    c = Cell(x[0])
    d = {(c.bump() > 0.0, i): c.v for i in range(2)}
    return d[True, 0] + 2.0 * d[True, 1]


# str_then
def f(x):
    c = Cell(x[0])
    t = f'{c.v} {c.bump()} {c.v}'
    return len(t) * 0.0 + c.v * c.v


# chain3
def f(x):
    c = Cell(x[0])
    if 0.0 < c.bump() < 99.0 > c.bump():
        return c.v * c.v
    return x[1]


# nested_any
def f(x):
    y = x * 1.0
    if any(scale(y) < -9.0 or scale(y) > 9.0 for i in (0, 1) for j in (0, 1) if scale(y) > -9.0):
        return x[0]
    return np.sum(y * y)


# walrus_scale
def f(x):
    y = x * 1.0
    while (t := scale(y)) > 0.3:
        x = x * 1.1
    return np.sum(x * y) + t


# in_try
def f(x):
    y = x * 1.0
    try:
        if scale(y) > 99.0:
            raise ValueError
    except ValueError:
        return x[0]
    return np.sum(y * y)


# early_return
def f(x):
    y = x * 1.0
    for i in range(4):
        if scale(y) < 0.55:
            return np.sum(y * x)
    return x[0]


# assert_chain
def f(x):
    y = x * 1.0
    assert scale(y) > -9.0 and scale(y) < 9.0, 'bad'
    return np.sum(y * y)


# yield_gen
def gen(y):
    for i in range(2):
        y *= 0.9
        yield y[0]


def f(x):
    y = x * 1.0
    s = 0.0
    for v in gen(y):
        s = s + v
    return s + np.sum(y)


"""
