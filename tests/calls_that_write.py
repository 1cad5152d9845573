"""Programs in which a call writes what it is given, and the call stands anywhere.

A program is a position of the call, what is written, the body of the function that is called, and
how it is called.
"""

import random
import textwrap

HEAD = """
import functools
import math
import contextlib
import numpy as np

W = np.array([0.4, -0.3, 0.9])


class Box:
    def __init__(self, v):
        self.v = v


@contextlib.contextmanager
def scaled(k):
    yield k


def twice(v, k=1.0):
    return v * 2.0 * k


def keep(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)
    return wrapper

"""

# name: (lines that make p of x, lines that write p, floats in p, what f reads at the end)
TARGETS = {
    "argument": ([], ["p *= 0.9"], "p", "np.sum(p * p)"),
    "array": (["p = x * 1.0"], ["p *= 0.9"], "p", "np.sum(p * p)"),
    "item": (["p = x * x"], ["p[0] = p[0] * 0.9 + p[1]"], "p", "np.sum(p * p)"),
    "slice": (["a = x * x", "p = a[1:]"], ["p[:] = p * 0.9"], "p", "np.sum(a * a)"),
    "fill": (["p = x * x"], ["p.fill(0.8)"], "p", "np.sum(p * x)"),
    "add_at": (["p = x * x"], ["np.add.at(p, [0, 0], 0.3 * p[1])"], "p", "np.sum(p * p)"),
    "out": (["p = x * x"], ["np.multiply(p, 0.9, out=p)"], "p", "np.sum(p * p)"),
    "list": (
        ["p = [x[0] * 2.0, x[1] * x[2], x[2]]"],
        ["p[0] = p[0] * 0.9"],
        "p",
        "p[0] * p[1] + p[0] * p[2]",
    ),
    "append": (["p = [x[0] * 2.0, x[1] * x[2]]"], ["p.append(p[0] * 0.9)"], "p", "sum(p) * p[-1]"),
    "pop": (
        ["p = [x[0] * 2.0, x[1] * x[2], x[2], x[1], x[0], 1.0, x[2], 3.0]"],
        ["p.pop()"],
        "p",
        "sum(p) * p[-1]",
    ),
    "rows": (["p = [x * 1.0, x * x]"], ["p[1] *= 0.9"], "p[1]", "np.sum(p[0] * p[1])"),
    "dict": (
        ["p = {'a': x[0] * x[1], 'b': x[2]}"],
        ["p['b'] = p['b'] * 0.9 + p['a']"],
        "p.values()",
        "p['a'] * p['b']",
    ),
    "dict_array": (["p = {'a': x * x}"], ["p['a'] *= 0.9"], "p['a']", "np.sum(p['a'] * x)"),
    "object": (["p = Box(x * x)"], ["p.v = p.v * 0.9"], "p.v", "np.sum(p.v * x)"),
    "object_array": (["p = Box(x * x)"], ["p.v[0] *= 0.9"], "p.v", "np.sum(p.v * x)"),
}

