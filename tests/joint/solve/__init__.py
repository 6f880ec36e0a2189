"""Tests of `inbounds.joint.solve`."""
