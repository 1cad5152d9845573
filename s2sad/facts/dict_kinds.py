"""What the methods of a dict give: views of it, an entry, what stands for one that is lacking."""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.facts.lengths import own_lengths
from s2sad.facts.results import element_kind
from s2sad.kinds import Kind
from s2sad.known.open_dicts import dict_item, surely_has


def dict_method(owner: K.AnyDict, attr: str, args: list[Kind]) -> Kind:
    """Return the kind of a dict's method call."""
    keys = element_kind(owner)
    values = K.opened(owner).item
    if attr == "values":
        return K.Iterable_(values)
    if attr == "keys":
        return K.Iterable_(keys)
    if attr == "items":
        return K.Iterable_(K.Tuple((keys, values)))
    if attr == "get" and args:
        has = surely_has(owner, args[0])
        default = args[1] if len(args) > 1 else K.NONE
        if has is False:
            return default
        if has is True and isinstance(owner, K.Dict):
            return dict_item(owner, args[0])
        return K.join(own_lengths(values), K.erase_value(default))
    if attr == "popitem" and not args:
        return K.Tuple((keys, own_lengths(values)))
    if attr in ("pop", "setdefault") and isinstance(owner, K.OpenDict):
        return K.join(own_lengths(values), *map(K.erase_value, args[1:2])) if args[1:] else values
    return owner if attr == "copy" else K.UNKNOWN
