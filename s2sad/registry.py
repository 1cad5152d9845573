"""Where rules live: hand-written derivatives, found by the function they belong to.

A rule is an ordinary function that can be called and tested alone:

    @elementwise(np.sin)
    def sin(out, x):
        return np.cos(x)

    @pullback(np.sum)
    def pull_sum(out_bar, out, a, *, axis=None, keepdims=False):
        if axis is not None and not keepdims:
            out_bar = np.expand_dims(out_bar, axis)
        return np.broadcast_to(out_bar, a.shape)

Arrays come by position, settings by keyword, with the names of the function's own signature; a
keyword that a rule does not list is refused where the call stands.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import sys
import textwrap
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from s2sad.checkpoints import checkpoint
from s2sad.known import spaces
from s2sad.known.fixed import copied as copied
from s2sad.known.fixed import held_by as held_by
from s2sad.known.fixed import like_functions as like_functions
from s2sad.known.generators import generator_of
from s2sad.known.modules import held as held
from s2sad.known.spaces import to_host as to_host
from s2sad.known.spaces import twins as twins
from s2sad.rulebook import linear as turned
from s2sad.rulebook import multilinear as multilinear_rules
from s2sad.rulebook.facts import declare as declare
from s2sad.rulebook.facts import effects_of as effects_of
from s2sad.rulebook.facts import method_only_looks as method_only_looks
from s2sad.rulebook.facts import method_writes as method_writes
from s2sad.rulebook.facts import numbers_of as numbers_of
from s2sad.rulebook.identity import key_of
from s2sad.rulebook.loading import load_rules as load_rules
from s2sad.rulebook.loading import when_imported as when_imported
from s2sad.rulebook.rule import History
from s2sad.rulebook.rule import Kin as Kin
from s2sad.rulebook.rule import Masks as Masks
from s2sad.rulebook.rule import Outcome as Outcome
from s2sad.rulebook.rule import Rule as Rule
from s2sad.rulebook.rule import Shared as Shared
from s2sad.rulebook.rule import View as View
from s2sad.rulebook.rule import Window as Window
from s2sad.rulebook.rule import is_brought as is_brought
from s2sad.rulebook.rule_forms import check_form, check_named, check_ruled

F = TypeVar("F", bound=Callable[..., Any])


def _rule_of(fn: object, rule: Callable[..., Any], word: str) -> tuple[object, Callable[..., Any]]:
    """Return a function, and the rule as it is for this one of those that share it."""
    made: Callable[..., Any] = rule
    if isinstance(fn, Kin):
        parameters = inspect.signature(rule).parameters.values()
        asked = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
        made = Shared(rule, **{n: fn.given[n] for n in asked})
        fn = fn.fn
    if not is_brought(rule):
        check_form(fn, made, word)
    return fn, made


def given_to(rule: Callable[..., Any] | None) -> Mapping[str, Callable[..., Any]]:
    """Return what a rule that several functions share gets for this one."""
    return rule.keywords if isinstance(rule, Shared) else {}


_lock = threading.RLock()  # while something is registered: by any import, in any thread
_served: dict[Any, Any] = {}  # of which function a rule is the pullback or the pushforward
_rules: dict[Hashable, Rule] = {}
_histories: dict[Hashable, History] = {}
_asked: weakref.WeakSet[SameRules] = weakref.WeakSet()
_called: set[int] = set()  # objects that are called as functions are, and have rules
_unruled: weakref.WeakSet[Unruled] = weakref.WeakSet()


def _file(fn: object, brought: bool, **changes: Any) -> None:
    with _lock:
        for asked in list(_asked) if len(_asked) else ():
            asked.fresh = False
        for unruled in list(_unruled) if len(_unruled) and not is_foreign(fn) else ():
            unruled.fresh = False
        key = key_of(fn)
        if not (inspect.isroutine(fn) or inspect.isclass(fn)):
            _called.add(id(fn))
        history = _histories.setdefault(key, History(fn))
        _rules[key] = history.add(_rules.get(key, Rule(fn)), changes, brought=brought)
        for word in ("pullback", "pushforward"):
            if changes.get(word) is not None:
                _served.setdefault(changes[word], fn)


def _zeros(
    masks: Masks, regular: Mapping[str, float] | None, steep: tuple[str, ...]
) -> dict[str, Any]:
    """Return what a rule says about zeros and singular points, where it says something."""
    said: dict[str, Any] = {"masks": masks} if masks else {}
    return {**said, "regular": dict(regular), "steep": steep} if regular else said


def elementwise(
    *fns: object,
    masks: bool = False,
    regular: Mapping[str, float] | None = None,
    steep: tuple[str, ...] = (),
    unknown: tuple[str, ...] = (),
    once: str = "",
) -> Callable[[F], F]:
    """Register `partials(out, *arrays)`, the partial derivatives of an elementwise function.

    For one array the rule returns its partial, for several a tuple with one entry per array;
    None stands for a partial that is zero. Broadcasting is the caller's business. Gives both the
    pullback and the pushforward. `masks` says that partials are zero by structure, as those of
    np.maximum are. A function with singular points says with `regular` where its rule is finite:
    `regular={"x": 1.0}` for 1 / x. There the rule is evaluated where such a zero comes in. By
    the arrays that are `steep` the derivative may be infinite where the value is finite, as at the
    root of 0: there every zero is kept, also one that only happens to be zero.
    For `unknown` arrays no derivative is known (the order of a Bessel function): the rule returns
    None for them, and a program in which they are active is refused. `once` says why the rule need
    not be differentiated itself: `check_rule` then accepts that it is refused.
    """

    check_named(fns, "@s2sad.elementwise")

    def register(rule: F) -> F:
        for shared in fns:
            fn, made = _rule_of(shared, rule, "elementwise")
            said = _zeros(masks, regular, steep) | ({"once": once} if once else {})
            _file(fn, is_brought(rule), partials=made, unknown=unknown, **said)
        return rule

    return register


def pullback(
    *fns: object,
    view: View = "never",
    window: Window | None = None,
    nested: bool = False,
    masks: Masks = False,
    of_complex: bool = False,
    regular: Mapping[str, float] | None = None,
    steep: tuple[str, ...] = (),
    turns_complex: bool = False,
    unknown: tuple[str, ...] = (),
    samples: Callable[..., Any] | None = None,
    calls: Mapping[str, str] | None = None,
    result: Callable[..., Any] | None = None,
    constant: tuple[str, ...] = (),
    linear: bool = False,
    multilinear: bool = False,
    once: str = "",
) -> Callable[[F], F]:
    """Register `pull(out_bar, out, *arrays, **settings)`, returning one cotangent per array.

    For one array the rule returns its cotangent bare, for several a tuple; None stands for zero.
    An array argument that is a sequence of arrays has a sequence of cotangents; a rule that also
    takes lists in it apart is `nested`. `view` says
    whether the function's result may share memory with its first argument; where it shows each
    element of that once at most, `window` tells more. `masks` says that
    entries get zero because they are not in the result, as with np.max; a tuple names the
    settings that make it so, a function tells it from the literals among the arguments.
    `regular`, `steep` and `unknown` are as for `elementwise`. With `turns_complex` the content of
    real arguments decides whether the result is real or complex.
    The kind of a result is found by calls with samples of any lengths: `samples(*args)` returns
    arguments that fit one another. `of_complex` says that the rule is for complex arguments only:
    for real ones the derivative is zero by decision.

    A function that calls functions it is given, as a solver does, says how:
    `calls={"fun": "fun(out, *args)"}`. In the place of `fun` the rule gets a function of the same
    arguments that returns `(value, pullback)`; `pullback(value_bar)` returns a tuple, one cotangent
    per argument (None where there is none), and one last entry for what `fun` captures: that is
    what the rule returns for `fun`. The kind of the result is then found by calling `result` with
    samples, and with None for functions. Parameters on which the result does not depend, as the
    start of a search, are `constant`: the rule gives None for them.

    A rule is `linear` where what it does to a cotangent does not depend on the numbers in the
    arrays, or only by steps: a sum, a transform, a permutation. With a pushforward beside it,
    nothing more is needed for second derivatives. So it is where the function is `multilinear`:
    linear in each array while the others stay, as a product of matrices is. `once` is as for
    `elementwise`.
    """

    check_named(fns, "@s2sad.pullback")

    def register(rule: F) -> F:
        for shared in fns:
            fn, made = _rule_of(shared, rule, "pullback")
            said = {"turns_complex": turns_complex, "unknown": unknown, "samples": samples}
            said |= {"calls": dict(calls or {}), "result": result, "constant": constant}
            said |= {"linear": linear, "multilinear": multilinear}
            said |= _zeros(masks, regular, steep) | ({"zero": True} if of_complex else {})
            said |= {"once": once} if once else {}
            _file(
                fn, is_brought(rule), pullback=made, view=view, window=window, nested=nested, **said
            )
        return rule

    return register


def pushforward(*fns: object) -> Callable[[F], F]:
    """Register `push(out, *arrays, *tangents, **settings)`, returning the tangent of out."""

    check_named(fns, "@s2sad.pushforward")

    def register(rule: F) -> F:
        for shared in fns:
            fn, made = _rule_of(shared, rule, "pushforward")
            _file(fn, is_brought(rule), pushforward=made)
        return rule

    return register


def nondifferentiable(*fns: Any) -> Any:
    """Declare functions whose derivative is zero by decision; usable as a decorator."""
    check_named(fns, "s2sad.nondifferentiable")
    by = str(sys._getframe(1).f_globals.get("__name__"))
    for fn in fns:
        check_ruled(fn, "s2sad.nondifferentiable")
        _file(fn, by.startswith("s2sad.rules"), zero=True)
    return fns[0] if len(fns) == 1 else None


Form = tuple[Callable[..., Any], tuple[str, ...]]
_written: dict[Hashable, Form] = {}
_written_functions: list[object] = []


def written_out(*fns: object, of: tuple[str, ...] = (), beside: bool = False) -> Callable[[F], F]:
    """Register Python that does what a library's function does: that is derived in its place.

    So is what calls functions of the user's, which no rule could know. For a method of a class
    (`np.ufunc.reduce`), `of` names attributes of the bound method that come first. What stands
    `beside` a rule serves what the rule does not.
    """

    def register(written: F) -> F:
        for fn in fns:
            _written[("beside", key_of(fn)) if beside else key_of(fn)] = written, of
        _written[key_of(written)] = written, ()
        _written_functions.extend(() if beside else fns)
        return written

    return register


def all_written() -> tuple[object, ...]:
    """Return what is derived as if it were written out in Python, in the order of registration."""
    load_rules()
    return tuple(_written_functions)


TOLD = ("np.vectorize", "otypes")
"""Stands for what np.vectorize does where it is told of what kind the results are."""


def refusals_of_form(fn: Any) -> tuple[str, ...]:
    """Return what Python that stands for a library's function says of what it does not take.

    It, or a function of its module that it calls, raises NotImplementedError with a literal text.
    """
    if not any(fn is form for form, _ in _written.values()):
        return ()
    called = [fn.__globals__.get(n) for n in fn.__code__.co_names]
    functions = [f for f in (fn, *called) if inspect.isfunction(f) and is_brought(f)]
    return tuple(words for f in functions for words in _texts_raised(f))


def _texts_raised(fn: types.FunctionType) -> Iterator[str]:
    for n in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(fn)))):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
            if n.func.id == NotImplementedError.__name__:
                yield from (str(a.value) for a in n.args if isinstance(a, ast.Constant))


def is_vectorized(fn: Any) -> bool:
    """Say whether this is np.vectorize of a function, for every element of all arguments.

    Of what kind the results are may be told for one of them only, and that of a number.
    """
    if type(fn) is not np.vectorize or fn.signature is not None or fn.excluded:
        return False
    told = fn.otypes
    return told is None or (len(told) == 1 and np.dtype(told[0]).kind in "biufc")


def written_form(fn: Any, beside: bool = False) -> Form | None:
    """Return the Python that stands for a library's function, and what of it comes first."""
    load_rules()
    if beside:
        return _written.get(("beside", key_of(fn)))
    if is_vectorized(fn):
        return _written[key_of(np.vectorize if fn.otypes is None else TOLD)]
    found = _written.get(key_of(fn))
    if key_of(fn) in _refusals:
        return None
    owner = getattr(fn, "__self__", None)
    if found is not None or owner is None or inspect.ismodule(owner) or isinstance(owner, type):
        return found
    called = getattr(fn, "__name__", "")  # an object may answer to every name, with anything
    method = getattr(type(owner), called, None) if isinstance(called, str) else None
    return None if method is None or rule_for(fn) is not None else _written.get(key_of(method))


