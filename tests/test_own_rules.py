"""Rules as those write them who have only read docs/rules.md: right, odd and wrong ones."""

import functools
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import s2sad
from s2sad import elementwise, nondifferentiable, pullback, pushforward
from s2sad.testing import check_rule
from tests.slopes import STEP

X = np.array([0.3, 0.7, 1.1])
TABLE = np.array([1.0, 2.0, 3.0])
RATE = 3.0


def check(fn, x):
    """Hold a gradient against differences: there need be no pushforward."""
    steps = np.eye(len(x)) * STEP
    slopes = [(fn(x + e) - fn(x - e)) / (2.0 * STEP) for e in steps]
    assert s2sad.grad(fn)(x) == pytest.approx(slopes, rel=1e-5, abs=1e-7)


def helped(v, k):
    return v * k


def product(x, y):
    return np.multiply(x, y)


def tripled(x):
    return np.multiply(x, 3.0)


def new_tripled():
    """Return a function of its own, without a rule."""

    def g(x):
        return np.multiply(x, 3.0)

    return g


class Rules:
    rate = 3.0

    def bound(self, out_bar, out, x):
        return self.rate * out_bar

    @staticmethod
    def static(out_bar, out, x):
        return 3.0 * out_bar

    def __call__(self, out_bar, out, x):
        return self.rate * out_bar


def by_rate(rate, out_bar, out, x):
    return rate * out_bar


def by_keyword(out_bar, out, x, *, rate):
    return rate * out_bar


def reading_a_global(out_bar, out, x):
    return RATE * out_bar


def with_a_helper(out_bar, out, x):
    return helped(out_bar, 3.0)


def captures():
    rate = 3.0

    def number(out_bar, out, x):
        return rate * out_bar

    def function(out_bar, out, x):
        return inner(out_bar)

    def inner(v):
        return v * rate

    return number, function


