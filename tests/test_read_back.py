"""Numbers read from strings that are made of what is differentiated: refused, never zero."""

import ast
import csv
import io
import json
import logging
import re
import string

import numpy as np
import pytest
from slopes import check

import s2sad

LOG = logging.getLogger("tests.test_read_back")


def show(v):
    return str(v)


def show2(v):
    return {"t": str(v)}


def show3(v):
    return [f"{v}"]


def note(v, out):
    out.append(str(v))


def noted(v, out):
    out["a"] = str(v)


def note_io(v, b):
    b.write(str(v))


def back(v):
    return float(re.sub("x", "", str(v)))


def back2(v):
    t = re.sub("x", "", show(v))
    return float(t)


class Box:
    def __init__(self):
        self.t = ""

    def put(self, v):
        self.t = str(v)

    def get(self):
        return float(re.sub("x", "", self.t))


def lost_1(x):
    return np.sum(x * x) * float(show(x[0]))


def lost_2(x):
    return np.sum(x * x) * float(show2(x[0])["t"])


def lost_3(x):
    return np.sum(x * x) * float(show3(x[0])[0])


def lost_4(x):
    out = []
    note(x[0], out)
    return np.sum(x * x) * float(out[0])


def lost_5(x):
    out = {}
    noted(x[0], out)
    return np.sum(x * x) * float(out["a"])


def lost_6(x):
    b = io.StringIO()
    note_io(x[0], b)
    return np.sum(x * x) * float(b.getvalue())


def lost_7(x):
    return np.sum(x * x) * back(x[0])


def lost_8(x):
    return np.sum(x * x) * back2(x[0])


def lost_9(x):
    return np.sum(x * x) * float(re.sub("x", "", show(x[0])))


def lost_10(x):
    return np.sum(x * x) * float(re.sub("x", "", show2(x[0])["t"]))


def lost_11(x):
    return np.sum(x * x) * float(re.sub("x", "", show3(x[0])[0]))


def lost_12(x):
    out = []
    note(x[0], out)
    return np.sum(x * x) * float(re.sub("x", "", out[0]))


def lost_13(x):
    out = {}
    noted(x[0], out)
    return np.sum(x * x) * float(re.sub("x", "", out["a"]))


def lost_14(x):
    o = Box()
    o.put(x[0])
    return np.sum(x * x) * float(re.sub("x", "", o.t))


def lost_15(x):
    o = Box()
    o.put(x[0])
    return np.sum(x * x) * o.get()


def read(t):
    return float(re.sub("x", "", t))


def lost_16(x):
    return np.sum(x * x) * read(str(x[0]))


def lost_17(x):
    return np.sum(x * x) * read(show(x[0]))


def read2(d):
    return float(json.loads(d["t"]))


def lost_18(x):
    return np.sum(x * x) * read2({"t": str(x[0])})


def lost_19(x):
    return np.sum(x * x) * read2(show2(x[0]))


def lost_20(x):
    def inner():
        return float(re.sub("x", "", t))

    t = str(x[0])
    return np.sum(x * x) * inner()


def lost_22(x):
    return np.sum(x * x) * float(list(map(str, x))[0])


def lost_23(x):
    return np.sum(x * x) * float(" ".join(map(str, x)).split()[0])


def lost_24(x):
    return np.sum(x * x) * float(re.sub("x", "", " ".join([str(v) for v in x])).split()[0])


def lost_25(x):
    return np.sum(x * x) * float(np.array2string(x)[1:5])


def lost_27(x):
    return np.sum(x * x) * float(str(show)[0:0] + "1" + "0" * len(show(x[0])))


def lost_too_2(x):
    return np.sum(x * x) * float(re.match("(.*)", f"{x[0]}").groups()[0])


def lost_too_6(x):
    b = io.StringIO()
    b.write(repr(float(x[0])))
    return np.sum(x * x) * float(b.getvalue())


def lost_too_13(x):
    return np.sum(x * x) * float(ast.literal_eval(repr(float(x[0]))))


def lost_too_14(x):
    return np.sum(x * x) * float(string.Template("$a").substitute(a=float(x[0])))


def lost_too_23(x):
    r = csv.reader(io.StringIO("%r,1" % float(x[0])))
    return np.sum(x * x) * float(list(r)[0][0])


LOST = [f for name, f in globals().copy().items() if name.startswith("lost_")]


@pytest.mark.parametrize("f", LOST)
def test_no_derivative_gets_lost_in_a_string(f):
    x = np.array([0.55, 0.3])
    assert not np.allclose(2 * f(x) / np.sum(x * x) * x, differences(f, x))
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(x)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, (x,), (x,))


def differences(f, x, h=1e-6):
    return [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]


# --- strings beside numbers ----------------------------------------------------------------------


def told(y):
    print(f"loss {y:.3f}", end="")
    LOG.info("loss %s", str(y))
    assert y > 0.0, f"a loss of {y}"
    return y


def kept_told(x):
    y = np.sum(x * x)
    print(f"loss {y}")
    return told(y) * float(json.loads("2.5"))


def kept_lines(x):
    rows = list(csv.reader(io.StringIO("1.5,2")))
    label = f"row of {rows[0]}"
    return np.sum(x * x) * float(rows[0][0]) * len(label)


def kept_raised(x):
    y = np.sum(x * x)
    if y < 0.0:
        raise ValueError(f"negative: {y}")
    return y * float(re.sub("n", "", "n3"))


def kept_named(x):
    scale = {"a": "1.5"}
    name = "a"
    return np.sum(x * x) * float(scale[name])


KEPT = [f for name, f in globals().copy().items() if name.startswith("kept_")]


@pytest.mark.parametrize("f", KEPT)
def test_strings_that_are_only_shown_are_in_nobodys_way(f):
    check(f, np.array([0.55, 0.3]))
