"""Tests of `inbounds.published.croft2022`."""
