"""The registry of rules: hand-written derivatives, found by the function that they belong to.

A rule is an ordinary function that can be called and tested alone:

    @elementwise(np.sin)
    def sin(out, x):
        return np.cos(x)

    @pullback(np.sum)
    def pull_sum(out_bar, out, a, *, axis=None, keepdims=False):
        if axis is not None and not keepdims:
            out_bar = np.expand_dims(out_bar, axis)
        return np.broadcast_to(out_bar, a.shape)

Arrays come by position and settings by keyword, with the names of the function's own signature.
s2sad refuses a call with a keyword that the rule does not list.
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
from s2sad.rulebook.filing import key_of
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
from s2sad.rulebook.values import value_objects as value_objects

F = TypeVar("F", bound=Callable[..., Any])


def _rule_of(fn: object, rule: Callable[..., Any], word: str) -> tuple[object, Callable[..., Any]]:
    """Return a function, and its rule; a shared rule is bound to the values for this function."""
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
    """Return the values that a rule shared by several functions receives for this function."""
    return rule.keywords if isinstance(rule, Shared) else {}


_lock = threading.RLock()  # while something is registered: by any import, in any thread
_served: dict[Any, Any] = {}  # the function that a pullback or pushforward belongs to
_rules: dict[Hashable, Rule] = {}
_histories: dict[Hashable, History] = {}
_asked: weakref.WeakSet[SameRules] = weakref.WeakSet()
_called: set[int] = set()  # callable objects, not functions, that have rules
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
    """Return the options of a rule about zeros and singular points, if there are any."""
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

    >>> def cube(x):
    ...     return np.power(x, 3)
    >>> @s2sad.elementwise(cube)
    ... def cube_partial(out, x):
    ...     return 3.0 * x * x
    >>> s2sad.grad(lambda x: np.sum(cube(x)))(np.array([1.0, 2.0]))
    array([ 3., 12.])

    The rule receives the result and the arrays. It returns one partial derivative, or a tuple with
    one for each array; None means zero. s2sad makes the pullback and the pushforward from it and
    takes care of broadcasting. An UnsupportedError says what is wrong with a rule's form.

    - masks: the partials contain zeros by structure, as for np.maximum.
    - regular: values at which a rule with singular points is finite, as `{"x": 1.0}` for 1 / x.
      The rule is evaluated there wherever a cotangent is zero by structure.
    - steep: arrays with respect to which the derivative may be infinite while the value is finite,
      as for sqrt at 0. For these arrays every zero stays zero, not only zeros by structure.
    - unknown: arrays without a known derivative (the order of a Bessel function). The rule returns
      None for them; s2sad refuses a program in which they are active.
    - once: the reason why the rule has no derivative itself; `check_rule` then accepts that.
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
    """Register `pull(out_bar, out, *arrays, **settings)`, which returns a cotangent per array.

    >>> def product(x, y):
    ...     return np.multiply(x, y)
    >>> @s2sad.pullback(product)
    ... def pull_product(out_bar, out, x, y):
    ...     return out_bar * y, out_bar * x
    >>> s2sad.grad(lambda x: np.sum(product(x, 3.0)))(np.ones(2))
    array([3., 3.])

    The rule returns one cotangent, or a tuple with one for each array, in the array's shape. None
    means zero. For an argument that is a list of arrays it returns a list of cotangents. An
    UnsupportedError says what is wrong with a rule's form. `regular`, `steep`, `unknown` and `once`
    are the same as for `elementwise`.

    - view, window: whether the result may share memory with the first argument ("never", "always",
      "maybe"); a `Window` says more if the result shows each element of it at most once.
    - nested: the rule also unpacks lists inside a list of arrays.
    - masks: some entries get zero by structure, as for np.max: always (True), if one of these
      settings is given (a tuple), or if a function of the call's literal arguments returns True.
    - turns_complex: the numbers in real arguments decide whether the result is complex.
    - of_complex: the rule is for complex arguments; for real ones the derivative is 0 by decision.
    - samples: s2sad calls the function with sample arguments to find the kind of the result;
      `samples(*args)` returns sample arguments whose lengths fit together.
    - result: a function that s2sad calls with samples instead (with None for functions).
    - calls: how the function calls its function arguments, as `{"fun": "fun(out, *args)"}`. In
      place of `fun` the rule receives a function of the same arguments, which returns `(value,
      pullback)`. That pullback returns a cotangent (or None) for each argument, and a last entry
      for the variables that `fun` captures; the rule returns this entry as the cotangent of `fun`.
    - constant: parameters on which the result does not depend, as the start of a search; the rule
      returns None for them.
    - linear: the effect of the rule on a cotangent does not depend on the numbers in the arrays, or
      only in steps (a sum, a permutation). Then a pushforward is enough for second derivatives.
    - multilinear: as linear, for a function that is linear in each array (a matrix product).
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
    """Register `push(out, *arrays, *tangents, **settings)`, which returns the tangent of out.

    A tangent of None means zero; the errors are the same as for `pullback`.

        @s2sad.pushforward(product)
        def push_product(out, x, y, x_dot, y_dot):
            return x_dot * y + x * y_dot
    """

    check_named(fns, "@s2sad.pushforward")

    def register(rule: F) -> F:
        for shared in fns:
            fn, made = _rule_of(shared, rule, "pushforward")
            _file(fn, is_brought(rule), pushforward=made)
        return rule

    return register


