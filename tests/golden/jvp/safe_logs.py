import math


def safe_logs_jvp(x, w, x_dot, w_dot):
    """Value and tangent of safe_logs (safe_logs.py), given the tangents of x and w."""
    total = 0.0
    missing = 0
    total_dot = 0.0
    for i in range(len(x)):
        try:
            x_item = x[i]
            y = math.log(x_item)
            y_dot = x_dot[i] / x_item
        except ValueError:
            missing += 1
        else:
            w_item = w[i]
            t = w_item * y
            total_dot = total_dot + (w_dot[i] * y + y_dot * w_item) * y + y_dot * t
            total = total + t * y
    t = 1.0 + missing
    return total / t, total_dot / t
