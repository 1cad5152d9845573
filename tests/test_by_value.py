"""Programs that kinds do not tell enough of: words, truth values and integers that are known."""

import importlib
import sys

import numpy as np
import pytest

import s2sad

X = np.array([0.7, 0.4, 1.2])


def holds(f, *rest, gradient=None):
    """Hold a gradient and a tangent beside differences, and return the gradient."""
    direction = np.array([0.3, -0.5, 0.8])
    slopes = [(f(X + e, *rest) - f(X - e, *rest)) / 2e-6 for e in np.eye(3) * 1e-6]
    found = (gradient or s2sad.grad(f, wrt=0))(X, *rest)
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)
    dots = (direction, *(None for _ in rest))
    tangent = s2sad.jvp(f, (X, *rest), dots)[1]
    assert tangent == pytest.approx(np.dot(slopes, direction), rel=1e-6)


def simulated(x, verbose=False, n=3, mode="full"):
    y, history = x, []
    for _ in range(n):
        y = np.sin(y) * x if mode == "full" else y * x
        history.append(y)
    if verbose:
        return y, history
    return y


def quiet(x):
    return np.sum(simulated(x, False)) + np.sum(simulated(x))


def by_flag(x, verbose, mode, n):
    r = simulated(x, verbose, n, mode)
    if verbose:
        return np.sum(r[0]) + np.sum(r[1][0])
    return np.sum(r)


def test_a_flag_in_the_program_decides_what_is_returned():
    holds(quiet)


def test_another_flag_is_another_derivative():
    gradient = s2sad.grad(by_flag, wrt=0)
    flags = [(False, "full", 3), (True, "full", 3), (True, "half", 2), (False, "full", 3)]
    for rest in [*flags, (True, "full", 4)]:
        holds(by_flag, *rest, gradient=gradient)


SPEC, AXES = "i,j->ij", (0,)
SETTINGS = {"axis": 0, "keepdims": True}


def from_globals(x):
    return np.sum(np.sum(np.einsum(SPEC, x, x) ** 2, axis=AXES))


def from_a_dict(x):
    return np.sum(np.sum(np.outer(x, x) ** 2, **SETTINGS) * np.arange(3))


def test_globals_are_looked_at_before_each_call(monkeypatch):
    gradient = s2sad.grad(from_globals)
    holds(from_globals, gradient=gradient)
    monkeypatch.setitem(globals(), "SPEC", "i,i->i")
    holds(from_globals, gradient=gradient)
    monkeypatch.setitem(globals(), "AXES", 0)
    holds(from_globals, gradient=gradient)


def test_a_dict_of_settings_may_change(monkeypatch):
    gradient = s2sad.grad(from_a_dict)
    holds(from_a_dict, gradient=gradient)
    monkeypatch.setitem(SETTINGS, "axis", 1)
    holds(from_a_dict, gradient=gradient)
    monkeypatch.setitem(SETTINGS, "keepdims", False)
    holds(from_a_dict, gradient=gradient)


class Config:
    axes, method = (0, 1), "rk"

    def __init__(self, reduced="sum"):
        self.reduced = reduced


def by_config(x, config):
    if config.method not in ("rk", "euler"):
        raise ValueError(config.method)
    outer = np.outer(x, x) if config.method == "rk" else np.outer(x, x) * x
    return getattr(np, config.reduced)(outer, axis=config.axes)


def test_attributes_of_objects_and_classes(monkeypatch):
    config = Config()
    gradient = s2sad.grad(by_config, wrt=0)
    holds(by_config, config, gradient=gradient)
    config.reduced = "prod"
    holds(by_config, config, gradient=gradient)
    monkeypatch.setattr(Config, "method", "euler")
    holds(by_config, config, gradient=gradient)


def made(spec, power):
    def f(x):
        return np.sum(np.einsum(spec, x, x) ** power)

    return f


def test_captured_words():
    for f in [made("i,i->i", 2), made("i,j->ij", 2), made("i,i->i", 3)]:
        holds(f)


class Switch:
    def __init__(self):
        self.on, self.count, self.name = False, 0, "a"

    def step(self, x, spec):
        self.count += 1
        if self.count > 2:
            self.on, self.name = True, "b"
        return np.einsum(spec, x, x) if self.on else x


def switched(x, spec):
    switch, y, flag, mode = Switch(), x, False, "a"
    for k in range(4):
        y = switch.step(y, spec)
        if flag:
            y = y * 2.0 * x
        if mode == "b" or switch.name == "b":
            y = y + x
        flag = not flag
        if k == 1:
            mode = "b"
    return np.sum(y) * switch.count


def until_done(x, spec):
    i, done, s = 0, False, 0.0
    while not done:
        s = s + np.sum(np.einsum(spec, x, x)) * i
        i += 1
        done = i >= 3
    return s


@pytest.mark.parametrize("f", [switched, until_done], ids=lambda f: f.__name__)
def test_what_changes_is_not_known(f):
    holds(f, "i,i->i")


