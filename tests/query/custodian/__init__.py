"""Tests of `inbounds.query.custodian`."""
