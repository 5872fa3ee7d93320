r"""LaTeX of terms and statements.

Matrices are bold and upright, vectors bold, sigma-algebras calligraphic; `A.T` is
:math:`\mathbf{A}^{\top}`, `x_0` and `x0` are :math:`x_{0}`. The output is for a reader and isn't
read back; the same term always gives the same text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from proofs.language.errors import StatementError
from proofs.language.infer import Scope, infer, type_from
from proofs.language.show import (
    ATOM,
    NO_NAMES,
    POWER,
    PRODUCT,
    SUM,
    Names,
    Printer,
    Shown,
    carried,
    grouped,
)
from proofs.language.sizes import ONE
from proofs.language.tree import Declaration, Statement, Term, natural, pair
from proofs.language.types import Kind, Type

_GREEK = frozenset(
    (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
        "pi",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    )
)
_RELATIONS = {
    "eq": "=",
    "ne": r"\neq",
    "lt": "<",
    "le": r"\le",
    "gt": ">",
    "ge": r"\ge",
    "subset": r"\subseteq",
}
_PROPERTIES = {
    "invertible": "is invertible",
    "symmetric": "is symmetric",
    "hermitian": "is Hermitian",
    "orthogonal": "is orthogonal",
    "unitary": "is unitary",
    "idempotent": "is idempotent",
    "diagonal": "is diagonal",
    "full_row_rank": "has full row rank",
    "full_column_rank": "has full column rank",
}
_FUNCTIONS = {
    "log": r"\log",
    "sin": r"\sin",
    "cos": r"\cos",
    "tanh": r"\tanh",
    "lambertw": "W",
    "erf": r"\operatorname{erf}",
    "det": r"\det",
    "tr": r"\operatorname{tr}",
    "rank": r"\operatorname{rank}",
    "adj": r"\operatorname{adj}",
    "diag": r"\operatorname{diag}",
    "vec": r"\operatorname{vec}",
    "max": r"\max",
    "min": r"\min",
    "softmax": r"\operatorname{softmax}",
    "logsumexp": r"\operatorname{logsumexp}",
    "cov": r"\operatorname{Cov}",
}
_DOMAINS = {
    "real_type": r"\mathbb{R}",
    "positive_type": r"\mathbb{R}_{>0}",
    "nonnegative_type": r"\mathbb{R}_{\ge 0}",
    "nonzero_type": r"\mathbb{R} \setminus \{0\}",
    "integer_type": r"\mathbb{Z}",
    "complex_type": r"\mathbb{C}",
    "dimension_type": r"\mathbb{N}_{\ge 1}",
}
_SUPERSCRIPTS = {"transpose": r"\top", "adjoint": r"\mathsf{H}", "inv": "-1", "pinv": "+"}


def _fenced(content: str, left: str = "(", right: str = ")") -> str:
    return rf"\left{left} {content} \right{right}"


def _at(part: Shown, level: int) -> str:
    return part[0] if part[1] >= level else _fenced(part[0])


def symbol(identifier: str, type_: Type | None = None) -> str:
    """A name as a symbol: Greek by name, trailing digits and what follows `_` as subscripts."""
    match = re.fullmatch(r"([^\W\d_]+)(\d*)((?:_\w*)?)", identifier)
    letters, digits, rest = match.groups() if match else (identifier, "", "")
    greek = letters
    if len(letters) == 1 and not letters.isascii():
        words = unicodedata.name(letters, "").split()
        if words[:1] == ["GREEK"] and len(words) == 4:
            greek = words[3].lower() if words[1] == "SMALL" else words[3].capitalize()
            greek = {"lamda": "lambda", "Lamda": "Lambda"}.get(greek, greek)
    is_greek = greek in _GREEK
    shown = "\\" + greek if is_greek else letters
    kind = type_.kind if type_ else None
    if kind is Kind.SIGMA_ALGEBRA:
        shown = rf"\mathcal{{{shown}}}"
    elif (
        type_
        and kind in (Kind.MATRIX, Kind.RANDOM, Kind.FAMILY, Kind.FUNCTION)
        and not (type_.rows == ONE and type_.cols == ONE)
    ):
        shown = rf"\boldsymbol{{{shown}}}" if is_greek else rf"\mathbf{{{shown}}}"
    elif len(letters) > 1 and not is_greek:
        shown = rf"\mathit{{{shown}}}"
    below = [digits] if digits else []
    below += [
        p if p.isdecimal() or len(p) == 1 else rf"\mathrm{{{p}}}" for p in rest.split("_") if p
    ]
    return shown + (f"_{{{', '.join(below)}}}" if below else "")


class Latex(Printer):
    """The LaTeX of terms whose names are declared in `scope` (or unknown, without it)."""

    def __init__(self, roots: list[Term], scope: Scope | None, names: Names = NO_NAMES) -> None:
        self.scope = scope or Scope.of(())
        super().__init__(roots, strict=False, names=names)
        self.avoid(self.scope.types)  # names that are declared and don't occur

    def abbreviated(self, node: Term, identifier: str) -> str:
        return symbol(identifier, self.type_of(node))

    def type_of(self, node: Term) -> Type | None:
        try:
            return infer(node, self.scope)
        except StatementError:
            return None

    def is_matrix(self, node: Term) -> bool:
        type_ = self.type_of(node)
        return type_ is not None and not (type_.rows == ONE and type_.cols == ONE)

    def bound_symbol(self, identifier: str, type_: Term | None) -> str:
        if type_ is None:
            return symbol(identifier)
        try:
            return symbol(identifier, type_from(type_, self.scope))
        except StatementError:
            return symbol(identifier)

    def compose(
        self, node: Term, parts: list[Shown], env: tuple[str, ...], bound: tuple[str, ...]
    ) -> Shown:
        op, args = node.op, node.args
        texts = [t for t, _ in parts]
        if op == "name":
            identifier = str(node.data)
            return symbol(identifier, self.scope.types.get(identifier)), ATOM
        if op == "bound":
            return self.bound_symbol(env[-1 - natural(node)], args[0]), ATOM
        if op == "constant":
            return {"pi": r"\pi", "e": r"\mathrm{e}"}.get(str(node.data), r"\mathrm{i}"), ATOM
        if op == "rational":
            return _rational(str(node.data))
        if op in ("add", "sub"):
            right = _at(parts[1], PRODUCT)
            right = _fenced(right) if right.startswith("-") else right
            return f"{_at(parts[0], SUM)} {'+' if op == 'add' else '-'} {right}", SUM
        if op == "mul":
            is_chain = args[1].op == "mul" and not texts[1].startswith("-")
            left, right = _at(parts[0], PRODUCT), _at(parts[1], PRODUCT if is_chain else POWER)
            dot = right[0].isdecimal() or (args[0].op == args[1].op == "rational")
            space = r" \, " if right.startswith(r"\mathrm{e}") else " "
            return left + (r" \cdot " if dot else space) + right, PRODUCT
        if op == "div":
            sign, above = ("-", texts[0][1:]) if texts[0].startswith("-") else ("", texts[0])
            if sign and parts[0][1] >= PRODUCT:
                return rf"-\frac{{{above}}}{{{texts[1]}}}", PRODUCT
            return rf"\frac{{{texts[0]}}}{{{texts[1]}}}", POWER
        if op == "neg":
            operand = _at(parts[0], PRODUCT)
            return "-" + (_fenced(operand) if operand.startswith("-") else operand), PRODUCT
        if op == "pow":
            return f"{_at(parts[0], ATOM)}^{{{texts[1]}}}", POWER
        if op == "transpose" and args[0].op == "inv" and texts[0].endswith("^{-1}"):
            return texts[0].removesuffix("^{-1}") + r"^{-\top}", POWER
        if op == "exp":
            return rf"\mathrm{{e}}^{{{texts[0]}}}", POWER
        if op in _SUPERSCRIPTS:
            return f"{_at(parts[0], ATOM)}^{{{_SUPERSCRIPTS[op]}}}", POWER
        if op == "conj":
            return rf"\overline{{{texts[0]}}}", ATOM
        if op in ("entry", "member", "apply", "unit", "eye", "zeros", "ones", "block"):
            return self.structure(node, parts), ATOM
        if op in ("kron", "hadamard"):
            sign = r"\otimes" if op == "kron" else r"\odot"
            return f"{_at(parts[0], POWER)} {sign} {_at(parts[1], POWER)}", SUM
        if op in ("inner", "norm2", "l2norm2", "l2inner", "abs", "sqrt"):
            return self.enclosed(node, texts), ATOM
        if op in ("sum", "prod", "comprehension", "deriv", "grad"):
            return self.binder(node, parts, env, bound[0])
        if op == "forall":
            return self.for_all(node, texts, bound), SUM
        if op == "limit":
            variable = self.bound_symbol(bound[0], carried(args[0]))
            body = _at(parts[0], PRODUCT)
            return rf"\lim_{{{variable} \to \infty}} {body} = {_at(parts[1], SUM)}", SUM
        if op in ("expect", "expect_given", "cov_given", "logpdf", "logpdf_on_support"):
            return self.probability(op, texts), ATOM
        if op in _RELATIONS:
            sign = _RELATIONS[op]
            if op in ("le", "ge") and self.is_matrix(args[0]):
                sign = r"\preceq" if op == "le" else r"\succeq"
            return f"{_at(parts[0], SUM)} {sign} {_at(parts[1], SUM)}", SUM
        if op in ("positive_definite", "positive_semidefinite"):
            return texts[0] + (r" \succ 0" if op == "positive_definite" else r" \succeq 0"), SUM
        if op == "commute":
            left, right = _at(parts[0], POWER), _at(parts[1], POWER)
            return f"{left} {right} = {right} {left}", SUM
        if op in _PROPERTIES:
            return rf"{texts[0]} \text{{ {_PROPERTIES[op]}}}", SUM
        if op.endswith("_type"):
            return self.set_of(node, texts), ATOM
        return _FUNCTIONS.get(op, rf"\operatorname{{{op}}}") + _fenced(", ".join(texts)), POWER

    def structure(self, node: Term, parts: list[Shown]) -> str:
        """Entries, members, values of functions, and matrices given by their form."""
        op, args = node.op, node.args
        texts = [t for t, _ in parts]
        if op == "entry":
            below = ", ".join(texts[1:])
            if args[0].op == "name" and "_" not in texts[0]:
                return f"{symbol(str(args[0].data))}_{{{below}}}"
            return f"{_fenced(texts[0], '[', ']')}_{{{below}}}"
        if op == "member":
            return f"{{{texts[0]}}}_{{{', '.join(texts[1:])}}}"
        if op == "apply":
            return texts[0] + _fenced(texts[1])
        if op == "unit":
            return rf"\mathbf{{e}}_{{{texts[1]}}}"
        if op == "eye":
            return rf"\mathbf{{I}}_{{{texts[0]}}}"
        if op == "block":
            rows, cols = pair(node)
            lines = [" & ".join(texts[r * cols : (r + 1) * cols]) for r in range(rows)]
            return r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"
        below = texts[0] if texts[1] == "1" else rf"{texts[0]} \times {texts[1]}"
        return rf"\mathbf{{{'0' if op == 'zeros' else '1'}}}_{{{below}}}"

    def enclosed(self, node: Term, texts: list[str]) -> str:
        """What stands between bars or angles."""
        op = node.op
        if op == "sqrt":
            return rf"\sqrt{{{texts[0]}}}"
        if op == "abs":
            return _fenced(texts[0], "|", "|")
        if op in ("inner", "l2inner"):
            below = "_{L^2}" if op == "l2inner" else ""
            return _fenced(", ".join(texts), r"\langle", r"\rangle") + below
        type_ = self.type_of(node.args[0])
        below = "_{L^2}" if op == "l2norm2" else ""
        if op == "norm2" and type_ is not None and type_.cols != ONE:
            below = r"_{\mathrm{F}}"
        return _fenced(texts[0], r"\lVert", r"\rVert") + below + "^{2}"

    def binder(
        self, node: Term, parts: list[Shown], env: tuple[str, ...], identifier: str
    ) -> Shown:
        op, texts = node.op, [t for t, _ in parts]
        if op in ("sum", "prod"):
            index = self.bound_symbol(identifier, None)
            sign = r"\sum" if op == "sum" else r"\prod"
            body = _at(parts[2], PRODUCT)
            return rf"{sign}_{{{index}={texts[0]}}}^{{{texts[1]}}} {body}", SUM
        if op == "comprehension":
            index = self.bound_symbol(identifier, None)
            return f"{_fenced(texts[1])}_{{{index}=1}}^{{{texts[0]}}}", ATOM
        body = node.args[0]
        variable = self.bound_symbol(identifier, carried(body))
        if op == "grad":
            shown = rf"\nabla_{{{variable}}} {_at(parts[0], POWER)}"
        else:
            order = f"^{{{node.data}}}" if node.data != 1 else ""
            fraction = rf"\frac{{\mathrm{{d}}{order}}}{{\mathrm{{d}} {variable}{order}}}"
            shown = f"{fraction} {_at(parts[0], POWER)}"
        if self.point_name(node, env) == identifier:
            return shown, PRODUCT
        return rf"\left. {shown} \right|_{{{variable} = {texts[1]}}}", PRODUCT

    def for_all(self, node: Term, texts: list[str], bound: tuple[str, ...]) -> str:
        count, conditions = pair(node)
        binders = ", ".join(
            rf"{self.bound_symbol(n, t)} \in {s}"
            for n, t, s in zip(bound, node.args[:count], texts[:count], strict=True)
        )
        where = r" \text{ and } ".join(texts[count : count + conditions])
        implied = rf"{where} \Rightarrow " if where else ""
        return rf"\forall\, {binders} :\; {implied}{texts[-1]}"

    def probability(self, op: str, texts: list[str]) -> str:
        if op in ("logpdf", "logpdf_on_support"):
            below = r"_{\mathrm{supp}}" if op == "logpdf_on_support" else ""
            inside = rf"{texts[0]};\, {texts[1]},\, {texts[2]}"
            return rf"\log \mathcal{{N}}{below}" + _fenced(inside)
        values = texts[:2] if op == "cov_given" else texts[:1]
        given = texts[len(values) :]
        behind = rf" \,\middle|\, {', '.join(given)}" if given else ""
        inside = ", ".join(values) + behind
        if op == "cov_given":
            return r"\operatorname{Cov}" + _fenced(inside)
        return r"\mathbb{E}" + _fenced(inside, "[", "]")

    # ------------------------------------------------------------ statements

    def set_of(self, node: Term, texts: list[str]) -> str:
        """The set that a type stands for."""
        op = node.op
        if op in _DOMAINS:
            return _DOMAINS[op]
        if op in ("matrix_type", "complex_matrix_type"):
            field = r"\mathbb{R}" if op == "matrix_type" else r"\mathbb{C}"
            shape = texts[0] if texts[1] == "1" else rf"{texts[0]} \times {texts[1]}"
            return f"{field}^{{{shape}}}"
        if op == "index_type":
            return rf"\{{1, \dots, {texts[0]}\}}"
        if op == "function_type":
            return rf"C^{{\infty}}\left( \mathbb{{R}}, {texts[0]} \right)"
        if op == "random_type":
            return rf"L^2\left( \mathbb{{R}}^{{{texts[0]}}} \right)"
        if op == "family_type":
            ranges = r" \times ".join(rf"\{{1, \dots, {t}\}}" for t in texts[1:])
            return rf"{texts[0]} \text{{ for each index in }} {ranges}"
        return rf"\text{{{op.removesuffix('_type').replace('_', ' ')}}}"

    def declaration(self, declaration: Declaration) -> str:
        names = [symbol(n, self.scope.types.get(n)) for n in declaration.names]
        type_ = declaration.type
        if type_.op == "gaussian_type":
            texts = [self.render(a)[0] for a in type_.args]
            means = ", ".join(texts[:-1])
            joint = len(texts) > 2
            left = _fenced(", ".join(names)) if joint else ", ".join(names)
            mean = _fenced(means) if joint else means
            return rf"{left} \sim \mathcal{{N}}" + _fenced(f"{mean}, {texts[-1]}")
        if type_.op == "sigma_algebra_type":
            return ", ".join(names) + r" \text{ sigma-algebra" + ("s}" if len(names) > 1 else "}")
        return rf"{', '.join(names)} \in {self.render(type_)[0]}"

    def statement(self, statement: Statement, goals: Sequence[Term]) -> str:
        """Declarations, abbreviations, hypotheses, and one or several goals under them."""
        lines = []
        if statement.declarations:
            declared = [self.declaration(d) for d in grouped(statement.declarations)]
            lines.append(r"\text{for } " + r",\; ".join(declared) + " :")
        if self.abbreviations:
            defined = map(self.definition, list(self.abbreviations))
            lines.append(r"\text{where } " + r",\; ".join(defined))
        hypotheses = [self.render(h)[0] for h in statement.hypotheses]
        if len(hypotheses) > 1:
            cases = r" \\ ".join(hypotheses)
            lines.append(rf"\begin{{cases}} {cases} \end{{cases}}")
        elif hypotheses:
            lines.append(hypotheses[0])
        implied = r"\implies\; " if hypotheses else ""
        lines += [implied + self.render(goal)[0] for goal in goals]
        return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"


def _rational(value: str) -> Shown:
    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    numerator, _, denominator = digits.partition("/")
    shown = rf"\frac{{{numerator}}}{{{denominator}}}" if denominator else numerator
    return sign + shown, PRODUCT if sign else POWER if denominator else ATOM