# how the body of a callee writes; WRITE are its lines, VALS floats
BODIES = {
    "plain": "WRITE\nt = 0.0\nfor e in VALS:\n    t = t + e\nreturn t",
    "generator": "WRITE\nreturn sum(e for e in VALS)",
    "listcomp": "WRITE\nreturn sum([e * 1.0 for e in VALS])",
    "lambda": "WRITE\ng = lambda e: e * 0.5\nt = 0.0\nfor e in VALS:\n    t = t + g(e)\nreturn t",
    "try": (
        "try:\n"
        "    WRITE\n"
        "except ValueError:\n"
        "    return 0.0\n"
        "t = 0.0\n"
        "for e in VALS:\n"
        "    t = t + e\n"
        "return t"
    ),
    "finally": (
        "t = 0.0\ntry:\n    for e in VALS:\n        t = t + e\nfinally:\n    WRITE\nreturn t"
    ),
    "with": "with np.errstate(all='ignore'):\n    WRITE\nreturn sum(e for e in VALS)",
    "inner": (
        "def inner(k):\n"
        "    WRITE\n"
        "    return k\n"
        "t = inner(0.5)\n"
        "for e in VALS:\n"
        "    t = t + e\n"
        "return t"
    ),
    "branch": "if len(W) == 3:\n    WRITE\nt = 0.0\nfor e in VALS:\n    t = t + e\nreturn t",
    "rounds": "for _ in range(2):\n    WRITE\nreturn sum([e for e in VALS])",
    "any": "WRITE\nreturn 0.9 if any(e > 0.0 for e in VALS) else 0.8",
    "any_writes": "return 0.9 if any(core(p) > 90.0 for _ in range(2)) else 0.8",
    "generator_writes": "return sum(core(p) for _ in range(2))",
    "listcomp_writes": "return max([core(p) for _ in range(2)])",
    "lambda_writes": "g = lambda: core(p)\nreturn g() * 0.5",
    "test_writes": "if core(p) > -90.0:\n    return 0.7\nreturn 0.6",
    "operand_writes": "return 0.5 + core(p) * 0.5",
}

