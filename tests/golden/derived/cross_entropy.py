import numpy as np


def cross_entropy_grad(W, b, X, labels):
    """Gradient of cross_entropy (cross_entropy.py) with respect to W and b."""
    scores = X @ W + b
    max_scores = np.max(scores, axis=1, keepdims=True)
    scores_0 = scores - max_scores
    exp_scores = np.exp(scores_0)
    sum_1 = np.sum(exp_scores, axis=1)

    # return np.mean(log_total - picked)
    t = 1.0 / sum_1.size
    picked_bar = -np.broadcast_to(t, sum_1.shape)
    # picked = scores[np.arange(len(labels)), labels]
    scores_bar = np.zeros_like(scores_0)
    np.add.at(scores_bar, (np.arange(len(labels)), labels), picked_bar)
    # log_total = np.log(np.sum(np.exp(scores), axis=1))
    scores_bar += np.expand_dims(t / sum_1, 1) * exp_scores
    # scores = scores - np.max(scores, axis=1, keepdims=True)
    ties = scores == max_scores
    count = np.sum(ties, axis=1, keepdims=True, dtype=max_scores.dtype)
    scores_bar = scores_bar + np.where(
        ties, np.sum(-scores_bar, axis=1, keepdims=True) / count, 0.0
    )
    return X.T @ scores_bar, np.sum(scores_bar, axis=0)
