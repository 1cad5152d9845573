"""The statements of the random pairs: each writes an array, a list, a dict or an object, or calls.

The state of a program has one name per kind of value: an array `x` of three, numbers `y` and `z`, a
list `c` of three numbers, a dict `d` of two, an object `o` (a Cell, an array of two `s` and a
number `m`), a list `r` of two arrays of two, and a matrix `w` of two rows and three columns. In the
text {n} is a number, {s} an expression of the state, {i} an index, {op} an augmented assignment,
{a} and {b} new names, and {h} and {g} functions of the module, whose text stands in `HELPED`.
"""

CELL = """
class Cell:
    def __init__(self, s, m):
        self.s = s
        self.m = m

    def scale(self, by):
        self.s *= by
        self.m = self.m * by
        return self

    def total(self):
        return np.sum(self.s) * self.m

    def take(self, by):
        self.m, old = by, self.m
        return old
"""

# Statements are apart by a line with a dash.
PLAIN = """
x[{i}] = {s}
-
x[{i}] {op} {s}
-
x[1:] = x[:-1] * {s}
-
x[1:] {op} {s}
-
x[::2] = {n} * x[1]
-
x[x > {n}] *= {s}
-
x[np.array([0, 2])] += {s}
-
x[[0, 1]] = x[[1, 0]] * {n}
-
x *= {s}
-
x = x * {s}
-
x += {n} * x[::-1]
-
x[:] = x[::-1] * {s}
-
np.add.at(x, [0, 0, 1], {s})
-
np.multiply(x, {s}, out=x)
-
np.sin(x, out=x)
-
np.add(x[1:], {s}, out=x[:-1])
-
{a} = x[1:]
{a} *= {s}
-
{a} = x[::-1]
{a}[0] = {s}
-
{a} = x
{a}[{i}] = {s}
-
{a} = x.copy()
{a}[0] = {s}
x[1] = {a}[0] * {a}[2]
-
x[0], x[1] = x[1], x[0] * {n}
-
x[0], y = y, x[0]
-
y = {s}
x[1] = y * y
-
x[...] = {s}
-
np.copyto(x, x * {s})
-
x = np.concatenate([x[1:], x[:1] * {s}])
-
x = np.where(x > {n}, x * {s}, x)
-
x[:] = np.cumsum(x) * {n}
-
for {a} in range(3):
    x[{a}] = x[{a}] * {s}
-
for {a} in range(2):
    x[{a} + 1] += {n} * x[{a}]
-
x.put([0, 2], {s})
-
x -= np.mean(x) * {s}
-
z = z * x[{i}]
x[{i}] = z
-
z = {n}
-
z = y * {n}
y = z * {s}
-
y, z = z * {n}, y
-
w[0] = w[1] * {s}
-
w[1, 2] {op} {s}
-
w[:, 1] = {s}
-
w.T[0] *= {s}
-
{a} = w[0]
{a}[1] = {s}
-
for {a} in w:
    {a} *= {s}
-
w[[0, 1]] = w[[1, 0]]
-
w = w * {s}
-
w += w[::-1] * {n}
-
{a} = w.reshape(-1)
{a}[4] = {s}
-
x = w[0] * x
w[1] = x
-
c[{i}] = {s}
-
c[{i}] {op} {s}
-
c[0], c[1] = c[1], c[0] * {n}
-
c.append({s})
-
c.insert(1, {s})
-
c.append({s})
y = y * c.pop(0)
-
c.append({s})
z = c.pop() * {n}
-
c = c + [{s}]
-
c += [{s}]
-
c.extend([{s}, {n}])
-
c[1:] = [{s}, {n}]
-
c = [{a} * {s} for {a} in c]
-
c.reverse()
c[0] = {s}
-
c.append({s})
del c[0]
-
{a} = c
{a}[0] = {s}
-
{a} = list(c)
{a}[1] = {s}
c[0] = {a}[1] * {a}[0]
-
{a}, *{b} = c
c = [*{b}, {a} * {s}]
-
for {a}, {b} in enumerate(c):
    c[{a}] = {b} * {s}
-
{a} = c[:2]
{a}[0] = {s}
c[1] = sum({a})
-
c = sorted(c)
-
c[0], y = y, c[0]
-
c = c[::-1]
c[0] {op} {s}
-
d["u"] = {s}
-
d["v"] {op} {s}
-
d.update(u={s})
-
d.update({"v": {s}})
-
d = {**d, "u": {s}}
-
d["k"] = {s}
-
y = y * d.pop("v")
d["v"] = {s}
-
y = y + d.setdefault("k", {s}) * {n}
-
for {a} in d:
    d[{a}] *= {s}
-
d["u"], d["v"] = d["v"], d["u"] * {n}
-
d |= {"u": {s}}
-
{a} = d
{a}["u"] = {s}
-
{a} = dict(d)
{a}["u"] = {s}
d["v"] = {a}["u"] * {n}
-
for {a}, {b} in d.items():
    d[{a}] = {b} * {s}
-
d = {{a}: {b} * {s} for {a}, {b} in d.items()}
-
d["u"], y = y, d["u"]
-
z = d.get("k", {s}) * {n}
d["u"] = z
-
o.m = {s}
-
o.m {op} {s}
-
o.s[0] = {s}
-
o.s {op} {s}
-
o.s = o.s * {s}
-
{a} = o
{a}.m = {s}
-
o.s, o.m = o.s * o.m, {s}
-
o = Cell(o.s * {s}, y)
-
{a} = o.s
{a}[1] = {s}
-
o.scale({s})
-
o.scale({s}).scale({n})
-
y = o.take({s})
-
o.m, y = y, o.m
-
y = o.total() * {n}
o.m = {s}
-
r[0][1] = {s}
-
r[1] = r[0] * {s}
-
r[0] *= {s}
-
r[0], r[1] = r[1], r[0]
-
r.append(x[:2] * {s})
-
for {a} in r:
    {a} *= {s}
-
r[0] = r[1]
r[0][0] {op} {s}
-
{a} = r[1]
{a} += {s}
-
r = [{a} * {s} for {a} in r]
-
{a}, {b} = r
{a}[0] = {b}[1] * {s}
-
r[0][:] = x[1:] * {n}
-
{a} = (x, c)
{a}[0][1] = {s}
{a}[1][0] = {n} * {a}[0][1]
-
{a} = {"p": x, "q": y}
{a}["p"][0] = {a}["q"] * {s}
-
{a} = [y, z]
{a}[0] = {s}
y, z = {a}
"""

