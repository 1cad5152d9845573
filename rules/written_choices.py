"""What chooses among other things than numbers, as Python: by their places."""

import numpy as np

from s2sad.registry import written_out


@written_out(sorted, beside=True)
def sorted_by(iterable, /, *, key=None, reverse=False):
    """Places are put in order, and what is there is taken."""
    if isinstance(iterable, (list, tuple, np.ndarray)):
        choices = iterable
    else:
        choices = list(iterable)
    if key is None:
        by = lambda k: choices[k]  # noqa: E731 - as text that is derived has it
    else:
        by = lambda k: key(choices[k])  # noqa: E731
    if reverse:
        return [choices[place] for place in sorted(range(len(choices)), key=by, reverse=True)]
    return [choices[place] for place in sorted(range(len(choices)), key=by)]


@written_out(max, beside=True)
def max_by(first, /, *rest, key=None, default=...):
    """The first of the places with the greatest key."""
    if default is not ...:
        raise NotImplementedError("max with a default has a derivative for numbers only")
    if len(rest) > 0:
        choices = [first, *rest]
    elif isinstance(first, (list, tuple, np.ndarray)):
        choices = first
    else:
        choices = list(first)
    if key is None:
        return choices[max(range(len(choices)), key=lambda k: choices[k])]
    return choices[max(range(len(choices)), key=lambda k: key(choices[k]))]


@written_out(min, beside=True)
def min_by(first, /, *rest, key=None, default=...):
    """The first of the places with the least key."""
    if default is not ...:
        raise NotImplementedError("min with a default has a derivative for numbers only")
    if len(rest) > 0:
        choices = [first, *rest]
    elif isinstance(first, (list, tuple, np.ndarray)):
        choices = first
    else:
        choices = list(first)
    if key is None:
        return choices[min(range(len(choices)), key=lambda k: choices[k])]
    return choices[min(range(len(choices)), key=lambda k: key(choices[k]))]


@written_out(sorted, writing=True)
def sorted_called(iterable, /, *, key, reverse=False):
    """The key is called with one item after the other, before any is put in its place."""
    if isinstance(iterable, (list, tuple)):
        choices = iterable
    else:
        choices = list(iterable)
    keys = [key(choices[k]) for k in range(len(choices))]
    by = lambda k: keys[k]  # noqa: E731
    if reverse:
        return [choices[place] for place in sorted(range(len(choices)), key=by, reverse=True)]
    return [choices[place] for place in sorted(range(len(choices)), key=by)]


@written_out(max, writing=True)
def max_called(first, /, *rest, key, default=...):
    """The key is called with one item after the other."""
    if default is not ...:
        raise NotImplementedError("max with a default has a derivative for numbers only")
    if len(rest) > 0:
        choices = [first, *rest]
    elif isinstance(first, (list, tuple)):
        choices = first
    else:
        choices = list(first)
    keys = [key(choices[k]) for k in range(len(choices))]
    return choices[max(range(len(choices)), key=lambda k: keys[k])]


@written_out(min, writing=True)
def min_called(first, /, *rest, key, default=...):
    """The key is called with one item after the other."""
    if default is not ...:
        raise NotImplementedError("min with a default has a derivative for numbers only")
    if len(rest) > 0:
        choices = [first, *rest]
    elif isinstance(first, (list, tuple)):
        choices = first
    else:
        choices = list(first)
    keys = [key(choices[k]) for k in range(len(choices))]
    return choices[min(range(len(choices)), key=lambda k: keys[k])]
