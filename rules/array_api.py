"""array_api_compat: what tells the namespace of an array is no function of its content."""

import array_api_compat

from s2sad.registry import nondifferentiable

nondifferentiable(array_api_compat.array_namespace)
nondifferentiable(array_api_compat.device, array_api_compat.size)
