def euler_grad(height, bounce, dt, steps, rests):
    """Gradient of euler (euler.py) with respect to height and bounce."""
    velocity = 0.0
    saved = []
    for n in range(steps):
        if n in rests:
            continue
        velocity = velocity - 9.81 * dt
        height = height + dt * velocity
        if height < 0.0:
            arm = 0
            height = -height
            saved.append(velocity)
            velocity = -bounce * velocity
        else:
            arm = 1
        saved.append(arm)

    # return height
    height_bar = 1.0
    bounce_bar = 0.0
    velocity_bar = 0.0
    for n in range(steps - 1, -1, -1):
        if n in rests:
            continue
        arm = saved.pop()
        if arm == 0:
            # height, velocity = -height, -bounce * velocity
            bounce_bar = bounce_bar - velocity_bar * saved.pop()
            velocity_bar = -velocity_bar * bounce
            height_bar = -height_bar
        # height = height + dt * velocity
        velocity_bar = velocity_bar + height_bar * dt
    return height_bar, bounce_bar
