import numpy as np


def step_forward(state, force, dt):
    """step (calls.py), with the values that step_reverse reads."""
    x, v = state
    v = v + dt * (force - np.sin(x))
    x_0 = x + dt * v
    return (x_0, v), x


def step_reverse(x, dt, value_bar):
    """Adjoint of step (calls.py) with respect to state, given the adjoint of its result."""
    # return x, v
    x_bar, v_bar = value_bar
    # x = x + dt * v
    v_bar = v_bar + x_bar * dt
    return x_bar - v_bar * dt * np.cos(x), v_bar


def simulate_grad(x0, v0, forces, dt):
    """Gradient of simulate (calls.py) with respect to x0 and v0."""
    state = (x0, v0)
    saved = []
    for force in forces:
        state, step_saved = step_forward(state, force, dt)
        saved.append(step_saved)
    x, v = state

    state_bar = (2.0 * x, 2.0 * v)
    while saved:
        # state = step(state, force, dt)
        state_bar = step_reverse(saved.pop(), dt, state_bar)
    # state = (x0, v0)
    x0_bar, v0_bar = state_bar
    return x0_bar, v0_bar
