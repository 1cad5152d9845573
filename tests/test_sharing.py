"""Functions of one code object share what was derived, each with its own captured values."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import s2sad
from s2sad.operators import derived, deriving
from s2sad.operators.sharing import Recipes


@pytest.fixture
def derivations(monkeypatch):
    """Count the derivations: a list that grows with each."""
    made = []

    def derive(request):
        made.append(request)
        return original(request)

    original = deriving.derive
    monkeypatch.setattr(deriving, "derive", derive)
    derived.recipes.clear()
    return made


def square(x):
    return x * x


def test_lambdas_in_a_loop(derivations):
    gradients = [s2sad.grad(lambda x: k * x * x) for k in (1.0, 2.0)]  # noqa: B023
    assert [gradient(3.0) for gradient in gradients] == [12.0, 12.0]
    found = []
    for k in (1.0, 2.0, 3.0):
        found.append(s2sad.grad(lambda x, k=k: k * x * x)(3.0))
        found.append(make(k)(3.0))
    assert found == [6.0, 6.0, 12.0, 12.0, 18.0, 18.0]
    assert len(derivations) == 3


def make(k):
    return s2sad.grad(lambda x: k * x * x)


def test_each_sees_its_own_value_live(derivations):
    def counter(k):
        def f(x):
            return k * x

        def change(value):
            nonlocal k
            k = value

        return s2sad.grad(f), change

    first, change_first = counter(1.0)
    second, change_second = counter(2.0)
    assert [first(1.0), second(1.0), first(1.0), second(1.0)] == [1.0, 2.0, 1.0, 2.0]
    change_first(5.0)
    assert [first(1.0), second(1.0)] == [5.0, 2.0]
    change_second(np.float64(7.0))
    assert [first(1.0), second(1.0)] == [5.0, 7.0]
    assert len(derivations) == 2


def test_captured_values_of_another_kind(derivations):
    x = np.ones(3)
    assert make_sum(2.0)(x).tolist() == [2.0, 2.0, 2.0]
    assert make_sum(np.arange(3.0))(x).tolist() == [0.0, 1.0, 2.0]
    assert make_sum(np.arange(3.0, dtype="float32"))(x).tolist() == [0.0, 1.0, 2.0]
    assert make_sum(np.full((2, 3), 2.0))(x).tolist() == [4.0, 4.0, 4.0]
    assert make_sum(np.full((4, 3), 2.0))(x).tolist() == [8.0, 8.0, 8.0]
    assert len(derivations) == 4


def make_sum(k):
    return s2sad.grad(lambda x: np.sum(k * x))


def test_captured_functions_of_one_code(derivations):
    def power(n):
        return lambda x: x**n * scale(x)

    def scale(x):
        return 1.0

    def outer(g):
        return s2sad.grad(lambda x: 2.0 * g(x))

    found = [outer(power(n))(3.0) for n in (1.0, 2.0, 3.0)]
    assert found == pytest.approx([2.0, 12.0, 54.0])
    assert len(derivations) == 1
    assert outer(square)(3.0) == 12.0
    assert outer(lambda x: x)(3.0) == 2.0
    assert len(derivations) == 3


def test_captured_functions_two_deep(derivations):
    def add(k):
        return lambda x: x + k

    def twice(g):
        return lambda x: g(g(x)) * x

    found = [s2sad.grad(twice(add(k)))(3.0) for k in (1.0, 2.0)]
    assert found == [3.0 + 3.0 + 2.0, 3.0 + 3.0 + 4.0]
    assert len(derivations) == 1


def test_functions_that_were_two_and_are_one():
    def make_pair(g, h):
        return s2sad.grad(lambda x: g(x) * x if g is h else h(x))

    def scaled(k):
        return lambda x: k * x

    one, two = scaled(2.0), scaled(3.0)
    assert [make_pair(one, two)(1.0), make_pair(one, one)(1.0)] == [3.0, 4.0]
    assert [make_pair(two, two)(1.0), make_pair(two, one)(1.0)] == [6.0, 2.0]


def test_identity_with_arguments_and_in_structures():
    def scaled(k):
        return lambda x: k * x

    def with_argument(g):
        return s2sad.grad(lambda x, h: g(x) * x if g is h else g(x))

    def with_table(g, table):
        return s2sad.grad(lambda x: g(x) * x if g is table[0] else g(x))

    one, two = scaled(2.0), scaled(3.0)
    for _ in range(2):
        for g, h in ((one, two), (one, one), (two, one), (two, two)):
            k = 2.0 if g is one else 3.0
            want = 2.0 * k if g is h else k
            assert with_argument(g)(1.0, h) == want
            assert with_table(g, (h,))(1.0) == want


def test_defaults_of_captured_functions(derivations):
    def with_default(n):
        def helper(x, power=n):
            return x**power

        return s2sad.grad(lambda x: helper(x))

    assert [with_default(n)(3.0) for n in (2, 3, 2)] == [6.0, 27.0, 6.0]


def test_recursion_by_a_cell(derivations):
    def make_power(k):
        def power(x, n):
            return k if n == 0 else x * power(x, n - 1)

        return s2sad.grad(power)

    assert [make_power(k)(2.0, 3) for k in (1.0, 2.0)] == [12.0, 24.0]
    assert len(derivations) == 1


def test_recursion_with_a_default(derivations):
    def make_power(k):
        def power(x, n=3, last=k):
            return last if n == 0 else x * power(x, n - 1)

        return s2sad.grad(power)

    assert [make_power(k)(2.0) for k in (1.0, 2.0, 1.0)] == [12.0, 24.0, 12.0]


def test_operators_of_one_function_share(derivations):
    for _ in range(3):
        assert s2sad.grad(square)(3.0) == 6.0
        assert s2sad.value_and_grad(square)(3.0) == (9.0, 6.0)
        assert s2sad.vjp(square, 3.0)[1](1.0) == 6.0
    assert len(derivations) == 3


def test_vjp_of_lambdas(derivations):
    pullbacks = [s2sad.vjp(lambda x, k=k: k * x, 3.0, wrt=0)[1] for k in (1.0, 2.0)]
    assert [pullback(1.0) for pullback in pullbacks] == [1.0, 2.0]
    assert len(derivations) == 1


def test_other_options_do_not_share(derivations):
    def product(x, y):
        return x * y

    assert s2sad.grad(product, wrt="x")(2.0, 3.0) == 3.0
    assert s2sad.grad(product, wrt="y")(2.0, 3.0) == 2.0
    assert s2sad.grad(product, wrt=("x",))(2.0, 3.0) == (3.0,)
    assert s2sad.grad(product, wrt=("x", "y"))(2.0, 3.0) == (3.0, 2.0)
    assert len(derivations) == 4


def test_annotations_of_one_code():
    def annotated(kind):
        def f(x: kind, y):
            return x * y

        return f

    assert s2sad.grad(annotated(s2sad.Active))(2.0, 3.0) == 3.0
    assert s2sad.grad(annotated(s2sad.Const))(2.0, 3.0) == 2.0


def test_methods_of_several_objects(derivations):
    class Scale:
        def __init__(self, k):
            self.k = k

        def loss(self, x):
            return self.k * x * x

    for k in (1.0, 2.0):
        gradient = s2sad.grad(Scale(k).loss)
        assert [gradient(3.0), gradient(3.0), gradient(x=3.0)] == [6.0 * k] * 3
    assert len(derivations) == 1


def test_what_functions_capture_is_let_go():
    def run():
        big = np.ones(1000)

        def inner(x):
            return np.sum(big * x)

        gradient = s2sad.grad(inner)
        gradient(2.0)
        gradient(2.0)
        s2sad.vjp(inner, 2.0)
        return weakref.ref(inner), weakref.ref(big)

    gone = run()
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_the_number_of_recipes_is_bounded():
    recipes = Recipes()
    for i in range(2000):
        recipes.add(i % 1000, i)
    assert len(recipes._kept) <= 512
    assert recipes.get(999) == (1999,)
    for i in range(100):
        recipes.add(999, i)
    assert recipes.get(999)[0] == 99 and len(recipes.get(999)) <= 8


def test_threads_share(derivations):
    results = {}

    def work(k):
        for _ in range(20):
            results.setdefault(k, set()).add(make(float(k))(3.0))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: {6.0 * k} for k in range(6)}


def test_a_shared_derivation_is_pickled_with_its_function():
    gradient = s2sad.grad(square)
    assert gradient(3.0) == 6.0
    again = pickle.loads(pickle.dumps(gradient))
    assert [again(3.0), again(4.0)] == [6.0, 8.0]
