"""Tests of `inbounds.joint.table`."""
