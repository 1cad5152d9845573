"""Shadows shaped like the shadow of what was copied."""

import gast

from s2sad.polish.likes import copies, like_shadows


def table(text, params=("u",)):
    return copies(gast.parse(text).body, params)


def test_a_copy_of_what_keeps_its_shape():
    assert table("for i in r:\n    v = u.copy()\n    u[1:] = v[1:]") == {"v": "u"}
    assert table("u = u.copy()\nfor i in r:\n    v = u.copy()") == {"v": "u"}
    assert table("w = u + u\nwhile c:\n    v = w.copy()") == {"v": "w"}


def test_what_may_change_its_shape_has_none():
    assert table("for i in r:\n    v = u.copy()\n    u = u[1:]") == {}
    assert table("u = u[1:]\nv = u.copy()") == {}
    assert table("for u in r:\n    v = u.copy()") == {}
    assert table("v = u.copy()\nv = v[1:]") == {}
    assert table("v = u[1:].copy()") == {}
    assert table("for i in r:\n    w = u[:i]\n    v = w.copy()") == {}


def relike(text):
    tree = gast.parse(text)
    like_shadows(tree.body, {"v": "u_bar"}, "np")
    return gast.unparse(tree) if hasattr(gast, "unparse") else gast.dump(tree)


def test_the_shadow_is_surely_set():
    plain = "v_bar = np.zeros_like(v)"
    like = "v_bar = np.zeros_like(u_bar)"
    assert relike(f"u_bar = a\n{plain}") == relike(f"u_bar = a\n{like}")
    assert relike(f"u_bar = a\nwhile s:\n    {plain}") == relike(f"u_bar = a\nwhile s:\n    {like}")
    assert relike(plain) != relike(like)
    assert relike(f"if c:\n    u_bar = a\n{plain}") != relike(f"if c:\n    u_bar = a\n{like}")
