"""What rules/ write out in Python of containers and choices does what the originals do."""

import copy

import numpy as np
import pytest

import s2sad
from s2sad import registry
from s2sad.rules import written_choices, written_containers, written_out

DICTS = [{}, {"a": 1.0}, {"a": 1.0, "b": [2.0]}, {1: None, 2: 3.0}]
METHODS = [
    ("setdefault", written_containers.setdefault),
    ("pop", written_containers.pop),
    ("popitem", written_containers.popitem),
    ("get", written_containers.get),
]
GIVEN = {
    "setdefault": [("a",), ("a", 5.0), ("c", [1.0]), (1,)],
    "pop": [("a",), ("a", 5.0), ("c", 4.0), (2, None)],
    "popitem": [()],
    "get": [("a",), ("a", 5.0), ("c", 4.0), (2, None)],
}


def outcome(fn, *args, **settings):
    """Return what a call gives, and what it leaves; or the kind of what it raises."""
    args = copy.deepcopy(args)
    try:
        return fn(*args, **settings), args
    except (KeyError, IndexError) as error:
        return LookupError, isinstance(error, LookupError)


@pytest.mark.parametrize(("word", "written"), METHODS)
def test_methods_of_dicts(word, written):
    for d in DICTS:
        for args in GIVEN[word]:
            assert outcome(written, d, *args) == outcome(getattr(dict, word), d, *args)


PAIRS = [(2.0, "b"), (1.0, "c"), (2.0, "a"), (1.0, "c")]
CHOICES = [PAIRS, tuple(PAIRS), [3.0, 1.0, 2.0], np.array([3.0, 1.0, 2.0])]


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("key", [None, lambda v: repr(v), lambda v: 0])
def test_choices(choices, key):
    for reverse in (False, True):
        found = written_choices.sorted_by(choices, key=key, reverse=reverse)
        assert found == sorted(choices, key=key, reverse=reverse)
        if key is not None:
            found = written_choices.sorted_called(choices, key=key, reverse=reverse)
            assert found == sorted(choices, key=key, reverse=reverse)
    if key is not None:
        assert written_choices.max_called(choices, key=key) == max(choices, key=key)
        assert written_choices.min_called(*choices, key=key) == min(choices, key=key)
        assert written_choices.max_called(iter(choices), key=key) == max(choices, key=key)
    assert written_choices.max_by(choices, key=key) == max(choices, key=key)
    assert written_choices.min_by(choices, key=key) == min(choices, key=key)
    assert written_choices.max_by(*choices, key=key) == max(*choices, key=key)
    assert written_choices.min_by(iter(choices), key=key) == min(choices, key=key)


def test_functions_of_arrays():
    x = np.linspace(0.1, 1.0, 6).reshape(2, 3)
    for f in (lambda v: v * v, lambda v: int(v > 0.5)):
        made, wanted = written_out.vectorize(f)(x), np.vectorize(f)(x)
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made, wanted)
        np.testing.assert_array_equal(written_out.vectorize(f, [float])(x), wanted)
    made = written_out.vectorize(lambda a, b, c: a * b - c)(x, x[0], 2.0)
    np.testing.assert_array_equal(made, x * x[0] - 2.0)
    for shape in ((3,), (3, 4), (2, 3, 2)):
        made = written_out.fromfunction(lambda *at: sum(at), shape)
        np.testing.assert_array_equal(made, np.fromfunction(lambda *at: sum(at), shape))


def test_what_stands_beside_a_rule_is_not_what_the_function_is():
    for fn in (sorted, max, min):
        assert registry.rule_for(fn) is not None
        assert registry.written_form(fn) is None
        assert registry.written_form(fn, beside=True) is not None


def entries(x):
    d = {"a": x[0], "b": x[1] * 2.0}
    y = d.setdefault("c", x[0] * x[1])
    return d.pop("a") * y + d.setdefault("b", 1.0) + d.pop("q", x[2]) * d.get("none", 1.0)


def test_what_is_written_out_stands_where_it_is_called():
    x = np.array([0.3, 1.2, 0.7])
    assert s2sad.grad(entries)(x) == pytest.approx([2 * 0.3 * 1.2, 0.09 + 2.0, 1.0])
    lines = s2sad.source(entries, args=(x,)).splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    assert "d[" not in text and ".pop(" not in text  # nobody else sees the dict: variables hold it
    assert "def setdefault" not in text and "if " not in text and ".get(" not in text


def by_a_known_name(x):
    key, item = "a", x[1] * 3.0
    d = {"a": x[0], "b": x[1]}
    y = d.pop(key)
    default = d.setdefault("c", item)
    key = "b"
    z = d[key]
    del d[key]
    return y * item + default * z + d["c"]


def test_an_entry_whose_key_a_variable_holds_is_taken_out():
    x = np.array([0.3, 1.2, 0.7])
    assert s2sad.grad(by_a_known_name)(x) == pytest.approx([3.6, 0.9 + 7.2 + 3.0, 0.0])
