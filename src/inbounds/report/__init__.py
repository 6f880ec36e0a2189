"""A report, as everybody has it: titled tables of private answers, what they cost, and a digest of all of it."""

from inbounds.report.report import PublishedTable, Report

__all__ = ["PublishedTable", "Report"]
