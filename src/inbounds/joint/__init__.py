"""Releasing whole tables that are possible: cells measured together, made consistent, and checked."""

from inbounds.joint.joint_release import JointRelease
from inbounds.joint.release_table import release
from inbounds.joint.table.axis import Axis, Level

__all__ = ["Axis", "JointRelease", "Level", "release"]