WAYS = {
    "bound": Rules().bound,
    "static": Rules.static,
    "object": Rules(),
    "partial": functools.partial(by_rate, 3.0),
    "partial by keyword": functools.partial(by_keyword, rate=3.0),
    "lambda": lambda out_bar, out, x: 3.0 * out_bar,
    "global": reading_a_global,
    "helper": with_a_helper,
    "captured": captures()[0],
    "captured function": captures()[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_can_be_called_is_a_rule(way):
    g = new_tripled()
    pullback(g)(WAYS[way])
    check_rule(g, X)
    check(lambda x: np.sum(g(x) * x), X)


def test_a_rule_sees_globals_as_they_are(monkeypatch):
    g = new_tripled()
    pullback(g)(reading_a_global)
    grad = s2sad.grad(lambda x: np.sum(g(x)))
    assert np.all(grad(X) == 3.0)
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert np.all(grad(X) == 5.0)


def test_a_captured_name_is_not_the_global_of_that_name():
    helped = np.negative
    g = new_tripled()

    @pullback(g)
    def pull(out_bar, out, x):
        return helped(out_bar) * -3.0

    check(lambda x: np.sum(g(x) * x), X)


def test_a_rule_is_renewed_also_for_a_function_that_is_captured():
    g = new_tripled()
    grad = s2sad.grad(lambda x: np.sum(g(x)))
    assert np.all(grad(X) == 3.0)
    for factor in (7.0, 9.0):
        pullback(g)(functools.partial(by_rate, factor))
        assert np.all(grad(X) == factor)
    nondifferentiable(g)
    assert np.all(grad(X) == 0.0)


def scaled(x, *, by=2.0, mode="once"):
    return x * by if mode == "once" else x * by * by


@pullback(scaled)
def pull_scaled(out_bar, out, x, *, by, mode):
    """Settings without defaults: those of the function stand for what is not given."""
    return out_bar * by if mode == "once" else out_bar * by * by


def test_a_function_that_has_a_rule_is_derived_by_it():
    def clipped(x, *, at=1.0):
        return np.sum(x)

    @pullback(clipped)
    def pull(out_bar, out, x, *, at=1.0):
        return np.clip(x, -at, at) * out_bar

    assert np.array_equal(s2sad.grad(clipped)(X), np.clip(X, -1.0, 1.0))
    assert np.array_equal(s2sad.grad(clipped)(X, at=0.5), np.clip(X, -0.5, 0.5))
    assert np.array_equal(s2sad.vjp(clipped, X)[1](2.0), 2.0 * np.clip(X, -1.0, 1.0))


def test_a_rule_that_comes_later_counts_for_the_function_itself():
    def total(x):
        return np.sum(x)

    grad = s2sad.grad(total)
    assert np.all(grad(X) == 1.0) and np.all(grad(X) == 1.0)
    pullback(total)(lambda out_bar, out, x: out_bar * x)
    assert np.array_equal(grad(X), X)


def test_settings_have_the_defaults_of_the_function():
    check_rule(scaled, X)
    check_rule(scaled, X, mode="twice")
    check(lambda x: np.sum(scaled(x) + scaled(x, by=5.0) + scaled(x, mode="twice")), X)


def test_arrays_may_have_defaults():
    def weighed(x, w=2.0):
        return x * w

    @pullback(weighed)
    def pull(out_bar, out, x, w):
        return out_bar * w, np.sum(out_bar * x) if np.ndim(w) == 0 else out_bar * x

    check(lambda x: np.sum(weighed(x) + weighed(x, w=x)), X)


def test_an_elementwise_rule_takes_settings_and_names_the_result_as_it_likes():
    def power(x, n=2):
        return np.power(x, n)

    @elementwise(power)
    def partial(y, x, *, n=2):
        return n * np.power(x, n - 1)

    check_rule(power, X)
    check_rule(power, X, n=3)
    check_rule(power, X, 4)
    check(lambda x: np.sum(power(x) + power(x, n=3) + power(x, 4)), X)
    value, tangent = s2sad.jvp(lambda x: power(x, 3), (X,), (X,))
    assert np.allclose(tangent, 3.0 * X**3)


def test_arrays_go_by_their_places_where_the_rule_has_other_names():
    def g(x, y):
        return np.multiply(x, y**2)

    @pullback(g)
    def pull(out_bar, out, a, b):
        return out_bar * b**2, 2.0 * out_bar * a * b

    check(lambda x: np.sum(g(x, y=np.sin(x)) + g(y=x, x=2.0)), X)


def test_only_cotangents_that_are_wanted_need_the_shape_of_their_arrays():
    def g(x, y):
        return np.multiply(x, y)

    seen = []

    def with_effects(out_bar, out, x, y):
        """It is not tried on samples, but looked at as it runs."""
        seen.append(x)
        return out_bar * y, out_bar * x

    for rule in (lambda out_bar, out, x, y: (out_bar * y, out_bar * x), with_effects):
        pullback(g)(rule)
        check(lambda x: np.sum(g(x, 2.0)), X)
        with pytest.raises(s2sad.UnsupportedError, match="the shape"):
            s2sad.grad(lambda x: np.sum(g(x, x[0])))(X)


def test_a_rule_may_return_none_wherever_it_is_called():
    def g(x, n):
        return x * 1.0

    @pullback(g)
    def pull(out_bar, out, x, n):
        for _ in range(1):
            out_bar = 1.0 * out_bar
        return out_bar, None

    found = s2sad.grad(lambda x, n: np.sum(g(x, 2.0 * n)), wrt=(0, 1))(X, X)
    assert np.all(found[0] == 1.0) and np.all(found[1] == 0.0)


def test_a_pushforward_need_not_know_of_none():
    def g(x, y, n):
        return x * y * n

    @pushforward(g)
    def push(out, x, y, n, x_dot, y_dot, n_dot):
        return x_dot * y * n + x * y_dot * n + x * y * n_dot

    check_rule(g, X, X, 2.0)
    for y in (3.0, X):
        _, tangent = s2sad.jvp(lambda x, y=y: g(x, y, 2), (X,), (X,))
        assert np.allclose(tangent, 2 * y * X)


class Parts(NamedTuple):
    double: object
    total: object


def parted(x):
    return Parts(np.multiply(x, 2.0), np.sum(x))


@pullback(parted)
def pull_parted(out_bar, out, x):
    return 2.0 * out_bar.double + out_bar.total


def test_the_cotangent_of_a_named_tuple_is_one():
    def f(x):
        r = parted(x)
        return np.sum(r.double) * r.total

    check_rule(parted, X)
    check(f, X)


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, x):
        return np.sum(self.w * x**2)


@pullback(Model.energy)
def pull_energy(out_bar, out, self, x):
    return None, 2.0 * self.w * x * out_bar


def test_a_method():
    model = Model(TABLE)
    check_rule(Model.energy, model, X)
    check(lambda x: model.energy(x) * x[0], X)
    assert np.allclose(s2sad.grad(model.energy)(X), 2.0 * TABLE * X)


class Called:
    def __call__(self, x):
        return np.sin(x)


def test_an_object_that_is_called():
    sine = Called()

    @pullback(sine)
    def pull(out_bar, out, x):
        return 7.0 * out_bar

    assert np.all(s2sad.grad(lambda x: np.sum(sine(x)))(X) == 7.0)


def test_a_method_of_arrays():
    """The user's own comes before the function that does the same."""

    def f(x):
        return np.sum(x.round(1))

    assert np.all(s2sad.grad(f)(X) == 0.0)
    from s2sad import registry

    try:
        pullback(np.ndarray.round)(lambda out_bar, out, a, *, decimals=0: out_bar)
        assert np.all(s2sad.grad(lambda x: np.sum(x.round(decimals=1)))(X) == 1.0)
    finally:
        registry._rules.pop(registry.key_of(np.ndarray.round))


def test_recipes_are_not_shared_by_functions_that_have_rules_of_their_own():
    def made(k):
        def g(x):
            return np.multiply(k, x)

        @pullback(g)
        def pull(out_bar, out, x):
            return k * out_bar

        return lambda x: np.sum(g(x) * x)

    for k in (1.0, 2.0, 3.0):
        assert np.allclose(s2sad.grad(made(k))(X), 2.0 * k * X)


# --- in a file of its own ------------------------------------------------------------------------


def weighted(x):
    return np.dot(TABLE, x)


@pullback(weighted)
def pull_weighted(out_bar, out, x):
    return TABLE * out_bar


def loss(x):
    return weighted(x) * np.sum(x)


def test_an_emitted_file_imports_what_a_rule_reads(tmp_path):
    path = s2sad.grad(loss).emit(tmp_path / "derived.py", X)
    assert "test_own_rules import TABLE" in path.read_text()
    code = "import derived, numpy as np; print(derived.loss_grad(np.array([0.3, 0.7, 1.1])))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:.:tests"},
        check=True,
    )
    assert done.stdout.strip() == str(s2sad.grad(loss)(X))


