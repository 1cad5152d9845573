"""Recursion over a tree of nested pairs: isinstance tells a leaf."""

import math

WRT = (0,)


def tree_sum(tree):
    if isinstance(tree, float):
        return math.sin(tree)
    left, right = tree
    return tree_sum(left) - 0.5 * tree_sum(right) ** 2


def arguments():
    return (((1.0, 2.0), (0.5, (-1.0, 0.3))),)
