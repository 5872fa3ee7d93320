"""The commands: `python -m proofs check | decide | explain | rules | conforms | doctor`.

What a command needs is imported when it runs: `decide` on an algebraic statement loads no SymPy,
NumPy or SciPy.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from proofs.verdict import Verdict

Item = TypeVar("Item")

GATE_FAILED = 4  # a false mutant was accepted by the checker: above all verdicts
INTERRUPTED, CLOSED_PIPE = 130, 141  # 128 + SIGINT, 128 + SIGPIPE, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is the return value."""
    arguments = _parser().parse_args(argv)
    return arguments.run(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m proofs", description="Decide statements, and recheck the theorems."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser(
        "check",
        help="recheck every theorem, or those that are named",
        description="Recheck theorems: the certificate, the cross-check on randomized instances, "
        "the mutants. Exit status 0 only if nothing fell short.",
    )
    check.add_argument("names", nargs="*", metavar="NAME", help="such as risk.four_terms")
    check.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON too")
    check.add_argument(
        "--jobs", type=_natural, default=os.cpu_count() or 1, metavar="N",
        help="processes; default: one for each processor",
    )  # fmt: skip
    check.add_argument("--seed", type=int, default=0, metavar="S", help="default 0")
    check.add_argument(
        "--mutants", choices=("none", "sample", "all"), default="sample", help="default sample"
    )
    check.set_defaults(run=_check)

    decide = commands.add_parser(
        "decide",
        help="decide the statements in files",
        description="Exit status, the largest that applies: 0 all proved, 1 something refuted, "
        "2 something only conditional, checked or open, 3 something ill-posed or unreadable.",
    )
    decide.add_argument(
        "files", nargs="+", type=Path, metavar="FILE|FOLDER",
        help="statement files; of a folder, all *.thm in it and below",
    )  # fmt: skip
    decide.add_argument("--json", action="store_true", help="print a JSON list")
    decide.add_argument(
        "--time", type=_seconds, default=10.0, metavar="SECONDS", help="for each goal; default 10"
    )
    decide.add_argument(
        "--jobs", type=_natural, default=1, metavar="N", help="processes; default 1"
    )
    decide.add_argument(
        "--mutants",
        action="store_true",
        help="change each proved statement in small ways and hold its proof against the changes; "
        f"exit status {GATE_FAILED} if one is accepted",
    )
    decide.add_argument(
        "--write", action="store_true", help="write certificates beside the files: NAME.json"
    )
    decide.add_argument(
        "--certificates",
        type=Path,
        metavar="DIR",
        help="where certificates are kept otherwise; default: the user's cache folder",
    )
    decide.set_defaults(run=_decide)

    explain = commands.add_parser(
        "explain",
        help="print a statement and its proof, step by step",
        description="Print a statement, its proof step by step, what it rests on, and the "
        "hypotheses that it didn't use. A FILE without a certificate beside it is decided first.",
    )
    explain.add_argument("name", metavar="NAME|FILE")
    explain.set_defaults(run=_explain)

    rules = commands.add_parser(
        "rules",
        help="list the rules that a proof may cite, or print some of them",
        description="Without a NAME, the closed list of the checker's rules by section, each with "
        "its conclusion. With one, the rule as it is written.",
    )
    rules.add_argument("names", nargs="*", metavar="NAME", help="such as inv_left")
    rules.add_argument("--latex", action="store_true", help="print rules as LaTeX")
    rules.set_defaults(run=_rules)

    conforms = commands.add_parser(
        "conforms",
        help="ask whether code computes what a statement says",
        description="Call a NumPy or PyTorch function on randomized and degenerate instances of "
        "the hypotheses, and compare with the exact value of the statement's side. Exit status: 0 "
        "it agreed everywhere, 1 it failed at an instance, 2 there was no instance to ask on, "
        "3 the question can't be asked as it stands.",
    )
    conforms.add_argument("function", metavar="MODULE:FUNCTION")
    conforms.add_argument("file", type=Path, metavar="FILE", help="a statement file")
    conforms.add_argument("--side", choices=("left", "right"), help="default: either; they agree")
    conforms.add_argument(
        "--goal", type=_natural, metavar="N", help="default: all, one for each result"
    )
    conforms.add_argument(
        "--names", metavar="PARAMETER=NAME,...", help="or the declared names in order: A,b"
    )
    conforms.add_argument(
        "--assume", action="append", default=[], metavar="RELATION", help="a further hypothesis"
    )
    conforms.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    conforms.add_argument("--arrays", choices=("numpy", "torch"), help="default: as annotated")
    conforms.add_argument("--columns", action="store_true", help="vectors are columns (n, 1)")
    conforms.add_argument("--batches", action="store_true", help="ask on batches too")
    conforms.add_argument(
        "--instances", type=_natural, default=100, metavar="N", help="default 100"
    )
    conforms.add_argument(
        "--time", type=_seconds, default=10.0, metavar="SECONDS", help="default 10"
    )
    conforms.add_argument("--seed", type=int, default=0, metavar="S", help="default 0")
    conforms.add_argument(
        "--tolerance",
        type=_seconds,
        default=1000.0,
        metavar="T",
        help="the error allowed, in multiples of what a change of the inputs' last digit makes; "
        "default 1000",
    )
    conforms.add_argument("--json", action="store_true", help="print JSON")
    conforms.set_defaults(run=_conforms)

    doctor = commands.add_parser("doctor", help="say what is installed, and what shadows it")
    doctor.set_defaults(run=_doctor)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from proofs import report
    from proofs.library import Library, UnknownTheorem
    from proofs.recheck import Task, examine_all

    library = Library()
    try:
        wanted = [library.find(n) for n in arguments.names] or list(library)
    except UnknownTheorem as error:
        return _usage(str(error.args[0]))
    if arguments.json and not arguments.json.parent.is_dir():
        return _usage(f"--json: there is no folder {arguments.json.parent}")
    tasks = [Task(t.name, arguments.seed, arguments.mutants) for t in wanted]
    rows: list[report.Row] = []
    interrupted = False
    try:
        for row in _progress(examine_all(tasks, library, jobs=arguments.jobs), len(tasks)):
            rows.append(row)
    except KeyboardInterrupt:
        interrupted = True
    rows.sort(key=lambda row: row.name)
    print(report.as_table(rows))
    if arguments.json:
        arguments.json.write_text(report.as_json(rows), encoding="utf-8")
    if interrupted:
        print(f"interrupted: {len(rows)} of {len(tasks)} theorems finished", file=sys.stderr)
        return INTERRUPTED
    if not rows:
        print("there is no theorem to check", file=sys.stderr)
    return int(not rows or any(row.shortfalls for row in rows))


