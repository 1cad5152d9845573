import math


def safe_logs_jvp(x, w, x_dot, w_dot):
    """Value and tangent of safe_logs (safe_logs.py), given the tangents of x and w."""
    total = 0.0
    missing = 0
    total_dot = 0.0
    for i in range(len(x)):
        try:
            y = math.log(x[i])
            y_dot = x_dot[i] / x[i]
        except ValueError:
            missing += 1
        else:
            t = w[i] * y
            total = total + t * y
            total_dot = total_dot + (w_dot[i] * y + y_dot * w[i]) * y + y_dot * t
    t = 1.0 + missing
    return total / t, total_dot / t
