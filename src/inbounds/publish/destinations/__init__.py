"""Where a published report goes: files, folders and schemas that hold all its numbers, and can be read back."""

from inbounds.publish.destinations.page.whole_page import make_page
from inbounds.publish.destinations.target import check_target, read_report, verify, write
from inbounds.publish.destinations.verified import Verified

__all__ = ["Verified", "check_target", "make_page", "read_report", "verify", "write"]