def rule_for(fn: object) -> Rule | None:
    """Return the rule of a function, or None. Loads rule packages at the first call.

    What CuPy calls as NumPy does has NumPy's rule, where it has none of its own.
    """
    load_rules()
    try:
        found = _rules.get(key_of(fn))
    except TypeError:
        return None
    if found is None:
        twin = spaces.twin(fn)
        load_rules()  # looking for it may have imported its module
        found = None if twin is fn else _rules.get(key_of(twin))
    return _rule_of_rule(fn) if found is None else found


def is_called(value: object) -> bool:
    """Say whether an object that is no function has a rule, and so is called as functions are."""
    return id(value) in _called


def is_rule(fn: Any) -> bool:
    """Say whether a function is the pullback or the pushforward of another."""
    return inspect.isfunction(fn) and fn in _served


def is_ours(fn: Any) -> bool:
    """Say whether a function is one of s2sad's, rules included."""
    return str(getattr(fn, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]


def is_helper(fn: Any) -> bool:
    """Say whether a function is one of those that s2sad's rules are made of."""
    return inspect.isfunction(fn) and is_brought(fn)


def _rule_of_rule(fn: Any) -> Rule | None:
    """Return the rule of a rule that is linear: its derivative is the rule of the other mode."""
    of = _served.get(fn) if inspect.isfunction(fn) else None
    rule = None if of is None else _rules.get(key_of(of))
    if rule is None or not rule.turns:
        return None
    maker = turned if rule.linear else multilinear_rules
    made = maker.of_pullback if fn is rule.pullback else maker.of_pushforward
    pull, push = made(rule.pullback, rule.pushforward)
    return Rule(fn, pullback=pull, pushforward=push, view="maybe", derivative_of=of)


def same_in_numpy(fn: Any, count: int) -> Any:
    """Return NumPy's function that does what `fn` does with `count` arguments by position.

    Itself where there is none, and where it has a rule or a refusal of its own.
    """
    load_rules()
    key = key_of(fn)
    return fn if key in _rules or key in _refusals else spaces.twin_of_call(fn, count)


def constant_parameters(fn: object) -> tuple[str, ...]:
    """Return the parameters of a function on which its result does not depend."""
    rule = rule_for(fn)
    return () if rule is None else rule.constant


def defaults(fn: object) -> Mapping[str, Any]:
    """Return the settings of a function by its rule, with what they are where nobody gives them."""
    rule = rule_for(fn) if is_foreign(fn) else None
    return {} if rule is None or rule.pullback is None else _settings(rule.pullback)


@functools.cache
def _settings(rule: Callable[..., Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(rule).parameters.values()
    found = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    return {n: default for n, default in found.items() if default is not inspect.Parameter.empty}


def is_elementwise(fn: object) -> bool:
    """Say whether a library's function works on each element, and broadcasts its arguments."""
    if isinstance(fn, np.ufunc):
        return fn.signature is None and fn.nout == 1
    rule = rule_for(fn) if is_foreign(fn) else None
    return rule is not None and rule.partials is not None


def reduces(fn: object) -> bool:
    """Say whether a library's function makes a number of an array: it could keep the axes."""
    settings = defaults(fn)
    return "keepdims" in settings and settings.get("axis", 0) is None


class SameRules:
    """Says whether some functions still have the rules that they had when this was made.

    It need not be asked while it is `fresh`: no rule has been registered since.
    """

    def __init__(self, functions: Iterable[object]) -> None:
        self._rules = [(fn, rule_for(fn)) for fn in functions]
        self.fresh = True
        with _lock:
            _asked.add(self)

    def __call__(self) -> bool:
        """Look again."""
        self.fresh = all(rule_for(fn) is rule for fn, rule in self._rules)
        return self.fresh


class Unruled:
    """Says whether functions have no rule; all of a code, and so it stays a question.

    It need not be asked while it is `fresh`: no rule has been registered since it was made.
    """

    def __init__(self) -> None:
        self.fresh = True
        with _lock:
            _unruled.add(self)

    def __call__(self, fn: object) -> bool:
        """Look again."""
        return rule_for(fn) is None


def all_rules() -> tuple[Rule, ...]:
    """Return every registered rule, in the order of registration."""
    load_rules()
    return tuple(_rules.values())


@functools.cache
def positional_names(rule_fn: Callable[..., Any], skip: int) -> tuple[str, ...]:
    """Return the names of a rule's array parameters, after `skip` leading ones (out_bar, out)."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(rule_fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind in kinds)[skip:]


def array_names(rule: Rule) -> tuple[str, ...]:
    """Return the names of the arrays that the rule of a function is about."""
    if rule.partials is not None:
        return positional_names(rule.partials, 1)
    return positional_names(rule.pullback, 2) if rule.pullback is not None else ()


_methods: dict[str, object] = {}
_properties: dict[str, object] = {}
_zero_methods: set[str] = set()


def array_methods(
    methods: dict[str, object], properties: dict[str, object], zero: frozenset[str]
) -> None:
    """Say which functions' rules serve ndarray's methods and properties, and which give zero."""
    _methods.update(methods)
    _properties.update(properties)
    _zero_methods.update(zero)


def method_function(name: str) -> object | None:
    """Return the function whose rule serves an array method (self comes first), or None."""
    load_rules()
    own = getattr(np.ndarray, name, None)
    return own if own is not None and key_of(own) in _rules else _methods.get(name)


def property_function(name: str) -> object | None:
    """Return the function whose rule serves an array property, or None."""
    load_rules()
    own = getattr(np.ndarray, name, None)
    return own if own is not None and key_of(own) in _rules else _properties.get(name)


def is_zero_method(name: str) -> bool:
    """Say whether no derivative flows through an array method."""
    load_rules()
    return name in _zero_methods


@dataclass(frozen=True)
class Objects:
    """What is known of the objects of a library's class: a sparse matrix, a spline.

    `like` gives an array, which need not be filled, with the dtype and the shape that tell of what
    kind an object is, or None of an object without rules; `zero` the cotangent of an object that
    nothing depends on; `sample(cls, array)` makes an object of that kind. `functions` are by
    operator ("MatMult", or "rMatMult" with the object on the right only), attribute (".T"), method
    ("dot"), or "__call__". Classes `of_data` are called with (data, ...) and perhaps a shape.
    `check` is the text of a test that {0} is like an array with {1} axes, for emitted files.
    """

    like: Callable[[Any], np.ndarray[Any, Any] | None]
    sample: Callable[[type, Any], Any]
    zero: Callable[[Any], Any] | None
    functions: Mapping[str, object]
    of_data: bool
    check: str


_objects: dict[type, Objects] = {}
_of_objects: set[int] = set()
_of_tuples: set[int] = set()


def library_objects(
    *classes: type,
    like: Callable[[Any], Any],
    sample: Callable[[type, Any], Any],
    functions: Mapping[str, object],
    zero: Callable[[Any], Any] | None = None,
    of_data: bool = False,
    check: str = "",
    of_tuples: tuple[str, ...] = (),
) -> None:
    """Say which functions' rules serve the operators and methods of a library's objects.

    They get arrays for lists and tuples; those `of_tuples` tell tuples from arrays.
    """
    for cls in classes:
        _objects[cls] = Objects(like, sample, zero, functions, of_data, check)
    _of_objects.update(map(id, functions.values()))
    _of_tuples.update(id(functions[name]) for name in of_tuples)


def objects_of(cls: type) -> Objects | None:
    """Return what is known of the objects of a class, or None."""
    load_rules()
    return _objects.get(cls)


def has_cotangents(cls: type) -> bool:
    """Say whether objects of a class have derivatives; those without rules have none."""
    known = objects_of(cls)
    return known is not None and known.zero is not None


def object_function(cls: type, name: str) -> object | None:
    """Return the function whose rule serves what an object does (it is an argument), or None."""
    found = objects_of(cls)
    return None if found is None else found.functions.get(name)


def takes_objects(fn: Any) -> bool:
    """Say whether a function's rule is made for a library's objects."""
    module = getattr(fn, "__module__", None) or ""
    return id(fn) in _of_objects or module.split(".")[0] == "scipy"


def operator_function(op: str, left: type | None, right: type | None) -> object | None:
    """Return the function whose rule serves `left op right`: one is the class of an object."""
    found = object_function(left, op) if left is not None else None
    if found is None and right is not None:
        found = object_function(right, f"r{op}")
    return found


def is_foreign(fn: Any) -> bool:
    """Say whether a function belongs to an array library: those are known by rules only.

    JAX is one whose functions have no rules: its source is not read.
    """
    root = (getattr(fn, "__module__", "") or "").split(".")[0]
    known = generator_of(fn) is not None or fn is checkpoint
    return known or root in ("numpy", "scipy", "cupy", "cupyx", "jax")


def method_like(name: str) -> object | None:
    """Return the function that does what an array method does (self comes first), or None."""
    return method_function(name) or (getattr(np, name, None) if is_zero_method(name) else None)


_OF_ARRAYS = (
    *("numpy", "scipy.special", "scipy.linalg", "scipy.signal", "scipy.ndimage", "scipy.fft"),
    *("scipy.stats", "scipy.integrate", "scipy.spatial"),
)


def only_computes(fn: Any) -> bool:
    """Say whether a library's function without a rule may be tried: filter designs, windows."""
    module = str(getattr(fn, "__module__", "") or "")
    return inspect.isfunction(fn) and module.startswith(_OF_ARRAYS[1:]) and rule_for(fn) is None


def wants_arrays(fn: Any) -> bool:
    """Say whether a library function's rule needs arrays where NumPy takes lists too."""
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if id(fn) in _of_objects:
        return id(fn) not in _of_tuples
    module = getattr(fn, "__module__", "") or ""
    return module.startswith(_OF_ARRAYS) and not effects_of(fn).sequences


def tells_tuples(fn: Any) -> bool:
    """Say whether to a function of a library's objects only a list is the same as an array."""
    return id(fn) in _of_tuples


ONE_KIND = "Give it the same kind on all paths: start sums of arrays with np.zeros(...), not 0."
ONE_LENGTH = "Use a list that grows by append: a tuple needs the same number of items on all paths."
ON_ALL_PATHS = "Set the attribute on all paths: before the branch or the loop, or in __init__."
LISTED = "Make it a list: `[... for ...]`, or `list(...)`."


def instead_of_rule(fn: Any, label: str) -> str:
    """Return the advice for a function without a rule."""
    if effects_of(fn).reads:
        return "Write a loop, or make a list of it by a comprehension: `[... for ...]`."
    if fn is collections.deque:
        return (
            "Use a list. A deque is one where it stays in the function that makes it, and is only "
            "appended to, popped from, indexed, looped over, summed or made an array."
        )
    return f"Write one with @s2sad.pullback({label}), or make its inputs Const."


@dataclass(frozen=True)
class Refusal:
    """Functions, classes or methods of one home that have no derivative here, why, and advice."""

    home: Any
    names: tuple[str, ...]
    because: str
    instead: str


_refusals: dict[Hashable, Refusal] = {}
_stated: list[Refusal] = []


def refuse(home: Any, names: str, *, because: str, instead: str) -> None:
    """Say why what a module or class holds under these names has no derivative.

    It is no rule: off active paths such a function is what it is without.
    """
    refusal = Refusal(home, tuple(names.split()), because, instead)
    _stated.append(refusal)
    for name in refusal.names:
        found = held(home, name)
        if found is not None:
            _refusals[key_of(found)] = refusal


def all_refusals() -> tuple[Refusal, ...]:
    """Return every refusal, in the order of registration."""
    load_rules()
    return tuple(_stated)


def is_refused(fn: Any) -> bool:
    """Say whether a function, or the class of an object, is refused by name."""
    load_rules()
    if fn is None or is_vectorized(fn):
        return False
    return bool(_refusals.keys() & {key_of(fn), key_of(type(fn))})


def advice_for(value: object) -> str:
    """Return what to do instead of using an object of which nothing is known, if that is known."""
    cls = type(value)
    if cls in _objects:
        return "Let its values be along the first axis: np.moveaxis(values, axis, 0)."
    own = isinstance(vars(cls).get("__iter__"), types.FunctionType)
    if not own or cls.__module__.partition(".")[0] in sys.stdlib_module_names:
        return instead_of(cls)
    return instead_of(cls) or (
        f"{cls.__name__} has `__iter__`, and so counts as a container of which nothing is known: "
        "take that method out, or give what the object holds."
    )


def instead_of(fn: object) -> str:
    """Return what to use instead of a function that is refused by name, if it is."""
    refusal = _refusals.get(key_of(fn))
    return "" if refusal is None else refusal.instead


WITHOUT_RULE = "the result of a function without a derivative"


def is_without_rule(fn: Any) -> bool:
    """Say whether a function is a library's, and neither has a rule nor is written out."""
    if fn is None or not callable(fn) or not (is_foreign(fn) or is_refused(fn)):
        return False
    return rule_for(fn) is None and written_form(fn) is None


_LOOP = "Write the loop that it stands for, or call it on parts."


def missing(fn: Any, label: str) -> tuple[str, str]:
    """Return why a function without a rule cannot be differentiated, and what to do."""
    load_rules()
    for asked in (fn, type(fn)):
        refusal = _refusals.get(key_of(asked))
        if refusal is not None:
            return f"{label} has no derivative: {refusal.because}.", refusal.instead
    form = written_form(fn)
    said = () if form is None else refusals_of_form(form[0])
    if said:
        return f"This call of {label} cannot be differentiated: {'; '.join(said)}.", _LOOP
    source = ", and no Python source to derive one from."
    if is_foreign(fn) and inspect.isfunction(fn):
        source = ": s2sad differentiates library functions by their rules."
    if (
        isinstance(fn, type)
        and not is_foreign(fn)
        and inspect.isfunction(getattr(fn, "__init__", None))
    ):
        return (
            f"s2sad cannot follow how this call of {label} makes an object.",
            f"Pass the arguments one by one, and let {label} have an __init__ that sets "
            "attributes, no metaclass and no __iter__ or __new__; or make its inputs Const.",
        )
    return f"s2sad has no derivative rule for {label}{source}", instead_of_rule(fn, label)


def missing_method(name: str) -> tuple[str, str]:
    """Return why an array method without a rule cannot be differentiated, and what to do."""
    refusal = _refusals.get(key_of(getattr(np.ndarray, name, None)))
    if refusal is not None:
        return f"The array method .{name}() has no derivative: {refusal.because}.", refusal.instead
    return (
        f"The array method .{name}() has no derivative rule.",
        "Write it with functions that have one, or make its inputs Const.",
    )
