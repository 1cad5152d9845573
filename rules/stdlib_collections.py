"""What an OrderedDict has besides what every dict has, as Python: to the rest it is a dict."""

from collections import OrderedDict

from s2sad.registry import written_out


@written_out(OrderedDict.move_to_end)
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
