"""scipy.stats: what belongs to no family of rules; and what has none, with the reason."""

import numpy as np
from scipy import special, stats

from s2sad.registry import pullback, pushforward, refuse, written_out


@written_out(stats.iqr)
def iqr(x, axis=None, rng=(25, 75), scale=1.0, *, keepdims=False):
    """The distance of two percentiles, over the distance for normal numbers or over a number."""
    x = np.asarray(x)
    high = np.percentile(x, rng[1], axis=axis, keepdims=keepdims)
    apart = high - np.percentile(x, rng[0], axis=axis, keepdims=keepdims)
    if scale == "normal":
        return apart / (special.erfinv(0.5) * 2.0 * np.sqrt(2.0))
    return apart / scale


def completed(x, alpha):
    """Return shares that sum to 1; the last share may be missing in the argument."""
    if np.shape(x)[0] == np.size(alpha):
        return x
    return np.concatenate((x, 1.0 - np.sum(x, axis=0, keepdims=True)))


def dirichlet_cotangents(out_bar, x, alpha):
    """Return the cotangents of the shares and the concentrations for the log of the density."""
    whole = completed(x, alpha)
    column = np.reshape(alpha, (-1,) + (1,) * (whole.ndim - 1))
    bars = out_bar * (column - 1.0) / whole
    x_bar = bars if whole is x else bars[:-1] - bars[-1:]
    slope = np.log(whole) - special.psi(column) + special.psi(np.sum(column))
    alpha_bar = np.sum(np.reshape(out_bar * slope, (whole.shape[0], -1)), axis=1)
    return x_bar, alpha_bar


def dirichlet_tangent(out, x, alpha, x_dot, alpha_dot):
    """Return the tangent of the log of the density."""
    whole = completed(x, alpha)
    column = np.reshape(alpha, (-1,) + (1,) * (whole.ndim - 1))
    total = np.zeros_like(out)
    if x_dot is not None:
        rest = x_dot if whole is x else np.concatenate((x_dot, -np.sum(x_dot, 0, keepdims=True)))
        total = total + np.sum((column - 1.0) / whole * rest, axis=0)
    if alpha_dot is not None:
        slope = np.log(whole) - special.psi(column) + special.psi(np.sum(column))
        total = total + np.sum(slope * np.reshape(alpha_dot, column.shape), axis=0)
    return total


def shares(x, alpha):
    """Return samples that sum to 1."""
    size = len(alpha)
    return np.full((size, *x.shape[1:]), 1.0 / size, x.dtype), alpha


@pullback(stats.dirichlet.logpdf, samples=shares)
def pull_dirichlet_logpdf(out_bar, out, x, alpha):
    return dirichlet_cotangents(out_bar, x, alpha)


@pushforward(stats.dirichlet.logpdf)
def push_dirichlet_logpdf(out, x, alpha, x_dot, alpha_dot):
    return dirichlet_tangent(out, x, alpha, x_dot, alpha_dot)


@pullback(stats.dirichlet.pdf, samples=shares)
def pull_dirichlet_pdf(out_bar, out, x, alpha):
    return dirichlet_cotangents(out_bar * out, x, alpha)


@pushforward(stats.dirichlet.pdf)
def push_dirichlet_pdf(out, x, alpha, x_dot, alpha_dot):
    return out * dirichlet_tangent(np.log(out), x, alpha, x_dot, alpha_dot)


refuse(
    stats,
    "pointbiserialr",
    because="it is a test of a hypothesis, whose result is an object",
    instead="Use np.corrcoef(x, y)[0, 1].",
)
refuse(
    stats,
    "spearmanr kendalltau weightedtau somersd rankdata siegelslopes theilslopes percentileofscore "
    "binned_statistic binned_statistic_2d binned_statistic_dd cumfreq relfreq ecdf tiecorrect",
    because="it counts or orders",
    instead="Make its inputs Const, or compute its result outside the function.",
)
refuse(
    stats,
    "alexandergovern anderson anderson_ksamp ansari barnard_exact bartlett binomtest "
    "boschloo_exact brunnermunzel bws_test chi2_contingency chisquare combine_pvalues "
    "cramervonmises cramervonmises_2samp dunnett epps_singleton_2samp f_oneway fisher_exact "
    "fligner friedmanchisquare goodness_of_fit jarque_bera kruskal ks_1samp ks_2samp kstest "
    "kurtosistest levene mannwhitneyu median_test monte_carlo_test mood multiscale_graphcorr "
    "normaltest page_trend_test permutation_test poisson_means_test power_divergence "
    "quantile_test ranksums shapiro skewtest ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel "
    "tukey_hsd wilcoxon bootstrap power fit sobol_indices",
    because="it is a test of a hypothesis, or draws samples",
    instead="Write the statistic with functions of NumPy.",
)
refuse(
    stats,
    "boxcox boxcox_llf boxcox_normmax yeojohnson yeojohnson_llf yeojohnson_normmax circmean "
    "circstd circvar differential_entropy energy_distance wasserstein_distance "
    "wasserstein_distance_nd expectile kstat kstatvar lmoment median_abs_deviation mode "
    "obrientransform quantile sigmaclip "
    "trim1 trimboth tmax tmin tstd tvar tsem zmap gzscore pmean scoreatpercentile bayes_mvs "
    "mvsdist chatterjeexi directional_stats false_discovery_control describe gstd",
    because="s2sad has no rule for it",
    instead="Write it with functions of NumPy, or a rule with @s2sad.pullback.",
)
