"""Steps of the walk that put several rooms together: calls, whole functions, both sweeps of one."""
