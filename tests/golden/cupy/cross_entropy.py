import cupy as cp


def cross_entropy_grad(W, x, labels):
    """Gradient of cross_entropy (device_programs.py) with respect to W."""
    logits = x @ W
    max_logits = cp.max(logits, axis=1, keepdims=True)
    shifted = logits - max_logits
    exp_shifted = cp.exp(shifted)
    sum_1 = cp.sum(exp_shifted, axis=1, keepdims=True)
    log_p = shifted - cp.log(sum_1)
    sum_t = cp.sum(labels * log_p, axis=1)

    # return -cp.mean(cp.sum(labels * log_p, axis=1))
    log_p_bar = cp.expand_dims(cp.full(sum_t.shape, -1.0 / sum_t.size), 1) * labels
    # log_p = shifted - cp.log(cp.sum(cp.exp(shifted), axis=1, keepdims=True))
    shifted_bar = cp.sum(-log_p_bar, axis=1, keepdims=True) * exp_shifted / sum_1 + log_p_bar
    # shifted = logits - cp.max(logits, axis=1, keepdims=True)
    ties = logits == max_logits
    count = cp.sum(ties, axis=1, keepdims=True, dtype=max_logits.dtype)
    logits_bar = shifted_bar + cp.where(
        ties, cp.sum(-shifted_bar, axis=1, keepdims=True) / count, 0.0
    )
    return x.T @ logits_bar
