"""Hand-written derivatives, by kind of operation, in NumPy's own names."""

from s2sad.registry import when_imported
from s2sad.rules import arithmetic as arithmetic
from s2sad.rules import checkpoints as checkpoints
from s2sad.rules import complex_scalars as complex_scalars
from s2sad.rules import constants as constants
from s2sad.rules import creation as creation
from s2sad.rules import decompositions as decompositions
from s2sad.rules import differences as differences
from s2sad.rules import distributions as distributions
from s2sad.rules import elementwise as elementwise
from s2sad.rules import facts as facts
from s2sad.rules import facts_methods as facts_methods
from s2sad.rules import helpers as helpers
from s2sad.rules import indexing as indexing
from s2sad.rules import insertion as insertion
from s2sad.rules import joining as joining
from s2sad.rules import linalg as linalg
from s2sad.rules import methods as methods
from s2sad.rules import ordering as ordering
from s2sad.rules import padding as padding
from s2sad.rules import poly1d as poly1d
from s2sad.rules import polynomials as polynomials
from s2sad.rules import products as products
from s2sad.rules import quantiles as quantiles
from s2sad.rules import reductions as reductions
from s2sad.rules import refusals as refusals
from s2sad.rules import scalars as scalars
from s2sad.rules import scimath as scimath
from s2sad.rules import sets as sets
from s2sad.rules import shapes as shapes
from s2sad.rules import statistics as statistics
from s2sad.rules import structures as structures
from s2sad.rules import ufunc_methods as ufunc_methods
from s2sad.rules import windows as windows
from s2sad.rules import written_choices as written_choices
from s2sad.rules import written_containers as written_containers
from s2sad.rules import written_out as written_out

when_imported("numpy.fft", "s2sad.rules.fft")
when_imported("numpy.ma", "s2sad.rules.refusals_masked")
when_imported("numpy.polynomial", "s2sad.rules.polynomial_series")
when_imported("numpy.polynomial", "s2sad.rules.polynomial_classes")
when_imported("numpy.polynomial", "s2sad.rules.polynomial_conversions")
when_imported("numpy.polynomial", "s2sad.rules.polynomial_variables")
when_imported("cupy", "s2sad.rules.cupy")
when_imported("array_api_compat", "s2sad.rules.array_api")
when_imported("bisect", "s2sad.rules.stdlib_bisect")
when_imported("collections", "s2sad.rules.stdlib_collections")
when_imported("datetime", "s2sad.rules.stdlib_datetime")
when_imported("decimal", "s2sad.rules.stdlib_decimal")
when_imported("fractions", "s2sad.rules.stdlib_fractions")
when_imported("heapq", "s2sad.rules.stdlib_heapq")
when_imported("itertools", "s2sad.rules.stdlib_itertools")
when_imported("random", "s2sad.rules.stdlib_random")
when_imported("statistics", "s2sad.rules.stdlib_statistics")
when_imported("sys", "s2sad.rules.stdlib_sys")
when_imported("scipy.fft", "s2sad.rules.scipy_fft")
when_imported("scipy.integrate", "s2sad.rules.scipy_integrate")
when_imported("scipy.interpolate", "s2sad.rules.scipy_interpolate")
when_imported("scipy.interpolate", "s2sad.rules.scipy_fitpack")
when_imported("scipy.interpolate", "s2sad.rules.scipy_bsplines")
when_imported("scipy.interpolate", "s2sad.rules.scipy_grids")
when_imported("scipy.interpolate", "s2sad.rules.scipy_interpolants")
when_imported("scipy.linalg", "s2sad.rules.scipy_decompositions")
when_imported("scipy.optimize", "s2sad.rules.scipy_optimize")
when_imported("scipy.optimize", "s2sad.rules.scipy_fitting")
when_imported("scipy.ndimage", "s2sad.rules.scipy_ndimage")
when_imported("scipy.ndimage", "s2sad.rules.scipy_filters")
when_imported("scipy.ndimage", "s2sad.rules.scipy_geometry")
when_imported("scipy.signal", "s2sad.rules.scipy_signal")
when_imported("scipy.signal", "s2sad.rules.scipy_signals")
when_imported("scipy.signal", "s2sad.rules.scipy_spectra")
when_imported("scipy.sparse", "s2sad.rules.scipy_sparse")
when_imported("scipy.sparse.linalg", "s2sad.rules.scipy_sparse_linalg")
when_imported("scipy.spatial.distance", "s2sad.rules.scipy_distances")
when_imported("scipy.spatial.distance", "s2sad.rules.scipy_spatial")
when_imported("scipy.special", "s2sad.rules.scipy_special")
when_imported("scipy.special", "s2sad.rules.scipy_special_tables")
when_imported("scipy.special", "s2sad.rules.scipy_special_waves")
when_imported("scipy.stats", "s2sad.rules.scipy_stats")
when_imported("scipy.stats", "s2sad.rules.scipy_densities")
when_imported("scipy.stats", "s2sad.rules.scipy_probabilities")
when_imported("scipy.stats", "s2sad.rules.scipy_frozen")
when_imported("scipy.stats", "s2sad.rules.scipy_kde")
when_imported("scipy.stats", "s2sad.rules.scipy_regression")
when_imported("scipy.stats", "s2sad.rules.scipy_stats_others")
when_imported("scipy.stats", "s2sad.rules.scipy_summaries")
