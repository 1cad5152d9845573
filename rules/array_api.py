"""array_api_compat: functions that return the namespace of an array; the content is irrelevant."""

import array_api_compat

from s2sad.registry import nondifferentiable

nondifferentiable(array_api_compat.array_namespace)
nondifferentiable(array_api_compat.device, array_api_compat.size)
