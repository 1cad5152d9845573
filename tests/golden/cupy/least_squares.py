def least_squares_grad(w, X, y):
    """Gradient of least_squares (device_programs.py) with respect to w."""
    residual = X @ w - y
    len_y = len(y)

    # return 0.5 * cp.dot(residual, residual) / len(y)
    w_bar = X.T @ (residual / len_y)
    return w_bar