# what stands in f; lines before the final read; CALL is the call
POSITIONS = {
    "statement": "CALL",
    "assigned": "s += CALL",
    "if": "if CALL > -90.0:\n    s += 1.5 * x[0]",
    "if_false": "if CALL > 90.0:\n    s += 1.5 * x[0]",
    "elif": "if x[0] > 90.0:\n    s += 1.0\nelif CALL > -90.0:\n    s += 1.5 * x[0]",
    "while": "n = 0\nwhile CALL > -90.0 and n < 3:\n    n += 1\n    s += x[1]",
    "while_second": "n = 0\nwhile n < 3 and CALL > -90.0:\n    n += 1\n    s += x[1]",
    "while_not": (
        "n = 0\nwhile not CALL < -90.0:\n    n += 1\n    s += x[1]\n    if n > 2:\n        break"
    ),
    "while_else": (
        "n = 0\n"
        "while CALL > -90.0 and n < 3:\n"
        "    n += 1\n"
        "    if n == 7:\n"
        "        break\n"
        "else:\n"
        "    s += x[1]"
    ),
    "and": "if x[0] > -9.0 and CALL > -90.0:\n    s += 1.5 * x[0]",
    "and_not_run": "if x[0] > 9.0 and CALL > -90.0:\n    s += 1.5 * x[0]",
    "or": "if x[0] > 9.0 or CALL > -90.0:\n    s += 1.5 * x[0]",
    "or_not_run": "if x[0] > -9.0 or CALL > -90.0:\n    s += 1.5 * x[0]",
    "or_value": "s += CALL or x[1]",
    "and_value": "s += CALL and x[1]",
    "not": "if not CALL > 90.0:\n    s += 1.5 * x[0]",
    "not_call": "if not CALL:\n    s += 1.5 * x[0]",
    "ternary_test": "s += x[0] if CALL > -90.0 else x[1]",
    "ternary_arm": "s += CALL if x[0] > -90.0 else x[1]",
    "ternary_other": "s += CALL if x[0] > 90.0 else x[1]",
    "assert": "assert CALL > -90.0",
    "assert_message": "assert x[0] > -90.0, CALL",
    "match": (
        "match CALL > -90.0:\n    case True:\n        s += x[0]\n    case _:\n        s += x[1]"
    ),
    "match_guard": (
        "match 3:\n    case 3 if CALL > -90.0:\n        s += x[0]\n    case _:\n        s += x[1]"
    ),
    "chain_first": "if -90.0 < CALL < 90.0:\n    s += x[0]",
    "chain_last": "if -90.0 < x[0] < CALL + 90.0:\n    s += x[0]",
    "chain_not_run": "if 90.0 < x[0] < CALL + 90.0:\n    s += x[0]",
    "compared": "s += float(CALL > -90.0)",
    "compared_both": "if CALL > CALL - 90.0:\n    s += x[0]",
    "operand": "s += x[0] * CALL",
    "operand_first": "s += CALL * x[0]",
    "operand_before": "s += READ * CALL",
    "operand_after": "s += CALL * READ",
    "minus": "s += -CALL",
    "power": "s += x[2] ** CALL",
    "both": "s += CALL * 0.5 + CALL * x[0]",
    "index": "s += W[int(CALL > -90.0)] * x[0]",
    "slice": "s += np.sum(W[: int(CALL > -90.0) + 1] * x[0])",
    "stored_at": "w = x * 1.0\nw[int(CALL > -90.0)] = 2.0\ns += np.sum(w * w)",
    "stored": "w = x * 1.0\nw[1] = CALL\ns += np.sum(w * w)",
    "added_at": "w = x * 1.0\nw[int(CALL > -90.0)] += x[0]\ns += np.sum(w * w)",
    "added": "w = x * 1.0\nw[1] += CALL\ns += np.sum(w * w)",
    "f_string": "text = f'{CALL:.3f}'\ns += 0.1 * len(text)",
    "f_string_plain": "text = f'value {CALL}'",
    "percent": "text = 'value %.3f' % CALL",
    "format": "text = 'value {:.3f}'.format(CALL)",
    "printed": "print('', end='' if CALL > -90.0 else '')",
    "walrus": "if (t := CALL) > -90.0:\n    s += t",
    "walrus_while": "n = 0\nwhile (t := CALL) > -90.0 and n < 2:\n    n += 1\n    s += t",
    "return": "RETURN CALL + s",
    "return_tuple": "t, u = CALL, x[0]\ns += t * u",
    "argument": "s += twice(CALL)",
    "keyword": "s += twice(x[0], k=CALL)",
    "second_argument": "s += twice(READ, CALL)",
    "starred": "s += twice(*[CALL, 2.0])",
    "double_starred": "s += twice(x[0], **{'k': CALL})",
    "maximum": "s += max(CALL, -90.0)",
    "library": "s += np.tanh(CALL)",
    "list": "t = [CALL, x[0]]\ns += t[0] * t[1]",
    "list_after": "t = [READ, CALL]\ns += t[0] * t[1]",
    "set": "t = {CALL > -90.0, False}\ns += 0.1 * len(t)",
    "dict_value": "t = {'k': CALL, 'm': x[0]}\ns += t['k'] * t['m']",
    "dict_key": "t = {CALL > -90.0: x[0]}\ns += t[True]",
    "dict_looked_up": "t = {True: x[0], False: x[1]}\ns += t[CALL > -90.0]",
    "comprehension": "s += sum([CALL * x[i] for i in range(2)])",
    "comprehension_test": "s += sum([x[i] for i in range(2) if CALL > -90.0])",
    "comprehension_over": "s += sum([x[i] for i in range(int(CALL > -90.0) + 1)])",
    "generator": "s += sum(CALL * x[i] for i in range(2))",
    "generator_test": "s += sum(x[i] for i in range(2) if CALL > -90.0)",
    "any": "if any(CALL > 90.0 for i in range(2)):\n    s += x[0]",
    "all": "if all(CALL > -90.0 for i in range(2)):\n    s += x[0]",
    "any_list": "if any([CALL > 90.0 for i in range(2)]):\n    s += x[0]",
    "next": "t = next(i for i in range(3) if CALL > -90.0)\ns += x[t]",
    "dict_comprehension": "t = {i: CALL * x[i] for i in range(2)}\ns += t[0] + t[1]",
    "set_comprehension": "t = {CALL > -90.0 for i in range(2)}\ns += 0.1 * len(t)",
    "lambda": "g = lambda: CALL\ns += g() * x[0]",
    "lambda_test": "g = lambda: CALL > -90.0\nif g():\n    s += x[0]",
    "inner": "def g():\n    return CALL\nif g() > -90.0:\n    s += x[0]",
    "default": "def g(k=CALL):\n    return k * x[0]\ns += g()",
    "lambda_default": "g = lambda k=CALL: k * x[0]\ns += g()",
    "decorated": "@keep\ndef g(k):\n    return CALL * k\ns += g(x[0]) * x[1]",
    "sorted_key": "t = sorted([2, 1], key=lambda k: k * (CALL > -90.0))\ns += x[t[0]]",
    "for": "for i in range(int(CALL > -90.0) + 1):\n    s += x[i]",
    "for_list": "for t in [CALL, x[0]]:\n    s += t * t",
    "for_zip": "for t, i in zip([CALL], range(3)):\n    s += t * t",
    "in_loop": "for i in range(2):\n    if CALL > -90.0:\n        s += x[i]",
    "with": "with scaled(CALL) as t:\n    s += x[0]",
    "raise": "try:\n    raise ValueError(CALL)\nexcept ValueError:\n    s += x[0]",
    "try": "try:\n    s += x[0] if CALL > -90.0 else x[1]\nexcept ValueError:\n    s += x[2]",
    "delete": "t = [x[0], x[1], x[2]]\ndel t[int(CALL > -90.0)]\ns += t[1]",
    "chained_method": "s += (W * CALL).sum()",
    "subscripted": "s += [CALL, x[0]][0]",
    "unpacked": "t, *u = [CALL, x[0], x[1]]\ns += t * u[0]",
    "in_list": "if CALL in [1.0, 2.0]:\n    s += x[0]",
    "is_none": "if CALL is not None:\n    s += x[0]",
    "bool": "if bool(CALL > -90.0):\n    s += x[0]",
    "isinstance": "if isinstance(CALL, float):\n    s += x[0]",
    "range_while": "n = 0\nwhile n < int(CALL > -90.0) + 1:\n    n += 1\n    s += x[n]",
    "nested_test": "if (CALL if x[0] > 0.0 else 1.0) > -90.0:\n    s += x[0]",
    "map": "s += sum(map(lambda k: CALL * k, [1.0, 2.0]))",
    "reduce": "s += functools.reduce(lambda a, k: a + CALL * k, [1.0, 2.0], 0.0)",
    "filter": "s += sum(filter(lambda k: CALL > -90.0, [x[0], x[1]]))",
    "fsum": "s += math.fsum([CALL, x[0]])",
}

