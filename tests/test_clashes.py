"""Names of the user's like those of Python or of derived text keep their meaning."""

import itertools
import linecache

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([0.3, 0.7, 0.2])
HEAD = "import numpy as nq\n"
NAMES = """same make saved pullback i_0 x_bar np runtime s2sad_0 s2sad_same s2sad_derived s2sad_n0_0
    unbroadcast zeros_like value value_bar t lambda_ f derived otherwise s2sad x_grad""".split()
PLACES = {
    "function": "def {}(x, y): return nq.sum(nq.exp(y[:1] * x))\n"
    "def f(x, y): return {}(x, y) * y[1]",
    "parameter": "def f(x, {}):\n    s = 0.0\n"
    "    for a in x: s = s * a + nq.sum({}[:1] * x)\n    return s",
    "local": "def f(x, y):\n    {} = x * y[0]\n    for a in x: {} = {} * a * nq.sum(y[:1] * x)\n"
    "    return {}[1]",
    "global": "{} = nq.ones(3)\ndef f(x, y): return nq.sum(nq.exp(y[:1] * x) * {}[0])",
    "inner": "def f(x, y):\n    def {}(v): return v * y[0]\n    return nq.sum(nq.exp({}(x) * y))",
}


def load(text, name="f"):
    filename = f"<test clashes {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {}
    exec(compile(text, filename, "exec"), space)
    return space[name]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, place", [*itertools.product(NAMES, PLACES)])
def test_names_of_the_user(name, place):
    if (name, place) == ("f", "function") or (name, place) == ("f", "global"):
        pytest.skip("that is the function itself")
    f = load(HEAD + PLACES[place].replace("{}", name))
    check(f, X, X + 0.1)
    gradient = s2sad.grad(f)
    assert gradient(X, X).tolist() == gradient(X.copy(), X.copy()).tolist()


OWN = {
    "enumerate": "def enumerate(v): return [(10.0, v[0]), (2.0, v[2])]\n"
    "def f(x):\n    s = 0.0\n    for i, a in enumerate(x): s = s * a + i * a\n    return s",
    "zip": "def zip(a, b): return [(b[0], a[1])]\n"
    "def f(x):\n    s = 0.0\n    for a, b in zip(x, x): s = s + 2.0 * a * b * b\n    return s",
    "range": "def range(n): return [0, 0, 1]\n"
    "def f(x):\n    s = 0.0\n    for i in range(2): s = s * x[0] + x[i] ** 2\n    return s",
    "len": "def len(v): return 2\n"
    "def f(x):\n    s = 0.0\n    for i in range(len(x)): s = s + x[i] ** 2\n"
    "    for a in x: s = s * a\n    return s",
    "others": "min = max = list = float = sum = int = tuple = len = reversed = None\n"
    "def f(x):\n    s = 0.0\n    for a, b in zip(x, x[1:]): s = s * a + b\n"
    "    for a in x: s = s * a\n    return s",
    "a parameter": "def f(x, range=2.0):\n    s = 0.0\n"
    "    for a in x: s = s * a + range\n    return s",
    "a variable": "def f(x):\n    range = x * x\n"
    "    for a in x: range = range * a\n    return range[0]",
    "numpy, hidden": "import numpy as np\n"
    "def f(x):\n    np = 3.0\n    return np * (x[:1] * x[1:]).sum()",
}


@pytest.mark.parametrize("name", OWN)
def test_builtins_of_the_user(name):
    f = load(OWN[name])
    try:
        check(f, X)
    except s2sad.UnsupportedError:
        assert name not in ("others", "numpy, hidden")
    except s2sad.ActivityError:
        assert name == "enumerate"


def test_a_builtin_that_is_hidden_is_python_s_own_in_a_file_too(tmp_path):
    f = load("len = 2.0\ndef f(x):\n    s = 0.0\n    for a in x: s = s * a + 1.0\n    return s")
    path = s2sad.grad(f).emit(tmp_path / "f_grad.py", X)
    space = {}
    exec(path.read_text(), space)
    assert space["f_grad"](X).tolist() == s2sad.grad(f)(X).tolist()


def scaled(e, v, value_bar):
    u_bar = value_bar * v * e
    return u_bar


def with_the_seed_of_the_pair(x, y):
    return np.sum(scaled(np.exp(x), y, x * y))


def with_the_seed(x, value_bar, value_0_bar=2.0):
    return np.sum(np.exp(x) * value_bar**2) * value_0_bar


def pull_slogdet(pair, out, a):
    return pair[1] * np.linalg.inv(a).T * out[1]


def with_the_name_of_a_rule(x, y):
    W = np.outer(x, y) + np.eye(len(x))
    t = pull_slogdet((0.0, 1.0), np.linalg.slogdet(W), W) - W
    return np.sum(t * W)


@pytest.mark.parametrize(
    "f",
    [with_the_seed_of_the_pair, with_the_seed, with_the_name_of_a_rule],
    ids=lambda f: f.__name__,
)
def test_names_that_derivatives_make_up(f):
    x, y = np.array([0.3, 0.7, 1.1]), np.array([0.9, 1.3, 0.4])
    check(f, x, y)
    _, pullback = s2sad.vjp(f, x, y)
    for found, expected in zip(pullback(1.0), s2sad.grad(f, wrt=(0, 1))(x, y), strict=True):
        assert np.allclose(found, expected, rtol=1e-13)
