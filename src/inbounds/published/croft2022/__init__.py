"""Croft, Sack & Shi, "Differential privacy via a truncated and normalized Laplace mechanism", 2022, whole."""

from inbounds.published.croft2022.adaptive import AdaptiveLaplace
from inbounds.published.croft2022.guarantee import (
    Constraints,
    MotivatingExample,
    TruncatedPDF,
    guarantee_holds,
    log_ratio,
    motivating_example,
)
from inbounds.published.croft2022.scales import (
    GapBound,
    Lemma1,
    LowerBound,
    SpanBound,
    Summary,
    border_scale,
    lemma1,
    location_scale,
    location_scale_ball,
    lower_bounds,
    table2,
    uniform_scale,
)

__all__ = [
    "AdaptiveLaplace",
    "Constraints",
    "GapBound",
    "Lemma1",
    "LowerBound",
    "MotivatingExample",
    "SpanBound",
    "Summary",
    "TruncatedPDF",
    "border_scale",
    "guarantee_holds",
    "lemma1",
    "location_scale",
    "location_scale_ball",
    "log_ratio",
    "lower_bounds",
    "motivating_example",
    "table2",
    "uniform_scale",
]
