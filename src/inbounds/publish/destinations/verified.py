"""What was found when a published report was read back."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.report.report import Report


@dataclass(frozen=True)
class Verified:
    """A destination that was read back, and everything in it that is not what its digest says."""

    target: str
    """The destination, without passwords."""
    digest: str
    """The digest of the report that is in it.  Compare it with the one that was published elsewhere."""
    faults: tuple[str, ...]
    report: Report

    @property
    def holds(self) -> bool:
        """Whether every number is still what the digest says."""
        return not self.faults

    def __str__(self) -> str:
        if self.holds:
            many = len(self.report.tables)
            tables = "1 table" if many == 1 else f"{many} tables"
            return f"{self.target} is unchanged: {tables}, digest {self.digest}"
        return "\n".join([f"{self.target} was changed after it was published:", *(f"  {one}" for one in self.faults)])
