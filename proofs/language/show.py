"""Prints terms and statements: as statement text, as LaTeX, and folded for a terminal.

`thm` and the parser are inverse: the text that it prints reads back to the same tree, hence to
the same hash. A bound variable gets a readable name that occurs nowhere else; the variable of a
derivative is printed as the name at which it stands, as a person writes `diff(f, t)`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from proofs.language.errors import LimitExceeded, MalformedError, StatementError
from proofs.language.infer import Scope, range_type
from proofs.language.parser import BUILTIN
from proofs.language.tokens import CONSTANTS, KEYWORDS, MAX_TEXT, skeleton
from proofs.language.tree import (
    PROPERTIES,
    Declaration,
    Statement,
    Term,
    binders_at,
    instantiate,
    names_in,
    natural,
    pair,
    postorder,
    term,
)

MAX_PRINTED_NODES = 60_000  # of the tree with all sharing undone
FOLD_ABOVE = 4_000  # nodes from which `thm` prints what is shared as `define` lines
_CAP = 10**9
_KEPT = 1_000  # characters of a part that is kept for further use

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4  # how tightly what is printed binds
_RELATIONS = {
    "eq": "=",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "subset": "subset",
}
INDEX_LETTERS = "jklrpqmabcdh"
POINT_LETTERS = "tus"
VALUE_LETTERS = "xyzwvg"

Shown = tuple[str, int]  # a text and how tightly it binds
Names = Mapping[str, Term]  # abbreviations, as the `define` lines of a file give them
NO_NAMES: Names = MappingProxyType({})


# ---------------------------------------------------------------- the interface


def text(root: Term, names: Names = NO_NAMES) -> str:
    """A term in the statement language; what that can't say is shown as near as it goes.

    A derivative at another point than a name prints as `diff(body, u) at u = point`. A term that
    has one of the `names` is printed as that, also where it is differentiated.

    Raises:
        LimitExceeded: more than `MAX_PRINTED_NODES` nodes when written out.
    """
    _measure([root], names)
    return _Surface([root], strict=False, names=names).open(root)


def brief(root: Term, names: Names = NO_NAMES) -> str:
    """A term's text, or an excerpt where the text would be too long."""
    try:
        return text(root, names)
    except LimitExceeded:
        return excerpt(root)


def excerpt(root: Term, length: int = 60) -> str:
    """A short text of a term for a message, its middle left out if it is long."""
    if _tree_sizes([root])[root] > 400:
        return f"{root.op}(...)"
    shown = _Surface([root], strict=False).open(root)
    half = (length - 5) // 2
    return shown if len(shown) <= length else f"{shown[:half]} ... {shown[-half:]}"


def thm(statement: Statement, names: Names = NO_NAMES) -> str:
    """The text of a statement file with this one statement; `parse` gives the statement back.

    The `names` that occur become `define` lines, and so do large shared terms.

    Raises:
        MalformedError: something that the language can't say, such as a derivative at a point
            that is not a name.
        LimitExceeded: too long, even with its shared terms defined.
    """
    return _File(statement, names).text()


def pretty(statement: Statement, names: Names = NO_NAMES, width: int = 96) -> str:
    """A statement for a terminal: declarations folded, then hypotheses, then the goal.

    The `names` that occur are used, and explained in lines of their own.

    Raises:
        LimitExceeded: more than `MAX_PRINTED_NODES` nodes when written out.
    """
    _measure(statement.roots(), names)
    surface = _Surface(statement.roots(), strict=False, names=names)
    surface.avoid(n for d in statement.declarations for n in d.names)
    folded = ["for"]
    for declaration in grouped(statement.declarations):
        item = surface.declaration(declaration) + ";"
        if len(folded[-1]) + 1 + len(item) > width and folded[-1].strip() not in ("", "for"):
            folded.append("   ")
        folded[-1] += " " + item
    lines = [*folded[:-1], folded[-1].rstrip(";")] if statement.declarations else []
    for i, node in enumerate(list(surface.abbreviations)):
        lines.append(("where" if i == 0 else "     ") + " " + surface.definition(node))
    for i, hypothesis in enumerate(statement.hypotheses):
        lines.append(("with" if i == 0 else "    ") + " " + surface.open(hypothesis))
    return "\n".join([*lines, "show " + surface.open(statement.goal)])