def test_what_cannot_be_named_from_outside_is_refused_in_a_file_only(tmp_path):
    g = new_tripled()
    pullback(g)(Rules().bound)
    grad = s2sad.grad(lambda x: np.sum(g(x)))
    assert np.all(grad(X) == 3.0)
    assert "def lambda__grad" in grad.source(X)
    with pytest.raises(s2sad.SourceError, match="an emitted module cannot import it"):
        grad.emit(tmp_path / "derived.py", X)


EARLY = """
import numpy as np
import s2sad

@s2sad.pullback(np.sum, np.sin)
def pull(out_bar, out, a):
    return 7.0 * out_bar * np.ones(a.shape)

@s2sad.elementwise(np.cos)
def partial(out, x):
    return 7.0

s2sad.nondifferentiable(np.tan)

x = np.ones(2)
fns = [lambda x: np.sum(x), lambda x: np.dot(np.ones(2), np.sin(x))]
fns.append(lambda x: np.dot(np.ones(2), np.cos(x)))
fns.append(lambda x: np.dot(np.tan(x) + 7.0, x) - np.dot(np.tan(np.ones(2)), x))
for fn in fns:
    assert np.allclose(s2sad.grad(fn)(x), 7.0), fn

def imports(x):
    from scipy.stats import norm
    return norm.cdf(x[0])

assert s2sad.grad(imports)(x)[0] > 0.2  # rules of a library that is not imported before

from scipy.special import wrightomega
s2sad.pullback(wrightomega)(lambda out_bar, out, z: 7.0 * out_bar)
assert np.array_equal(s2sad.grad(lambda x: np.dot(np.ones(2), wrightomega(x)))(x), [7.0, 7.0])
"""


