"""The packages that load on first use: what they list is what they give, from where it stands."""

from __future__ import annotations

import importlib

import pytest

PACKAGES = ("numeric", "numeric.first_block", "numeric.particles")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_gives_what_it_lists_from_the_module_that_defines_it(package: str):
    module = importlib.import_module(package)
    homes = {name: home for home, names in module._HOMES.items() for name in names}
    assert set(module.__all__) == set(homes)
    assert len(module.__all__) == len(homes) == sum(map(len, module._HOMES.values()))
    for name, home in homes.items():
        found = getattr(module, name)
        assert found is getattr(importlib.import_module(f"{package}.{home}"), name)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_without_a_home_is_an_attribute_error(package: str):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = importlib.import_module(package).nothing
