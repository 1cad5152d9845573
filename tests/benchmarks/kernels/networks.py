"""Networks by hand: recurrent, convolutional, attention, normalisation.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

from dataclasses import dataclass

import numpy as np


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def softmax(z, axis=-1):
    z = z - z.max(axis=axis, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=axis, keepdims=True)


def gru(params, xs, target):
    """A gated unit over a batch of sequences, parameters by name."""
    T, B, _ = xs.shape
    h = np.zeros((B, params["Uz"].shape[0]))
    for t in range(T):
        x = xs[t]
        z = sigmoid(x @ params["Wz"] + h @ params["Uz"] + params["bz"])
        r = sigmoid(x @ params["Wr"] + h @ params["Ur"] + params["br"])
        cand = np.tanh(x @ params["Wh"] + (r * h) @ params["Uh"] + params["bh"])
        h = (1 - z) * h + z * cand
    out = h @ params["Wo"]
    return np.mean((out - target) ** 2)


def gru_args():
    rng = np.random.default_rng(0)
    d, n = 8, 16
    params = {}
    for gate in "zrh":
        params[f"W{gate}"] = 0.3 * rng.standard_normal((d, n))
        params[f"U{gate}"] = 0.3 * rng.standard_normal((n, n))
        params[f"b{gate}"] = np.zeros(n)
    params["Wo"] = rng.standard_normal((n, 2))
    return params, rng.standard_normal((20, 12, d)), rng.standard_normal((12, 2))


def attention(x, Wq, Wk, Wv, Wo, n_heads):
    """Causal self-attention of several heads by einsum."""
    B, T, C = x.shape
    hd = C // n_heads
    q = (x @ Wq).reshape(B, T, n_heads, hd).transpose(0, 2, 1, 3)
    k = (x @ Wk).reshape(B, T, n_heads, hd).transpose(0, 2, 1, 3)
    v = (x @ Wv).reshape(B, T, n_heads, hd).transpose(0, 2, 1, 3)
    scores = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(hd)
    mask = np.triu(np.ones((T, T), dtype=bool), 1)
    scores = np.where(mask, -1e9, scores)
    att = softmax(scores)
    y = np.einsum("bhij,bhjd->bhid", att, v)
    y = y.transpose(0, 2, 1, 3).reshape(B, T, C) @ Wo
    return np.mean(y**2)


def attention_args():
    rng = np.random.default_rng(1)
    C = 32
    return rng.standard_normal((4, 16, C)), *(rng.standard_normal((4, C, C)) / np.sqrt(C)), 4


def conv_net(img, filters, bias, dense, label):
    """Convolution by loops over the offsets of the filter, pooling by reshape, cross entropy."""
    n_out, kh, kw = filters.shape
    H, W = img.shape
    oh, ow = H - kh + 1, W - kw + 1
    maps = np.zeros((n_out, oh, ow))
    for f in range(n_out):
        for i in range(kh):
            for j in range(kw):
                maps[f] += filters[f, i, j] * img[i : i + oh, j : j + ow]
        maps[f] += bias[f]
    maps = np.maximum(maps, 0)
    pooled = maps.reshape(n_out, oh // 2, 2, ow // 2, 2).max(axis=(2, 4))
    logits = dense @ pooled.ravel()
    logits -= logits.max()
    return np.log(np.sum(np.exp(logits))) - logits[label]


def conv_net_args():
    rng = np.random.default_rng(2)
    return (
        rng.random((28, 28)),
        rng.standard_normal((6, 3, 3)),
        np.zeros(6),
        0.1 * rng.standard_normal((10, 6 * 13 * 13)),
        3,
    )


def conv_windows(signal, kernel, stride):
    """One-dimensional convolution, window by window."""
    k = len(kernel)
    out = []
    for start in range(0, len(signal) - k + 1, stride):
        window = signal[start : start + k]
        out.append(np.dot(window, kernel))
    out = np.tanh(np.array(out))
    return (out[1:] - out[:-1]) @ (out[1:] - out[:-1])


def conv_windows_args():
    rng = np.random.default_rng(3)
    return rng.standard_normal(400), rng.standard_normal(9), 2


@dataclass
class Block:
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    gain: np.ndarray
    shift: np.ndarray


def layer_norm(x, gain, shift, eps=1e-5):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return gain * (x - mu) / np.sqrt(var + eps) + shift


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def residual_blocks(blocks, x, y):
    """Residual blocks with layer normalisation, parameters in dataclasses."""
    for block in blocks:
        h = layer_norm(x, block.gain, block.shift)
        h = gelu(h @ block.w1 + block.b1)
        x = x + h @ block.w2 + block.b2
    return ((x - y) ** 2).mean()


def residual_blocks_args():
    rng = np.random.default_rng(4)
    d, m = 24, 48
    blocks = [
        Block(
            rng.standard_normal((d, m)) / np.sqrt(d),
            np.zeros(m),
            rng.standard_normal((m, d)) / np.sqrt(m),
            np.zeros(d),
            np.ones(d),
            np.zeros(d),
        )
        for _ in range(4)
    ]
    return blocks, rng.standard_normal((32, d)), rng.standard_normal((32, d))


class BatchNorm:
    def __init__(self, gamma, beta, momentum=0.9):
        self.gamma = gamma
        self.beta = beta
        self.momentum = momentum
        self.running_mean = 0.0
        self.running_var = 1.0

    def __call__(self, x, training):
        if training:
            mean = x.mean(axis=0)
            var = ((x - mean) ** 2).mean(axis=0)
            self.running_mean = self.momentum * self.running_mean + (1 - self.momentum) * mean
            self.running_var = self.momentum * self.running_var + (1 - self.momentum) * var
        else:
            mean, var = self.running_mean, self.running_var
        return self.gamma * (x - mean) / np.sqrt(var + 1e-5) + self.beta


def batch_norm_mlp(weights, gammas, betas, X, y, training=True):
    """A multilayer perceptron with batch normalisation, layers as objects."""
    norms = [BatchNorm(g, b) for g, b in zip(gammas, betas)]
    h = X
    for W, norm in zip(weights[:-1], norms):
        h = norm(h @ W, training)
        h = np.where(h > 0, h, 0.01 * h)
    scores = h @ weights[-1]
    p = softmax(scores, axis=1)
    return -np.mean(np.log(p[np.arange(len(y)), y] + 1e-12))


def batch_norm_mlp_args():
    rng = np.random.default_rng(5)
    sizes = (20, 32, 32, 5)
    weights = [rng.standard_normal(s) / np.sqrt(s[0]) for s in zip(sizes[:-1], sizes[1:])]
    gammas, betas = [np.ones(32)] * 2, [np.zeros(32)] * 2
    gammas = [g.copy() for g in gammas]
    betas = [b.copy() for b in betas]
    return weights, gammas, betas, rng.standard_normal((64, 20)), rng.integers(0, 5, 64)


def autoencoder(params, X, lam):
    """Encode, decode; weights as a list of pairs; penalty of all weights by a comprehension."""
    a = X
    for i, (W, b) in enumerate(params):
        a = a @ W + b
        if i < len(params) - 1:
            a = np.tanh(a)
    fit = np.sum((a - X) ** 2) / X.shape[0]
    return fit + lam * sum(np.sum(W * W) for W, _ in params)


def autoencoder_args():
    rng = np.random.default_rng(6)
    sizes = [16, 12, 4, 12, 16]
    params = [
        (rng.standard_normal((m, n)) / np.sqrt(m), np.zeros(n))
        for m, n in zip(sizes[:-1], sizes[1:])
    ]
    return params, rng.standard_normal((400, 16)), 1e-3


KERNELS = {
    "gru": (0,),
    "attention": (0, 1, 2, 3, 4),
    "conv_net": (1, 2, 3),
    "conv_windows": (0, 1),
    "residual_blocks": (0,),
    "batch_norm_mlp": (0, 1, 2),
    "autoencoder": (0,),
}
