"""Code that computes what a statement says is told from code that doesn't."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import proofs
from proofs import conforms
from proofs.conformance import BindingError, ConformanceError, FunctionError, SideError
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.verdict import Verdict

SQUARE = "let n : dimension\nlet A : matrix(n, n)\nlet b : vector(n)\n"
INVERTIBLE = SQUARE + "assume invertible(A)"
ANY = "let n, k : dimension\nlet A : matrix(n, k)"
VECTOR = "let n : dimension\nlet x : vector(n)"
DENSITY = (
    "let n : dimension\nlet x, m : vector(n)\nlet S : matrix(n, n)\nassume positive_definite(S)"
)
CONDITIONING = """let n, m : dimension
let mu : vector(n)
let nu : vector(m)
let S : matrix(n, n)
let C : matrix(n, m)
let R : matrix(m, m)
let (X, Y) : gaussian((mu, nu), block([[S, C], [C.T, R]]))
show E(X | Y) = mu + C*pinv(R)*(Y - nu)
show cov(X, X | Y) = S - C*pinv(R)*C.T
"""


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def naive_softmax(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


def logpdf(x, m, S):
    L = np.linalg.cholesky(S)
    z = np.linalg.solve(L, x - m)
    return -(z @ z) / 2 - np.log(np.diag(L)).sum() - len(x) / 2 * np.log(2 * np.pi)


def condition(mu, nu, S, C, R, Y):
    gain = C @ np.linalg.pinv(R)
    return mu + gain @ (Y - nu), S - gain @ C.T


def condition_by_solving(mu, nu, S, C, R, Y):
    gain = np.linalg.solve(R, C.T).T
    return mu + gain @ (Y - nu), S - gain @ C.T


RIGHT = {
    "inverse": (lambda A: np.linalg.inv(A), "inv(A)", INVERTIBLE),
    "solve": (lambda A, b: np.linalg.solve(A, b), "inv(A)*b", INVERTIBLE),
    "pseudo-inverse": (lambda A: np.linalg.pinv(A), "pinv(A)", ANY),
    "complex pseudo-inverse": (
        lambda A: np.linalg.pinv(A), "pinv(A)", ANY.replace("matrix", "complex matrix")
    ),
    "adjoint": (
        lambda A: A.conj().T @ A, "A.H*A", ANY.replace("matrix", "complex matrix")
    ),
    "determinant": (lambda A: np.linalg.det(A), "det(A)", SQUARE),
    "rank": (lambda A: np.linalg.matrix_rank(A), "rank(A)", ANY),
    "trace": (lambda A, n: n * np.trace(A), "n*tr(A)", SQUARE),
    "quadratic form": (lambda A, b: b @ A @ b, "b.T*A*b", SQUARE),
    "softmax": (softmax, "softmax(x)", VECTOR),
    "log-density": (logpdf, "logpdf(x; m, S)", DENSITY),
    "member of a family": (
        lambda mu, j: mu[j - 1], "mu[j]",
        "let N, d : dimension\nlet mu : vector(d) for a in 1..N\nlet j : index(N)",
    ),
    "weighted sum": (
        lambda mu, w: w @ mu, "sum(w[a]*mu[a], a, 1, N)",
        "let N, d : dimension\nlet mu : vector(d) for a in 1..N\nlet w : vector(N)",
    ),
    "square root": (lambda p: np.sqrt(1 - p), "sqrt(1 - p)", "let p : nonnegative\nassume p <= 1"),
    "expectation": (
        lambda m, S, A: np.trace(A @ S) + m @ A @ m, "E(X.T*A*X)",
        "let n : dimension\nlet m : vector(n)\nlet S, A : matrix(n, n)\nlet X : gaussian(m, S)",
    ),
}  # fmt: skip

WRONG = {
    "transposed inverse": (lambda A: np.linalg.inv(A).T, "inv(A)", INVERTIBLE),
    "inverse without a hypothesis": (
        lambda A: np.linalg.inv(A.T @ A) @ A.T, "pinv(A)", ANY
    ),
    "transpose for adjoint": (
        lambda A: A.T @ A, "A.H*A", ANY.replace("matrix", "complex matrix")
    ),
    "entries for product": (lambda A, b: A * b, "A*b", SQUARE),
    "rank with an absolute tolerance": (
        lambda A: np.linalg.matrix_rank(A, tol=1e-6), "rank(A)", ANY
    ),
    "overflowing softmax": (naive_softmax, "softmax(x)", VECTOR),
    "complement that cancels": (
        lambda x: np.diag(softmax(x)) - np.outer(softmax(x), softmax(x)),
        "diag(softmax(x)) - softmax(x)*softmax(x).T", VECTOR,
    ),
    "cancelling expm1": (lambda t: np.exp(t) - 1, "exp(t) - 1", "let t : real"),
    "mean for sum": (lambda x: x.mean(), "sum(x[j], j, 1, n)", VECTOR),
    "index from 0": (lambda x, j: x[j], "x[j]", VECTOR + "\nlet j : index(n)"),
    "row for vector": (lambda A, b: (A @ b)[None], "A*b", SQUARE),
    "nothing": (lambda A, b: None, "A*b", SQUARE),
    "text": (lambda A, b: "A*b", "A*b", SQUARE),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_is_confirmed(case: str):
    function, expression, given = RIGHT[case]
    found = conforms(function, expression, given=given, instances=40)
    assert found.verdict is Verdict.CHECKED, str(found)
    assert found.instances >= 20
    assert found.worst <= 20
    assert found.failing is None
    assert "computes" in str(found)


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_shown_with_both_values(case: str):
    function, expression, given = WRONG[case]
    found = conforms(function, expression, given=given)
    assert found.verdict is Verdict.REFUTED, str(found)
    assert found.failing is not None
    assert 0 < found.failed <= found.instances
    shown = str(found)
    assert "doesn't compute" in shown
    assert f"expected {found.failing.expected}" in shown
    assert f"got      {found.failing.got}" in shown


def test_the_failing_instance_is_a_small_one():
    found = conforms(lambda A: A, "A.T", given=SQUARE)
    assert found.failing is not None
    assert found.failing.model.values["n"] == 2
    assert found.failing.why.startswith("the result is off by ")


def test_the_same_seed_gives_the_same_answer():
    def rows(seed: int) -> object:
        found = conforms(naive_softmax, "softmax(x)", given=VECTOR, seed=seed, instances=30)
        return {**found.as_json(), "seconds": 0}

    assert rows(3) == rows(3)
    assert rows(3) != rows(4)


# ---------------------------------------------------------------- errors against conditioning


def test_an_ill_conditioned_result_is_measured_by_its_conditioning():
    """Eight digits are lost by the inputs' own last digit; losing them is no fault."""
    given = "let n : dimension\nlet A, B : matrix(n, n)\nlet s : real\nassume invertible(A + s*B)"
    found = conforms(lambda A, B, s: np.linalg.inv(A + s * B), "inv(A + s*B)", given=given)
    assert found.verdict is Verdict.CHECKED, str(found)
    assert found.worst < 100


