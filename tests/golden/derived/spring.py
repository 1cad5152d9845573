def energy_forward(self, x):
    """energy (spring.py), with the values that energy_reverse reads."""
    stretch = x - self.length
    t = 0.5 * self.stiffness
    t_1 = stretch**2
    return t * t_1, (t, stretch, t_1, self)


def energy_reverse(kept, value_bar):
    """Adjoint of energy (spring.py) with respect to self and x, given the adjoint of its result.
    """
    t, stretch, t_1, self = kept

    # return 0.5 * self.stiffness * stretch**2
    stretch_bar = 2.0 * value_bar * t * stretch
    return type(self)(0.5 * value_bar * t_1, -stretch_bar), stretch_bar


def spring_grad(s, x):
    """Gradient of spring (spring.py) with respect to s and x."""
    energy_x, energy_saved = energy_forward(s, x)
    energy_t, energy_saved_1 = energy_forward(s, 2.0 * x)

    # return s.energy(x) + s.energy(2.0 * x)
    s_bar, t_bar = energy_reverse(energy_saved_1, 1.0)
    t, t_1 = energy_reverse(energy_saved, 1.0)
    s_bar.stiffness += t.stiffness
    s_bar.length += t.length
    return s_bar, 2.0 * t_bar + t_1
