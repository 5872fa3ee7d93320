"""`python -m experiments list | run NAME... | sweep`."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.catalogue import NAMES, chosen, find
from experiments.cluster import WorkerError
from experiments.in_context.sweep import add_axes, grid_of, sweep
from experiments.journal import JournalError
from experiments.record import Record
from experiments.runner import JOURNAL, PICTURE, RECORD, TABLES, run_study
from experiments.study import Study
from numeric.errors import DomainError

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the studies").set_defaults(run=_list)
    run = commands.add_parser(
        "run", help="run studies; each writes a record and a picture, and says what its exit "
        "conditions found",
    )  # fmt: skip
    run.add_argument("names", nargs="+", metavar="NAME", help="a study, or a subject for all of it")
    run.add_argument(
        "--quick", action="store_true", help="small sizes, seconds in place of minutes"
    )
    run.add_argument(
        "--setting", action="append", default=[], metavar="NAME=READING",
        help="one reading of what a text leaves open, in place of all; `list` names them",
    )  # fmt: skip
    run.set_defaults(run=_run)
    sweep = commands.add_parser(
        "sweep", help="the excess of the two-stage denoiser over Bayes, for every combination of "
        "tokens, bandwidths, noises, depths and widths, over seeds",
    )  # fmt: skip
    add_axes(sweep)
    sweep.set_defaults(run=_sweep)
    for command in (run, sweep):
        command.add_argument("--seed", type=int, default=0, metavar="S", help="of all random draws")
        command.add_argument(
            "--out", type=Path, default=Path("out"), metavar="DIR", help="default: out"
        )
        command.add_argument("--jobs", type=int, metavar="N", help="processes; default: 1")
        command.add_argument(
            "--scheduler", metavar="ADDRESS",
            help="of a dask scheduler, whose workers do the tasks (extra `cluster`)",
        )  # fmt: skip
    options = parser.parse_args(arguments)
    return options.run(options)


def _list(_: argparse.Namespace) -> int:
    studies = [find(name) for name in NAMES]
    width = max(len(name) for name in NAMES)
    for study in studies:
        print(f"{study.name:<{width}}  {study.item:<9}  {study.title}")
        for setting in study.settings:
            choices = " | ".join(f"{setting.parameter}={r}" for r in setting.readings)
            print(f"{'':<{width}}  {'':<9}  --setting {choices}: {setting.says}")
    return 0


def _run(options: argparse.Namespace) -> int:
    try:
        names = chosen(options.names)
    except KeyError as problem:
        print(f"no study {problem.args[0]}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    readings = dict(setting.partition("=")[::2] for setting in options.setting)
    return _run_all([find(name) for name in names], options, readings, options.quick)


def _sweep(options: argparse.Namespace) -> int:
    try:
        study = sweep(grid_of(options))
    except DomainError as problem:  # its argument is the option's name
        print(f"--{problem}", file=sys.stderr)
        return 2
    return _run_all([study], options, {}, False)


def _run_all(
    studies: Sequence[Study], options: argparse.Namespace, readings: Mapping[str, str], quick: bool
) -> int:
    """0: all exit conditions hold; 1: one fails; 2: could not be run; 130: interrupted."""
    jobs = 1 if options.jobs is None else options.jobs
    if jobs < 1 or options.seed < 0:
        print("--jobs is 1 or more, and --seed not negative", file=sys.stderr)
        return 2
    if options.jobs is not None and options.scheduler is not None:
        print("--jobs is for this machine; a --scheduler has workers of its own", file=sys.stderr)
        return 2
    try:
        for study in studies:
            study.chosen_tasks(quick, options.seed, readings)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    passed = True
    for study in studies:
        folder = options.out / study.name
        try:
            record = run_study(
                study, folder, quick=quick, seed=options.seed, jobs=jobs, readings=readings,
                scheduler=options.scheduler,
            )  # fmt: skip
        except KeyboardInterrupt:
            kept = f"finished tasks are kept in {folder / JOURNAL}; the same command goes on there"
            print(f"\n{study.name}: interrupted; {kept}", file=sys.stderr)
            return INTERRUPTED
        except (JournalError, WorkerError) as problem:
            print(f"{study.name}: {problem}", file=sys.stderr)
            return 2
        print(report(study, record, folder), flush=True)
        passed = passed and record.passed
    return 0 if passed else 1


def report(study: Study, record: Record, folder: Path) -> str:
    """What a study found, for a reader: tables, exit conditions, and where its files are."""
    seconds = sum(outcome.seconds for outcome in record.outcomes)
    lines = [f"{record.study} ({record.item}): {record.title}"]
    tables = study.tables(record.outcomes)
    for table in tables:
        lines += ["", textwrap.indent(str(table), "  "), ""]
    lines += [f"  {condition}" for condition in record.conditions]
    failed = sum(not condition.holds for condition in record.conditions)
    verdict = "all exit conditions hold" if not failed else f"{failed} exit condition(s) FAILED"
    lines.append(f"  {verdict}; {len(record.outcomes)} tasks, {seconds:.1f} s of computing")
    lines.append(f"  record   {folder / RECORD}")
    lines.append(f"  picture  {folder / PICTURE}")
    if tables:
        lines.append(f"  tables   {folder / TABLES}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