def test_an_unstable_way_is_off_by_more_than_the_inputs_decide():
    given = "let x : real\nlet y : real"

    def cancelling(x, y):
        return (x + y) ** 2 - x**2 - 2 * x * y  # y^2, with all digits lost where x is large

    found = conforms(cancelling, "y^2", given=given)
    assert found.verdict is Verdict.REFUTED
    assert conforms(lambda y: y * y, "y^2", given=given).verdict is Verdict.CHECKED


def test_the_tolerance_is_what_separates_them():
    expm1 = "exp(t) - 1"
    found = conforms(lambda t: np.exp(t) - 1, expm1, given="let t : real", tolerance=1e30)
    assert found.verdict is Verdict.CHECKED
    assert found.worst > 1e5


def test_float32_is_measured_by_its_own_digits():
    found = conforms(softmax, "softmax(x)", given=VECTOR, dtype="float32")
    assert found.verdict is Verdict.CHECKED
    assert 1e-9 < found.worst_relative < 1e-5

    def passed(x):
        assert x.dtype == np.float32
        return x

    assert conforms(passed, "x", given=VECTOR, dtype="float32").verdict is Verdict.CHECKED


def test_a_result_that_jumps_is_judged_along_its_own_rank():
    """Singular matrices are asked about, and a pseudo-inverse is held to its value there."""
    found = conforms(lambda A: np.linalg.pinv(A), "pinv(A)", given=ANY, instances=80)
    assert found.features["singular"] >= 3
    assert found.verdict is Verdict.CHECKED
    singular = "let n : dimension\nlet A : matrix(n, n)\nassume det(A) = 0"
    found = conforms(lambda A: np.linalg.pinv(A), "pinv(A)", given=singular)
    assert found.instances > 20
    assert found.verdict is Verdict.CHECKED, str(found)
    found = conforms(lambda A: np.linalg.pinv(A) * (1 + 1e-9), "pinv(A)", given=singular)
    assert found.verdict is Verdict.REFUTED