def test_own_rules_count_before_anything_is_loaded(tmp_path):
    """What s2sad brings is loaded later, at the first derivative, and yet comes first."""
    script = tmp_path / "early.py"
    script.write_text(EARLY)
    subprocess.run([sys.executable, script], check=True)


class Tripling:
    def __init__(self, weight):
        self.weight = weight

    def times(self, x):
        return np.multiply(self.weight, x)

    __call__ = times
    __matmul__ = times

    def total(self, x):
        return np.sum(self.times(x))


class Heir(Tripling):
    def thrice(self, x):
        return super().times(x)


@pullback(Tripling.times)
def pull_times(out_bar, out, self, x):
    return None, 7.0 * out_bar


@pushforward(Tripling.times)
def push_times(out, self, x, self_dot, x_dot):
    return 7.0 * x_dot


FORMS = [
    lambda x: np.sum(tripling.times(x)),
    lambda x: np.sum(Tripling.times(tripling, x)),
    lambda x: np.sum(tripling(x)),
    lambda x: np.sum(tripling @ x),
    lambda x: tripling.total(x),
    lambda x: np.sum(heir.times(x)),
    lambda x: np.sum(heir.thrice(x)),
    lambda x: np.sum(functools.partial(tripling.times)(x)),
    lambda x: np.sum(functools.partial(Tripling.times, tripling)(x)),
    lambda x: np.sum(Tripling(3.0).times(x)),
    lambda x: np.sum(called(tripling.times, x)),
]
tripling, heir = Tripling(2.0), Heir(2.0)


def called(fn, x):
    return fn(x)


@pytest.mark.parametrize("fn", FORMS)
def test_the_rule_of_a_method_counts_however_it_is_called(fn):
    """The rule says another derivative than the source of the method does."""
    assert np.all(s2sad.grad(fn)(X) == 7.0)
    assert s2sad.jvp(fn, (X,), (np.ones(3),))[1] == 21.0


def test_the_rule_of_a_method_counts_in_a_loop_over_objects():
    def f(layers, x):
        for layer in layers:
            x = layer.times(x)
        return np.sum(x)

    assert np.all(s2sad.grad(f, wrt="x")([tripling, heir], X) == 49.0)


def test_errors_and_headings_show_where_the_method_is_defined():
    assert "times (test_own_rules.py)" in s2sad.grad(tripling.total).source(X)
    with pytest.raises(s2sad.MissingRuleError) as caught:
        s2sad.jvp(Model(TABLE).energy, (X,), (X,))
    assert f'test_own_rules.py", line {Model.energy.__code__.co_firstlineno}, in energy' in str(
        caught.value
    )


# --- wrong rules ---------------------------------------------------------------------------------


def no_out(out_bar, x):
    return out_bar


def too_many(out_bar, out, x, y, z):
    return out_bar, out_bar, out_bar


def in_another_order(out_bar, out, y, x):
    return out_bar * x, out_bar * y


def another_setting(out_bar, out, x, y, *, scale=1.0):
    return out_bar * y, out_bar * x


def any_setting(out_bar, out, x, y, **settings):
    return out_bar * y, out_bar * x


FORMS = {
    no_out: r"takes \(out_bar, x\), but a pullback takes out_bar and out first, and then arrays",
    too_many: r"takes 3 arrays \(x, y, z\), but product takes 2",
    in_another_order: "takes the arrays y, x, but product takes them in the order x, y",
    another_setting: "a setting `scale`, but product has no such parameter",
    any_setting: r"collects settings in \*\*settings",
    np.multiply: "multiply is not a Python function",
    3: "is not a Python function",
}


