"""Cameras, meshes, images and curves.

Each kernel has a function beside it that makes its arguments; KERNELS says by which of them it is
differentiated. Timed by `python tests/benchmarks/measures.py`.
"""

import numpy as np


def rodrigues(r, X):
    """Turn a point about an axis; small angles by the series."""
    sqtheta = np.sum(r**2)
    if sqtheta > 1e-12:
        theta = np.sqrt(sqtheta)
        costheta = np.cos(theta)
        sintheta = np.sin(theta)
        w = r / theta
        tmp = np.dot(w, X) * (1.0 - costheta)
        return X * costheta + np.cross(w, X) * sintheta + w * tmp
    return X + np.cross(r, X)


def project(cam, X):
    Xcam = rodrigues(cam[0:3], X) + cam[3:6]
    xy = Xcam[0:2] / Xcam[2]
    r2 = np.sum(xy**2)
    return cam[6] * xy * (1.0 + cam[7] * r2 + cam[8] * r2 * r2)


def bundle_adjustment(cams, pts, weights, obs, feats):
    """Reprojection errors, observation by observation."""
    err = 0.0
    for i in range(len(obs)):
        c, p = obs[i]
        e = weights[i] * (project(cams[c], pts[p]) - feats[i])
        err += e[0] * e[0] + e[1] * e[1]
    return err / len(obs)


def bundle_adjustment_args():
    rng = np.random.default_rng(0)
    cams = 0.1 * rng.standard_normal((4, 9))
    cams[:, 5] += 5.0
    cams[:, 6] = 1.0
    n = 60
    obs = np.stack([rng.integers(0, 4, n), rng.integers(0, 20, n)], axis=1)
    return cams, rng.standard_normal((20, 3)), rng.random(n), obs, rng.standard_normal((n, 2))


def mesh_volume(verts, faces, target):
    """Volume and area of a closed mesh, and how even its edges are."""
    a, b, c = verts[faces[:, 0]], verts[faces[:, 1]], verts[faces[:, 2]]
    n = np.cross(b - a, c - a)
    area = 0.5 * np.linalg.norm(n, axis=1).sum()
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    lengths = np.sqrt(np.sum((b - a) ** 2, axis=1))
    return (volume - target) ** 2 + 0.1 * area + np.std(lengths)


def mesh_volume_args():
    rng = np.random.default_rng(1)
    verts = rng.standard_normal((100, 3))
    return verts, rng.integers(0, 100, (196, 3)), 1.0


def warp_image(img, flow, ref):
    """Bilinear interpolation along a flow, compared with another image."""
    H, W = img.shape
    yy, xx = np.mgrid[0:H, 0:W]
    x = np.clip(xx + flow[..., 0], 0.0, W - 1.001)
    y = np.clip(yy + flow[..., 1], 0.0, H - 1.001)
    x0 = np.floor(x).astype(int)
    y0 = np.floor(y).astype(int)
    fx, fy = x - x0, y - y0
    top = img[y0, x0] * (1 - fx) + img[y0, x0 + 1] * fx
    bottom = img[y0 + 1, x0] * (1 - fx) + img[y0 + 1, x0 + 1] * fx
    out = top * (1 - fy) + bottom * fy
    smooth = np.sum(np.diff(flow, axis=0) ** 2) + np.sum(np.diff(flow, axis=1) ** 2)
    return np.mean(np.sqrt((out - ref) ** 2 + 1e-6)) + 0.01 * smooth


def warp_image_args():
    rng = np.random.default_rng(2)
    return rng.random((32, 40)), 0.7 * rng.standard_normal((32, 40, 2)), rng.random((32, 40))


def bezier_length(control, samples):
    """Length of a Bezier curve by de Casteljau, point by point."""
    length = 0.0
    last = None
    for k in range(samples + 1):
        t = k / samples
        points = [p for p in control]
        while len(points) > 1:
            points = [(1 - t) * p + t * q for p, q in zip(points[:-1], points[1:])]
        if last is not None:
            length += np.sqrt(np.sum((points[0] - last) ** 2))
        last = points[0]
    return length


def bezier_length_args():
    return np.random.default_rng(3).standard_normal((6, 2)), 40


def soft_histogram(values, weights, nbins, width):
    """Deposit weights in bins, shared between neighbours, then compare with an even fill."""
    counts = np.zeros(nbins + 1)
    pos = np.clip(values / width, 0, nbins - 1e-6)
    left = pos.astype(int)
    frac = pos - left
    np.add.at(counts, left, weights * (1 - frac))
    np.add.at(counts, left + 1, weights * frac)
    p = counts / counts.sum()
    return np.sum(p * np.log(p + 1e-9))


def soft_histogram_args():
    rng = np.random.default_rng(4)
    return 10 * rng.random(10000), rng.random(10000), 32, 10 / 32


def ray_march(density, origin, directions, step, n):
    """Absorption along rays through a grid, nearest cell, early end where it is dark."""
    total = 0.0
    for d in directions:
        p = origin
        light = 1.0
        for _ in range(n):
            p = p + step * d
            i, j = int(p[0]), int(p[1])
            if i < 0 or j < 0 or i >= density.shape[0] or j >= density.shape[1]:
                break
            light *= np.exp(-step * density[i, j])
            if light < 1e-3:
                break
        total += (1.0 - light) ** 2
    return total


def ray_march_args():
    rng = np.random.default_rng(5)
    angles = np.linspace(0, np.pi / 2, 12)
    return rng.random((20, 20)), np.zeros(2), np.stack([np.cos(angles), np.sin(angles)], 1), 0.7, 30


KERNELS = {
    "bundle_adjustment": (0, 1, 2),
    "mesh_volume": (0,),
    "warp_image": (0, 1),
    "bezier_length": (0,),
    "soft_histogram": (0, 1),
    "ray_march": (0,),
}
