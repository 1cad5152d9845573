import math


def safe_logs_jvp(x, w, x_dot, w_dot):
    """Value and tangent of safe_logs (safe_logs.py), given the tangents of x and w."""
    total = 0.0
    missing = 0
    len_x = len(x)
    total_dot = 0.0
    for i in range(len_x):
        try:
            x_item = x[i]
            x_item_dot = x_dot[i]
            y = math.log(x_item)
            y_dot = x_item_dot / x_item
        except ValueError:
            missing += 1
        else:
            t = w[i] * y
            total = total + t * y
            total_dot = total_dot + (w_dot[i] * y + y_dot * w[i]) * y + y_dot * t
    t_1 = 1.0 + missing
    value_dot = total_dot / t_1
    return total / t_1, value_dot
