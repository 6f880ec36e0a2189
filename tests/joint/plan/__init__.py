"""Tests of `inbounds.joint.plan`."""
