"""A method of a dataclass; its fields are differentiated."""

from dataclasses import dataclass

WRT = (0, 1)


@dataclass
class Spring:
    stiffness: float
    length: float

    def energy(self, x):
        stretch = x - self.length
        return 0.5 * self.stiffness * stretch**2


def spring(s, x):
    return s.energy(x) + s.energy(2.0 * x)


def arguments():
    return Spring(3.0, 1.0), 1.7
