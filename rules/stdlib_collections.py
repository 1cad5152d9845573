"""Containers of `collections`, as Python: classes whose objects stand for theirs."""

import collections
from dataclasses import dataclass

from s2sad.registry import stands_for, written_out


@written_out(collections.OrderedDict.move_to_end)
def move_to_end(self, key, last=True):
    """What is there is taken out and put there anew, or all the rest is."""
    if last:
        item = self[key]
        del self[key]
        self[key] = item
    else:
        for other in [k for k in self if k != key]:
            item = self[other]
            del self[other]
            self[other] = item


@stands_for(collections.defaultdict)
@dataclass(eq=False)
class DefaultDict:
    """A dict beside the function that makes what it lacks."""

    default_factory: object
    held: dict

    def __getitem__(self, key):
        if key not in self.held:
            self.held[key] = self.default_factory()
        return self.held[key]

    def __setitem__(self, key, value):
        self.held[key] = value

    def __delitem__(self, key):
        del self.held[key]

    def __contains__(self, key):
        return key in self.held

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return iter(self.held)

    def __copy__(self):
        return DefaultDict(self.default_factory, dict(self.held))

    def copy(self):
        """What it holds now, in one of its own."""
        return DefaultDict(self.default_factory, dict(self.held))

    def keys(self):
        """The keys, in order."""
        return self.held.keys()

    def values(self):
        """The values, in order."""
        return self.held.values()

    def items(self):
        """The pairs, in order."""
        return self.held.items()

    def get(self, key, default=None, /):
        """What is there is read; nothing is made."""
        return self.held.get(key, default)

    def setdefault(self, key, default=None, /):
        """What is not there is put there."""
        return self.held.setdefault(key, default)

    def clear(self):
        """All is taken out."""
        self.held.clear()


@written_out(collections.defaultdict)
def defaultdict(default_factory=None, /):
    """A dict that makes what it lacks."""
    if default_factory is None:
        raise NotImplementedError("a defaultdict that makes nothing is a dict")
    return DefaultDict(default_factory, {})


@stands_for(collections.deque)
@dataclass(eq=False)
class Deque:
    """A list beside the greatest length that it may have."""

    held: list
    maxlen: object

    def append(self, item, /):
        """A new item comes last; the first goes where there are too many."""
        self.held.append(item)
        if self.maxlen is not None:
            if len(self.held) > self.maxlen:
                self.held.pop(0)

    def appendleft(self, item, /):
        """A new item comes first; the last goes where there are too many."""
        self.held.insert(0, item)
        if self.maxlen is not None:
            if len(self.held) > self.maxlen:
                self.held.pop()

    def extend(self, items, /):
        """All new items come last."""
        for item in items:
            self.append(item)

    def pop(self):
        """The last item is taken out."""
        return self.held.pop()

    def popleft(self):
        """The first item is taken out."""
        return self.held.pop(0)

    def clear(self):
        """All is taken out."""
        self.held.clear()

    def __getitem__(self, at):
        return self.held[at]

    def __setitem__(self, at, value):
        self.held[at] = value

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return iter(self.held)

    def __copy__(self):
        return Deque(list(self.held), self.maxlen)

    def copy(self):
        """What it holds now, in one of its own."""
        return Deque(list(self.held), self.maxlen)


@written_out(collections.deque)
def deque(iterable=None, maxlen=None):
    """A list of no more than some length."""
    made = Deque([], maxlen)
    if iterable is not None:
        for item in iterable:
            made.append(item)
    return made
