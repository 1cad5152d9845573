"""Methods of ufuncs that no other function is like: tables of pairs, and parts of an array."""

import numpy as np

from s2sad.emitted.ufunc_at import applied_at, turns
from s2sad.registry import pullback, pushforward
from s2sad.rules.arithmetic import power, true_divide
from s2sad.rules.elementwise import arctan2, hypot, logaddexp
from s2sad.rules.reductions import products_of_others
from s2sad.runtime import unbroadcast

# tables of pairs


def before(A, B):
    """Return A with an axis of length 1 for each of B: with B it makes all pairs."""
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B))


@pullback(before, linear=True)
def pull_before(out_bar, out, A, B):
    return np.reshape(out_bar, np.shape(A)), None


@pushforward(before)
def push_before(out, A, B, A_dot, B_dot):
    return before(A_dot, B)


def over_pairs(out_bar, partials, A, B):
    """Return the cotangents of A and B from the partial derivatives for every pair."""
    by_a = unbroadcast(out_bar * partials[0], np.shape(before(A, B)))
    return np.reshape(by_a, np.shape(A)), unbroadcast(out_bar * partials[1], np.shape(B))


def along_pairs(out, partials, A, B, A_dot, B_dot):
    """Return the tangent of a table from the partial derivatives for every pair."""
    out_dot = np.zeros_like(out)
    if A_dot is not None:
        out_dot = out_dot + partials[0] * before(A_dot, B)
    if B_dot is not None:
        out_dot = out_dot + partials[1] * B_dot
    return out_dot


def extreme(out, x, y):
    """Return the shares of x and y in their maximum or minimum; in a tie both have one half."""
    share = np.where(x == out, np.where(y == out, 0.5, 1.0), 0.0).astype(out.dtype)
    return share, 1 - share


@pullback(np.maximum.outer, np.minimum.outer, masks=True, linear=True)
def pull_extreme_outer(out_bar, out, A, B):
    return over_pairs(out_bar, extreme(out, before(A, B), B), A, B)


@pushforward(np.maximum.outer, np.minimum.outer)
def push_extreme_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, extreme(out, before(A, B), B), A, B, A_dot, B_dot)


@pullback(np.power.outer, np.float_power.outer)
def pull_power_outer(out_bar, out, A, B):
    return over_pairs(out_bar, power(out, before(1.0 * A, B), 1.0 * B), A, B)


@pushforward(np.power.outer, np.float_power.outer)
def push_power_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, power(out, before(1.0 * A, B), 1.0 * B), A, B, A_dot, B_dot)


@pullback(np.true_divide.outer)
def pull_true_divide_outer(out_bar, out, A, B):
    return over_pairs(out_bar, true_divide(out, before(A, B), B), A, B)


@pushforward(np.true_divide.outer)
def push_true_divide_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, true_divide(out, before(A, B), B), A, B, A_dot, B_dot)


@pullback(np.hypot.outer)
def pull_hypot_outer(out_bar, out, A, B):
    return over_pairs(out_bar, hypot(out, before(A, B), B), A, B)


@pushforward(np.hypot.outer)
def push_hypot_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, hypot(out, before(A, B), B), A, B, A_dot, B_dot)


@pullback(np.arctan2.outer)
def pull_arctan2_outer(out_bar, out, A, B):
    return over_pairs(out_bar, arctan2(out, before(A, B), B), A, B)


@pushforward(np.arctan2.outer)
def push_arctan2_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, arctan2(out, before(A, B), B), A, B, A_dot, B_dot)


@pullback(np.logaddexp.outer)
def pull_logaddexp_outer(out_bar, out, A, B):
    return over_pairs(out_bar, logaddexp(out, before(A, B), B), A, B)


@pushforward(np.logaddexp.outer)
def push_logaddexp_outer(out, A, B, A_dot, B_dot):
    return along_pairs(out, logaddexp(out, before(A, B), B), A, B, A_dot, B_dot)


# parts of an array


def parts(indices, length):
    """Return the rows of each result of reduceat: one row if the next part begins no later."""
    starts = [int(start) % length for start in np.asarray(indices).tolist()]
    stops = [*starts[1:], length]
    return [slice(a, max(b, a + 1)) for a, b in zip(starts, stops, strict=True)]


def factors(part, made):
    """Return how a product changes with each of its factors."""
    return products_of_others(part, 0)


def shares(part, made):
    """Return the shares of rows in their maximum or minimum; tied rows share equally."""
    ties = (part == made).astype(part.dtype)
    return ties / np.sum(ties, axis=0, keepdims=True)


def back_to_parts(out_bar, out, array, indices, axis, partials):
    """Return the cotangent of an array from the cotangents of its reduced parts."""
    array_bar = np.zeros_like(array)
    rows, into = np.moveaxis(array, axis, 0), np.moveaxis(array_bar, axis, 0)
    made, bars = np.moveaxis(out, axis, 0), np.moveaxis(out_bar, axis, 0)
    for k, part in enumerate(parts(indices, len(rows))):
        into[part] += bars[k] * partials(rows[part], made[k])
    return array_bar


def along_parts(out, array, array_dot, indices, axis, partials):
    """Return the tangent of what parts of an array were reduced to."""
    out_dot = np.zeros_like(out)
    rows, moved = np.moveaxis(array, axis, 0), np.moveaxis(array_dot, axis, 0)
    made, into = np.moveaxis(out, axis, 0), np.moveaxis(out_dot, axis, 0)
    for k, part in enumerate(parts(indices, len(rows))):
        into[k] = np.sum(partials(rows[part], made[k]) * moved[part], axis=0)
    return out_dot