def nondifferentiable(*fns: Any) -> Any:
    """Declare that the derivative of functions is zero by decision; usable as a decorator.

    >>> bucket = s2sad.nondifferentiable(lambda x: np.floor(10.0 * x))
    >>> float(s2sad.grad(lambda x: x * bucket(x))(0.57))
    5.0
    """
    check_named(fns, "s2sad.nondifferentiable")
    by = str(sys._getframe(1).f_globals.get("__name__"))
    for fn in fns:
        check_ruled(fn, "s2sad.nondifferentiable")
        _file(fn, by.startswith("s2sad.rules"), zero=True)
    return fns[0] if len(fns) == 1 else None


Form = tuple[Callable[..., Any], tuple[str, ...]]
_written: dict[Hashable, Form] = {}
_written_functions: list[object] = []


def written_out(
    *fns: object,
    of: tuple[str, ...] = (),
    beside: bool = False,
    writing: bool = False,
    yielding: bool = False,
) -> Callable[[F], F]:
    """Register Python code with the effect of a library function; s2sad derives it instead.

    This serves library functions that call functions of the user, for which no rule is possible.
    For methods of a class (`np.ufunc.reduce`), `of` names attributes that become first arguments.
    Code registered `beside` a rule serves the calls that the rule does not serve, and code for
    calls that are `writing` those that are given a function which writes something. A generator
    function is `yielding`: it stands for what gives one thing after the other.
    """

    def register(written: F) -> F:
        for fn in fns:
            kept = "writing" if writing else "beside" if beside else "yielding" * yielding
            _written[(kept, key_of(fn)) if kept else key_of(fn)] = written, of
            for unruled in () if is_foreign(fn) else list(_unruled):
                unruled.fresh = False
        if not yielding:
            _written[key_of(written)] = written, ()
        _written_functions.extend(() if beside or writing else fns)
        return written

    return register


def all_written() -> tuple[object, ...]:
    """Return the functions with a form written out in Python, in the order of registration."""
    load_rules()
    return tuple(_written_functions)


TOLD = ("np.vectorize", "otypes")
"""Stands for np.vectorize with the argument otypes."""


def refusals_of_form(fn: Any) -> tuple[str, ...]:
    """Return the refusals of Python code that stands for a library function.

    These are the literal texts of NotImplementedErrors in the code and its module's functions.
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
    """Return whether this is np.vectorize of a function, for every element of all arguments.

    `otypes` may describe only one result, which must be a number.
    """
    if type(fn) is not np.vectorize or fn.signature is not None or fn.excluded:
        return False
    told = fn.otypes
    return told is None or (len(told) == 1 and np.dtype(told[0]).kind in "biufc")


def written_form(fn: Any, beside: bool = False, writing: bool = False) -> Form | None:
    """Return the Python that stands for a library function, and the attributes that come first."""
    load_rules()
    if beside or writing:
        return _written.get(("writing" if writing else "beside", key_of(fn)))
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


def written_generator(fn: Any) -> Any:
    """Return the generator function that stands for what a library gives one by one, or None."""
    load_rules()
    try:
        return _written.get(("yielding", key_of(fn)), (None,))[0]
    except TypeError:
        return None


def rule_for(fn: object) -> Rule | None:
    """Return the rule of a function, or None. Loads rule packages at the first call.

    A CuPy function without a rule of its own has the rule of NumPy's function of the same name.
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
    """Return whether a callable object that is not a function has a rule."""
    return id(value) in _called


def is_rule(fn: Any) -> bool:
    """Return whether a function is the pullback or the pushforward of another function."""
    return inspect.isfunction(fn) and fn in _served


