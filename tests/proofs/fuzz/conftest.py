"""How many examples: few in CI, the same each time; many, and always others, with `FUZZ=long`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("ci", max_examples=60, derandomize=True, **COMMON)
settings.register_profile("long", max_examples=6_000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("FUZZ", "ci"))