def latex(item: Term | Statement, scope: Scope | None = None, names: Names = NO_NAMES) -> str:
    """LaTeX of a term or statement: bold matrices and vectors, hypotheses as cases.

    `scope` tells of a term's names what is a matrix; a statement brings its own. The `names` that
    occur are used; a statement explains them.

    Raises:
        LimitExceeded: more than `MAX_PRINTED_NODES` nodes when written out.
    """
    from proofs.language.latex import Latex  # it builds on the printer below

    if isinstance(item, Statement):
        return latex_of_goals([item], names)
    _measure([item], names)
    return Latex([item], scope, names).open(item)


def latex_of_goals(statements: Sequence[Statement], names: Names = NO_NAMES) -> str:
    """LaTeX of statements that share all but their goals: these stand one below the other.

    Raises:
        LimitExceeded: more than `MAX_PRINTED_NODES` nodes when written out.
    """
    from proofs.language.latex import Latex

    roots = [root for statement in statements for root in statement.roots()]
    _measure(roots, names)
    try:
        scope = Scope.of(statements[0].declarations)
    except StatementError:  # ill-typed: printed all the same, with no name in bold
        scope = None
    goals = [statement.goal for statement in statements]
    return Latex(roots, scope, names).statement(statements[0], goals)


def definitions(names: Names, roots: Sequence[Term]) -> list[str]:
    """The equations that explain those of the names that occur."""
    surface = _Surface(list(roots), strict=False, names=names)
    return [surface.definition(node) for node in list(surface.abbreviations)]


def occurring(names: Names, roots: Iterable[Term]) -> dict[str, Term]:
    """Those of the names whose terms occur, in the order in which they were given.

    The function that a derivative is taken of counts as its value at the point.
    """
    order = postorder(roots)
    for node in order:  # grows while it is read
        if node.op in ("deriv", "grad") and node.args[1].op == "name":
            order += postorder([instantiate(node.args[0], (node.args[1],))])
    found = set(order)
    chosen = {
        node: identifier
        for identifier, node in names.items()
        if node in found and node.args and not node.free
    }
    return {identifier: node for node, identifier in chosen.items()}


def _tree_sizes(roots: Iterable[Term]) -> dict[Term, int]:
    """How many nodes each term has with all sharing undone (at most `_CAP`)."""
    sizes: dict[Term, int] = {}
    for node in postorder(roots):
        sizes[node] = min(_CAP, 1 + sum(sizes[arg] for arg in node.args))
    return sizes


def _measure(roots: list[Term], names: Names = NO_NAMES) -> None:
    _limit(roots, set(occurring(names, roots).values()))


def _limit(roots: list[Term], abbreviated: Collection[Term]) -> None:
    """Refuse what is too long when written out, the definitions of abbreviated terms included."""
    sizes: dict[Term, int] = {}
    total = 0
    for node in postorder(roots):
        size = min(_CAP, 1 + sum(sizes[arg] for arg in node.args))
        if node in abbreviated:
            total, size = total + size, 1
        sizes[node] = size
    if total + sum(sizes[root] for root in roots) > MAX_PRINTED_NODES:
        raise LimitExceeded(f"more than {MAX_PRINTED_NODES} nodes to print")


def _integer(node: Term) -> bool:
    return node.op == "rational" and "/" not in str(node.data)


def _uses(body: Term, index: int) -> bool:
    """Whether the free bound variable `index` occurs in `body`."""
    seen: set[tuple[Term, int]] = set()
    stack = [(body, index)]
    while stack:
        node, wanted = stack.pop()
        if node.free <= wanted or (node, wanted) in seen:
            continue
        if node.op == "bound":
            return True
        seen.add((node, wanted))
        stack += [(a, wanted + binders_at(node.op, node.data, i)) for i, a in enumerate(node.args)]
    return False


def carried(body: Term, index: int = 0) -> Term | None:
    """The type with which `body` uses the free bound variable `index`."""
    stack, seen = [(body, index)], set()
    while stack:
        node, wanted = stack.pop()
        if node.free <= wanted or (node, wanted) in seen:
            continue
        if node.op == "bound" and node.data == wanted:
            return node.args[0]
        seen.add((node, wanted))
        stack += [(a, wanted + binders_at(node.op, node.data, i)) for i, a in enumerate(node.args)]
    return None


