"""How much work a derivation may be; what the standard library gives is a constant."""

import argparse
import ast
import base64
import calendar
import collections
import colorsys
import configparser
import contextlib
import copy
import csv
import datetime
import decimal
import difflib
import fractions
import functools
import hashlib
import heapq
import html
import inspect
import io
import ipaddress
import itertools
import json
import logging
import operator
import os
import pathlib
import pickle
import pprint
import random
import re
import shlex
import statistics
import string
import struct
import textwrap
import time
import typing
import unicodedata
import urllib.parse
import uuid
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad import kinds as K
from s2sad.pipeline import derive
from s2sad.requests import Request
from s2sad.steps import work

LOG = logging.getLogger("tests.test_work")


def g(a, b=2):
    return a


# --- calls into the standard library -------------------------------------------------------------


def of_re(x):
    return np.sum(x * x) * float(re.match("n(.*)", "n1").groups()[0])


def of_re_sub(x):
    return np.sum(x * x) * float(re.sub("[a-z]", "", "n2.5"))


def of_inspect(x):
    return np.sum(x * x) * float(len(inspect.signature(g).parameters))


def of_json_loads(x):
    cfg = json.loads('{"w": 2.5}')
    return np.sum(x * x) * float(cfg["w"])


def of_json_dumps(x):
    n = float(len(json.dumps({"w": 2.5, "k": [1, 2]}, indent=2)))
    return np.sum(x * x) * n


def of_json_dumps_var(x, lr=0.5):
    n = float(len(json.dumps({"w": lr})))
    return np.sum(x * x) * n


def of_dt(x):
    d = datetime.timedelta(days=1.5)
    return np.sum(x * x) * float(d.total_seconds())


def of_dt2(x):
    d = datetime.datetime(2020, 1, 2) - datetime.datetime(2020, 1, 1)
    return np.sum(x * x) * float(d.days)


def of_dt3(x):
    d = datetime.datetime.strptime("2020-01-02", "%Y-%m-%d")
    return np.sum(x * x) * float(d.year)


def of_path(x):
    p = pathlib.Path("/tmp") / "a3.5"
    return np.sum(x * x) * float(p.name[1:])


def of_counter(x):
    c = collections.Counter("hello")
    return np.sum(x * x) * float(c["l"])


def of_counter_mc(x):
    c = collections.Counter("hello").most_common(1)
    return np.sum(x * x) * float(c[0][1])


def of_odict(x):
    c = collections.OrderedDict(a=1, b=2)
    return np.sum(x * x) * float(len(c))


def of_tw(x):
    return np.sum(x * x) * float(textwrap.dedent("   2.0").strip())


def of_tw2(x):
    return np.sum(x * x) * float(len(textwrap.wrap("a b c d", 3)))


def of_string(x):
    return np.sum(x * x) * float(string.Template("$a.5").substitute(a="3"))


def of_random(x):
    rng = random.Random(3)
    return np.sum(x * x) * float(rng.random())


def of_decimal(x):
    return np.sum(x * x) * float(decimal.Decimal("1.5") + decimal.Decimal("2"))


def of_fractions(x):
    return np.sum(x * x) * float(fractions.Fraction(1, 3) + fractions.Fraction("2/3"))


def of_itertools(x):
    return np.sum(x * x) * float(len(list(itertools.permutations("abc"))))


def of_functools(x):
    return np.sum(x * x) * float(functools.reduce(operator.add, [1, 2, 3]))


def of_logging(x):
    LOG.info("x %s", "a")
    logging.debug("y")
    return np.sum(x * x) * float(LOG.getEffectiveLevel())


def of_argparse(x):
    p = argparse.ArgumentParser()
    p.add_argument("--w", type=float, default=2.5)
    a = p.parse_args([])
    return np.sum(x * x) * float(a.w)


def of_struct(x):
    return np.sum(x * x) * float(struct.unpack("<d", struct.pack("<d", 2.5))[0])


def of_hashlib(x):
    return np.sum(x * x) * float(int(hashlib.md5(b"a").hexdigest()[:2], 16))


def of_csv(x):
    rows = list(csv.reader(io.StringIO("1.5,2\n3,4")))
    return np.sum(x * x) * float(rows[0][0])


def of_csv_dict(x):
    total = 0.0
    for row in csv.DictReader(io.StringIO("a,b\n3,4")):
        total += float(row["a"])
    return np.sum(x * x) * total


def of_os(x):
    return np.sum(x * x) * float(os.environ.get("NO_SUCH_W", "2.5"))


def of_os_path(x):
    return np.sum(x * x) * float(os.path.splitext("2.txt")[0])


def of_os_path2(x):
    return np.sum(x * x) * float(len(os.path.join("a", "b")))


def of_configparser(x):
    c = configparser.ConfigParser()
    c.read_string("[a]\nw=2.5")
    return np.sum(x * x) * float(c["a"]["w"])


def of_base64(x):
    return np.sum(x * x) * float(len(base64.b64encode(b"abc")))


def of_calendar(x):
    return np.sum(x * x) * float(calendar.monthrange(2020, 2)[1])


def of_colorsys(x):
    return np.sum(x * x) * float(colorsys.rgb_to_hsv(0.1, 0.2, 0.3)[2])


