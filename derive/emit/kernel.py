"""Writes one kernel: signature, docstring, the chosen forms as statements."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Basic, Indexed, MatrixExpr, MatrixSymbol

from derive.emit.body import Body
from derive.emit.code import COLUMN, ROW
from derive.emit.names import EmitError, checked_name
from derive.emit.nodes import SymmetricPart
from derive.emit.operations import operation_count
from derive.emit.rows import softmax_parts
from derive.emit.rules import ELIMINATION, Form, SweepForm, choose, grounds
from derive.emit.singular import facts_of
from derive.emit.tree import tree_hash
from derive.emit.wrap import wrapped
from derive.indices import bound_indices, index_sizes
from derive.steps import Argument, Derivation, Kernel

WIDTH = 100


@dataclass(frozen=True)
class KernelSource:
    """The source of one function, what it imports and the forms that it uses."""

    name: str
    source: str
    imports: frozenset[tuple[str, str]]
    forms: tuple[Form | SweepForm, ...]


def write_kernel(derivation: Derivation) -> KernelSource:
    """The kernel of a derivation.

    Raises:
        EmitError: the derivation has no kernel, or a subexpression (named) can't be printed.
    """
    kernel = derivation.kernel
    if kernel is None:
        raise EmitError(f"{derivation.name} asks for no kernel")
    name = checked_name(derivation.short_name)
    body, texts = write_body(kernel, derivation.result)
    signature = _signature(name, kernel, body, len(texts))
    lines = [part for line in body.lines for part in wrapped(f"    {line}", WIDTH)]
    document = _docstring(derivation, kernel, body, operation_count("\n".join([signature, *lines])))
    source = "\n".join([signature, document, *lines]) + "\n"
    return KernelSource(name, source, frozenset(body.imports), tuple(body.used))


def write_body(kernel: Kernel, result: Mapping[str, Basic]) -> tuple[Body, list[str]]:
    """The statements of a kernel, and the text of each output."""
    order = _index_order(kernel, result)
    body = Body(
        order,
        {argument.name: argument.static for argument in kernel.arguments},
        _size_texts(kernel, result),
        _axis_texts(kernel),
        kernel.symmetric,
        choose,
        tuple(fact for value in kernel.positive for fact in facts_of(value > 0)),
    )
    _open(body, kernel)
    outputs = dict(result)
    for atom, value in kernel.temporaries:
        _bind_temporary(atom, body.ask(value), body)
    outputs = {name: body.ask(value) for name, value in outputs.items()}
    swept = ELIMINATION.apply(outputs, body)
    if swept is not None:
        outputs = swept
        body.used.append(ELIMINATION)
    texts = [_output(name, value, result[name], kernel, body) for name, value in outputs.items()]
    body.line(f"return {', '.join(texts)}")
    body.need("numeric.namespace", "namespace")
    return body, texts


def _open(body: Body, kernel: Kernel) -> None:
    reals = [a.name for a in kernel.arguments if not a.static and not a.label]
    labels = [a.name for a in kernel.arguments if a.label]
    body.need("numeric.namespace", "real_arrays")
    body.rows |= {a.name for a in kernel.arguments if a.row}
    listed = ", ".join(reals)
    body.line(f"xp = namespace(xp, {listed})")
    left = f"({listed},)" if len(reals) == 1 else listed
    body.line(f"{left} = real_arrays(xp, {listed})")
    for name in labels:
        body.line(f"{name} = xp.asarray({name})")
    if len(kernel.outputs) > 1 or len(reals) > 1:
        body.batch_line = len(body.lines)


def _bind_temporary(atom: Basic, value: Basic, body: Body) -> None:
    signs = ("positive", "nonnegative")
    facts = {sign: True for sign in signs if getattr(atom, f"is_{sign}", None)}
    if isinstance(atom, Indexed):
        if softmax_parts(value) is not None:
            body.rows.add(str(atom.base))
        body.let_known(str(atom.base), value, tuple(atom.indices), **facts)
    else:
        body.let_known(str(atom.name), value, (), **facts)  # type: ignore[attr-defined]


def _output(name: str, value: Basic, original: Basic, kernel: Kernel, body: Body) -> str:
    """The text of an output, filled up to the full batch where an argument does not enter it."""
    if isinstance(original, MatrixExpr):
        axes: tuple[Basic, ...] = (ROW,) if original.shape[1] == 1 else (ROW, COLUMN)
        axes = () if original.shape == (1, 1) else axes  # a number
    else:
        axes = kernel.axes.get(name, ())
    symmetric = name in kernel.symmetric
    if symmetric and isinstance(original, MatrixExpr):
        value = SymmetricPart(value)
    text = body.source(value, axes)
    if symmetric and not isinstance(original, MatrixExpr):
        body.need("numeric.linear_algebra", SymmetricPart.call)
        text = f"{SymmetricPart.call}(xp, {text})"
    if len(kernel.outputs) > 1 and not text.isidentifier():
        # A sweep has bound the output's own name already; the last touch keeps it.
        bound = name if value == SymmetricPart(_named(name, value)) else body.fresh(name)
        body.line(f"{bound} = {text}")
        text = bound
    if not all(argument.static or _occurs(argument, original) for argument in kernel.arguments):
        body.need("numeric.namespace", "fill_batch")
        text = f"fill_batch(xp, {text}, {_batch(body, kernel)}, {len(axes)})"
    return text


def _named(name: str, value: Basic) -> Basic:
    return MatrixSymbol(name, *value.shape) if isinstance(value, MatrixExpr) else value


def _occurs(argument: Argument, expression: Basic) -> bool:
    return any(node == argument.symbol for node in _nodes(expression))


def _nodes(expression: Basic) -> list[Basic]:
    found, stack = [], [expression]
    while stack:
        node = stack.pop()
        found.append(node)
        stack += node.args
    return found


def _batch(body: Body, kernel: Kernel) -> str:
    """The name of the common batch shape, computed once from the arguments as they came."""
    line = (
        "batch = batch_shape("
        + ", ".join(
            f"({argument.name}, {len(argument.shape)})"
            for argument in kernel.arguments
            if not argument.static
        )
        + ")"
    )
    if line not in body.lines:
        body.need("numeric.namespace", "batch_shape")
        body.lines.insert(body.batch_line, line)
    return "batch"


def _index_order(kernel: Kernel, result: Mapping[str, Basic]) -> tuple[Basic, ...]:
    if kernel.index_order:
        return kernel.index_order
    first = [axis for axes in kernel.axes.values() for axis in axes]
    bound = sorted({index for value in result.values() for index in bound_indices(value)}, key=str)
    return tuple(dict.fromkeys([*first, *bound]))


def _size_texts(kernel: Kernel, result: Mapping[str, Basic]) -> dict[Basic, str]:
    """The source that gives the number of values of an index."""
    signs = {0: "", 1: " + 1", -1: " - 1"}
    return {
        index: f"{size.argument}.shape[{size.axis}]{signs[size.more]}"
        for index, size in index_sizes(kernel, result).items()
    }


def _axis_texts(kernel: Kernel) -> dict[Basic, str]:
    """The source that gives a size, from the first argument that has it, or one more or less."""
    texts: dict[Basic, str] = {}
    signs = {0: "", 1: " - 1", -1: " + 1"}
    for argument in kernel.arguments:
        for axis, size in enumerate(argument.shape, -len(argument.shape)):
            for symbol in size.free_symbols:
                if size - symbol in signs:
                    texts.setdefault(symbol, f"{argument.name}.shape[{axis}]{signs[size - symbol]}")
    return texts


# ---------------------------------------------------------------- text around the statements


def _signature(name: str, kernel: Kernel, body: Body, n_outputs: int) -> str:
    positional = [
        f"{argument.name}: {'int' if argument.static else 'Array'}" for argument in kernel.arguments
    ]
    keywords = ["xp: Namespace = None"]
    if any("rank_tol" in line for line in body.lines):
        keywords.insert(0, "rank_tol: float | None = None")
    returned = "Array" if n_outputs == 1 else f"tuple[{', '.join(['Array'] * n_outputs)}]"
    decorator = '@errstate(under="ignore")\n'
    arguments = ", ".join([*positional, "*", *keywords])
    line = f"def {name}({arguments}) -> {returned}:"
    if len(line) > WIDTH:
        line = f"def {name}(\n    {arguments}\n) -> {returned}:"
    if any(len(part) > WIDTH for part in line.splitlines()):
        listed = "\n".join(f"    {part}," for part in [*positional, "*", *keywords])
        line = f"def {name}(\n{listed}\n) -> {returned}:"
    return decorator + line


def _shape(argument: Argument) -> str:
    if argument.static:
        return "int"
    return (
        f"shape ``(*batch, {', '.join(map(str, argument.shape))})``"
        if len(argument.shape) > 1
        else f"shape ``(*batch, {argument.shape[0]})``"
        if argument.shape
        else "shape ``batch``"
    )


def _output_shape(name: str, derivation: Derivation, kernel: Kernel) -> str:
    value = derivation.result[name]
    if isinstance(value, MatrixExpr):
        sizes = [str(size) for size in value.shape if size != 1]
    else:
        known = index_sizes(kernel, derivation.result)
        sizes = [str(known[axis].size) for axis in kernel.axes.get(name, ())]
    return f"``(*batch, {', '.join(sizes)})``" if sizes else "``batch``"


def _docstring(derivation: Derivation, kernel: Kernel, body: Body, operations: str) -> str:
    title = derivation.title[0].upper() + derivation.title[1:]
    sections = [
        [f'r"""{title}.'],
        [
            f".. math:: {part}" if not i else f"    {part}"
            for i, part in enumerate(textwrap.wrap(derivation.equation, WIDTH - 20))
        ],
    ]
    arguments = ["Args:"]
    for argument in kernel.arguments:
        arguments += _item(argument.name, f"{_shape(argument)}; {argument.meaning}.")
    if any("rank_tol" in line for line in body.lines):
        arguments += _item(
            "rank_tol",
            "what counts as zero, relative to the largest; default: the "
            "number of entries times eps, and 0 for exact arrays.",
        )
    arguments += _item("xp", "array namespace; default: that of the arguments, or NumPy.")
    sections.append(arguments)
    returned = ["Returns:"]
    for name, meaning in kernel.outputs.items():
        returned += _item(name, f"{_output_shape(name, derivation, kernel)}; {meaning}.")
    sections.append(returned)
    sections.append(
        _paragraph(
            "Domain: " + "; ".join(kernel.domain) + ". Arguments are trusted;"
            " the algorithms of `numeric` check them."
        )
    )
    if derivation.hypotheses:
        sections.append(_paragraph("Hypotheses: " + "; ".join(derivation.hypotheses) + "."))
    sections += [_paragraph(note) for note in kernel.notes]
    if body.used:
        forms = ["Chosen forms:"]
        for form in body.used:
            forms += _item(
                form.name,
                f"{form.equality}, for {form.domain}. Why: {form.why} Proved: {grounds(form)}",
            )
        sections.append(forms)
    if kernel.regimes:
        errors = ["Worst relative error, float64, held by a test:"]
        for regime in kernel.regimes:
            errors += _item(
                regime.name, f"{regime.inputs}: {regime.bound:.2g} of {regime.relative_to}."
            )
        sections.append(errors)
    if any("if xp.any(" in line for line in body.lines):
        sections.append(_paragraph("It looks at values to choose a branch: not to be traced."))
    sections.append(_paragraph(f"Operations: {operations}."))
    sections.append(
        _paragraph(
            f"Source: {derivation.source}. Derivation: {derivation.name}, tree "
            f"{tree_hash(derivation.result)}."
        )
    )
    lines = [
        line
        for number, section in enumerate(sections)
        for line in ([""] if number else []) + section
    ]
    return "\n".join(f"    {line}".rstrip() for line in [*lines, '"""'])


def _item(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{name}: {text}",
        WIDTH - 8,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
    )


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 8, break_long_words=False)
