"""Tests of the privacy of whole answers: audits, random contracts, and what a caller may have set."""
