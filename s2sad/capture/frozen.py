"""A frozen distribution that nobody else sees is its parameters.

    norm(m, s).logpdf(x)             ->    norm.logpdf(x, m, s)

    d = stats.gamma(2.0, scale=s)    ->    d_a = 2.0
                                           d_scale = s
    d.cdf(x)                               stats.gamma.cdf(x, d_a, scale=d_scale)

    stats.gamma.cdf(x, a=2.0)        ->    stats.gamma.cdf(x, 2.0)

Where every use of a variable is a call of a method that has such a form.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    blocks_of,
    clone,
    locate,
    name,
    names_written,
    uses_of,
    walk,
)
from s2sad.registry import effects_of, positional_names, rule_for

Denoted = Callable[[Node], Any]
_METHODS = frozenset("pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf".split())


@dataclass(frozen=True)
class _Frozen:
    """A variable that holds a frozen distribution: whose it is, and the names of its parameters."""

    family: Node
    positional: tuple[str, ...]
    by_keyword: tuple[tuple[str, str], ...]

    def arguments(self) -> tuple[list[Node], list[Node]]:
        """Return the parameters as arguments of a call, by position and by keyword."""
        named = [gast.keyword(k, name(n)) for k, n in self.by_keyword]
        return [name(n) for n in self.positional], named


def thawed(body: Block, denoted: Denoted, names: Names, candidates: set[str]) -> set[str]:
    """Let local frozen distributions be their parameters, in place; return the new variables."""
    if "scipy.stats" not in sys.modules:
        return set()
    known: dict[str, _Frozen] = {}
    for variable in sorted(candidates):
        made = _makers(body, variable, denoted)
        if made and all(_asks(around) for around in uses_of(body, variable)):
            if _looks_at_once(made[0], denoted) and _may_write(body):
                continue
            known[variable] = _parameters(variable, made[0].value, denoted, names)
    if known:
        _block(body, known)
    for s in body:
        for n in walk(s):
            if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
                _direct(n, known, denoted)
                _by_position(n, denoted)
    return {n for d in known.values() for n in [*d.positional, *(v for _, v in d.by_keyword)]}


def _words(family: Any) -> tuple[str, ...] | None:
    """Return the names of the parameters of a distribution of SciPy's, None of anything else."""
    from scipy.stats import rv_continuous, rv_discrete
    from scipy.stats._multivariate import multi_rv_generic

    if not type(family).__module__.startswith("scipy.stats."):
        return None
    if isinstance(family, multi_rv_generic):
        return {"multivariate_normal_gen": ("mean", "cov")}.get(type(family).__name__)
    if not isinstance(family, rv_continuous | rv_discrete):
        return None
    shapes = family.shapes.split(", ") if family.shapes else []
    return (*shapes, "loc") if isinstance(family, rv_discrete) else (*shapes, "loc", "scale")


def _looks_at_once(made: Node, denoted: Denoted) -> bool:
    """Say whether a distribution keeps what it makes of its parameters, not these themselves."""
    words = _words(denoted(made.value.func)) or ()
    return "cov" in words


def _may_write(body: Block) -> bool:
    """Say whether arrays might be written in place here."""
    copies = {
        t.id
        for s in all_inside(body)
        if isinstance(s, gast.Assign) and not isinstance(s.value, gast.Call | gast.BinOp)
        for t in s.targets
        if isinstance(t, gast.Name) and not isinstance(s.value, gast.Constant)
    }
    for s in all_inside(body):
        if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            return True
        if isinstance(s, gast.AugAssign) and getattr(s.target, "id", None) in copies | {None}:
            return True
        places = (gast.Subscript, gast.Attribute)
        if any(isinstance(n, places) and isinstance(n.ctx, gast.Store) for n in walk(s)):
            return True
    return False


