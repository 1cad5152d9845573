"""A program of a user's, as type checkers see it: `reveal_type` says what they are to find."""

from typing import Annotated

import numpy as np
import numpy.typing as npt
from typing_extensions import reveal_type

import s2sad

Array = npt.NDArray[np.float64]


def loss(w: Array, scale: float = 1.0) -> float:
    return float(np.sum(w * w)) * scale


def with_aux(w: Array) -> tuple[float, dict[str, int]]:
    return float(np.sum(w)), {"n": 1}


def declared(w: Annotated[Array, s2sad.Active], n: Annotated[int, s2sad.Const]) -> float:
    return float(np.sum(w)) * n


@s2sad.differentiate
def decorated(w: Array, scale: float = 1.0) -> float:
    return float(np.sum(w)) * scale


class Model:
    rate = 2.0

    @s2sad.differentiate(wrt="w")
    def energy(self, w: Array) -> float:
        return float(np.sum(w)) * self.rate


w = np.ones(3)
gradient = s2sad.grad(loss)
reveal_type(gradient)  # Operator[[w: ndarray, scale: float =], Any]
reveal_type(s2sad.value_and_grad(loss)(w, scale=2.0))  # tuple[float, Any]
reveal_type(s2sad.grad(with_aux, has_aux=True)(w))  # tuple[Any, dict[str, int]]
both = s2sad.value_and_grad(with_aux, has_aux=True)(w)
reveal_type(both)  # tuple[tuple[float, dict[str, int]], Any]
reveal_type(s2sad.vjp(loss, w))  # tuple[float, Pullback]
reveal_type(s2sad.jvp(loss, (w,), (w,))[0])  # float
reveal_type(s2sad.grad(gradient))  # Operator[[w: ndarray, scale: float =], Any]
reveal_type(decorated(w))  # float
reveal_type(decorated.value_and_grad(w, 2.0))  # tuple[float, Any]
reveal_type(Model().energy(w))  # float
reveal_type(Model().energy.value_and_grad(w))  # tuple[float, Any]
reveal_type(s2sad.hessian(loss))  # Hessian[[w: ndarray, scale: float =], Any]
reveal_type(s2sad.jacobian(declared))  # Jacobian[[w: ndarray, n: int], Any]
text: str = gradient.source(w)

gradient("wrong")  # error: arg-type
gradient(w, factor=2.0)  # error: call-arg
decorated("wrong")  # error: arg-type
decorated.grad(w, "wrong")  # error: arg-type
Model().energy.grad("wrong")  # error: arg-type
s2sad.hessian(loss)("wrong")  # error: arg-type
