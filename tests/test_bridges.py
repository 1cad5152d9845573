"""to_torch and to_jax against the libraries' own checks; each test needs its library."""

import importlib.util

import numpy as np
import pytest

import s2sad


def stepped(x, p, n):
    y = np.zeros(len(x))
    for _ in range(n):
        y[:] = np.tanh(y * p["a"] + x)
    return y, {"s": np.sum(y**2) * p["b"][0], "n": n}


def total(x, p, n):
    y, d = stepped(x, p, 3)
    return np.sum(y) * d["s"] * n


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


class Box:
    def __init__(self, x):
        self.x = x


def tensors(torch):
    made = (np.array([0.3, -0.5, 1.2]), np.array(0.4), np.array(2.0))
    return [torch.from_numpy(x).requires_grad_() for x in made]


def test_torch_structures_and_both_orders(torch):
    layer = s2sad.to_torch(stepped)

    def loss(x, a, b):
        y, d = layer(x, {"a": a, "b": [b, 3]}, 3)
        assert d["n"] == 3
        return y.sum() * d["s"]

    assert torch.autograd.gradcheck(loss, tensors(torch))
    assert torch.autograd.gradgradcheck(loss, tensors(torch))


def test_torch_some_constants(torch):
    x, a, b = tensors(torch)
    layer = s2sad.to_torch(lambda x, a, c: x * a * c)
    layer(x, a.detach(), 3.0).sum().backward()
    assert np.allclose(x.grad, 1.2) and a.grad is None
    assert not layer(x.detach(), a.detach(), 3.0).requires_grad


def test_torch_arguments_stay(torch):
    def written(x):
        x[0] = 5.0
        return x * x

    x = tensors(torch)[0]
    s2sad.to_torch(written)(x).sum().backward()
    assert x[0].item() == 0.3 and x.grad[0].item() == 0.0


def test_torch_dtypes_and_complex(torch):
    x = torch.ones(3, requires_grad=True)
    y = s2sad.to_torch(lambda x: np.sin(x) * x[0])(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert x.grad.dtype == torch.float32
    z = torch.tensor([0.3 + 0.2j, 1.0 - 0.5j], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(s2sad.to_torch(lambda z: z * z * np.exp(z)), (z,))
    assert torch.autograd.gradcheck(s2sad.to_torch(lambda z: np.sum(np.abs(z) ** 2)), (z,))


def test_torch_objects_are_refused(torch):
    with pytest.raises(s2sad.ActivityError, match="returns an object"):
        s2sad.to_torch(lambda x: Box(x * 2.0))(tensors(torch)[0])


def cubes(a):
    return np.sum(a**3)


def leaf(torch, value=(0.3, 1.2, -0.7)):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def test_torch_third_derivatives_are_refused_and_not_left_out(torch):
    u = leaf(torch)
    (g,) = torch.autograd.grad(s2sad.to_torch(cubes)(u), u, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), u, create_graph=True)
    assert torch.allclose(h, 6 * u)
    with pytest.raises(s2sad.UnsupportedError, match="Third derivatives of cubes"):
        torch.autograd.grad((h * u).sum(), u)


def test_torch_tensors_that_are_no_arrays(torch):
    layer = s2sad.to_torch(cubes)
    for tensor, why in (
        (torch.ones(3, dtype=torch.bfloat16), "is of bfloat16"),
        (torch.eye(3).to_sparse(), "is sparse"),
        (torch.zeros(3, device="meta"), "is on meta"),
    ):
        with pytest.raises(s2sad.UnsupportedError, match=f"A tensor {why}"):
            layer(tensor)
    with pytest.raises(s2sad.UnsupportedError, match=r"transforms of torch\.func cannot go"):
        torch.func.grad(layer)(torch.ones(3))


def test_torch_arguments_by_name(torch):
    def scaled(a, b=2.0, *, c=1.0):
        return a * b * c

    layer, a, b = s2sad.to_torch(scaled), leaf(torch), leaf(torch, 0.5)
    layer(a, b=b).sum().backward()
    assert a.grad.tolist() == [0.5] * 3 and b.grad.item() == pytest.approx(0.8)
    assert torch.equal(layer(b=b, a=a), layer(a, b))
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        layer(a, d=1.0)
    with pytest.raises(s2sad.UnsupportedError, match="c of scaled has no place"):
        layer(a, c=2.0)


def test_jax_says_what_it_needs(jax):
    def picky(a):
        if a[0] == 1.0:
            raise KeyError("ones")
        return a

    with pytest.raises(s2sad.UnsupportedError, match=r"raises KeyError: 'ones'.*\n.*like="):
        s2sad.to_jax(picky)(jax.numpy.zeros(3))
    with pytest.raises(s2sad.ActivityError, match="no arrays of type str"):
        s2sad.to_jax(lambda a: (a, "s"))(jax.numpy.zeros(3))


def test_jax_grad_jit_and_values(jax):
    layer = s2sad.to_jax(total)
    args = (jax.numpy.arange(3.0), {"a": jax.numpy.array(0.3), "b": [jax.numpy.array(2.0)]}, 2)
    plain = (np.arange(3.0), {"a": 0.3, "b": [2.0]}, 2)
    assert layer(*args) == pytest.approx(total(*plain))
    expected = s2sad.ravel(s2sad.grad(total, (0, 1))(*plain))[0]
    for gradient in (jax.grad(layer, (0, 1)), jax.jit(jax.grad(layer, (0, 1)))):
        got = jax.tree_util.tree_map(np.asarray, gradient(*args))
        assert s2sad.ravel(got)[0] == pytest.approx(expected)


def test_jax_shapes_said_beforehand(jax):
    def f(x):
        assert np.all(x > 1.5)
        return np.log(x - 1.5)

    layer = s2sad.to_jax(f, like=np.zeros(2))
    got = jax.jit(lambda x: layer(x).sum())(jax.numpy.array([2.0, 3.0]))
    assert got == pytest.approx(np.log(0.5) + np.log(1.5))


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_without_the_library(name, monkeypatch):
    if importlib.util.find_spec(name) is not None:
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(s2sad.UnsupportedError, match=f"pip install {name}"):
        getattr(s2sad, f"to_{name}")(total)


def test_what_has_no_source():
    for name in ("torch", "jax"):
        if importlib.util.find_spec(name) is not None:
            with pytest.raises(s2sad.SourceError):
                getattr(s2sad, f"to_{name}")(np.sin)
