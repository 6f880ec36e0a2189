"""Reports: questions that are paid once, and published as tables that everybody may read, chart and query for ever."""

from inbounds.publish.report import PublishedTable, Report

__all__ = ["PublishedTable", "Report"]