CALLERS = {
    "function": ("", "helper(p)"),
    "deeper": ("def outer(q):\n    return 0.5 + helper(q)\n", "outer(p)"),
    "deepest": (
        (
            "def outer(q):\n"
            "    if helper(q) > 90.0:\n"
            "        return 0.1\n"
            "    return 0.5\n"
            "\n"
            "\n"
            "def outermost(q):\n"
            "    return outer(q) + 0.5\n"
        ),
        "outermost(p)",
    ),
    "method": (
        "class Tool:\n    def run(self, q):\n        return helper(q)\n\n\nTOOL = Tool()\n",
        "TOOL.run(p)",
    ),
    "called": (
        "class Tool:\n    def __call__(self, q):\n        return helper(q)\n\n\nTOOL = Tool()\n",
        "TOOL(p)",
    ),
    "property": (
        (
            "class Tool:\n"
            "    def __init__(self, q):\n"
            "        self.q = q\n"
            "\n"
            "    @property\n"
            "    def done(self):\n"
            "        return helper(self.q)\n"
        ),
        "Tool(p).done",
    ),
    "made": ("class Tool:\n    def __init__(self, q):\n        self.t = helper(q)\n", "Tool(p).t"),
    "decorated": ("@keep\ndef outer(q):\n    return helper(q)\n", "outer(p)"),
    "partial": ("outer = functools.partial(helper)\n", "outer(p)"),
    "lambda": ("outer = lambda q: helper(q) + 0.5\n", "outer(p)"),
    "keyword": ("", "helper(p=p)"),
    "given": ("def apply(fn, q):\n    return fn(q)\n", "apply(helper, p)"),
    "tuple": ("def outer(q):\n    return helper(q), 1.0\n", "outer(p)[0]"),
    "inner_of_callee": (
        "def outer(q):\n    def inside():\n        return helper(q)\n    return inside() * 0.5\n",
        "outer(p)",
    ),
}