def is_ours(fn: Any) -> bool:
    """Return whether a function belongs to s2sad, rules included."""
    return str(getattr(fn, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]


def is_helper(fn: Any) -> bool:
    """Return whether a function is a helper of s2sad's rules."""
    return inspect.isfunction(fn) and is_brought(fn)


def _rule_of_rule(fn: Any) -> Rule | None:
    """Return the rule of a linear rule: its derivative is the rule of the other mode."""
    of = _served.get(fn) if inspect.isfunction(fn) else None
    rule = None if of is None else _rules.get(key_of(of))
    if rule is None or not rule.turns:
        return None
    maker = turned if rule.linear else multilinear_rules
    made = maker.of_pullback if fn is rule.pullback else maker.of_pushforward
    pull, push = made(rule.pullback, rule.pushforward)
    return Rule(fn, pullback=pull, pushforward=push, view="maybe", derivative_of=of)


def same_in_numpy(fn: Any, count: int) -> Any:
    """Return the NumPy function that equals `fn` for `count` arguments by position.

    Return `fn` itself if there is none, or if `fn` has its own rule or refusal.
    """
    load_rules()
    key = key_of(fn)
    return fn if key in _rules or key in _refusals else spaces.twin_of_call(fn, count)


def constant_parameters(fn: object) -> tuple[str, ...]:
    """Return the parameters that do not affect the result of a function."""
    rule = rule_for(fn)
    return () if rule is None else rule.constant


def defaults(fn: object) -> Mapping[str, Any]:
    """Return the settings in the rule of a function, with their default values."""
    rule = rule_for(fn) if is_foreign(fn) else None
    return {} if rule is None or rule.pullback is None else _settings(rule.pullback)


@functools.cache
def _settings(rule: Callable[..., Any]) -> Mapping[str, Any]:
    parameters = inspect.signature(rule).parameters.values()
    found = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    return {n: default for n, default in found.items() if default is not inspect.Parameter.empty}


def reduces(fn: object) -> bool:
    """Return whether a library function reduces an array to a number (it accepts keepdims)."""
    settings = defaults(fn)
    return "keepdims" in settings and settings.get("axis", 0) is None


class SameRules:
    """Checks whether some functions still have the rules that they had when this was made.

    While it is `fresh`, no rule has been registered since, and the check is not needed.
    """

    def __init__(self, functions: Iterable[object]) -> None:
        self._rules = [(fn, rule_for(fn)) for fn in functions]
        self.fresh = True
        with _lock:
            _asked.add(self)

    def __call__(self) -> bool:
        """Check again."""
        self.fresh = all(rule_for(fn) is rule for fn, rule in self._rules)
        return self.fresh


class Unruled:
    """Checks whether functions have no rule; one object serves all functions of one code.

    While it is `fresh`, no rule has been registered since, and the check is not needed.
    """

    def __init__(self) -> None:
        self.fresh = True
        with _lock:
            _unruled.add(self)

    def __call__(self, fn: object) -> bool:
        """Check again."""
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
    """Return the names of the array parameters in the rule of a function."""
    if rule.partials is not None:
        return positional_names(rule.partials, 1)
    return positional_names(rule.pullback, 2) if rule.pullback is not None else ()


_methods: dict[str, object] = {}
_properties: dict[str, object] = {}
_zero_methods: set[str] = set()
_still: set[str] = set()


def array_methods(
    methods: dict[str, object],
    properties: dict[str, object],
    zero: frozenset[str],
    still: frozenset[str],
) -> None:
    """Declare the functions whose rules serve ndarray's methods and properties.

    No derivative flows through the methods in `zero`, nor through the properties in `still`.
    """
    _methods.update(methods)
    _properties.update(properties)
    _zero_methods.update(zero)
    _still.update(still)


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
    """Return whether no derivative flows through an array method."""
    load_rules()
    return name in _zero_methods


def is_still_property(name: str) -> bool:
    """Return whether no derivative flows through an array property: its shape, or its flags."""
    load_rules()
    return name in _still


@dataclass(frozen=True)
class Objects:
    """What s2sad knows about objects of a library's class: a sparse matrix, a spline.

    `like` returns an array (which need not be filled) whose dtype and shape describe the kind of an
    object, or None for an object without rules. `zero` returns the cotangent of an object on which
    nothing depends. `sample(cls, array)` makes an object of that kind. The keys of `functions` are
    operators ("MatMult", or "rMatMult" if the object is on the right), attributes (".T"), methods
    ("dot"), or "__call__". Classes `of_data` are called with (data, ...) and perhaps a shape.
    `check` is the text of a test, for emitted files, that {0} is like an array with {1} axes.
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
    """Declare the functions whose rules serve the operators and methods of a library's objects.

    The functions receive arrays for lists and tuples; functions `of_tuples` distinguish tuples.
    """
    for cls in classes:
        _objects[cls] = Objects(like, sample, zero, functions, of_data, check)
    _of_objects.update(map(id, functions.values()))
    _of_tuples.update(id(functions[name]) for name in of_tuples)


def objects_of(cls: type) -> Objects | None:
    """Return what s2sad knows about the objects of a class, or None."""
    load_rules()
    return _objects.get(cls)


def object_function(cls: type, name: str) -> object | None:
    """Return the function whose rule serves an operation of an object (an argument), or None."""
    found = objects_of(cls)
    return None if found is None else found.functions.get(name)


def operator_function(op: str, left: type | None, right: type | None) -> object | None:
    """Return the function whose rule serves `left op right`; one operand is an object's class."""
    found = object_function(left, op) if left is not None else None
    if found is None and right is not None:
        found = object_function(right, f"r{op}")
    return found


def is_foreign(fn: Any) -> bool:
    """Return whether a function belongs to an array library: s2sad knows it only by a rule.

    JAX is such a library, but its functions have no rules; s2sad does not read its source.
    """
    root = (getattr(fn, "__module__", "") or "").split(".")[0]
    known = generator_of(fn) is not None or fn is checkpoint
    return known or root in ("numpy", "scipy", "cupy", "cupyx", "jax")


def method_like(name: str) -> object | None:
    """Return the function that is equivalent to an array method (self comes first), or None."""
    return method_function(name) or (getattr(np, name, None) if is_zero_method(name) else None)


_OF_ARRAYS = (
    *("numpy", "scipy.special", "scipy.linalg", "scipy.signal", "scipy.ndimage", "scipy.fft"),
    *("scipy.stats", "scipy.integrate", "scipy.spatial"),
)


def only_computes(fn: Any) -> bool:
    """Return whether s2sad may try a library function without a rule: filter designs, windows."""
    module = str(getattr(fn, "__module__", "") or "")
    return inspect.isfunction(fn) and module.startswith(_OF_ARRAYS[1:]) and rule_for(fn) is None


def wants_arrays(fn: Any) -> bool:
    """Return whether a library function's rule needs arrays although NumPy takes lists, too."""
    if isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc):
        return True
    if id(fn) in _of_objects:
        return id(fn) not in _of_tuples
    module = getattr(fn, "__module__", "") or ""
    return module.startswith(_OF_ARRAYS) and not effects_of(fn).sequences


