"""Tests of several released SELECTs in one statement."""
