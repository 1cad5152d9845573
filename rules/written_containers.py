"""What methods of lists and dicts do, as Python: derived as if the user had written it."""

from s2sad.registry import written_out


@written_out(dict, beside=True)
def table(items=..., /):
    """A list of pairs: each first item is a key."""
    if items is ...:
        return {}
    if hasattr(items, "keys"):
        raise NotImplementedError("what has keys is no list of pairs")
    return {key: item for key, item in items}  # noqa: C416


@written_out(list, beside=True)
def listed(items=..., /):
    """A list of nothing is empty."""
    if items is ...:
        return []
    raise NotImplementedError("what is gone through is a list by itself")


@written_out(dict.setdefault)
def setdefault(self, key, default=None, /):
    """What is not there is put there."""
    if key not in self:
        self[key] = default
    return self[key]


@written_out(dict.pop)
def pop(self, key, default=..., /):
    """What is there is taken out."""
    if default is ...:
        item = self[key]
        del self[key]
        return item
    if key in self:
        item = self[key]
        del self[key]
        return item
    return default


@written_out(dict.fromkeys)
def fromkeys(iterable, value=None, /):
    """Each key has the same value."""
    return {key: value for key in iterable}  # noqa: C420


@written_out(dict.popitem)
def popitem(self, /, last=True):
    """The last that was put there is taken out, or the first."""
    key = list(self)[-1 if last else 0]
    item = self[key]
    del self[key]
    return key, item


@written_out(dict.get)
def get(self, key, default=None, /):
    """What is there is read, where it is known if it is."""
    if key in self:
        return self[key]
    if key not in self:
        return default
    raise NotImplementedError("dict.get is a call where only the run tells if there is an entry")
