def energy_forward(self, x):
    """energy (spring.py), with the values that energy_reverse reads."""
    stretch = x - self.length
    self_stiffness = self.stiffness
    t = stretch**2
    return 0.5 * self_stiffness * t, (self_stiffness, stretch, t)


def energy_reverse(kept, self, value_bar):
    """Adjoint of energy (spring.py) with respect to self and x, given the adjoint of its result.
    """
    self_stiffness, stretch, t = kept
    # return 0.5 * self.stiffness * stretch**2
    self_stiffness_bar = 0.5 * value_bar * t
    stretch_bar = value_bar * self_stiffness * stretch
    self_bar = type(self)(0.0, 0.0)
    self_bar.stiffness += self_stiffness_bar
    # stretch = x - self.length
    self_bar.length -= stretch_bar
    return self_bar, stretch_bar


def spring_grad(s, x):
    """Gradient of spring (spring.py) with respect to s and x."""
    energy_x, energy_saved = energy_forward(s, x)
    energy_t, energy_saved_1 = energy_forward(s, 2.0 * x)

    # return s.energy(x) + s.energy(2.0 * x)
    self_bar, x_bar = energy_reverse(energy_saved_1, s, 1.0)
    x_bar_1 = 2.0 * x_bar
    self_bar_1, x_bar_2 = energy_reverse(energy_saved, s, 1.0)
    s_bar = type(self_bar)(
        self_bar.stiffness + self_bar_1.stiffness, self_bar.length + self_bar_1.length
    )
    x_bar_1 = x_bar_1 + x_bar_2
    return s_bar, x_bar_1