def _freezes(node: Node, denoted: Denoted) -> bool:
    """Say whether a call freezes a distribution, with parameters that it lists."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
        return False
    words = _words(denoted(node.func))
    if words is None or any(isinstance(a, gast.Starred) for a in node.args):
        return False
    by_keyword = [k.arg for k in node.keywords]
    rest = words[len(node.args) :]
    return len(node.args) <= len(words) and all(k in rest for k in by_keyword)


def _makers(body: Block, variable: str, denoted: Denoted) -> list[Node]:
    """Return the statements that bind a variable, if all of them freeze the same distribution."""
    made: list[Node] = []
    for s in all_inside(body):
        if isinstance(s, SCOPES) and any(getattr(n, "id", "") == variable for n in walk(s)):
            return []
        if blocks_of(s):
            header = [getattr(s, "target", None)]
            header += [item.optional_vars for item in getattr(s, "items", ())]
            if any(getattr(n, "id", "") == variable for h in header if h for n in walk(h)):
                return []
            continue
        if variable not in names_written(s):
            continue
        plain = isinstance(s, gast.Assign) and len(s.targets) == 1
        if not plain or not isinstance(s.targets[0], gast.Name) or not _freezes(s.value, denoted):
            return []
        made.append(s)
    return made if len({_form(s.value, denoted) for s in made}) == 1 else []


def _form(made: Node, denoted: Denoted) -> tuple[Any, ...]:
    keywords = [k.arg for k in made.keywords]
    return id(denoted(made.func)), len(made.args), *keywords


def _asks(around: list[Node]) -> bool:
    """Say whether a use is a call of a method that has a form with parameters."""
    use, *outer = around
    if any(isinstance(n, SCOPES) for n in around) or not isinstance(use, gast.Attribute):
        return False
    return _is_question(outer[0], use) if outer else False


def _is_question(node: Node, func: Node) -> bool:
    plain = isinstance(node, gast.Call) and node.func is func and not node.keywords
    return plain and len(node.args) == 1 and func.attr in _METHODS and not _starred(node)


def _starred(node: Node) -> bool:
    return any(isinstance(a, gast.Starred) for a in node.args)


def _parameters(variable: str, made: Node, denoted: Denoted, names: Names) -> _Frozen:
    words = _words(denoted(made.func)) or ()
    positional = tuple(names.fresh(f"{variable}_{w}") for w in words[: len(made.args)])
    by_keyword = tuple((k.arg, names.fresh(f"{variable}_{k.arg}")) for k in made.keywords)
    return _Frozen(made.func, positional, by_keyword)


def _block(body: Block, known: dict[str, _Frozen]) -> None:
    out: Block = []
    for s in body:
        for part in blocks_of(s):
            _block(part, known)
        target = s.targets[0] if isinstance(s, gast.Assign) else None
        frozen = known.get(target.id) if isinstance(target, gast.Name) else None
        if frozen is None:
            out.append(s)
            continue
        values = [*s.value.args, *(k.value for k in s.value.keywords)]
        words = [*frozen.positional, *(n for _, n in frozen.by_keyword)]
        out += [locate(assign(n, v), s) for n, v in zip(words, values, strict=True)]
    if body and not out:  # a distribution without parameters
        out.append(locate(gast.Pass(), body[0]))
    body[:] = out


def _direct(node: Node, known: dict[str, _Frozen], denoted: Denoted) -> None:
    """Let a question that is put to a frozen distribution be one to the distribution itself."""
    owner = node.func.value
    if not _is_question(node, node.func):
        return
    if isinstance(owner, gast.Name) and owner.id in known:
        frozen = known[owner.id]
        family, (args, keywords) = clone(frozen.family), frozen.arguments()
    elif _freezes(owner, denoted):
        family, args, keywords = owner.func, owner.args, owner.keywords
        values = [*args, *(k.value for k in keywords)]
        if not _harmless(values, denoted) and not _harmless(node.args, denoted):
            return
    else:
        return
    node.func = attribute(family, node.func.attr)
    node.args = [*node.args, *args]
    node.keywords = list(keywords)
    for n in walk(node):
        if getattr(n, "lineno", None) is None:
            locate(n, owner)


def _by_position(node: Node, denoted: Denoted) -> None:
    """Put the shapes of a distribution, by keyword, where they stand by position.

    Rules that all distributions share know them by their places.
    """
    family = denoted(node.func.value)
    words = _words(family) if node.keywords and not _starred(node) else None
    if words is None or node.func.attr not in _METHODS:
        return
    rule = rule_for(getattr(family, node.func.attr, None))
    given = {k.arg: k for k in node.keywords}
    shapes = [w for w in words if w not in ("loc", "scale")][len(node.args) - 1 :]
    if rule is None or rule.partials is None or not all(w in given for w in shapes):
        return
    if given.keys() <= set(positional_names(rule.partials, 1)):
        return
    if _harmless((k.value for k in node.keywords), denoted):
        node.args = [*node.args, *(given.pop(w).value for w in shapes)]
        node.keywords = list(given.values())


def _harmless(values: Iterable[Node], denoted: Denoted) -> bool:
    """Say whether it does not matter when expressions are evaluated: they only compute."""
    for n in (n for value in values for n in walk(value)):
        if isinstance(n, gast.NamedExpr | gast.Yield | gast.YieldFrom | gast.Await):
            return False
        if isinstance(n, gast.Call) and not _only_computes(denoted(n.func)):
            return False
    return True


def _only_computes(fn: Any) -> bool:
    if isinstance(fn, np.ufunc) or effects_of(fn).is_pure:
        return True
    module = str(getattr(fn, "__module__", None) or "")
    return module in ("math", "numpy", "numpy.linalg")
