"""`python -m benchmarks kernels [NAME...] | first_block | particles | statements | soundness`.

Each with `--json`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    kernels = commands.add_parser("kernels", help="every kernel against lambdify and by hand")
    kernels.add_argument("names", nargs="*", help="only these, such as flow.terminal_eigenvalue")
    kernels.add_argument("--json", action="store_true")
    kernels.add_argument("--seed", type=int, default=0)
    kernels.set_defaults(run=_kernels)
    first_block = commands.add_parser(
        "first_block", help="the first block's posterior on one core, against loops over SciPy"
    )
    first_block.add_argument("--json", action="store_true")
    first_block.add_argument("--observations", type=int, default=10_000, metavar="N")
    first_block.add_argument("--looped", type=int, default=20, metavar="N", help="by the loops")
    first_block.add_argument("--seed", type=int, default=0, metavar="S")
    first_block.set_defaults(run=_first_block)
    particles = commands.add_parser(
        "particles", help="the particle engine on one core, against tiles of NumPy"
    )
    particles.add_argument("--json", action="store_true")
    particles.add_argument("--tokens", type=int, default=5000, metavar="N")
    particles.add_argument("--layers", type=int, default=200, metavar="L", help="6 or more")
    particles.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    particles.add_argument("--queries", type=int, default=10**5, metavar="M")
    particles.add_argument("--seed", type=int, default=0, metavar="S")
    particles.add_argument(
        "--calibrate", action="store_true", help="measure the cost model's constants instead"
    )
    particles.set_defaults(run=_particles)
    statements = commands.add_parser(
        "statements", help="370 real statements, each with the verdict that is expected"
    )
    statements.add_argument("--kind", nargs="+", default=[], metavar="KIND", help="only these")
    statements.add_argument("--json", action="store_true")
    statements.add_argument("--time", type=float, default=10.0, metavar="S", help="for each goal")
    statements.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    statements.add_argument("--mutants", action="store_true", help="attack the proofs too")
    statements.set_defaults(run=_statements)
    soundness = commands.add_parser(
        "soundness", help="attacks on the checker: certificates tampered with, false statements"
    )
    soundness.add_argument("--json", action="store_true")
    soundness.add_argument("--tamperings", type=int, default=20_000, metavar="N")
    soundness.add_argument("--mutants", type=int, default=20_000, metavar="N")
    soundness.add_argument("--seed", type=int, default=0, metavar="S")
    soundness.add_argument(
        "--statements", type=int, metavar="N", help="only so many of the given ones, at random"
    )
    soundness.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    soundness.set_defaults(run=_soundness)
    options = parser.parse_args(arguments)
    return options.run(options)


def _kernels(options: argparse.Namespace) -> int:
    from benchmarks.cases import cases
    from benchmarks.kernels import as_json, as_table, measure

    unknown = sorted(set(options.names) - cases().keys())
    if unknown:
        print(f"no kernel {', '.join(unknown)}; there are {', '.join(cases())}", file=sys.stderr)
        return 2
    names = options.names or list(cases())
    rows = [
        measure(name, seed=options.seed)
        for name in tqdm(names, disable=not sys.stderr.isatty(), leave=False)
    ]
    print(json.dumps(as_json(rows), indent=2) if options.json else as_table(rows))
    return 0


def _first_block(options: argparse.Namespace) -> int:
    """0: all bars are cleared; 1: one is not."""
    if not 0 < options.looped <= options.observations:
        print("--looped is 1 or more, and at most --observations", file=sys.stderr)
        return 2
    _use_one_core()
    from benchmarks.first_block import as_json, as_text, measure, passes

    result = measure(observations=options.observations, looped=options.looped, seed=options.seed)
    print(json.dumps(as_json(result), indent=2) if options.json else as_text(result))
    return 0 if passes(result) else 1


def _particles(options: argparse.Namespace) -> int:
    """0: all bars are cleared; 1: one is not."""
    if min(options.tokens, options.queries, *options.sizes) < 1 or options.layers < 6:
        print("numbers are positive, and --layers is 6 or more", file=sys.stderr)
        return 2
    _use_one_core()
    if options.calibrate:
        from benchmarks import particle_costs

        constants = particle_costs.calibrate(seed=options.seed)
        told = [constant._asdict() for constant in constants]
        print(json.dumps(told, indent=2) if options.json else particle_costs.as_text(constants))
        return 0
    from benchmarks.particles import as_json, as_text, measure, passes

    result = measure(
        tokens=options.tokens,
        layers=options.layers,
        sizes=options.sizes,
        queries=options.queries,
        seed=options.seed,
    )
    print(json.dumps(as_json(result), indent=2) if options.json else as_text(result))
    return 0 if passes(result) else 1


def _use_one_core() -> None:
    """For all that is timed; the libraries read this when NumPy is loaded."""
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")})


def _statements(options: argparse.Namespace) -> int:
    """0: nothing is wrong and all decided; 1: something is wrong or failed; 2: undecided ones."""
    from benchmarks.statements.corpus import entries
    from benchmarks.statements.run import as_json, as_text, run

    kinds = {entry.kind for entry in entries()}
    unknown = sorted(set(options.kind) - kinds)
    if unknown or options.jobs < 1 or not 0 < options.time < 1e6:
        said = (
            f"no kind {', '.join(unknown)}; there are {', '.join(sorted(kinds))}"
            if unknown
            else "--jobs and --time must be positive"
        )
        print(said, file=sys.stderr)
        return 2
    chosen = entries(options.kind)
    answers = run(chosen, seconds=options.time, jobs=options.jobs, mutants=options.mutants)
    rows = list(tqdm(answers, total=len(chosen), disable=not sys.stderr.isatty(), leave=False))
    print(json.dumps(as_json(rows), indent=2) if options.json else as_text(rows))
    if any(row.is_wrong or row.crash or row.mutants["accepted"] for row in rows):
        return 1
    return 0 if all(row.as_expected for row in rows) else 2


def _soundness(options: argparse.Namespace) -> int:
    """0: the checker stood all attacks; 1: it accepted something false, or crashed; 130: it was
    interrupted, and what was done until then is printed."""
    from benchmarks.soundness import as_json, as_text, run

    numbers = (options.tamperings, options.mutants, options.statements or 0)
    if min(numbers) < 0 or options.jobs < 1:
        print("numbers can't be negative, and --jobs is 1 or more", file=sys.stderr)
        return 2

    def shown(items: Iterator[Any], total: int, what: str) -> Iterator[Any]:
        hidden = not sys.stderr.isatty()
        return iter(tqdm(items, total=total, desc=what, disable=hidden, leave=False))

    result = run(
        tamperings=options.tamperings,
        changed=options.mutants,
        seed=options.seed,
        limit=options.statements,
        jobs=options.jobs,
        progress=shown,
    )
    print(json.dumps(as_json(result), indent=2) if options.json else as_text(result))
    if not result.is_sound:
        return 1
    return 0 if result.is_whole else 130


if __name__ == "__main__":
    sys.exit(main())