def tells_tuples(fn: Any) -> bool:
    """Return whether a function of a library's objects treats a list, but no tuple, as an array."""
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
    """Functions, classes or methods of one home without a derivative, the reason, and advice."""

    home: Any
    names: tuple[str, ...]
    because: str
    instead: str


_refusals: dict[Hashable, Refusal] = {}
_stated: list[Refusal] = []


def refuse(home: Any, names: str, *, because: str, instead: str) -> None:
    """Declare why the functions with these names in a module or class have no derivative.

    A refusal is not a rule: off active paths it has no effect.
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
    """Return whether a function, or the class of an object, is refused by name."""
    load_rules()
    if fn is None or is_vectorized(fn):
        return False
    return bool(_refusals.keys() & {key_of(fn), key_of(type(fn))})


def advice_for(value: object) -> str:
    """Return advice on what to use instead of an unknown object, if there is any."""
    cls = type(value)
    if cls in _objects:
        return "Let its values be along the first axis: np.moveaxis(values, axis, 0)."
    if hasattr(cls, "to_numpy"):
        column = 'each column that is used, as df["x"].to_numpy()'
        what = column if hasattr(cls, "columns") else "its values, by its method to_numpy()"
        return f"Pass {what}."
    own = isinstance(vars(cls).get("__iter__"), types.FunctionType)
    if not own or cls.__module__.partition(".")[0] in sys.stdlib_module_names:
        return instead_of(cls)
    return instead_of(cls) or (
        f"{cls.__name__} has `__iter__`, and so counts as a container of which nothing is known: "
        "take that method out, or give what the object holds."
    )


def instead_of(fn: object) -> str:
    """Return advice on what to use instead of a function that is refused by name."""
    refusal = _refusals.get(key_of(fn))
    return "" if refusal is None else refusal.instead


WITHOUT_RULE = "the result of a function without a derivative"


def is_without_rule(fn: Any) -> bool:
    """Return whether a library function has neither a rule nor a form written out in Python."""
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