def _decide(arguments: argparse.Namespace) -> int:
    from proofs.files import Task, as_json, decide_all, statement_files, summary

    tasks = [
        Task(
            path,
            arguments.time,
            certificates=arguments.certificates,
            write=arguments.write,
            mutants=arguments.mutants,
        )
        for path in statement_files(arguments.files)
    ]
    answers = []
    interrupted = False
    try:
        found = decide_all(tasks, arguments.jobs)
        # Without --json the answers themselves show how far it is.
        for told in _progress(found, len(tasks)) if arguments.json else found:
            answers += told
            if not arguments.json:
                print(*(answer.text for answer in told), sep="\n", flush=True)
    except KeyboardInterrupt:
        interrupted = True
    if arguments.json:
        sys.stdout.write(as_json(answers))
    elif len(answers) > 1:
        print(f"\n{summary(answers)}")
    for answer in answers:
        if answer.crash:
            print(f"{answer.file}:\n{answer.crash}", file=sys.stderr)
    if interrupted:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if any(answer.mutants and answer.mutants["accepted"] for answer in answers):
        return GATE_FAILED
    return max(answer.verdict.exit_status for answer in answers)


def _explain(arguments: argparse.Namespace) -> int:
    from proofs.explain import explain_file, explain_theorem
    from proofs.library import Library, UnknownTheorem

    path = Path(arguments.name)
    if path.suffix == ".thm" or path.is_file():
        explanation = explain_file(path)
    else:
        library = Library()
        try:
            explanation = explain_theorem(library.find(arguments.name), library)
        except UnknownTheorem as error:
            return _usage(str(error.args[0]))
    print(explanation)
    return explanation.verdict.exit_status


def _rules(arguments: argparse.Namespace) -> int:
    from proofs.rulebook import UnknownRule, contents, rule, sections

    names = arguments.names
    if not names and not arguments.latex:
        print(contents())
        return 0
    names = names or [name for section in sections().values() for name in section]
    try:
        found = [rule(name) for name in names]
    except UnknownRule as error:
        return _usage(str(error.args[0]))
    shown = [f"% {r.name}\n{r.latex()}" if arguments.latex else str(r) for r in found]
    print("\n\n".join(shown))
    return 0


def _conforms(arguments: argparse.Namespace) -> int:
    from proofs.conformance import ConformanceError, conforms, load
    from proofs.language.errors import StatementError

    try:
        found = conforms(
            load(arguments.function),
            arguments.file,
            side=arguments.side,
            goal=arguments.goal,
            names=_names(arguments.names),
            assume=arguments.assume,
            dtype=arguments.dtype,
            arrays=arguments.arrays,
            columns=arguments.columns,
            batches=arguments.batches,
            instances=arguments.instances,
            seconds=arguments.time,
            seed=arguments.seed,
            tolerance=arguments.tolerance,
        )
    except (ConformanceError, StatementError, OSError, UnicodeDecodeError) as error:
        print(f"python -m proofs: {error}", file=sys.stderr)
        return Verdict.ILL_POSED.exit_status
    sys.stdout.write(found.json() if arguments.json else f"{found}\n")
    return {Verdict.CHECKED: 0, Verdict.REFUTED: 1}.get(found.verdict, 2)


def _names(text: str | None) -> dict[str, str] | list[str] | None:
    """`a=A,x=b` by parameter, or `A,b` in order."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not any("=" in part for part in parts):
        return parts
    return {p.strip(): n.strip() for p, _, n in (part.partition("=") for part in parts)}


def _doctor(_: argparse.Namespace) -> int:
    from proofs.doctor import diagnose

    diagnosis = diagnose()
    print(diagnosis)
    return 0 if diagnosis.healthy else 1


def _progress(iterable: Iterable[Item], total: int) -> Iterable[Item]:
    """The same items, with a bar on a terminal; nothing is loaded for it elsewhere."""
    if total < 2 or not sys.stderr.isatty():
        return iterable
    from tqdm import tqdm

    return tqdm(iterable, total=total, leave=False, file=sys.stderr)


def _usage(message: str) -> int:
    print(f"python -m proofs: {message}", file=sys.stderr)
    return 2


def _natural(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text}")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, got {text}")
    return value


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:  # the reader of our output is gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = CLOSED_PIPE
    sys.exit(status)
