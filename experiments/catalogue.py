"""Which studies there are. A study's module is loaded when it is asked for."""

from __future__ import annotations

import importlib

from experiments.study import Study

# A subject is a folder, a study a module in it with its `STUDY`. No two modules have one name.
NAMES = (
    "first_block.posteriors",
    "first_block.singular_set",
    "first_block.saturation",
    "first_block.quantised_rows",
    "first_block.fibre_test",
    "first_block.frozen_row",
    "in_context.fig1b",
    "in_context.fig2",
    "in_context.fig3",
    "in_context.fig4",
    "in_context.fig5",
    "in_context.scale",
    "in_context.clusters",
)


def find(name: str) -> Study:
    """The study of a name in `NAMES`."""
    return importlib.import_module(f"experiments.{name}").STUDY


def chosen(names: list[str]) -> list[str]:
    """Names of studies: in full, by the module alone, or by a subject for all of its studies.

    Raises:
        KeyError: there is no such study or subject; carries the name.
    """
    found: list[str] = []
    for name in names:
        some = [n for n in NAMES if name in (n, n.partition(".")[0], n.rpartition(".")[2])]
        if not some:
            raise KeyError(name)
        found += [n for n in some if n not in found]
    return found
