"""Variances, standard deviations, covariances and correlations."""
