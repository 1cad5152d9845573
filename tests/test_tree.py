"""Structures: what is mapped, what stays, what is refused, and the way to a vector and back."""

import collections
import copy
import enum
import functools
import itertools
import logging
import operator
import pickle
import sys
import threading
import types
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import tree
from s2sad.tree import leaves, map_leaves, ravel, tree_map


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Layer:
    W: Any
    b: Any
    name: str = "layer"
    cached: Any = field(init=False, default=None)


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = 2.0

    def __post_init__(self):
        object.__setattr__(self, "sum", self.a + self.b)


@dataclass(slots=True)
class Slotted:
    a: Any
    unset: Any = field(init=False)


class Plain:
    def __init__(self, w):
        self.w = w
        self.n = 3


class Demanding(Plain):
    """Cannot be made without arguments, and counts the times it is made."""

    made = 0

    def __init__(self, w, n):
        super().__init__(w)
        Demanding.made += 1

    def __call__(self, x):
        return self.w * x


class Slots:
    __slots__ = ("__hidden", "empty", "w")

    def __init__(self, w):
        self.w = w
        self.__hidden = 2.0

    @property
    def hidden(self):
        return self.__hidden


class SlotsAndDict(Slots):
    def __init__(self, w, v):
        super().__init__(w)
        self.v = v


class Mode(float, enum.Enum):
    FAST = 1.5


class Named(list):
    pass


def double(x):
    return 2 * x


