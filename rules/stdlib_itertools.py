"""What itertools gives one by one, as generator functions: they are written out in loops."""

import itertools

from s2sad.registry import written_out


@written_out(itertools.takewhile, yielding=True)
def takewhile(predicate, iterable, /):
    """The first that is not wanted ends it."""
    for item in iterable:
        if not predicate(item):
            return
        yield item


@written_out(itertools.dropwhile, yielding=True)
def dropwhile(predicate, iterable, /):
    """From the first that is wanted on, all are."""
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


@written_out(itertools.filterfalse, yielding=True)
def filterfalse(predicate, iterable, /):
    """What the predicate says no to."""
    for item in iterable:
        if not predicate(item):
            yield item


@written_out(itertools.starmap, yielding=True)
def starmap(function, iterable, /):
    """Each item has all arguments of a call."""
    for item in iterable:
        yield function(*item)


@written_out(itertools.compress, yielding=True)
def compress(data, selectors):
    """What is selected, as far as both go."""
    for item, wanted in zip(data, selectors, strict=False):
        if wanted:
            yield item


@written_out(itertools.count, yielding=True)
def count(start=0, step=1):
    """There is no end."""
    number = start
    while True:
        yield number
        number += step


@written_out(itertools.cycle, yielding=True)
def cycle(iterable, /):
    """What was there in the first turn comes again."""
    kept = []
    for item in iterable:
        yield item
        kept.append(item)
    while len(kept) > 0:
        for item in kept:
            yield item


@written_out(itertools.groupby, yielding=True)
def groupby(iterable, key=None):
    """A group ends before the first item with another key; its key is that of its first item."""
    group = []
    for item in iterable:
        mark = item if key is None else key(item)
        if len(group) > 0 and not mark == first:  # noqa: F821, SIM201 - as groupby asks
            yield first, group  # noqa: F821 - there is one where a group is
            group = []
        if len(group) == 0:
            first = mark
        group.append(item)
    if len(group) > 0:
        yield first, group
