"""Under pytest the annotations of `numeric` are checked on every call."""

from __future__ import annotations

from collections.abc import Iterator

import jaxtyping
import pytest

# Before anything imports numeric, and for the whole run. With the numeric tower of PEP 484: an int
# will do where a float is asked for, and a float for a complex.
jaxtyping.install_import_hook(
    "numeric", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """For tests that pass what the annotations forbid, to see what the code itself says."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