DECORATORS = [s2sad.pullback, s2sad.pushforward, s2sad.elementwise, s2sad.nondifferentiable]


@pytest.mark.parametrize("decorator", DECORATORS)
def test_a_rule_is_of_a_function(decorator):
    with pytest.raises(s2sad.UnsupportedError, match="is given no function"):
        decorator()
    for given in ("np.sin", 3, None):
        with pytest.raises(s2sad.UnsupportedError, match="but it needs a function"):
            decorator(given)(lambda out_bar, out, x: out_bar)


@pytest.mark.parametrize("rule", FORMS, ids=lambda r: getattr(r, "__name__", str(r)))
def test_the_form_of_a_rule_is_looked_at_when_it_is_registered(rule):
    with pytest.raises(s2sad.UnsupportedError, match=FORMS[rule]) as caught:
        pullback(product)(rule)
    if hasattr(rule, "__code__"):
        assert caught.value.place.file == __file__
        assert f"def {rule.__name__}" in caught.value.place.text


def test_a_default_is_that_of_the_function():
    def g(x, *, by=2.0):
        return x * by

    with pytest.raises(s2sad.UnsupportedError, match="default of `by` is 1.0 .*, but 2.0 in g"):

        @pullback(g)
        def pull(out_bar, out, x, *, by=1.0):
            return out_bar * by


def test_a_pushforward_has_a_tangent_for_each_array():
    with pytest.raises(s2sad.UnsupportedError, match="takes 3 arrays after out"):

        @pushforward(product)
        def push(out, x, y, x_dot):
            return x_dot * y


def test_the_method_of_one_object_has_no_rule():
    with pytest.raises(s2sad.UnsupportedError, match="Write the rule for Model.energy"):
        pullback(Model(TABLE).energy)(lambda out_bar, out, x: out_bar)


def bare(out_bar, out, x, y):
    return out_bar * y


def three(out_bar, out, x, y):
    return out_bar * y, out_bar * x, None


def wrong_shape(out_bar, out, x, y):
    return np.sum(out_bar * y), out_bar * x


def complex_ones(out_bar, out, x, y):
    return 1j * out_bar * y, out_bar * x


def a_list(out_bar, out, x, y):
    return list(out_bar * y), out_bar * x


def nothing(out_bar, out, x, y):
    out_bar * y, out_bar * x


def writes_out_bar(out_bar, out, x, y):
    out_bar *= y
    return out_bar, out_bar


def writes_x(out_bar, out, x, y):
    x[...] = y * out_bar
    return x, out_bar


RETURNED = {
    bare: "returns a ndarray, and not a tuple of 2: one cotangent for each array",
    three: "returns a tuple of 3, and not a tuple of 2",
    wrong_shape: r"cotangent of `x` has the shape \(\), and `x` \(\d+,\)",
    complex_ones: "cotangent of `x` is complex, and `x` is real",
    a_list: "cotangent of `x` is a list, and `x` is an array",
    nothing: "it returns nothing",
    writes_out_bar: "writes into an array that it is given",
    writes_x: "writes into an array that it is given",
}


@pytest.mark.parametrize("rule", RETURNED, ids=lambda r: r.__name__)
def test_a_rule_that_returns_no_derivative_is_refused_where_it_is_called(rule):
    def g(x, y):
        return np.multiply(x, y)

    pullback(g)(rule)
    with pytest.raises(s2sad.UnsupportedError, match=RETURNED[rule]) as caught:
        s2sad.grad(lambda x: np.sum(g(x, x)))(X)
    assert "g(x, x)" in caught.value.place.text
    with pytest.raises(AssertionError):
        check_rule(g, X, X)


def test_what_runs_with_effects_is_looked_at_when_it_runs():
    def g(x, y):
        return np.multiply(x, y)

    seen = []

    @pullback(g)
    def pull(out_bar, out, x, y):
        seen.append(x)
        return out_bar * y

    for x in (X, X[:2]):
        with pytest.raises(s2sad.UnsupportedError, match="a ndarray, and not a tuple of 2"):
            s2sad.grad(lambda x: np.sum(g(x, x)))(x)
    assert len(seen) == 2

    @pullback(g)
    def pull_shapes(out_bar, out, x, y):
        seen.append(x)
        return np.sum(out_bar * y), out_bar * x

    with pytest.raises(
        s2sad.UnsupportedError, match=r"of the shape \(\) for an argument"
    ) as caught:
        s2sad.grad(lambda x: np.sum(g(x, x)))(X)
    assert "g(x, x)" in caught.value.place.text


