"""scipy.stats: frozen distributions that come from outside are asked as the distribution itself.

Which one it is, is part of the program, as it is of a function; those that a function makes for
itself are taken apart before (s2sad/capture/frozen.py).
"""

from scipy import stats
from scipy.stats import _distn_infrastructure, _multivariate

from s2sad.registry import copied, like_functions, written_out

OF_NUMBERS = [
    one for one in vars(stats).values() if isinstance(one, stats.rv_continuous | stats.rv_discrete)
]
copied(*OF_NUMBERS, told_by=("name", "a", "b"))
copied(stats.multivariate_normal, told_by=())
like_functions(*map(type, OF_NUMBERS), type(stats.multivariate_normal), holding=())
FROZEN = _distn_infrastructure.rv_frozen
CONTINUOUS = _distn_infrastructure.rv_continuous_frozen
COUNTS = _distn_infrastructure.rv_discrete_frozen
SEVERAL = _multivariate.multivariate_normal_frozen

like_functions(CONTINUOUS, COUNTS, holding=("dist", "args", "kwds"))
like_functions(SEVERAL, holding=("_dist", "mean", "cov"))


@written_out(CONTINUOUS.pdf, of=("__self__",))
def pdf(frozen, x):
    return frozen.dist.pdf(x, *frozen.args, **frozen.kwds)


@written_out(CONTINUOUS.logpdf, of=("__self__",))
def logpdf(frozen, x):
    return frozen.dist.logpdf(x, *frozen.args, **frozen.kwds)


@written_out(FROZEN.cdf, of=("__self__",))
def cdf(frozen, x):
    return frozen.dist.cdf(x, *frozen.args, **frozen.kwds)


@written_out(FROZEN.logcdf, of=("__self__",))
def logcdf(frozen, x):
    return frozen.dist.logcdf(x, *frozen.args, **frozen.kwds)


@written_out(FROZEN.sf, of=("__self__",))
def sf(frozen, x):
    return frozen.dist.sf(x, *frozen.args, **frozen.kwds)


@written_out(FROZEN.logsf, of=("__self__",))
def logsf(frozen, x):
    return frozen.dist.logsf(x, *frozen.args, **frozen.kwds)


@written_out(FROZEN.ppf, of=("__self__",))
def ppf(frozen, q):
    return frozen.dist.ppf(q, *frozen.args, **frozen.kwds)


@written_out(FROZEN.isf, of=("__self__",))
def isf(frozen, q):
    return frozen.dist.isf(q, *frozen.args, **frozen.kwds)


@written_out(COUNTS.pmf, of=("__self__",))
def pmf(frozen, k):
    return frozen.dist.pmf(k, *frozen.args, **frozen.kwds)


@written_out(COUNTS.logpmf, of=("__self__",))
def logpmf(frozen, k):
    return frozen.dist.logpmf(k, *frozen.args, **frozen.kwds)


@written_out(SEVERAL.pdf, of=("__self__",))
def pdf_of_several(frozen, x):
    return frozen._dist.pdf(x, frozen.mean, frozen.cov)


@written_out(SEVERAL.logpdf, of=("__self__",))
def logpdf_of_several(frozen, x):
    return frozen._dist.logpdf(x, frozen.mean, frozen.cov)
