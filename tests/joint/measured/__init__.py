"""Tests of `inbounds.joint.measured`."""
