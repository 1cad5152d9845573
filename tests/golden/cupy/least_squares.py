def least_squares_grad(w, X, y):
    """Gradient of least_squares (device_programs.py) with respect to w."""
    residual = X @ w - y
    return X.T @ (residual / len(y))