# ---------------------------------------------------------------- statements


def test_a_file_with_two_goals_asks_for_two_results(tmp_path: Path):
    path = tmp_path / "conditioning.thm"
    path.write_text(CONDITIONING)
    found = conforms(condition, path)
    assert found.verdict is Verdict.CHECKED, str(found)
    assert found.features["singular"] > 3
    assert "(conditioning.thm)" in found.stated
    # A solve needs more than the statement grants: the singular case is an honest failure.
    assert conforms(condition_by_solving, str(path)).verdict is Verdict.REFUTED
    found = conforms(condition_by_solving, path, assume=["positive_definite(R)"])
    assert found.verdict is Verdict.CHECKED, str(found)
    second = conforms(lambda S, C, R: S - C @ np.linalg.pinv(R) @ C.T, path, goal=2)
    assert second.verdict is Verdict.CHECKED, str(second)
    found = conforms(lambda mu, nu, S, C, R, Y: mu, path)
    assert found.failing is not None
    assert "it returns no 2 results" in found.failing.why


def test_a_statement_its_text_and_its_file_are_the_same_question(tmp_path: Path):
    text = INVERTIBLE + "\nshow A*inv(A)*b = b\n"
    path = tmp_path / "identity.thm"
    path.write_text(text)
    for stated in (text, path, parse(text).statements[0], parse(text).statements):
        found = conforms(lambda b: b, stated, side="right", instances=10)
        assert found.verdict is Verdict.CHECKED
    with pytest.raises(BindingError, match="depends on A"):  # a side that need not be used
        conforms(lambda b: b, text, side="left")


def test_either_side_will_do_where_they_agree():
    true = SQUARE + "show (A*A).T*b = A.T*(A.T*b)\n"
    assert conforms(lambda A, b: A.T @ (A.T @ b), true).verdict is Verdict.CHECKED
    false = SQUARE + "show A*b = A.T*b\n"
    with pytest.raises(SideError, match=r"the statement is false at n = .*say side='left'"):
        conforms(lambda A, b: A @ b, false)
    assert conforms(lambda A, b: A @ b, false, side="left").verdict is Verdict.CHECKED
    assert conforms(lambda A, b: A @ b, false, side="right").verdict is Verdict.REFUTED


def test_an_inequality_needs_a_side():
    given = "let x, y : real\nshow 2*x*y <= x^2 + y^2\n"
    with pytest.raises(SideError, match="say side="):
        conforms(lambda x, y: 2 * x * y, given)
    assert conforms(lambda x, y: 2 * x * y, given, side="left").verdict is Verdict.CHECKED


def test_without_an_instance_nothing_is_claimed():
    found = conforms(lambda x: x, "x", given="let x : real\nassume x > 1\nassume x < 0")
    assert found.verdict is Verdict.OPEN
    assert "no instance of the hypotheses was found" in str(found)


def test_further_hypotheses_narrow_the_question():
    def root(x):
        return np.sqrt(x) if x >= 1 else x

    given = "let x : nonnegative"
    found = conforms(root, "sqrt(x)", given=given)
    assert found.failing is not None
    assert found.failing.model.values["x"] < 1  # pyright: ignore
    assert conforms(root, "sqrt(x)", given=given, assume=["x >= 1"]).verdict is Verdict.CHECKED