# ---------------------------------------------------------------- the walk that both share


class Printer:
    """Composes texts from the leaves up, each term once under the same bound names."""

    def __init__(self, roots: list[Term], *, strict: bool, names: Names = NO_NAMES) -> None:
        self.strict = strict
        self.taken: set[str] = set()
        self.avoid(n for root in roots for n in names_in(root))
        self.memo: dict[tuple[object, ...], Shown] = {}
        self.types: dict[str, Term] = {}
        self.abbreviations: dict[Term, str] = {}
        for identifier, node in occurring(names, roots).items():
            if identifier not in self.taken:
                self.abbreviate(node, identifier)
        self.avoid(names)

    def avoid(self, names: Iterable[str]) -> None:
        for identifier in names:
            self.taken |= {identifier, skeleton(identifier)}

    def abbreviate(self, node: Term, identifier: str) -> None:
        """Print this closed term as a name from now on."""
        self.abbreviations[node] = identifier
        self.memo[node,] = (self.abbreviated(node, identifier), ATOM)

    def abbreviated(self, node: Term, identifier: str) -> str:
        """How the name of a term is printed."""
        return identifier

    def definition(self, node: Term) -> str:
        """The equation that defines an abbreviated term."""
        identifier = self.abbreviations.pop(node)
        shown, _ = self.render(node)
        self.abbreviations[node] = identifier
        return f"{self.abbreviated(node, identifier)} = {shown}"

    def fresh(self, letters: str, depth: int) -> str:
        """A name for the variable `depth` binders deep; no two depths share a name."""
        free = [c for c in letters if c not in self.taken]
        if depth < len(free):
            return free[depth]
        number = depth - len(free) + 1
        while f"{letters[0]}{number}" in self.taken:
            number += 100_000
        return f"{letters[0]}{number}"

    def bound_names(self, node: Term, env: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the variables that an operator binds, outermost first."""
        if node.op in ("sum", "prod", "comprehension"):
            return (self.fresh(INDEX_LETTERS, len(env)),)
        if node.op in ("deriv", "grad"):
            return (self.point_name(node, env) or self.fresh(POINT_LETTERS, len(env)),)
        if node.op == "limit":
            return (self.fresh(VALUE_LETTERS, len(env)),)
        if node.op == "forall":
            count, _ = pair(node)
            return tuple(
                self.fresh(
                    INDEX_LETTERS if t.op in ("index_type", "integer_type") else VALUE_LETTERS,
                    len(env) + i,
                )
                for i, t in enumerate(node.args[:count])
            )
        return ()

    def point_name(self, node: Term, env: tuple[str, ...]) -> str | None:
        """The name at which a derivative is taken, where it can stand for the variable too."""
        body, point = node.args
        if point.op == "name" and point.data not in names_in(body):
            return str(point.data)
        if point.op == "bound" and not _uses(body, natural(point) + 1):
            return env[-1 - natural(point)]
        return None

    def open(self, root: Term) -> str:
        """A term's text; its free bound variables get names."""
        env: list[str] = []
        for i in reversed(range(root.free)):
            type_ = carried(root, i)
            index = type_ is not None and type_.op in ("index_type", "integer_type")
            env.append(self.fresh(INDEX_LETTERS if index else POINT_LETTERS, len(env)))
        return self.render(root, tuple(env))[0]

    def render(self, root: Term, env: tuple[str, ...] = ()) -> Shown:
        stack: list[tuple[Term, tuple[str, ...], bool]] = [(root, env, False)]
        while stack:
            node, names, ready = stack.pop()
            key = self.key(node, names)
            if key in self.memo:
                continue
            bound = self.bound_names(node, names)
            parts = [
                (arg, names + bound if binders_at(node.op, node.data, i) else names)
                for i, arg in enumerate(node.args)
            ]
            if self.abbreviations and node.op in ("deriv", "grad"):
                body, point = node.args
                if point.op == "name" and bound == (point.data,):
                    parts[0] = (instantiate(body, (point,)), names)  # it may have a name
            keys = [self.key(arg, inner) for arg, inner in parts]
            if ready and all(k in self.memo for k in keys):
                self.memo[key] = self.compose(node, [self.memo[k] for k in keys], names, bound)
                for k in keys:  # of a long chain only the last text is kept
                    if k in self.memo and len(self.memo[k][0]) > _KEPT:
                        del self.memo[k]
            else:
                stack.append((node, names, True))
                stack += [(arg, inner, False) for arg, inner in reversed(parts)]
        return self.memo[self.key(root, env)]

    def key(self, node: Term, env: tuple[str, ...]) -> tuple[object, ...]:
        if node in self.abbreviations:
            return (node,)
        return (node, len(env), *env[len(env) - node.free :])

    def compose(
        self, node: Term, parts: list[Shown], env: tuple[str, ...], bound: tuple[str, ...]
    ) -> Shown:
        raise NotImplementedError


# ---------------------------------------------------------------- the statement language


def at_level(part: Shown, level: int) -> str:
    """A part's text, in parentheses where it binds less tightly than `level`."""
    return part[0] if part[1] >= level else f"({part[0]})"


class _Surface(Printer):
    """The statement language. With `strict`, what can't be read back raises."""

    def __init__(self, roots: list[Term], *, strict: bool, names: Names = NO_NAMES) -> None:
        super().__init__(roots, strict=strict, names=names)
        self.dimensions: set[str] = set()

    def refuse(self, what: str) -> None:
        if self.strict:
            raise MalformedError(f"the statement language can't say {what}")

    def compose(
        self, node: Term, parts: list[Shown], env: tuple[str, ...], bound: tuple[str, ...]
    ) -> Shown:
        op, args = node.op, node.args
        if op == "name":
            self.check_name(str(node.data))
            return str(node.data), ATOM
        if op == "constant":
            return str(node.data), ATOM
        if op == "rational":
            value = str(node.data)
            return value, PRODUCT if "/" in value or value.startswith("-") else ATOM
        if op == "bound":
            index = natural(node)  # beyond the binders only where an ill-formed term is shown
            return (env[-1 - index] if index < len(env) else f"?{index}"), ATOM
        if op in ("add", "sub"):
            sign = "+" if op == "add" else "-"
            right = at_level(parts[1], PRODUCT)
            if right.startswith("-"):
                right = f"({right})"
            return f"{at_level(parts[0], SUM)} {sign} {right}", SUM
        if op == "mul":
            return f"{at_level(parts[0], PRODUCT)}*{at_level(parts[1], POWER)}", PRODUCT
        if op == "div":
            right = at_level(parts[1], POWER)
            if _integer(args[0]) and _integer(args[1]):
                right = f"({parts[1][0]})"  # `3/4` would be read as one rational
            return f"{at_level(parts[0], PRODUCT)}/{right}", PRODUCT
        if op == "neg":
            operand = f"({parts[0][0]})" if args[0].op == "rational" else at_level(parts[0], POWER)
            return f"-{operand}", PRODUCT
        if op == "pow":
            plain = args[1].op in ("name", "bound", "constant") or _integer(args[1])
            exponent = parts[1][0] if plain else f"({parts[1][0]})"
            return f"{at_level(parts[0], ATOM)}^{exponent}", POWER
        if op in ("transpose", "adjoint", "entry"):
            base = f"({parts[0][0]})" if args[0].op == "rational" else at_level(parts[0], ATOM)
            if op == "entry":
                family = self.types.get(str(args[0].data)) if args[0].op == "name" else None
                if family is not None and family.op == "family_type":
                    self.refuse("an entry of a whole family")
                return f"{base}[{', '.join(t for t, _ in parts[1:])}]", ATOM
            return base + (".T" if op == "transpose" else ".H"), ATOM
        texts = [t for t, _ in parts]
        if op in ("member", "apply"):
            if args[0].op != "name":
                self.refuse(f"{op} of what is no name")
            opening, closing = "[]" if op == "member" else "()"
            return f"{texts[0]}{opening}{', '.join(texts[1:])}{closing}", ATOM
        if op == "block":
            rows, cols = pair(node)
            lines = [f"[{', '.join(texts[r * cols : (r + 1) * cols])}]" for r in range(rows)]
            return f"block([{', '.join(lines)}])", ATOM
        if op in ("sum", "prod"):
            self.check_range(node)
            return f"{op}({texts[2]}, {bound[0]}, {texts[0]}, {texts[1]})", ATOM
        if op == "comprehension":
            self.check_range(node)
            return f"vector({texts[1]}, {bound[0]}, 1, {texts[0]})", ATOM
        if op in ("deriv", "grad"):
            return self.derivative(node, texts, bound[0])
        if op == "forall":
            return self.for_all(node, texts, bound), SUM
        if op == "limit":
            return f"limit({texts[0]}, {bound[0]}, oo) = {texts[1]}", SUM
        if op in ("expect", "cov", "expect_given", "cov_given"):
            function = "E" if op.startswith("expect") else "cov"
            if function in self.taken:
                self.refuse("an expectation where E is declared")
            values = texts[:1] if function == "E" else texts[:2]
            given = texts[len(values) :]
            behind = f" | {', '.join(given)}" if given else ""
            return f"{function}({', '.join(values)}{behind})", ATOM
        if op in ("logpdf", "logpdf_on_support"):
            return f"{op}({texts[0]}; {texts[1]}, {texts[2]})", ATOM
        if op in _RELATIONS:
            left, right = (at_level(part, SUM) for part in parts)
            return f"{left} {_RELATIONS[op]} {right}", SUM
        if op.endswith("_type"):
            return self.type(node, texts), ATOM
        return f"{op}({', '.join(texts)})", ATOM

    def check_name(self, identifier: str) -> None:
        if self.strict and (
            not re.fullmatch(r"[^\W\d_]\w*", identifier)
            or identifier in CONSTANTS
            or identifier in KEYWORDS
            or (identifier in BUILTIN and identifier != "E")
        ):
            self.refuse(f"the name {identifier!r}")

    def check_range(self, node: Term) -> None:
        if not self.strict:
            return
        found = carried(node.args[-1])
        if node.op == "comprehension":
            wanted = term("index_type", node.args[0])
        else:
            wanted = range_type(node.args[0], node.args[1], self.dimensions)
        if found is not None and found is not wanted:
            self.refuse("a range whose index has another type than its limits give it")

    def derivative(self, node: Term, texts: list[str], variable: str) -> Shown:
        function = "diff" if node.op == "deriv" else "grad"
        order = f", {node.data}" if node.op == "deriv" and node.data != 1 else ""
        shown = f"{function}({texts[0]}, {variable}{order})"
        point = node.args[1]
        if variable == texts[1]:
            declared = self.types.get(variable) if point.op == "name" else point.args[0]
            if self.strict and carried(node.args[0]) not in (None, declared):
                self.refuse("a derivative whose variable has another type than its point")
            return shown, ATOM
        self.refuse(f"a derivative at {texts[1]}, which is not a name that it binds")
        return f"{shown} at {variable} = {texts[1]}", 0

    def for_all(self, node: Term, texts: list[str], bound: tuple[str, ...]) -> str:
        count, conditions = pair(node)
        binders = ", ".join(f"{n} : {t}" for n, t in zip(bound, texts[:count], strict=True))
        where = texts[count : count + conditions]
        behind = f" where {', '.join(where)}" if where else ""
        return f"for all {binders}{behind} : {texts[-1]}"

    def type(self, node: Term, texts: list[str]) -> str:
        op = node.op
        if op in ("matrix_type", "complex_matrix_type"):
            field = "complex " if op == "complex_matrix_type" else ""
            if node.args[1].op == "rational" and node.args[1].data == "1":
                return f"{field}vector({texts[0]})"
            return f"{field}matrix({texts[0]}, {texts[1]})"
        if op == "random_type":
            return "random" if texts[0] == "1" else f"random vector({texts[0]})"
        if op == "function_type":
            return "function(real)" + ("" if texts[0] == "real" else f" -> {texts[0]}")
        if op == "gaussian_type":
            means = ", ".join(texts[:-1])
            return f"gaussian({f'({means})' if len(texts) > 2 else means}, {texts[-1]})"
        if op == "family_type":
            ranges = ", ".join(
                f"{self.fresh(INDEX_LETTERS, i)} in 1..{t}" for i, t in enumerate(texts[1:])
            )
            return f"{texts[0]} for {ranges}"
        word = op.removesuffix("_type")
        return f"{word}({texts[0]})" if texts else word

    def declaration(self, declaration: Declaration) -> str:
        """`A, B : matrix(n, k)`, or `(X, Y) : gaussian((a, b), S)`."""
        for identifier in declaration.names:
            self.check_name(identifier)
        names = ", ".join(declaration.names)
        if declaration.type.op == "gaussian_type" and len(declaration.type.args) > 2:
            names = f"({names})"
        return f"{names} : {self.render(declaration.type)[0]}"


def grouped(declarations: tuple[Declaration, ...]) -> list[Declaration]:
    """Neighbours of one type in one line, as a person writes them."""
    lines: list[Declaration] = []
    for declaration in declarations:
        last = lines[-1] if lines else None
        joint = declaration.type.op == "gaussian_type" and len(declaration.type.args) > 2
        if last and last.type is declaration.type and not joint:
            lines[-1] = Declaration(last.names + declaration.names, last.type)
        else:
            lines.append(declaration)
    return lines


class _File:
    """A statement as the lines of a file, with what is shared defined where it is large."""

    def __init__(self, statement: Statement, names: Names) -> None:
        self.statement = statement
        roots = statement.roots()
        surface = _Surface(roots, strict=True, names=names)
        surface.avoid(n for d in statement.declarations for n in d.names)
        for declaration in statement.declarations:
            surface.types |= dict.fromkeys(declaration.names, declaration.type)
            if declaration.type.op == "dimension_type":
                surface.dimensions |= set(declaration.names)
        self.surface = surface
        self.named = {identifier: node for node, identifier in surface.abbreviations.items()}
        self.shared: list[Term] = []
        if sum(_tree_sizes(roots)[root] for root in roots) > FOLD_ABOVE:
            self.shared = [n for n in self.worth_defining(roots) if n not in surface.abbreviations]
        for i, node in enumerate(self.shared):
            surface.abbreviate(node, self.new_name(i))
        _limit(roots, surface.abbreviations)

    def worth_defining(self, roots: list[Term]) -> list[Term]:
        """Closed terms of some size that occur in several places, inner ones first."""
        order = postorder(roots)
        sizes = _tree_sizes(roots)
        parents: dict[Term, int] = {}
        for node in order:
            for arg in node.args:
                parents[arg] = parents.get(arg, 0) + 1
        return [
            node
            for node in order
            if parents.get(node, 0) > 1
            and sizes[node] >= 6
            and not node.free
            and node.op not in _RELATIONS
            and node.op not in PROPERTIES
            and node.op not in ("forall", "limit")
            and not node.op.endswith("_type")
        ]

    def new_name(self, number: int) -> str:
        identifier = f"d{number + 1}"
        while identifier in self.surface.taken:
            identifier = f"d_{identifier[1:]}"
        self.surface.avoid([identifier])
        return identifier

    def text(self) -> str:
        lines: list[str] = []
        defined = [*self.named.values(), *self.shared]
        pending = [node for node in postorder(defined) if node in set(defined)]  # inner ones first

        def define_ready(needed: Iterable[Term]) -> None:
            """The definitions that these terms need, before the line that uses them."""
            if not pending:
                return
            roots = list(needed)
            wanted = {*postorder(roots), *occurring(self.named, roots).values()}
            for node in [n for n in pending if n in wanted]:
                pending.remove(node)
                lines.append(f"define {self.surface.definition(node)}")

        for declaration in grouped(self.statement.declarations):
            define_ready([declaration.type])
            lines.append(f"let {self.surface.declaration(declaration)}")
        for hypothesis in self.statement.hypotheses:
            define_ready([hypothesis])
            lines.append(f"assume {self.surface.render(hypothesis)[0]}")
        define_ready([self.statement.goal])
        lines.append(f"show {self.surface.render(self.statement.goal)[0]}")
        shown = "\n".join(lines) + "\n"
        if len(shown) > MAX_TEXT:
            raise LimitExceeded(f"more than {MAX_TEXT} characters to print")
        return shown
