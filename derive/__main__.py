"""`python -m derive list | show NAME | rules [NAME...] | emit [--check]`."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from derive.emit.module import DEFAULT_FOLDER, drift, emit
from derive.emit.rules import all_forms, grounds
from derive.emit.tree import tree_hash
from derive.library import derivations, find, subjects


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m derive", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every derivation, one a line")
    show = commands.add_parser("show", help="one derivation, step by step")
    show.add_argument("name")
    show.add_argument("--latex", action="store_true", help="as LaTeX instead of text")
    rules = commands.add_parser("rules", help="the rule book of stable forms, or some of it")
    rules.add_argument("names", nargs="*", metavar="NAME")
    emission = commands.add_parser("emit", help="write the kernels from the derivations")
    emission.add_argument(
        "--check",
        action="store_true",
        help="change nothing; print a diff and exit 1 where they differ",
    )
    emission.add_argument(
        "--folder", type=Path, default=DEFAULT_FOLDER, help="where the kernel modules lie"
    )
    options = parser.parse_args(arguments)
    if options.command == "list":
        return _list()
    if options.command == "show":
        return _show(options.name, options.latex)
    if options.command == "rules":
        return _rules(options.names)
    return _check(options.folder) if options.check else _emit(options.folder)


def _list() -> int:
    rows = [
        (d.name, "kernel" if d.kernel else "", tree_hash(d.result), d.source, d.title)
        for subject in subjects()
        for d in derivations(subject)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print(
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]]
            )
        )
    return 0


def _show(name: str, latex: bool) -> int:
    try:
        derivation = find(name)
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    print(derivation.latex() if latex else derivation)
    return 0


def _rules(names: list[str]) -> int:
    book = {form.name: form for form in all_forms()}
    unknown = sorted(set(names) - book.keys())
    if unknown:
        print(f"no form {', '.join(unknown)}; there are {', '.join(book)}", file=sys.stderr)
        return 2
    for form in (book[name] for name in names or book):
        print(form.name)
        told = (form.equality, form.domain, form.why, grounds(form))
        for label, text in zip(("form", "for", "why", "proved"), told, strict=True):
            print(
                textwrap.fill(text, 100, initial_indent=f"  {label:8}", subsequent_indent=" " * 10)
            )
    return 0


def _emit(folder: Path) -> int:
    for path in emit(folder):
        print(f"wrote {path.name}")
    return 0


def _check(folder: Path) -> int:
    difference = drift(folder)
    sys.stdout.write(difference)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
