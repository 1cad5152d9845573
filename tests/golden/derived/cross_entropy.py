import numpy as np


def cross_entropy_grad(W, b, X, labels):
    """Gradient of cross_entropy (cross_entropy.py) with respect to W and b."""
    scores = X @ W + b
    max_scores = np.max(scores, axis=1, keepdims=True)
    scores_0 = scores
    scores = scores - max_scores
    exp_scores = np.exp(scores)
    sum_1 = np.sum(exp_scores, axis=1)
    log_total = np.log(sum_1)
    arange = np.arange(len(labels))

    # return np.mean(log_total - picked)
    t_bar = np.broadcast_to(1.0 / log_total.size, log_total.shape)
    picked_bar = -t_bar
    # picked = scores[np.arange(len(labels)), labels]
    scores_bar = np.zeros_like(scores)
    scores_bar[arange, labels] += picked_bar
    # log_total = np.log(np.sum(np.exp(scores), axis=1))
    scores_bar += np.expand_dims(t_bar / sum_1, 1) * exp_scores
    # scores = scores - np.max(scores, axis=1, keepdims=True)
    ties = scores_0 == max_scores
    scores_bar = scores_bar + np.where(
        ties,
        np.sum(-scores_bar, axis=1, keepdims=True)
        / np.sum(ties, axis=1, keepdims=True, dtype=max_scores.dtype),
        0.0,
    )
    # scores = X @ W + b
    b_bar = np.sum(scores_bar, axis=0)
    W_bar = X.T @ scores_bar
    return W_bar, b_bar
