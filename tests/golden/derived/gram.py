import numpy as np


def gram_grad(X):
    """Gradient of gram (gram.py) with respect to X."""
    X_T = X.T
    len_X = len(X)
    G = X_T @ X / len_X

    # G = X.T @ X / len(X)
    t_bar = 2.0 / len_X * (G - np.eye(G.shape[0]))
    X_bar = X_T.T @ t_bar
    X_bar += np.transpose(t_bar @ X.T)
    return X_bar
