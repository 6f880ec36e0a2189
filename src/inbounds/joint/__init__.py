"""Whole tables that are possible, not only their cells: measured together, made consistent, and checked."""

from inbounds.joint.axis import Axis, Level
from inbounds.joint.joint_release import JointRelease
from inbounds.joint.releasing import release

__all__ = ["Axis", "JointRelease", "Level", "release"]