# A statement, and the functions that it calls.
HELPED = """
{h}(x, y)
--
def {h}(p, q):
    p[0] = p[1] * q
-
y = {h}(x, y)
--
def {h}(p, q):
    p *= q
    return np.sum(p) * {n}
-
c, y = {h}(y, c)
--
def {h}(y, items):
    items[0] = items[0] * y
    return items, y
-
x, y, z = {h}(x, y, z, d)
--
def {h}(x, y, z, d):
    d["v"] *= y
    return x, y, z
-
x, y, z = {h}(o, x, y, z)
--
def {h}(o, x, y, z):
    o.s[0] = y * {n}
    return x, y, z
-
y, c = {h}(c, y)
--
def {h}(items, q):
    items.append(q * {n})
    return q * items[0], items
-
y = {h}(c, y)
--
def {h}(items, q):
    items.append(q)
    return items.pop(0) * {n}
-
y, z = {h}(x, y, z)
--
def {h}(p, q, k):
    p[1] = q * k
    return k, q
-
x, y = {h}(x, y)
--
def {h}(p, q):
    p = p * q
    p[0] = q
    return p, q * {n}
-
{a} = {h}(x)
{a} *= {s}
--
def {h}(p):
    return p[1:]
-
{a} = {h}(x, y)
{a}[0] = {s}
--
def {h}(p, q):
    p[1] = q
    return p
-
{a} = {h}(y, c)
y = {a}[0]
c = {a}[1]
--
def {h}(q, items):
    items[1] = items[1] * q
    return q * {n}, items
-
{h}(x, c)
--
def {h}(p, items):
    p[0], items[0] = items[0], p[0]
-
y = {h}(x, y)
--
def {h}(p, q):
    if q > {n}:
        p[0] = q
        return q * {n}
    p[1] = q * p[0]
    return p[1]
-
y = {h}(x, y)
--
def {g}(p, q):
    p[2] = p[0] * q
    return q * {n}

def {h}(p, q):
    q = {g}(p, q)
    p[0] *= q
    return q
-
{h}(d, y)
--
def {g}(d, key, q):
    d[key] = d[key] * q

def {h}(d, q):
    for key in d:
        {g}(d, key, q)
-
x, (y, c) = {h}(x, (y, c))
--
def {h}(p, pair):
    q, items = pair
    items[0] = q * p[0]
    return p, (q * {n}, items)
-
y = {h}(x, y, {n})
--
def {h}(p, *rest):
    p[1] = rest[0] * rest[1]
    return rest[0] * {n}
-
y = {h}(x, k=y)
--
def {h}(p, k, scale={n}):
    p[0] = k * scale
    return k + p[1] * scale
-
d, y = {h}(d, y)
--
def {h}(d, q):
    d = {**d, "u": q}
    d["v"] = q * d["v"]
    return d, q * {n}
-
d, y = {h}(d, y)
--
def {h}(d, q):
    d["u"] = d["u"] * q
    return d, q
-
o, y = {h}(o, y)
--
def {h}(o, q):
    o.m = o.m * q
    o.s[1] = q
    return o, q
-
y, z = {h}(o, y)
--
def {h}(o, q):
    o.s *= q
    o.m = q * {n}
    return q, o.m * q
-
{a} = {h}(o, y)
y = {a}["q"] * {n}
--
def {h}(o, q):
    o.m *= q
    return {"q": q, "o": o}
-
r, y = {h}(r, y)
--
def {h}(rows, q):
    rows[0][1] = q
    rows[1] = rows[1] * q
    return rows, q
-
y = {h}(r, y)
--
def {h}(rows, q):
    for row in rows:
        row[0] = q * row[1]
        q = q * {n}
    return q
-
w, y = {h}(w, y)
--
def {h}(m, q):
    m[0] = m[1] * q
    return m, np.sum(m[:, 0]) * q
-
y = {h}(2, x, y)
--
def {h}(k, p, q):
    if k == 0:
        return q
    p[k] = p[k] * q
    return {h}(k - 1, p, q * {n})
-
y = {h}({h}(y, c), c)
--
def {h}(q, items):
    items[0] = items[0] * q
    return q * {n}
-
y = {h}(y, c)
z = {h}(z, c)
--
def {h}(q, items):
    items[1] = items[1] * q
    return q * {n} + items[1]
-
{a} = lambda p: p * {s}
y = {a}(y)
x[0] = {a}(x[0])
-
def {a}():
    x[0] = x[1] * {s}
{a}()
-
def {a}(q):
    c[0] = q * c[1]
    return q * {n}
y = {a}(y)
-
def {a}(q):
    nonlocal y
    y = y * q
{a}(x[1])
-
c, x = {h}(c, x)
--
def {h}(items, p):
    for i in range(3):
        items[i] = items[i] * p[i]
        p[i] = items[i]
    return items, p
-
{a} = {h}(y)
y = {a}(x)
--
def {h}(q):
    def inner(p):
        p[0] = q * p[0]
        return p[0] * {n}
    return inner
-
y = {h}(x, c, y)
--
def {h}(p, items, q):
    p[0] = q
    items.append(p[1])
    return items[-1] * q
-
{a} = {h}(x, y)
y = {a}.m
x = {a}.s
--
def {h}(p, q):
    p[0] = q * {n}
    return Cell(p * q, q)
-
y, *{a} = {h}(x, y)
z = {a}[0] * {n}
--
def {h}(p, q):
    p[1:] *= q
    return q, p[1], p[0]
-
y = {h}(x, c)
--
def {h}(p, items):
    total = 0.0
    for e in items:
        if e < {n}:
            break
        p[0] = p[0] * e
        total = total + p[0]
    return total
-
x = {h}(x, y)
--
def {h}(p, q):
    try:
        p[0] = p[0] * q
        return p * {n}
    finally:
        p[1] = q
-
{a}, y = {h}(d, y), {s}
y = y * {a}
--
def {h}(d, q):
    d["u"], old = q, d["u"]
    return old
"""


def _split(text: str) -> list[tuple[str, str]]:
    """Return the statements of a table, with the functions that they call."""
    rows = [row.strip("\n") for row in text.split("\n-\n")]
    pairs = [row.partition("\n--\n") for row in rows]
    return [(lines.strip("\n"), helpers.strip("\n")) for lines, _, helpers in pairs]


STATEMENTS: list[tuple[str, str]] = [*_split(PLAIN), *_split(HELPED)]
