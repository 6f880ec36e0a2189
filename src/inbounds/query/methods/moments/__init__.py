"""Counts, sums, means, variances, covariances and correlations, from the same noisy sums."""