@pullback(np.multiply.reduceat, masks=True, once="the indices decide how long the result is")
def pull_multiply_reduceat(out_bar, out, array, *, indices=None, axis=0):
    return back_to_parts(out_bar, out, array, indices, axis, factors)


@pushforward(np.multiply.reduceat)
def push_multiply_reduceat(out, array, array_dot, *, indices=None, axis=0):
    return along_parts(out, array, array_dot, indices, axis, factors)


@pullback(np.maximum.reduceat, np.minimum.reduceat, masks=True, linear=True)
def pull_extreme_reduceat(out_bar, out, array, *, indices=None, axis=0):
    return back_to_parts(out_bar, out, array, indices, axis, shares)


@pushforward(np.maximum.reduceat, np.minimum.reduceat)
def push_extreme_reduceat(out, array, array_dot, *, indices=None, axis=0):
    return along_parts(out, array, array_dot, indices, axis, shares)


@pullback(np.logaddexp.accumulate)
def pull_logaddexp_accumulate(out_bar, out, array, *, axis=0):
    """Each is in all that follow: by the sums of exp(-out) from the right."""
    shift = np.max(out, axis=axis, keepdims=True)
    weighted = np.flip(out_bar * np.exp(shift - out), axis)
    later = np.flip(np.cumsum(weighted, axis=axis), axis)
    return np.exp(array - shift) * later


@pushforward(np.logaddexp.accumulate)
def push_logaddexp_accumulate(out, array, array_dot, *, axis=0):
    shift = np.max(out, axis=axis, keepdims=True)
    return np.exp(shift - out) * np.cumsum(np.exp(array - shift) * array_dot, axis=axis)


# places that repeat


def step_at(ufunc, x, y):
    """Return the result of a ufunc for an element and a new value, and its two partials."""
    if ufunc is np.multiply:
        return np.multiply(x, y), y, x
    if ufunc is np.true_divide:
        out = np.true_divide(x, y)
        return out, 1.0 / y, -out / y
    if ufunc is np.power or ufunc is np.float_power:
        out = np.power(x, y)
        return out, y * (x + (x == 0) * (y == 0)) ** (y - 1), out * np.log(x + (x == 0))
    if ufunc is np.remainder:
        return np.remainder(x, y), np.ones_like(x), -np.floor_divide(x, y)
    if ufunc is np.fmod:
        out = np.fmod(x, y)
        return out, np.ones_like(x), -np.rint((x - out) / y)
    if ufunc is np.maximum:
        return np.maximum(x, y), np.heaviside(x - y, 0.5), np.heaviside(y - x, 0.5)
    if ufunc is np.minimum:
        return np.minimum(x, y), np.heaviside(y - x, 0.5), np.heaviside(x - y, 0.5)
    if ufunc is np.hypot:
        out = np.hypot(x, y)
        r = out + (out == 0)
        return out, x / r, y / r
    if ufunc is np.arctan2:
        r2 = x * x + y * y
        return np.arctan2(x, y), y / r2, -x / r2
    out = np.logaddexp(x, y)
    return out, np.exp(x - out), np.exp(y - out)


def steps_at(a, given, places, ufunc):
    """Return how each application changes with what was there and with what was given."""
    flat, rounds = np.array(np.ravel(a)), turns(places)
    by_old, by_given = np.zeros(len(places), a.dtype), np.zeros(len(places), a.dtype)
    for turn in rounds:
        out, dx, dy = step_at(ufunc, flat[places[turn]], given[turn])
        by_old[turn], by_given[turn] = dx, dy
        flat[places[turn]] = out
    return by_old, by_given, rounds


@pullback(applied_at, masks=True, result=lambda a, b, ufunc, positions: np.array(a))
def pull_applied_at(out_bar, out, a, b, *, ufunc=None, positions=None):
    given = np.ravel(np.broadcast_to(b, np.shape(positions)))
    places = np.ravel(positions)
    by_old, by_given, rounds = steps_at(a, given, places, ufunc)
    a_bar, arrived = np.array(np.ravel(out_bar)), np.zeros(len(places), out_bar.dtype)
    for turn in rounds[::-1]:
        arrived[turn] = a_bar[places[turn]]
        a_bar[places[turn]] = arrived[turn] * by_old[turn]
    if np.ndim(b) == 0:
        return np.reshape(a_bar, a.shape), np.sum(arrived * by_given)
    own = np.reshape(np.arange(np.size(b)), np.shape(b))
    b_bar = np.zeros(np.size(b), out_bar.dtype)
    np.add.at(b_bar, np.ravel(np.broadcast_to(own, np.shape(positions))), arrived * by_given)
    return np.reshape(a_bar, a.shape), np.reshape(b_bar, np.shape(b))


@pushforward(applied_at)
def push_applied_at(out, a, b, a_dot, b_dot, *, ufunc=None, positions=None):
    given = np.ravel(np.broadcast_to(b, np.shape(positions)))
    places = np.ravel(positions)
    by_old, by_given, rounds = steps_at(a, given, places, ufunc)
    made = np.zeros(a.size, out.dtype) if a_dot is None else np.array(np.ravel(a_dot))
    given_dot = np.zeros_like(by_given)
    if b_dot is not None:
        given_dot = by_given * np.ravel(np.broadcast_to(b_dot, np.shape(positions)))
    for turn in rounds:
        old_dot = by_old[turn] * made[places[turn]]
        made[places[turn]] = old_dot + given_dot[turn]
    return np.reshape(made, a.shape)