def same(a, b):
    """Equality that looks at classes, dtypes and shapes too."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    branch = tree.branch_of(a)
    if branch is None:
        return a is b or a == b
    other = tree.branch_of(b)
    return branch.keys == other.keys and all(map(same, branch.parts, other.parts))


def class_name(value):
    """Name a parameter the same in every process of a parallel run."""
    return type(value).__name__


# --- leaves --------------------------------------------------------------------------------------

FLOATS = [
    1.5,
    1.5j,
    np.float32(1.5),
    np.float16(1.5),
    np.longdouble(1.5),
    np.complex64(1.5j),
    np.array(1.5),
    np.ones(3),
    np.ones((2, 0)),
    np.ones((2, 3), dtype=np.float32),
    np.ones(2, dtype=complex),
]

OTHERS = [
    3,
    True,
    np.True_,
    np.int64(3),
    "text",
    b"bytes",
    None,
    len,
    double,
    np.sin,
    Plain,
    functools.partial(double, 2.0),
    np.arange(3),
    np.array([True]),
    np.array([1.0, "a"], dtype=object),
    np.dtype(float),
    Mode.FAST,
    types,
    logging.getLogger("s2sad"),
    threading.Lock(),
    {1.0, 2.0},
    range(3),
    np.random.default_rng(0),
]


@pytest.mark.parametrize("leaf", FLOATS, ids=class_name)
def test_float_leaf_is_mapped(leaf):
    assert tree.is_float_leaf(leaf)
    (found,) = leaves([leaf])
    assert found.value is leaf
    assert found.path == "structure[0]"
    assert same(tree_map(double, [leaf])[0], 2 * leaf)


@pytest.mark.parametrize("leaf", OTHERS, ids=class_name)
def test_other_leaf_stays(leaf):
    assert not tree.is_float_leaf(leaf)
    assert leaves([leaf]) == []
    assert tree_map(double, {"k": leaf})["k"] is leaf


def test_wrapped_function_object_is_a_function():
    dispatcher = Plain(1.0)
    functools.update_wrapper(dispatcher, double)
    assert leaves(dispatcher) == []


def test_bare_leaf():
    assert tree_map(double, 2.0) == 4.0
    assert leaves(2.0, "x") == [("x", 2.0)]
    assert tree_map(double, 3) == 3


def test_cupy_arrays_are_recognised_without_import(monkeypatch):
    assert "cupy" not in sys.modules or not isinstance(sys.modules["cupy"], types.ModuleType)

    class ndarray:  # noqa: N801
        dtype = np.dtype(float)
        shape = (2,)

    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=ndarray))
    array = ndarray()
    assert tree.is_float_leaf(array)
    assert tree_map(lambda a: "seen", [array]) == ["seen"]
    with pytest.raises(TypeError, match=r"structure\[0\] is an array of CuPy and structure\[1\]"):
        ravel([array, np.ones(2)])


# --- containers ----------------------------------------------------------------------------------


def test_nested_containers_keep_class_and_order():
    structure = {"b": [1.0, (2.0, 3)], "a": Point(np.ones(2), None)}
    result = tree_map(double, structure)
    assert list(result) == ["b", "a"]
    assert same(result, {"b": [2.0, (4.0, 3)], "a": Point(2 * np.ones(2), None)})
    assert structure["b"] == [1.0, (2.0, 3)]


def test_new_containers_share_nothing_with_the_old():
    structure = [[1, 2], {"n": 3}]
    result = tree_map(double, structure)
    result[0].append(4)
    result[1]["n"] = 4
    assert structure == [[1, 2], {"n": 3}]


def test_dict_classes():
    ordered = collections.OrderedDict([("z", 1.0), ("a", 2.0)])
    result = tree_map(double, ordered)
    assert type(result) is collections.OrderedDict
    assert list(result.items()) == [("z", 2.0), ("a", 4.0)]
    default = collections.defaultdict(list, a=1.0)
    result = tree_map(double, default)
    assert type(result) is collections.defaultdict
    assert result["a"] == 2.0
    assert result["new"] == []
    assert default == {"a": 1.0}


def test_list_and_tuple_subclasses():
    named = Named([1.0, 2])
    named.title = "t"
    result = tree_map(double, named)
    assert type(result) is Named
    assert result == [2.0, 2]
    assert result.title == "t"
    assert named == [1.0, 2]


def test_namedtuple_of_subclass_with_own_new():
    class Strict(Point):
        def __new__(cls, *args):
            raise AssertionError("not to be called")

    point = tuple.__new__(Strict, (1.0, 2))
    result = tree_map(double, point)
    assert type(result) is Strict
    assert tuple(result) == (2.0, 2)


def test_dataclass_keeps_fields_outside_init():
    layer = Layer(np.ones(2), 0.5)
    layer.cached = 7.0
    layer.extra = 1.0
    result = tree_map(double, layer)
    assert type(result) is Layer
    assert (result.b, result.name, result.cached, result.extra) == (1.0, "layer", 14.0, 2.0)
    assert layer.b == 0.5


def test_frozen_dataclass():
    result = tree_map(double, Frozen(1.0))
    assert (result.a, result.b, result.sum) == (2.0, 4.0, 6.0)


def test_slotted_dataclass_with_an_unset_field():
    result = tree_map(double, Slotted(1.0))
    assert result.a == 2.0
    assert not hasattr(result, "unset")


def test_plain_object_is_rebuilt_without_init():
    layer = Demanding(np.ones(2), 1)
    before = Demanding.made
    result = tree_map(double, layer)
    assert type(result) is Demanding
    assert Demanding.made == before
    assert result.w.tolist() == [2, 2]
    assert layer.w.tolist() == [1, 1]
    assert result.n == 3


def test_slots_are_attributes():
    result = tree_map(double, Slots(1.0))
    assert (result.w, result.hidden) == (2.0, 4.0)
    assert not hasattr(result, "empty")
    result = tree_map(double, SlotsAndDict(1.0, [2.0]))
    assert (result.w, result.hidden, result.v) == (2.0, 4.0, [4.0])


def test_simple_namespace():
    result = tree_map(double, types.SimpleNamespace(a=1.0, b="s"))
    assert result == types.SimpleNamespace(a=2.0, b="s")


def test_object_without_floats_is_kept_itself():
    config = Plain(1)
    assert tree_map(double, [config, 1.0])[0] is config
    other = Plain(1.0)
    assert tree_map(lambda x: x, other) is not other


def test_shared_references_are_separate_leaves():
    w = np.ones(2)
    result = tree_map(double, [w, w])
    assert result[0] is not result[1]
    assert [leaf.path for leaf in leaves([w, w], "p")] == ["p[0]", "p[1]"]


@pytest.mark.parametrize(
    "use", [leaves, ravel, functools.partial(tree_map, double)], ids=["leaves", "ravel", "map"]
)
def test_cycles_are_refused(use):
    items = [1.0]
    items.append({"again": items})
    with pytest.raises(ValueError, match=r'structure\[1\]\["again"\] is structure again'):
        use(items)
    child = Plain(1.0)
    child.parent = parent = Plain(2.0)
    parent.child = child
    with pytest.raises(ValueError, match=r"structure\[0\].parent.child is structure\[0\] again"):
        use([child])


def test_the_same_container_twice_is_no_cycle():
    inner = [1.0]
    assert tree_map(double, [inner, inner, [inner]]) == [[2.0], [2.0], [[2.0]]]


def test_paths():
    structure = [{"W": 1.0, 3: Point(2.0, 3.0), (0, 1): Layer(4.0, 5.0)}]
    assert [leaf.path for leaf in leaves(structure, "params")] == [
        'params[0]["W"]',
        "params[0][3][0]",
        "params[0][3][1]",
        "params[0][(0, 1)].W",
        "params[0][(0, 1)].b",
    ]


def test_map_leaves_with_other_gives_the_structure_of_a_derivative():
    structure = {"n": 3, "w": np.ones(2), "config": Plain("s"), "fn": len}
    result = map_leaves(np.zeros_like, structure, other=lambda leaf: None)
    assert result["n"] is None
    assert result["fn"] is None
    assert result["w"].tolist() == [0, 0]
    assert type(result["config"]) is Plain
    assert result["config"].w is None


# --- several structures --------------------------------------------------------------------------


def test_more_structures():
    params = [{"W": np.ones(2), "n": 3}, 1.0]
    gradient = [{"n": None, "W": np.full(2, 0.5)}, 0.25]
    result = tree_map(lambda p, g: p - g, params, gradient)
    assert result[0]["W"].tolist() == [0.5, 0.5]
    assert result[0]["n"] == 3
    assert result[1] == 0.75


def test_three_structures_and_objects():
    a, b, c = Plain(1.0), Plain(2.0), Plain(3.0)
    b.n = None
    assert tree_map(lambda *xs: sum(xs), a, b, c).w == 6.0


def test_none_for_a_whole_part_without_derivative():
    assert tree_map(operator.add, {"names": ["a"], "w": 1.0}, {"names": None, "w": 2.0}) == {
        "names": ["a"],
        "w": 3.0,
    }


MISMATCHES = [
    ([1.0], [1.0, 2.0], ValueError, r"at structure: .* list of length 1, .* list of length 2"),
    (
        [[1.0]],
        [(1.0,)],
        TypeError,
        r"at structure\[0\]: the first has a list, number 2 has a tuple",
    ),
    ([{"W": 1.0}], [{"V": 1.0}], ValueError, r"at structure\[0\]: the first has the keys \['W'\]"),
    ([{"W": 1.0}], [{"W": None}], TypeError, r'at structure\[0\]\["W"\]: .* float, .* has None'),
    ([{"W": 1.0}], [{"W": [1.0]}], TypeError, r'at structure\[0\]\["W"\]: .* has a list'),
    ([{"W": 1.0}], None, TypeError, r'at structure\[0\]\["W"\]: .* has None'),
    (
        [1],
        [1.0],
        TypeError,
        r"at structure\[0\]: .* an int, which carries no derivative, .* a float",
    ),
    ([np.arange(2)], [np.ones(2)], TypeError, r"an array of int64 of shape \(2,\), which carries"),
    (Layer(1.0, 2.0), Plain(1.0), TypeError, r"the first has a Layer, number 2 has a Plain"),
    (Point(1.0, 2.0), (1.0, 2.0), TypeError, r"the first has a Point, number 2 has a tuple"),
    (Layer(Plain(1.0), 2.0), Layer(1.0, 2.0), TypeError, r"at structure.W: .* a Plain, .* a float"),
]


@pytest.mark.parametrize(("first", "second", "error", "message"), MISMATCHES)
def test_mismatch_names_the_path(first, second, error, message):
    with pytest.raises(error, match=message):
        tree_map(operator.add, first, second)


def test_mismatch_of_the_third_and_of_attributes():
    with pytest.raises(ValueError, match="number 3 has a list of length 1"):
        tree_map(lambda *xs: 0.0, [1.0, 1.0], [1.0, 1.0], [1.0])
    more = Plain(1.0)
    more.extra = 1.0
    with pytest.raises(ValueError, match=r"the attributes \['w', 'n'\], .* \['w', 'n', 'extra'\]"):
        tree_map(operator.add, Plain(1.0), more)


# --- ravel ---------------------------------------------------------------------------------------

STRUCTURES = [
    1.5,
    3,
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(8.0)[::-2],
    [],
    {"a": None, "b": ()},
    [{"W": np.ones((2, 2)), "b": np.zeros(2, dtype=np.float32), "name": "one"}, 0.1],
    [np.array(2.0), np.float32(0.1), np.float16(0.5), 0.1, np.ones((0, 3))],
    [1.0, 2.0 + 1j, np.ones(2), np.complex64(1j)],
    [np.longdouble(0.1), 0.1],
    np.arange(3.0).astype(">f8"),
    Point(Frozen(1.0), collections.OrderedDict(z=1.0, a=[2.0])),
    [np.arange(3), True, "s", len, 0.5],
]


@pytest.mark.parametrize("structure", STRUCTURES, ids=class_name)
def test_ravel_round_trip(structure):
    vector, unravel = ravel(structure)
    assert vector.ndim == 1
    assert vector.size == sum(np.size(leaf.value) for leaf in leaves(structure))
    assert same(unravel(vector), structure)
    again = pickle.loads(pickle.dumps(unravel))
    assert same(again(vector), structure)


def test_ravel_order_and_dtype():
    vector, unravel = ravel([1.0, {"W": np.array([[2, 3], [4, 5]], dtype=np.float32)}])
    assert vector.tolist() == [1, 2, 3, 4, 5]
    assert vector.dtype == np.float64
    back = unravel(10 * vector)
    assert type(back[0]) is float
    assert back[0] == 10.0
    assert back[1]["W"].dtype == np.float32
    assert back[1]["W"].tolist() == [[20, 30], [40, 50]]


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [("ff", "f"), ("ef", "f"), ("fd", "d"), ("dF", "D"), ("fF", "F"), ("gd", "g")],
)
def test_result_dtype(dtypes, expected):
    vector, _ = ravel([np.ones(1, dtype=d) for d in dtypes])
    assert vector.dtype == np.dtype(expected)


def test_python_float_is_not_rounded_beside_float32():
    vector, unravel = ravel([0.1, np.ones(1, dtype=np.float32)])
    assert vector.dtype == np.float64
    assert unravel(vector)[0] == 0.1


def test_empty_structure():
    vector, unravel = ravel({"n": 3})
    assert vector.shape == (0,)
    assert vector.dtype == np.float64
    assert unravel(np.zeros(0)) == {"n": 3}


def test_vector_and_result_share_no_memory():
    w = np.ones(3)
    vector, unravel = ravel(w)
    assert not np.shares_memory(vector, w)
    back = unravel(vector)
    assert not np.shares_memory(vector, back)
    back[:] = 0
    assert unravel(vector).tolist() == [1, 1, 1]


def test_unravel_remembers_the_structure_as_it_was():
    structure = {"layers": [1.0], "n": 3}
    vector, unravel = ravel(structure)
    structure["layers"].append(2.0)
    structure["n"] = 4
    assert unravel(vector) == {"layers": [1.0], "n": 3}
    assert unravel(vector)["layers"] is not unravel(vector)["layers"]


def test_unravel_takes_any_numbers():
    _, unravel = ravel([1.0, np.ones(2, dtype=np.float32)])
    back = unravel([1, 2, 3])
    assert type(back[0]) is float
    assert back[1].dtype == np.float32
    assert type(unravel(np.arange(3))[0]) is float


@pytest.mark.parametrize("wrong", [np.ones(4), np.ones(2), np.ones((3, 1)), 1.0])
def test_wrong_length(wrong):
    _, unravel = ravel([1.0, np.ones(2)])
    with pytest.raises(ValueError, match=rf"has 3 numbers .* given has {np.size(wrong)}, shape"):
        unravel(wrong)


def test_imaginary_part_for_a_real_leaf_is_refused():
    vector, unravel = ravel([1.0, 2j])
    assert unravel(vector) == [1.0, 2j]
    with pytest.raises(ValueError, match="entries 0 to 1 of the vector belong to a real leaf"):
        unravel(1j * vector)


@pytest.mark.filterwarnings("ignore:.*matrix:PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.matrix, np.ma.masked_array], ids=["matrix", "masked"])
def test_array_subclass_is_refused(make):
    with pytest.raises(
        TypeError, match=r'(?s)structure\["m"\] is an array .* of class .*np.asarray'
    ):
        ravel({"m": make([[1.0, 2.0]])})


def test_shared_leaves_have_each_their_place():
    w = np.ones(2)
    vector, unravel = ravel([w, w])
    assert vector.size == 4
    back = unravel(np.arange(4.0))
    assert back[0].tolist() == [0, 1]
    assert back[1].tolist() == [2, 3]


def test_unravel_can_be_copied_and_is_frozen():
    _, unravel = ravel([1.0])
    assert copy.deepcopy(unravel)([2.0]) == [2.0]
    with pytest.raises(AttributeError):
        unravel.size = 5


def test_ravelled_gradient_lies_beside_ravelled_parameters():
    params = {"W": np.ones((2, 2)), "n": 2, "b": [0.5]}
    gradient = {"W": np.zeros((2, 2)), "n": None, "b": [1.0]}
    assert ravel(params)[0].shape == ravel(gradient)[0].shape


def test_every_small_nesting_round_trips():
    wraps = [lambda s: [s], lambda s: (s, 1), lambda s: {"k": s}, Frozen, Plain]
    wraps[3] = lambda s: Layer(s, 1.0)
    for first, second in itertools.product(wraps, repeat=2):
        structure = first(second(np.arange(2.0)))
        vector, unravel = ravel(structure)
        assert same(unravel(vector), structure)
