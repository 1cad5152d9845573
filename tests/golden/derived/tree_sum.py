import math


def tree_sum_forward_2(tree):
    """tree_sum (tree_sum.py), with the values that tree_sum_reverse_2 reads."""
    return math.sin(tree), tree


def tree_sum_reverse_2(tree, value_bar):
    """Adjoint of tree_sum (tree_sum.py) with respect to tree, given the adjoint of its result."""
    return value_bar * math.cos(tree)


def tree_sum_forward_1(tree):
    """tree_sum (tree_sum.py), with the values that tree_sum_reverse_1 reads."""
    left, right = tree
    tree_sum_left, tree_sum_saved = tree_sum_forward_2(left)
    tree_sum_right, tree_sum_saved_1 = tree_sum_forward_2(right)
    value = tree_sum_left - 0.5 * tree_sum_right**2
    return value, (tree_sum_right, tree_sum_saved_1, tree_sum_saved)


def tree_sum_reverse_1(kept, value_bar):
    """Adjoint of tree_sum (tree_sum.py) with respect to tree, given the adjoint of its result."""
    tree_sum_right, tree_sum_saved, tree_sum_saved_1 = kept

    # return tree_sum(left) - 0.5 * tree_sum(right) ** 2
    right_bar = tree_sum_reverse_2(tree_sum_saved, -value_bar * tree_sum_right)
    return tree_sum_reverse_2(tree_sum_saved_1, value_bar), right_bar


def tree_sum_forward(tree):
    """tree_sum (tree_sum.py), with the values that tree_sum_reverse reads."""
    left, right = tree
    tree_sum_left, tree_sum_saved = tree_sum_forward_2(left)
    tree_sum_right, tree_sum_saved_1 = tree_sum_forward_1(right)
    value = tree_sum_left - 0.5 * tree_sum_right**2
    return value, (tree_sum_right, tree_sum_saved_1, tree_sum_saved)


def tree_sum_reverse(kept, value_bar):
    """Adjoint of tree_sum (tree_sum.py) with respect to tree, given the adjoint of its result."""
    tree_sum_right, tree_sum_saved, tree_sum_saved_1 = kept

    # return tree_sum(left) - 0.5 * tree_sum(right) ** 2
    right_bar = tree_sum_reverse_1(tree_sum_saved, -value_bar * tree_sum_right)
    return tree_sum_reverse_2(tree_sum_saved_1, value_bar), right_bar


def tree_sum_grad(tree):
    """Gradient of tree_sum (tree_sum.py) with respect to tree."""
    left, right = tree
    tree_sum_left, tree_sum_saved = tree_sum_forward_1(left)
    tree_sum_right, tree_sum_saved_1 = tree_sum_forward(right)

    # return tree_sum(left) - 0.5 * tree_sum(right) ** 2
    right_bar = tree_sum_reverse(tree_sum_saved_1, -tree_sum_right)
    return tree_sum_reverse_1(tree_sum_saved, 1.0), right_bar
