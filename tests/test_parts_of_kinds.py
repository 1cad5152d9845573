"""The one walk over structures: every class of kinds says its parts, and is rebuilt of them."""

import collections
import dataclasses

import pytest

from s2sad import kinds as K
from s2sad.facts.loop_state import stays
from s2sad.kinds import EACH, Part


@dataclasses.dataclass
class Body:
    mass: float
    place: object


@dataclasses.dataclass
class Other:
    mass: float


Pair = collections.namedtuple("Pair", "left right")
LONG = K.Array("float64", (K.Dim("n"),))
BODY = K.Obj(Body, (("mass", K.FLOAT), ("place", LONG)))
OTHER = K.Obj(Other, (("mass", K.FLOAT),))
MIXED = K.list_of([K.Str(), LONG])

# A kind, what its parts are called, their kinds, the kind of the rest.
STRUCTURES = [
    (K.Tuple((K.FLOAT, LONG)), ("[0]", "[1]"), (K.FLOAT, LONG), None),
    (K.Tuple((K.FLOAT, LONG), Pair), ("[0]", "[1]"), (K.FLOAT, LONG), None),
    (K.Tuple(()), (), (), None),
    (K.List(LONG), ("[]",), (LONG,), LONG),
    (K.List(K.FLOAT, 3), ("[]",), (K.FLOAT,), K.FLOAT),
    (MIXED, ("[0]", "[1]"), (K.Str(), LONG), MIXED.item),
    (K.Dict((("w", LONG), (2, K.FLOAT))), ("['w']", "[2]"), (LONG, K.FLOAT), None),
    (K.Dict(()), (), (), None),
    (K.OpenDict(K.INT, LONG), ("[]",), (LONG,), LONG),
    (BODY, (".mass", ".place"), (K.FLOAT, LONG), None),
    (K.Iterable_(LONG, indexed=True), ("[]",), (LONG,), LONG),
]
OPTIONS = [
    (K.union([K.NONE, LONG]), (":0", ":1"), (K.NONE, LONG), None),
    (K.OneOf((BODY, OTHER)), (":0", ":1"), (BODY, OTHER), None),
]
LEAVES = [
    *(K.UNKNOWN, K.UNBOUND, K.NONE, K.Str(), K.FLOAT, LONG, K.Known(len)),
    *(K.Choice((K.Known(len), K.Known(max))), K.Opaque(object, LONG)),
]
named = pytest.mark.parametrize(
    ("kind", "paths", "inside", "rest"), STRUCTURES + OPTIONS, ids=lambda v: type(v).__name__
)


@named
def test_parts(kind, paths, inside, rest):
    assert tuple(part.path for part in kind.parts) == paths
    assert tuple(part.kind for part in kind.parts) == inside == kind.inside
    assert kind.rest == rest
    assert tuple(zip(kind.steps, inside, strict=True)) == kind.by_step


@named
def test_a_kind_rebuilt_of_its_own_parts_is_the_same(kind, paths, inside, rest):
    assert kind.rebuilt(kind.inside) == kind
    assert kind.over(lambda k: k) is kind
    assert K.mapped(lambda k: k, kind) is kind


@named
def test_leaves_are_changed(kind, paths, inside, rest):
    changed = K.mapped(lambda k: K.INT if k == LONG else k, kind)
    assert list(K.leaves(changed)) == [K.INT if k == LONG else k for k in K.leaves(kind)]
    assert changed.steps == kind.steps and type(changed) is type(kind)
    assert K.cls_of(changed) is K.cls_of(kind)


@named
def test_a_kind_is_paired_with_itself_or_is_no_structure(kind, paths, inside, rest):
    pairs = [(k, k) for k in inside]
    assert K.paired(kind, kind) == (pairs if kind.structure else None)


@pytest.mark.parametrize("kind", LEAVES, ids=repr)
def test_leaves(kind):
    assert kind.parts == () and kind.rest is None and kind.at(0) is None
    assert not kind.structure and not kind.mutable
    assert list(K.leaves(kind)) == [kind]
    assert K.mapped(lambda _: K.NONE, kind) == K.NONE
    assert K.paired(kind, kind) is None