def test_a_reduction_is_not_elementwise():
    def g(x):
        return np.sum(x**3)

    @elementwise(g)
    def partial(out, x):
        return 3.0 * x**2

    with pytest.raises(s2sad.UnsupportedError, match="the function is not: of arguments of the"):
        s2sad.grad(lambda x: g(x))(X)


def test_a_function_that_writes_its_argument_has_no_use_for_a_rule():
    def g(x):
        x *= 2.0
        return x

    pullback(g)(lambda out_bar, out, x: 2.0 * out_bar)
    with pytest.raises(s2sad.UnsupportedError, match="it changes its argument 1, and its rule"):
        s2sad.grad(lambda x: np.sum(g(x * x) * x))(X)


def test_refusals_of_rules_that_capture_have_their_place():
    most = 1.0
    g = new_tripled()

    @pullback(g)
    def pull(out_bar, out, x):
        if np.any(x > most):
            raise NotImplementedError("small numbers only")
        return 3.0 * out_bar

    grad = s2sad.grad(lambda x: np.sum(g(x)))
    assert np.all(grad(X / 2.0) == 3.0)
    with pytest.raises(s2sad.UnsupportedError, match="small numbers only") as caught:
        grad(X)
    assert "g(x)" in caught.value.place.text


def test_check_rule_says_which_arguments_the_rule_does_not_take():
    def g(x, y, *, by=1.0, how="fast"):
        return x * y * by

    @pullback(g)
    def pull(out_bar, out, x, *, by=1.0):
        return out_bar * by

    with pytest.raises(AssertionError, match="does not take argument 2; it takes"):
        check_rule(g, X, X)
    with pytest.raises(AssertionError, match="does not take `how`"):
        check_rule(g, X, how="fast")


def total_of(d):
    return np.sum(d["a"])


@pullback(total_of)
def pull_total_of(out_bar, out, d):
    return {"a": np.broadcast_to(out_bar, d["a"].shape)}


def test_check_rule_does_not_pass_over_dicts():
    def g(d):
        return {"sum": d["a"] + d["b"], "a": d["a"] * 2.0}

    @pullback(g)
    def pull(out_bar, out, d):
        return {"a": out_bar["sum"] + 2.0 * out_bar["a"], "b": out_bar["sum"]}

    with pytest.raises(AssertionError, match="the result is a dict, which check_rule"):
        check_rule(g, {"a": X, "b": X})
    with pytest.raises(AssertionError, match="an argument is a dict"):
        check_rule(total_of, {"a": X})

    def f(x):
        r = g({"a": x, "b": x**2})
        return np.sum(r["sum"] * r["a"])

    check(f, X)


# --- arrays of objects ---------------------------------------------------------------------------


def through_objects(x):
    held = np.array([x[0] * 2.0, x[1]], dtype=object)
    return np.sum(held.astype(float))


def cast_to_objects(x):
    return np.sum((x.astype(object) * 2).astype(float))


def filled_with_objects(x):
    held = np.empty(3, dtype=object)
    for i in range(3):
        held[i] = x[i] ** 2
    return np.sum(held.astype(float))


@pytest.mark.parametrize("f", [through_objects, cast_to_objects, filled_with_objects])
def test_arrays_of_objects_that_are_made_on_the_way_are_refused(f):
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(X)


FUNCTIONS = [new_tripled(), np.negative]


def test_a_list_of_functions_that_have_no_names_comes_to_an_end():
    functions = [new_tripled(), new_tripled()]

    def f(x):
        total = 0.0
        for g in functions:
            total = total + np.sum(g(x) * x)
        return total

    for g in functions:
        g.__name__ = "none"
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(X)
