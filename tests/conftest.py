"""What every test shares: Hypothesis may take its time, for a mechanism is proved before it is used."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("inbounds", deadline=None, max_examples=60)
settings.register_profile("quick", deadline=None, max_examples=8)
settings.load_profile("inbounds")
