"""From the algebra back to terms: a certificate speaks of terms, the search of polynomials."""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import ONE, Atom, Letter, Monomial, Poly, Word
from proofs.checker.lowering import CONSTANT, L2, Lowering
from proofs.language.infer import Scope, infer, polynomial
from proofs.language.sizes import Size, size_term
from proofs.language.tree import Term, instantiate, postorder, rational, term
from proofs.language.types import Kind, Type


class NoTerm(ValueError):
    """A polynomial that no known term denotes."""


class Raising:
    """Remembers which term each letter and atom came from."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.atoms: dict[Atom, Term] = {}
        self.letters: dict[Letter, Term] = {}
        self.given: dict[Letter, tuple[Term, ...]] = {}
        self._seen: set[Term] = set()  # with all that is under them

    def knows(self, root: Term) -> bool:
        """Whether a term has been learned, or tried to be, with all that is under it."""
        return root in self._seen

    def learn(self, root: Term) -> None:
        """Remember the letters and atoms that the closed subterms of `root` lower to."""
        if root in self._seen:
            return
        for node in postorder([root], self._seen):
            self._seen.add(node)
            if node.op == "entry" and not node.args[0].free:
                kind = infer(node.args[0], self.lowering.scope)
                for index, size in zip(node.args[1:], (kind.rows, kind.cols), strict=False):
                    if not index.free:
                        self.learn(term("unit", size_term(size), index))
            if node.free or node.op.endswith("_type"):
                continue
            kind = infer(node, self.lowering.scope).kind
            if node.op == "entry" and node.args[0].op == "comprehension":
                self.learn(instantiate(node.args[0].args[1], node.args[1:]))
            if kind in (Kind.MATRIX, Kind.RANDOM):
                self._note(node, self.lowering.lower(node))
            if node.op == "expect_given":
                self.given[self.lowering.projection(node.args[1:])] = node.args[1:]
            if node.op in ("div", "inv"):
                self._note_reciprocal(node.args[-1])
            elif node.op == "pow" and self._may_divide(*node.args):
                self._note_reciprocal(node.args[0])

    def _note(self, node: Term, value: Poly) -> None:
        if len(value.terms) != 1:
            return
        (((monomial, word), coefficient),) = value.terms.items()
        if coefficient != 1:
            return
        # A multiple of the identity, such as eye(n)/a, has no word either, but is no number.
        if not word and value.is_scalar and len(monomial) == 1 and monomial[0][1] == 1:
            self.atoms.setdefault(monomial[0][0], node)
        elif len(word) == 1 and not monomial and not word[0].transposed:
            self.letters.setdefault(word[0], node)

    def _may_divide(self, base: Term, exponent: Term) -> bool:
        """Whether the reciprocal of a base is of use: a sum's only where it may stand there."""
        if base.op not in ("add", "sub"):
            return True
        power = polynomial(exponent, self.lowering.scope.dimensions)
        return power is None or any(c < 0 for _, c in power.terms)

    def _note_reciprocal(self, denominator: Term) -> None:
        scope = self.lowering.scope
        if not infer(denominator, scope).is_scalar:
            return
        value = self.lowering.lower(denominator)
        if len(value.terms) == 1:
            ((monomial, _),) = value.terms
            parts = [self.scalar(a) for a, _ in monomial]
        else:
            inverse = self.lowering.lower(term("div", rational(1), denominator))
            ((_, coefficient),) = inverse.terms.items()
            parts = [self.poly(value.scale(coefficient))]
        for part in parts:
            self._note(q := term("div", rational(1), part), self.lowering.lower(q))

    # ------------------------------------------------------------ raising

    def poly(self, value: Poly) -> Term:
        """A term that lowers to `value`.

        Raises:
            NoTerm: it has a letter or atom of unknown origin.
        """
        total: Term | None = None
        for (monomial, word), coefficient in sorted(
            value.terms.items(), key=lambda item: _order(item[0])
        ):
            part = self._term(monomial, word, value, abs(coefficient))
            if total is None:
                total = term("neg", part) if coefficient < 0 else part
            else:
                total = term("sub" if coefficient < 0 else "add", total, part)
        if total is None:
            if value.is_scalar:
                return rational(0)
            cols = ONE if value.cols == L2 else value.cols
            return term("zeros", size_term(value.rows), size_term(cols))
        return total

    def _term(self, monomial: Monomial, word: Word, like: Poly, coefficient: Fraction) -> Term:
        factors = [] if coefficient == 1 else [rational(coefficient)]
        for a, power in monomial:
            base = self.scalar(a)
            factors.append(base if power == 1 else term("pow", base, rational(power)))
        if word:
            factors.append(self.word(word))
        elif not like.is_scalar:
            factors.append(term("eye", size_term(like.rows)))
        return product_of(factors or [rational(1)])

    def scalar(self, a: Atom) -> Term:
        """A term for an atom."""
        if a in self.atoms:
            return self.atoms[a]
        if a.twin in self.atoms:
            return term("conj", self.atoms[a.twin])
        if a.word is None:
            raise NoTerm(a.key)
        if any(x.rows == L2 for x in a.word) and not (a.word[0].rows == ONE and _has_mean(a.word)):
            return self._innerproduct_of(a.word)
        inside = self.word(a.word)
        return inside if a.word[0].rows == ONE else term("tr", inside)

    def _innerproduct_of(self, word: Word) -> Term:
        """tr(.. X e Y.T ..) as an inner product in L2."""
        end = next(i for i, x in enumerate(word) if x.rows == L2 and x.cols != L2)
        turned = word[end + 1 :] + word[: end + 1]
        if turned[-1] is CONSTANT:
            return self.word(turned)
        return term("l2inner", *self._two_sides(turned))

    def _two_sides(self, word: Word) -> tuple[Term, Term]:
        """X and Y of X*Y.T, each with the conditional expectations that act on it."""
        start = len(word) - 1
        while word[start - 1].transposed and word[start - 1].rows == L2:
            start -= 1
        right = tuple(x.T for x in reversed(word[start:]))
        return self._random_word(word[:start]), self._random_word(right)

    def word(self, word: Word) -> Term:
        """A term for a product of letters."""
        if word and word[-1].cols == L2:
            return self._random_word(word)
        factors: list[Term] = []
        place = 0
        while place < len(word):
            if word[place].cols == L2:
                end = next(i for i in range(place, len(word)) if word[i].cols != L2)
                factors.append(self._moment(word[place : end + 1]))
                place = end + 1
            else:
                factors.append(self.letter(word[place]))
                place += 1
        return product_of(factors)

    def _moment(self, span: Word) -> Term:
        """X*1 is a mean, X*Y.T a second moment."""
        if span[-1] is CONSTANT:
            return term("expect", self._random_word(span[:-1]))
        if span[0] is CONSTANT.T:
            turned = tuple(x.T for x in reversed(span[1:]))
            return term("transpose", term("expect", self._random_word(turned)))
        x, y = self._two_sides(span)
        means = term("mul", term("expect", x), term("transpose", term("expect", y)))
        return term("add", term("cov", x, y), means)

    def _random_word(self, word: Word) -> Term:
        if len(word) > 1 and word[-1] is CONSTANT.T:  # a constant
            return self.word(word[:-1])
        start = next(i for i, x in enumerate(word) if x.cols == L2)
        factors = [self.letter(x) for x in word[:start]]
        if word[start] is not CONSTANT.T:
            factors.append(self.letter(word[start]))
        if not factors:  # the random variable 1, which stands as a number among random ones
            factors.append(rational(1))
        value = product_of(factors)
        for x in word[start + 1 :]:
            if x.transposed or x not in self.given:
                raise NoTerm(x.sort)
            value = term("expect_given", value, *self.given[x])
        return value

    def letter(self, x: Letter) -> Term:
        """A term for a letter, its transpose or its conjugate."""
        if x.transposed or x.conjugated:
            base = x.T if x.transposed else x
            base = base.conj if x.conjugated else base
            op = {(True, False): "transpose", (False, True): "conj", (True, True): "adjoint"}[
                x.transposed, x.conjugated
            ]
            return term(op, self.letter(base))
        if x in self.letters:
            return self.letters[x]
        if x.block is not None:
            return _injection(x, x.block)
        raise NoTerm(x.sort)


