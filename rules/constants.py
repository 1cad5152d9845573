"""Functions that give no numbers that could change by little: types, texts, bits, dates, memory."""

import numpy as np

from s2sad.registry import like_functions, nondifferentiable

nondifferentiable(np.can_cast, np.common_type, np.result_type, np.promote_types, np.min_scalar_type)
nondifferentiable(np.isdtype, np.issubdtype, np.mintypecode, np.typename, np.iterable, np.isfortran)
nondifferentiable(np.array2string, np.array_repr, np.array_str, np.base_repr, np.binary_repr)
nondifferentiable(np.format_float_positional, np.format_float_scientific)
nondifferentiable(np.datetime_as_string, np.datetime_data)
nondifferentiable(np.busday_count, np.busday_offset, np.is_busday)
nondifferentiable(np.packbits, np.unpackbits)
nondifferentiable(np.may_share_memory, np.shares_memory, np.einsum_path, np.mask_indices)
nondifferentiable(np.finfo, np.iinfo)

LIMITS = ("bits", "dtype", "max", "min")
OF_FLOATS = ("eps", "epsneg", "resolution", "precision", "tiny", "smallest_normal")
POWERS = ("smallest_subnormal", "iexp", "machep", "maxexp", "minexp", "negep", "nexp", "nmant")

like_functions(np.iinfo, holding=(*LIMITS, "kind"))
like_functions(np.finfo, holding=(*LIMITS, *OF_FLOATS, *POWERS))
