def euler_grad(height, bounce, dt, steps, rests):
    """Gradient of euler (euler.py) with respect to height and bounce."""
    velocity = 0.0
    saved = []
    for n in range(steps):
        height_0 = height
        t = n in rests
        if t:
            velocity_0 = None
        else:
            velocity = velocity - 9.81 * dt
            height = height + dt * velocity
            velocity_0 = velocity
            if height < 0.0:
                height = -height
                velocity = -bounce * velocity
        saved.append((t, velocity_0, height_0))

    height_bar = 1.0
    bounce_bar = 0.0
    velocity_bar = 0.0
    while saved:
        t, velocity, height = saved.pop()
        if not t:
            height = height + dt * velocity
            if height < 0.0:
                # height, velocity = -height, -bounce * velocity
                t_bar = velocity_bar * velocity
                velocity_bar = -velocity_bar * bounce
                bounce_bar = bounce_bar - t_bar
                height_bar = -height_bar
            # height = height + dt * velocity
            velocity_bar = velocity_bar + height_bar * dt
    return height_bar, bounce_bar