def _has_mean(word: Word) -> bool:
    return CONSTANT in word or CONSTANT.T in word


def entry_of_sum(vector: Term, index: tuple[Term, ...], scope: Scope) -> Term:
    """An entry of a vector, with sums and multiples opened up."""
    op, args = vector.op, vector.args
    if op == "comprehension":
        return instantiate(args[1], index)
    if op in ("add", "sub", "neg"):
        return term(op, *(entry_of_sum(a, index, scope) for a in args))
    if op == "mul" and infer(args[0], scope).is_scalar:
        return term("mul", args[0], entry_of_sum(args[1], index, scope))
    return term("entry", vector, *index)


def size_terms(kind: Type) -> dict[str, Term]:
    """The shape of a matrix, as the names n and k of a rule."""
    return {"n": size_term(kind.rows), "k": size_term(kind.cols)}


def opened(root: Term) -> Term:
    """`root` with the entries of vectors by comprehension, and of sums with such, written out."""
    done: dict[int, Term] = {}
    for node in postorder([root]):
        args = tuple(done[id(a)] for a in node.args)
        if node.op == "entry" and any(x.op == "comprehension" for x in _summands(args[0])):
            done[id(node)] = _entry(args[0], args[1:])
        else:
            done[id(node)] = term(node.op, *args, data=node.data)
    return done[id(root)]