def test_every_class_of_kinds_is_here():
    classes = {type(kind) for kind, *_ in STRUCTURES + OPTIONS} | set(map(type, LEAVES))
    assert {K.Kind, K.LocalFunction} == {K.Kind, *K.Kind.__subclasses__()} - classes - _OTHERS


_OTHERS = {cls for cls in K.Kind.__subclasses__() if cls.__module__ != K.__name__}


def test_the_parts_of_what_is_nested():
    kind = K.Tuple((K.List(K.FLOAT), K.Dict((("a", LONG), ("b", K.Tuple(()))))))
    assert list(K.leaves(kind)) == [K.FLOAT, LONG]
    assert K.mapped(lambda _: K.NONE, kind) == K.Tuple(
        (K.List(K.NONE), K.Dict((("a", K.NONE), ("b", K.Tuple(())))))
    )
    assert kind.parts[0] == Part("item", 0, K.List(K.FLOAT))
    assert kind.parts[0].kind.parts == (Part("item", EACH, K.FLOAT),)


def test_a_part_at_a_step():
    assert BODY.at("place") == LONG and BODY.at("speed") is None
    assert K.List(LONG).at(7) == K.List(LONG).at(K.MISSING) == LONG
    assert MIXED.at(0) == K.Str() and MIXED.at(K.MISSING) == MIXED.item
    assert K.Dict((("w", LONG),)).at("v") is None
    assert K.Tuple((K.FLOAT,)).at(0) == K.FLOAT and K.Tuple((K.FLOAT,)).at(1) is None


def test_pairs():
    one, other = K.Dict((("a", K.INT), ("b", LONG))), K.Dict((("b", K.FLOAT), ("a", K.NONE)))
    assert K.paired(one, other) == [(K.INT, K.NONE), (LONG, K.FLOAT)]
    assert K.paired(one, K.Dict((("a", K.INT),))) is None
    assert K.paired(K.Tuple((K.INT, LONG)), K.Tuple((K.INT, LONG), Pair)) is None
    assert K.paired(K.List(K.INT), MIXED) == [(K.INT, MIXED.item)]
    assert K.paired(K.List(K.INT), K.Tuple((K.INT,))) is None
    assert K.paired(BODY, OTHER) is None


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        *(
            (K.FLOAT, float),
            (K.Num("float", "float32"), type(K.np.float32(0))),
            (LONG, K.np.ndarray),
        ),
        *((K.Num("float", "any"), None), (K.Array("float64", (), "cupy"), None), (K.UNKNOWN, None)),
        *((K.Tuple(()), tuple), (K.Tuple((K.INT, K.INT), Pair), Pair), (K.List(LONG), list)),
        *((K.Dict(()), dict), (K.OpenDict(K.INT, LONG), dict), (BODY, Body), (K.Str(), str)),
        *((K.NONE, type(None)), (K.Iterable_(LONG), None), (K.OneOf((BODY, OTHER)), None)),
    ],
)
def test_classes(kind, cls):
    assert K.cls_of(kind) is cls


def test_fields_in_another_order_are_joined():
    turned = K.Obj(Body, BODY.fields[::-1])
    assert K.join(BODY, turned) == BODY


def test_what_all_items_of_a_list_share_is_not_joined_anew():
    other = K.Array("float64", (K.Dim("k"),))
    table = K.Array("float64", (K.Dim("n"), K.Dim("m")))
    kind = K.list_of([LONG, table, other])
    assert kind.items is not None
    assert K.mapped(lambda k: dataclasses.replace(k), kind) == kind


def test_a_state_stays_one_whose_keys_are_of_the_same_kind():
    words, numbers = K.OpenDict(K.Str(), K.FLOAT), K.OpenDict(K.INT, K.FLOAT)
    assert stays(words, words, frozenset()) and not stays(words, numbers, frozenset())
    assert stays(K.List(LONG), K.List(LONG, 2), frozenset())
    assert not stays(K.List(LONG, 2), K.List(LONG), frozenset())
    assert stays(BODY, BODY, frozenset()) and not stays(BODY, OTHER, frozenset())
