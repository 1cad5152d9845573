"""Small tools on trees: equality, copies, names, substitution."""

import ast

import gast
import pytest

from s2sad.errors import InternalError
from s2sad.nodes import (
    blocks_of,
    clone,
    constant,
    is_constant,
    key,
    name,
    names_of,
    names_read,
    names_written,
    number,
    rename,
    same,
    substitute,
    walk,
)

EXPRESSIONS = ["x", "y", "1", "1.0", "True", "-1", "x + y", "y + x", "x[0]", "x.a", "f(x, k=y)"]


def expression(text):
    return gast.parse(text, mode="eval").body


def statement(text):
    return gast.parse(text).body[0]


def shown(node):
    return ast.unparse(gast.gast_to_ast(node))


def test_equal_is_equal_text():
    for a in EXPRESSIONS:
        for b in EXPRESSIONS:
            assert same(expression(a), expression(b)) is (a == b)
            assert (key(expression(a)) == key(expression(b))) is (a == b)
        hash(key(expression(a)))


@pytest.mark.parametrize("text", [*EXPRESSIONS, "[a for a in x]", "lambda a: a + x"])
def test_a_clone_is_equal_and_apart(text):
    node = expression(text)
    copy = clone(node)
    assert same(node, copy) and shown(copy) == text
    assert not {id(n) for n in walk(node) if isinstance(n, gast.expr)} & {id(n) for n in walk(copy)}


@pytest.mark.parametrize(
    "text, read, written",
    [
        ("x = y", "y", "x"),
        ("x, (y, *z) = w", "w", "x y z"),
        ("x += y", "x y", "x"),
        ("x[i] = y", "x i y", ""),
        ("x.a = y", "x y", ""),
        ("for x in y: z = x", "x y", "x z"),
        ("if x: y = 1\nelse: z = 2", "x", "y z"),
        ("with x as y: z = y", "x y", "y z"),
        ("import a.b as c, d.e", "", "c d"),
        ("del x", None, "x"),
        ("x = (y := z)", "z", "x y"),
        ("match x:\n case [y, *z]: w = y", "x y", "y z w"),
        ("match x:\n case {'a': y, **z}: w = y", "x y", "y z w"),
        ("try: x = y\nexcept E as e: z = e", "y E e", "x e z"),
        ("x = [y for y in z if (w := y)]", None, "x w"),
        ("def g(a): b = a", None, "g"),
    ],
)
def test_names(text, read, written):
    node = statement(text)
    assert names_written(node) == set(written.split())
    if read is not None:
        assert names_read(node) == set(read.split())


def test_substitute_leaves_the_original_alone():
    node = expression("x + f(x, y)")
    new = substitute(node, {"x": expression("a * b")})
    assert shown(new) == "a * b + f(a * b, y)"
    assert shown(node) == "x + f(x, y)"
    first, second = (n for n in walk(new) if isinstance(n, gast.BinOp) and shown(n) == "a * b")
    assert first is not second


def test_rename_both_ways():
    assert shown(rename(statement("x[i] = x + y"), {"x": "z"})) == "z[i] = z + y"
    assert shown(rename(statement("for x in y:\n    x = z"), {"x": "y", "y": "x"})) == (
        "for y in x:\n    y = z"
    )


@pytest.mark.parametrize(
    "text, value",
    [("1", 1), ("-2.5", -2.5), ("x", None), ("True", None), ("'a'", None), ("1j", None)],
)
def test_number(text, value):
    found = number(expression(text))
    assert found == value and type(found) is type(value)


def test_is_constant():
    assert is_constant(expression("-1.0")) and is_constant(expression("'a'"))
    assert not is_constant(expression("x")) and not is_constant(expression("-x"))


def test_building():
    for value in (1, -1, 2.5, -2.5, -0.0, True):
        assert repr(ast.literal_eval(shown(constant(value)))) == repr(value)
    assert shown(name("x")) == "x"


def test_blocks():
    text = "try:\n    a\nexcept E:\n    b\nelse:\n    c\nfinally:\n    d"
    assert [[shown(s) for s in b] for b in blocks_of(statement(text))] == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
    ]
    assert blocks_of(statement("x = 1")) == []


def test_copies_are_other_statements():
    loop = statement("while x:\n    if y:\n        break\n    pass")
    copy = clone(loop)
    assert shown(copy) == shown(loop)
    kept = {id(n) for n in walk(loop) if isinstance(n, gast.stmt | gast.expr)}
    assert not kept & {id(n) for n in walk(copy)}


def test_names_replaced_in_a_copy_are_those_that_are_read():
    s = statement("x[i] = x + y")
    copy = clone(s, {"x": expression("a * b"), "y": expression("x")})
    assert shown(copy) == "(a * b)[i] = a * b + x"
    assert shown(s) == "x[i] = x + y"


@pytest.mark.parametrize(
    "text, want",
    [
        ("y = (lambda x, k=x: x + k + z)(x)", "y = (lambda x, k=a * b: x + k + c)(a * b)"),
        ("y = [x * z for x in x if z]", "y = [x * c for x in a * b if c]"),
        ("y = {x: z for x, w in z}", "y = {x: c for x, w in c}"),
    ],
)
def test_names_of_inner_scopes_are_not_replaced(text, want):
    s = statement(text)
    assert shown(clone(s, {"x": expression("a * b"), "z": expression("c")})) == want


def test_names_of_inner_scopes_catch_nothing():
    s = statement("y = [x * z for x in xs]")
    assert shown(clone(s, {"w": expression("x")})) == shown(s)
    with pytest.raises(InternalError, match="inner scope"):
        clone(s, {"z": expression("x + 1")})


MATCH = (
    "match p:\n    case {'k': v, **rest}:\n        q = v\n"
    "    case [one, *more] as whole:\n        r = 1"
)


@pytest.mark.parametrize(
    "text, read, written",
    [
        ("x, y[i] = f(a, k=b)", "f a b y i", "x"),
        ("x += (t := y) + x", "x y", "x t"),
        ("z = [t for t in xs if (u := t)]", "xs t", "z u"),
        ("def g(a, b=c):\n    return a + d", "c a d", "g"),
        (MATCH, "p v", "v rest q one more whole r"),
        ("try:\n    x = 1\nexcept ValueError as e:\n    print(e)", "ValueError print e", "x e"),
        ("import numpy.linalg as la, os.path", "", "la os"),
        ("del x, y[0]", "x y", "x"),
    ],
)
def test_one_walk_tells_what_is_read_and_written(text, read, written):
    s = statement(text)
    assert names_of(s) == (set(read.split()), set(written.split()))
    assert names_read(s) == set(read.split())