def _summands(vector: Term) -> list[Term]:
    """The vectors of which one is a sum of multiples by numbers."""
    if vector.op in ("add", "sub", "neg"):
        return [x for a in vector.args for x in _summands(a)]
    if vector.op == "mul" and vector.args[0].op == "rational":
        return _summands(vector.args[1])
    return [vector]


def _entry(vector: Term, index: tuple[Term, ...]) -> Term:
    """An entry of such a sum."""
    if vector.op in ("add", "sub", "neg"):
        return term(vector.op, *(_entry(a, index) for a in vector.args))
    if vector.op == "mul" and vector.args[0].op == "rational":
        return term("mul", vector.args[0], _entry(vector.args[1], index))
    if vector.op == "comprehension":
        return instantiate(vector.args[1], index)
    return term("entry", vector, *index)


def _injection(x: Letter, block: tuple[Size, Size]) -> Term:
    offset, width = block
    rest = x.rows - offset - width
    cols = size_term(width)
    parts = [] if offset.value == 0 else [term("zeros", size_term(offset), cols)]
    parts.append(term("eye", cols) if width != ONE else rational(1))
    if rest.value != 0:
        parts.append(term("zeros", size_term(rest), cols))
    return term("block", *parts, data=(len(parts), 1))


def factors_of(a: Term) -> list[Term]:
    """The factors of a product or quotient, in order."""
    if a.op == "mul":
        return [f for b in a.args for f in factors_of(b)]
    if a.op == "div" and a.args[0] is not rational(1):
        return [*factors_of(a.args[0]), term("div", rational(1), a.args[1])]
    if a.op == "neg":
        return [rational(-1), *factors_of(a.args[0])]
    return [a]


def product_of(factors: list[Term]) -> Term:
    """The product, from the left."""
    total = factors[0]
    for factor in factors[1:]:
        total = term("mul", total, factor)
    return total


def _order(place: tuple[Monomial, Word]) -> tuple[list[str], list[tuple[str, int]]]:
    monomial, word = place
    return [x.sort for x in word], [(a.key, n) for a, n in monomial]