def test_abbreviations_of_the_statement_may_stand_in_further_hypotheses():
    text = ANY + "\ndefine gram = A.T*A\nshow inv(gram)*A.T = pinv(A)\n"

    def pseudo_inverse(A):
        return np.linalg.solve(A.T @ A, A.T)

    found = conforms(pseudo_inverse, text, side="right", assume=["invertible(gram)"])
    assert found.verdict is Verdict.CHECKED, str(found)


# ---------------------------------------------------------------- calls


def test_batches_are_stacks_of_the_single_instances():
    for function, expression, given in (
        (lambda A: np.linalg.inv(A), "inv(A)", INVERTIBLE),
        (softmax, "softmax(x)", VECTOR),
        (lambda A, b: np.linalg.solve(A, b[..., None])[..., 0], "inv(A)*b", INVERTIBLE),
    ):
        found = conforms(function, expression, given=given, batches=True)
        assert found.verdict is Verdict.CHECKED, str(found)
        assert found.batches >= 6
    for function, expression, given in (
        (lambda A: A.T, "A.T", ANY),
        (lambda A, b: A @ b, "A*b", SQUARE),
        (lambda x: x / x.sum() if x.size else x, "x/sum(x[j], j, 1, n)",
         VECTOR + "\nassume sum(x[j], j, 1, n) != 0"),
    ):  # fmt: skip
        assert conforms(function, expression, given=given).verdict is Verdict.CHECKED
        found = conforms(function, expression, given=given, batches=True)
        assert found.verdict is Verdict.REFUTED
        assert found.failing is not None
        assert found.failing.batch
        assert "batch of shape" in str(found)


def test_the_empty_batch_is_one_of_them():
    def fails_when_empty(x):
        return softmax(x[:1])[0] if x.ndim > 3 else softmax(x) if len(x) else softmax(x[0])

    found = conforms(fails_when_empty, "softmax(x)", given=VECTOR, batches=True)
    assert found.failing is not None
    assert found.failing.batch == (0,)


def test_parameters_are_bound_by_name():
    def solve(matrix, right, *, scale=1.0, n=None):
        assert n is None or n == len(right)
        return scale * np.linalg.solve(matrix, right)

    names = {"matrix": "A", "right": "b"}
    assert conforms(solve, "inv(A)*b", given=INVERTIBLE, names=names).verdict is Verdict.CHECKED
    found = conforms(np.linalg.solve, "inv(A)*b", given=INVERTIBLE, names=["A", "b"])
    assert found.verdict is Verdict.CHECKED

    def anything(**arrays):
        return arrays["A"] @ arrays["b"]

    found = conforms(anything, "A*b", given=SQUARE, names={"A": "A", "b": "b"})
    assert found.verdict is Verdict.CHECKED

    def positional(A, b, /):
        return A @ b

    assert conforms(positional, "A*b", given=SQUARE).verdict is Verdict.CHECKED


def test_vectors_are_flat_or_columns_as_asked():
    seen = set()

    def product(A, b):
        seen.add(b.ndim)
        return A @ b

    assert conforms(product, "A*b", given=SQUARE).verdict is Verdict.CHECKED
    assert conforms(product, "A*b", given=SQUARE, columns=True).verdict is Verdict.CHECKED
    assert seen == {1, 2}


def test_a_changed_argument_is_noticed():
    def add_one(A):
        A += np.eye(len(A))
        return A

    found = conforms(add_one, "A + eye(n)", given=SQUARE)
    assert found.verdict is Verdict.CHECKED
    assert found.notes == ("it changes its argument A in place",)


def test_what_a_function_raises_is_a_failure_of_its_own():
    def picky(x):
        if len(x) == 3:
            raise RuntimeError("not for three")
        return x

    found = conforms(picky, "x", given=VECTOR)
    assert found.failing is not None
    assert found.failing.why == "it raises RuntimeError"
    assert found.failing.got == "not for three"

    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conforms(stopped, "x", given=VECTOR)


# ---------------------------------------------------------------- other kinds of arrays


