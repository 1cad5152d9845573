"""Euler's method for a ball that rests now and then: continue, and a bounce."""

WRT = (0, 1)


def euler(height, bounce, dt, steps, rests):
    velocity = 0.0
    for n in range(steps):
        if n in rests:
            continue
        velocity = velocity - 9.81 * dt
        height = height + dt * velocity
        if height < 0.0:
            height, velocity = -height, -bounce * velocity
    return height


def arguments():
    return 1.0, 0.8, 0.1, 12, (3, 4)
