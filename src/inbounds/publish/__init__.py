"""Reports: questions that are paid once, and published as tables that everybody may read, chart and query for ever."""

from inbounds.publish.plan import ReportPlan, plan_report
from inbounds.publish.report_file import ReportFile, ReportQuestion
from inbounds.publish.run import run_report
from inbounds.report.report import PublishedTable, Report

__all__ = ["PublishedTable", "Report", "ReportFile", "ReportPlan", "ReportQuestion", "plan_report", "run_report"]