class Tensor:
    """As much of a tensor as conversion needs."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> type[Tensor]:
    """A stand-in for PyTorch, whose tensors are passed and come back."""
    from types import ModuleType

    module = ModuleType("torch")
    module.Tensor, module.asarray = Tensor, Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "torch", module)
    return Tensor


def test_tensors_are_passed_where_the_annotations_ask_for_them(torch):
    def product(A: Tensor, b: Tensor) -> Tensor:
        assert isinstance(A, Tensor)
        return Tensor(A.array @ b.array)

    assert conforms(product, "A*b", given=SQUARE).verdict is Verdict.CHECKED

    class Module:
        """As torch modules are: called through `__call__(*args)`, with a `forward` of their own."""

        __module__ = "torch.nn"

        def forward(self, x):
            return Tensor(2 * x.array)

        def __call__(self, *args, **named):
            return self.forward(*args, **named)

    assert conforms(Module(), "2*x", given=VECTOR).verdict is Verdict.CHECKED


def test_tensors_without_torch_are_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(FunctionError, match="torch isn't installed"):
        conforms(lambda x: x, "x", given=VECTOR, arrays="torch")


def test_any_conversion_can_be_given():
    found = conforms(lambda x: [2 * e for e in x], "2*x", given=VECTOR, arrays=np.ndarray.tolist)
    assert found.verdict is Verdict.CHECKED


# ---------------------------------------------------------------- the door


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((3, "x"), FunctionError, "expected a function, got int"),
        ((lambda y: y, "x"), BindingError, "no declared name is called 'y'"),
        ((lambda: 0, "x"), BindingError, "depends on x"),
        ((lambda x: x, "x", {"names": {"y": "x"}}), BindingError, "no parameter 'y'"),
        ((lambda x: x, "x", {"names": {"x": "z"}}), BindingError, "'z', which is not declared"),
        ((np.add, "x", {}), BindingError, "."),
        ((lambda x: x, "x", {"dtype": "int64"}), BindingError, "float64 or float32"),
        ((lambda x: x, "x", {"dtype": "float65"}), BindingError, "no dtype"),
        ((lambda x: x, "x", {"arrays": "jax"}), FunctionError, "'numpy', 'torch'"),
        ((lambda x: x, "x", {"side": "up"}), SideError, "'left' or 'right'"),
        ((lambda x: x, "x", {"goal": 2}), SideError, "there is no goal 2"),
        ((lambda x: x, "x +"), StatementError, "expected"),
        ((lambda x: x, "y"), StatementError, "unknown name 'y'"),
        ((lambda x: x, "x", {"assume": ["z > 0"]}), StatementError, "unknown name 'z'"),
    ],
)  # fmt: skip
def test_a_question_that_can_not_be_asked_is_a_typed_error(arguments, error, said):
    function, expression, *options = arguments
    with pytest.raises(error, match=said):
        conforms(function, expression, given="let x : real", **(options[0] if options else {}))


def test_what_is_no_statement_is_refused(tmp_path: Path):
    with pytest.raises(ConformanceError, match="needs given="):
        conforms(lambda x: x, "x")
    with pytest.raises(ConformanceError, match="got int"):
        conforms(lambda x: x, 3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        conforms(lambda x: x, tmp_path / "absent.thm")
    with pytest.raises(SideError, match="has no sides"):
        conforms(lambda A: A, SQUARE + "show symmetric(A + A.T)\n")


def test_names_that_code_can_not_be_given_are_refused():
    with pytest.raises(BindingError, match="v is a function"):
        conforms(lambda v, t: v(t), "v(t)", given="let v : function(real)\nlet t : real")
    law = "let m, s : real\nassume s >= 0\nlet X : gaussian(m, s)"
    with pytest.raises(BindingError, match="random name"):
        conforms(lambda X: X, "E(X)", given=law)
    with pytest.raises(SideError, match="is a random variable"):
        conforms(lambda mu, Y: mu, CONDITIONING, goal=1, side="left")


def test_an_answer_has_no_truth_value():
    found = conforms(lambda x: x, "x", given=VECTOR, instances=5)
    with pytest.raises(TypeError, match="no truth value"):
        bool(found)


def test_it_is_exported_lazily():
    assert proofs.conforms is conforms
    assert "conforms" in dir(proofs)
    with pytest.raises(AttributeError, match="nothing"):
        _ = proofs.nothing  # type: ignore[attr-defined]
