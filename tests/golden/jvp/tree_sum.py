import math


def tree_sum_jvp_2(tree, tree_dot):
    """Value and tangent of tree_sum (tree_sum.py), given the tangent of tree."""
    return math.sin(tree), tree_dot * math.cos(tree)


def tree_sum_jvp_1(tree, tree_dot):
    """Value and tangent of tree_sum (tree_sum.py), given the tangent of tree."""
    left, right = tree
    left_dot, right_dot = tree_dot
    tree_sum_left, tree_sum_left_dot = tree_sum_jvp_2(left, left_dot)
    tree_sum_right, tree_sum_right_dot = tree_sum_jvp_2(right, right_dot)
    value_dot = tree_sum_left_dot - tree_sum_right_dot * tree_sum_right
    return tree_sum_left - 0.5 * tree_sum_right**2, value_dot


def tree_sum_jvp_3(tree, tree_dot):
    """Value and tangent of tree_sum (tree_sum.py), given the tangent of tree."""
    left, right = tree
    left_dot, right_dot = tree_dot
    tree_sum_left, tree_sum_left_dot = tree_sum_jvp_2(left, left_dot)
    tree_sum_right, tree_sum_right_dot = tree_sum_jvp_1(right, right_dot)
    value_dot = tree_sum_left_dot - tree_sum_right_dot * tree_sum_right
    return tree_sum_left - 0.5 * tree_sum_right**2, value_dot


def tree_sum_jvp(tree, tree_dot):
    """Value and tangent of tree_sum (tree_sum.py), given the tangent of tree."""
    left, right = tree
    left_dot, right_dot = tree_dot
    tree_sum_left, tree_sum_left_dot = tree_sum_jvp_1(left, left_dot)
    tree_sum_right, tree_sum_right_dot = tree_sum_jvp_3(right, right_dot)
    value_dot = tree_sum_left_dot - tree_sum_right_dot * tree_sum_right
    return tree_sum_left - 0.5 * tree_sum_right**2, value_dot
