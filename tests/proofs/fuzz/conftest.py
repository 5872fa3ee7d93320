"""How many examples: few in CI, the same each time; with `FUZZ=2000` that many, always others."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("ci", max_examples=60, derandomize=True, **COMMON)
settings.load_profile("ci")
if "FUZZ" in os.environ:
    settings.register_profile(
        "long", max_examples=int(os.environ["FUZZ"]), print_blob=True, **COMMON
    )
    settings.load_profile("long")