def test_an_emitted_file_holds_for_the_values_it_was_derived_for(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "switched_model.py").write_text(
        "import numpy as np\n\n\n"
        "class Config:\n    axes = (0, 1)\n\n\n"
        "def loss(x, name):\n"
        "    return np.sum(getattr(np, name)(np.outer(x, x)), axis=Config.axes)\n"
    )
    model = importlib.import_module("switched_model")
    path = s2sad.grad(model.loss, wrt=0).emit(tmp_path / "switched_grad.py", X, "tanh")
    text = path.read_text()
    assert '#          name: "tanh"' in text
    derived = importlib.import_module("switched_grad")
    expected = s2sad.grad(model.loss, wrt=0)(X, "tanh")
    np.testing.assert_allclose(derived.loss_grad(X, "tanh"), expected)
    with pytest.raises(TypeError, match='was derived for name: "tanh"'):
        derived.loss_grad(X, "sin")
    monkeypatch.setattr(model.Config, "axes", (1, 0))
    if "Config" in text.partition("def loss_grad")[2]:
        with pytest.raises(TypeError, match="was derived for Config.axes"):
            derived.loss_grad(X, "tanh")
    for name in ("switched_model", "switched_grad"):
        sys.modules.pop(name)


def test_a_report_says_for_which_values_it_holds():
    told = str(s2sad.explain(by_flag, wrt=0, args=(X, True, "full", 3)))
    assert "derived for verbose == True, mode == 'full', n == 3" in told
    assert "SPEC == 'i,j->ij', what AXES holds" not in told
    assert "what AXES holds, SPEC == 'i,j->ij'" in str(s2sad.explain(from_globals, args=(X,)))


class Mode:
    def __init__(self, word):
        self.word = word

    def to(self, word):
        self.word = word
        return 0.0

    @property
    def named(self):
        return self.word

    @named.setter
    def named(self, word):
        self.word = word

    def __bool__(self):
        self.word = "exp"
        return True

    def __enter__(self):
        self.word = "exp"
        return self

    def __exit__(self, *raised):
        return None


def by_property(x, mode):
    y = getattr(np, mode.word)(x)
    mode.named = "exp"
    return np.sum(getattr(np, mode.word)(x) * y)


def by_its_truth(x, mode):
    y = getattr(np, mode.word)(x)
    if mode:
        y = y * 2.0
    return np.sum(getattr(np, mode.word)(x) * y)


def by_a_manager(x, mode):
    y = getattr(np, mode.word)(x)
    with mode:
        y = y * 2.0
    return np.sum(getattr(np, mode.word)(x) * y)


def by_a_key(x, mode):
    y = getattr(np, mode.word)(x)
    most = max([1.0, 2.0], key=lambda v: mode.to("exp") + v)
    return np.sum(getattr(np, mode.word)(x) * y) * most


def by_a_bound_method(x, mode):
    y = getattr(np, mode.word)(x)
    to = mode.to
    to("exp")
    return np.sum(getattr(np, mode.word)(x) * y)


def by_a_default(x, mode):
    y = getattr(np, mode.word)(x)

    def change(given=mode):
        given.word = "exp"

    change()
    return np.sum(getattr(np, mode.word)(x) * y)


def by_another_name(x, mode):
    y = getattr(np, mode.word)(x)
    other = None or mode
    other.word = "exp"
    return np.sum(getattr(np, mode.word)(x) * y)


def of_one_made_here(x, word):
    mode = Mode(word)
    y = getattr(np, mode.word)(x)
    with mode:
        y = y * 2.0
    if mode.word == "sin":
        y = y, x
    if mode.word == "sin":
        y = y[0] + y[1]
    return np.sum(y)


def of_two(x, word):
    one = Mode(word)
    two = Mode("cos")
    two.word = "tanh"
    y = getattr(np, one.word)(x)
    one.word = "exp"
    return np.sum(y * getattr(np, one.word)(x) * getattr(np, two.word)(x))


@pytest.mark.parametrize(
    "f",
    [by_property, by_its_truth, by_a_bound_method, by_a_default],
    ids=lambda f: f.__name__,
)
def test_what_is_set_by_code_that_no_name_calls(f):
    for word in ("sin", "exp", "tanh"):
        slopes = [(f(X + e, Mode(word)) - f(X - e, Mode(word))) / 2e-6 for e in np.eye(3) * 1e-6]
        gradient = s2sad.grad(f, wrt=0)(X, Mode(word))
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
        tangent = s2sad.jvp(f, (X, Mode(word)), (np.ones(3), None))[1]
        assert tangent == pytest.approx(np.sum(slopes), rel=1e-6)


@pytest.mark.parametrize(
    "f",
    [by_a_manager, by_a_key, by_another_name, of_one_made_here],
    ids=lambda f: f.__name__,
)
def test_what_is_set_out_of_sight_is_known_no_more(f):
    with pytest.raises(s2sad.Error, match="cannot tell|no derivative rule for getattr"):
        s2sad.grad(f, wrt=0)(X, "sin" if f is of_one_made_here else Mode("sin"))


def test_objects_that_are_made_in_the_program_hold_their_words():
    for word in ("sin", "exp"):
        holds(of_two, word)