def of_colorsys_active(x):
    return np.sum(x * x) * colorsys.rgb_to_yiq(x[0], x[1], x[2])[0]


def of_heapq(x):
    return np.sum(x * x) * float(heapq.nlargest(1, [1, 5, 2])[0])


def of_pickle(x):
    return np.sum(x * x) * float(pickle.loads(pickle.dumps([1.5]))[0])


def of_shlex(x):
    return np.sum(x * x) * float(shlex.split("a 2.5")[1])


def of_urllib(x):
    return np.sum(x * x) * float(urllib.parse.urlparse("http://a:80/").port)


def of_uuid(x):
    return np.sum(x * x) * float(uuid.UUID(int=3).int)


def of_difflib(x):
    return np.sum(x * x) * float(difflib.SequenceMatcher(None, "ab", "abc").ratio())


def of_stat(x):
    return np.sum(x * x) * float(statistics.mean([1, 2, 3]))


def of_stat_nd(x):
    return np.sum(x * x) * float(statistics.NormalDist(0.0, 1.0).cdf(0.3))


def of_strf(x):
    return np.sum(x * x) * float(time.strftime("%Y", time.gmtime(0)))


def of_ast(x):
    return np.sum(x * x) * float(ast.literal_eval("2.5"))


def of_html(x):
    return np.sum(x * x) * float(html.unescape("2&#46;5"))


def of_ip(x):
    return np.sum(x * x) * float(ipaddress.ip_address("0.0.0.3").packed[3])


def of_et(x):
    return np.sum(x * x) * float(ET.fromstring("<a w='2.5'/>").get("w"))


def of_typing(x):
    return np.sum(x * x) * typing.cast(float, 2.5)


def of_typing_active(x):
    return typing.cast(float, np.sum(x * x))


def of_pprint(x):
    return np.sum(x * x) * float(len(pprint.pformat({"a": 1})))


def of_unicodedata(x):
    return np.sum(x * x) * float(unicodedata.numeric("5"))


def of_suppress(x):
    with contextlib.suppress(ValueError):
        return np.sum(x * x)
    return 0.0


def of_nullc(x):
    with contextlib.nullcontext():
        y = np.sum(x * x)
    return y


def of_deepc(x):
    s = copy.deepcopy({"w": [1.5]})
    return np.sum(x * x) * s["w"][0]


def of_log_active(x):
    y = np.sum(x * x)
    logging.debug("loss %f", y)
    LOG.info("loss %s %f", "a", y)
    return y


PROGRAMS = [f for name, f in globals().copy().items() if name.startswith("of_")]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_the_standard_library_gives_is_a_constant(f):
    check(f, np.array([0.5, 0.3, 0.7]))


def run_over(lr, x):
    return np.sum(x * x) * float(len(json.dumps({"w": lr, "k": [lr, 1]}, indent=2)))


def test_a_call_into_a_library_that_takes_too_long_is_a_constant(monkeypatch):
    """Where it is not, the refusal says so, and points at the library's function."""
    monkeypatch.setattr(work, "OF_LIBRARIES", 5)
    check(functools.partial(run_over, 0.5), np.array([0.5, 0.3, 0.7]))
    with pytest.raises(s2sad.UnsupportedError, match=r"rgb_to_hsv, a library's .* 5 steps"):
        s2sad.grad(lambda x: colorsys.rgb_to_hsv(x[0], x[1], x[2])[2])(np.array([0.5, 0.3, 0.7]))


# --- the bound -----------------------------------------------------------------------------------


def level(x, k):
    return np.sum(x * x)


def above(inner):
    def run(x, k):
        y = inner(x, (k, 1))
        z = inner(y * x, (k, 1.0))
        return y + inner(z * x, (k, "a"))

    return run


def tower(x):
    return run_6(x, 2.0)


run_6 = functools.reduce(lambda f, _: above(f), range(6), level)


def test_a_derivation_without_end_names_the_function_and_its_line(monkeypatch):
    monkeypatch.setattr(work, "STEPS", 500)
    with pytest.raises(s2sad.Error) as refused:
        s2sad.grad(tower)(np.ones(2))
    text = str(refused.value)
    assert "gave up on deriving run: it takes more than 500 steps" in text
    assert "test_work.py" in text and "inner(" in text and "s2sad.pullback" in text


def steps_of(f, *args):
    names = inspect.signature(f).parameters
    params = tuple((n, K.kind_of(a, n)) for n, a in zip(names, args, strict=True))
    return derive(Request(f, params, (params[0][0],), True, "value_and_grad")).work.steps


def long_recurrence(x, w):
    h, c = np.zeros(3), np.zeros(3)
    total = 0.0
    for i in range(len(x)):
        for j in range(3):
            if i % 2:
                h = np.tanh(w * h + x[i])
            else:
                c = c * h + np.sin(c + j)
        total = total + h @ c
    return total


def test_real_programs_take_a_small_part_of_what_is_allowed():
    """The same number on every machine: the largest program of the tests takes 430 steps."""
    taken = steps_of(long_recurrence, np.ones(4), 0.5)
    assert taken == steps_of(long_recurrence, np.ones(4), 0.5)
    assert taken < work.STEPS / 100