CAPTURED = {
    "captured": (["def here():", "    return helper(p)"], "here()"),
    "captured_lambda": (["here = lambda: helper(p)"], "here()"),
    "captured_twice": (
        ["def nearer():", "    return helper(p)", "def here():", "    return nearer() * 0.5"],
        "here()",
    ),
}


def indent(text, n=1):
    return textwrap.indent(text, "    " * n)


def filled(body, write, floats):
    """Return the body of a function with the lines that write, and what it goes through."""
    out = []
    for line in body.split("\n"):
        if line.strip() == "WRITE":
            out.append(textwrap.indent("\n".join(write), line[: len(line) - len(line.lstrip())]))
        else:
            out.append(line.replace("VALS", floats))
    return "\n".join(out)


def program(position, target, body, caller):
    """Return the text of a program: a module with a function f of a vector."""
    make, write, floats, final = TARGETS[target]
    text = HEAD
    if "core(" in BODIES[body]:
        text += f"def core(p):\n{indent(filled(BODIES['plain'], write, floats))}\n\n\n"
    text += f"def helper(p):\n{indent(filled(BODIES[body], write, floats))}\n\n\n"
    inside = []
    if caller in CAPTURED:
        inside, call = CAPTURED[caller]
    else:
        extra, call = CALLERS[caller]
        text += f"{extra}\n\n"
    where = POSITIONS[position].replace("CALL", call).replace("READ", final)
    back = f"return {final} + s"
    if "RETURN" in where:
        where, back = where.replace("RETURN", "return") + f" + {final}", "pass"
    head = ["x = np.array([0.3, 0.2, 0.5])"] if target == "argument" else make
    lines = "\n".join([*head, *inside, "s = 0.0", where, back])
    return f"{text}def f({'p' if target == 'argument' else 'x'}):\n{indent(lines)}\n"


def is_fair(target, body):
    """Say whether a program runs: an inner function that says `p *= 0.9` has no p."""
    return body != "inner" or target not in ("argument", "array")


def table():
    """Return the keys of the programs: every position, target, body and caller, in some pairs."""
    bodies, targets, callers = list(BODIES), list(TARGETS), [*CALLERS, *CAPTURED]
    keys = {}
    for i, position in enumerate(POSITIONS):
        keys[position, "argument", "generator", "function"] = None
        keys[position, "array", "plain", "function"] = None
        turn = [names[i % len(names)] for names in (targets, bodies, callers)]
        keys[(position, *turn)] = None
        keys[position, "list", "plain", "function"] = None
        keys[position, "object", "plain", "deeper"] = None
    for target in targets:
        for position in ("if", "operand_before", "while", "f_string"):
            keys[position, target, "plain", "function"] = None
    for body in bodies:
        for position in ("if", "operand"):
            keys[position, "array", body, "function"] = None
    for caller in callers:
        for position in ("if", "operand_before", "and"):
            keys[position, "array", "plain", caller] = None
            keys[position, "list", "generator", caller] = None
    return [key for key in keys if is_fair(*key[1:3])]


def drawn(seed):
    """Return the key of a random program."""
    choose = random.Random(seed).choice
    while True:
        key = tuple(map(choose, (list(POSITIONS), list(TARGETS), list(BODIES))))
        if is_fair(*key[1:]):
            return (*key, choose([*CALLERS, *CAPTURED]))
