"""What a called function leaves of the structures that it is given is known where it is called.

So are, by all names of a structure, the keys that it gets.
"""

import pytest
from pairs import outcome

HEAD = """
class Cell:
    def __init__(self, s, m):
        self.s = s
        self.m = m

def first(y, d):
    d.setdefault("k", y)
    return y * 2

"""
TAIL = """

WRT = (0, 1)

def arguments():
    return [0.7, {}]
"""
DICT = '{"u": 0.3}'
ROUNDS = "    for i in range(3):\n"

RIGHT = {
    "a dict": (DICT, ROUNDS + "        y = first(y, d)\n    return d['u'] * d['k']"),
    "an attribute": (
        f"Cell({DICT}, 0.5)",
        ROUNDS + "        y = first(y, d.s)\n    return d.m * d.s['k'] * d.s['u']",
    ),
    "an item": (
        f"[{DICT}, {DICT}]",
        ROUNDS + "        y = first(y, d[1])\n    return d[0]['u'] * d[1]['k'] * d[1]['u']",
    ),
    "another name": (
        DICT,
        f"    e = d\n{ROUNDS}        y = first(y, e)\n    return d['u'] * d['k']",
    ),
    "a call in a comprehension": (
        DICT,
        "    c = [first(v, d) for v in [y, y * 2, y * 3]]\n    return d['u'] * sum(c) * d['k']",
    ),
    "a call in a test": (
        DICT,
        "    while first(y, d) > 0.1 and y < 5.0:\n        y = y * 2\n"
        "    return d['u'] * d['k'] * y",
    ),
    "what an inner function captures": (
        DICT,
        f"    def put():\n        d.setdefault('k', y)\n{ROUNDS}        put()\n        y = y * 2\n"
        "    return d['u'] * d['k']",
    ),
    "an operator": (
        DICT,
        f"    bag = Bag()\n{ROUNDS}        other = bag + y\n        y = y * 2\n"
        "    return d['u'] * bag.held['k']",
    ),
    "a method": (
        DICT,
        f"    bag = Bag()\n{ROUNDS}        bag.put(y)\n        y = y * 2\n"
        "    return d['u'] * bag.held['k']",
    ),
    "by two names": (
        DICT,
        ROUNDS + "        y = y + both(y, d, d)\n    return d['u'] * y",
    ),
    "through two calls": (
        DICT,
        ROUNDS + "        through(y, d)\n        y = y * 2\n    return d['u'] * d['k']",
    ),
    "a name that is bound again": (
        DICT,
        ROUNDS + "        y = y + copied(y, d)\n    return d['u'] * y * d.get('k', 5.0)",
    ),
    "an array": (
        '{"u": np.array([0.3, 0.2])}',
        ROUNDS + "        y = y * 2 + array(y, d)\n    return (d['u'] * d['k']).sum() * y",
    ),
    "keyword arguments": (
        DICT,
        ROUNDS + "        y = y + table(y, d=d, e=d['u'])\n    return d['u'] * y",
    ),
}
CALLED = """
class Bag:
    def __init__(self):
        self.held = {}

    def put(self, y):
        self.held.setdefault("k", y)

    def __add__(self, y):
        self.held.setdefault("k", y)
        return self

def both(y, d, e):
    d.setdefault("k", y)
    return e.get("k", y * 3)

def through(y, d):
    first(y, d)
    first(y * 2, d)

def copied(y, d):
    d = dict(d)
    d["k"] = y
    return d["k"] * d["u"]

def array(y, d):
    d.setdefault("k", np.array([y, y]))
    return y

def table(y, **named):
    k = named["e"] * y
    return k * named["d"]["u"]

"""


def program(argument, body):
    tail = TAIL.replace("{}", argument)
    return f"import numpy as np\n{HEAD}{CALLED}def f(y, d):\n{body}\n{tail}"


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_call_leaves_is_known(name):
    found = outcome(program(*RIGHT[name]))
    assert found.word == "right", found.details


READ = "    return d['u'] * d.get('k', 5.0)"
CHOICE = "    e = d if y > 0 else {}\n"
REFUSED = {
    "an attribute in a loop": f"    o = Cell(d, 1.0)\n{ROUNDS}        o.s['k'] = y\n{READ}",
    "an item in a loop": (
        "    held = {'a': d, 'b': {'u': 1.0}}\n"
        f"    for key in ['a', 'b', 'a']:\n        held[key]['k'] = y\n{READ}"
    ),
    "one of two": f"{CHOICE}    e['k'] = y\n{READ}",
    "a default for one of two": f"{CHOICE}    e.setdefault('k', y * y)\n{READ}",
    "an update of one of two": f"{CHOICE}    e.update({{'k': y}})\n{READ}",
    "a call with one of two": f"{CHOICE}    first(y, e)\n{READ}",
    "a key of one of two taken out": f"{CHOICE}    e.pop('u')\n    return d.get('u', 5.0) * y",
    "a key of one of two deleted": f"{CHOICE}    del e['u']\n    return d.get('u', 5.0) * y",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_becomes_of_other_names_is_not_forgotten(name):
    found = outcome(program(DICT, REFUSED[name]))
    assert found.word == "refused", found.details
    assert "may be, or hold, the same structure" in found.reason


def test_keys_that_are_there_are_written_through_one_of_two():
    found = outcome(program(DICT, f"{CHOICE}    e['u'] = y * y\n    return d['u'] * y"))
    assert found.word == "right", found.details


GETTERS = {
    "an item": (
        "    d = {'a': [1, 2]}\n    operator.itemgetter('a')(d)[0] = y\n    return d['a'][0] * 2.0"
    ),
    "an attribute": (
        "    o = Cell([0, 1], 2.0)\n    p = operator.attrgetter('s')(o)\n    p.append(y)\n"
        "    return o.s[-1] * o.m"
    ),
    "two items": (
        "    d = {'a': [1, 2], 'b': [1, 3]}\n    p, q = operator.itemgetter('a', 'b')(d)\n"
        "    p[0] = y\n    return d['a'][0] * q[1]"
    ),
    "items of a loop": (
        "    c = [{'k': [1, 2]}, {'k': [3, 4]}]\n    for e in c:\n"
        "        p = operator.itemgetter('k')(e)\n        p[0] = y * p[1]\n"
        "    return c[0]['k'][0] * c[1]['k'][0]"
    ),
}


@pytest.mark.parametrize("name", GETTERS)
def test_what_a_getter_gives_is_a_part(name):
    found = outcome("import operator\n" + program(DICT, GETTERS[name]))
    assert found.word == "right", found.details


PARTS = {
    "a function": "    p = part(d)",
    "a lambda": "    p = (lambda whole: whole['a'])(d)",
    "get": "    p = d.get('a')",
    "a getter with a name": "    get = operator.itemgetter('a')\n    p = get(d)",
    "setdefault": "    p = d.setdefault('a', [])",
}


@pytest.mark.parametrize("store", ["p[0] = y", "p.append(y)", "p += [y]"])
@pytest.mark.parametrize("name", PARTS)
def test_a_store_among_constants_by_a_part_is_right_or_refused(name, store):
    body = f"    d = {{'a': [1, 2]}}\n{PARTS[name]}\n    {store}\n    return sum(d['a']) * y"
    part = "def part(whole):\n    return whole['a']\n\n"
    found = outcome(f"import operator\n{part}" + program(DICT, body))
    assert found.word in ("right", "refused"), found.details
