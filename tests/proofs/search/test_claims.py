"""Every claim of `claims/`: true ones are proved, false ones refuted and never proved."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import (
    FOLDER,
    Claim,
    assert_not_proved,
    assert_proved,
    assert_refuted,
    read,
)

CLAIMS = [claim for path in sorted(FOLDER.glob("*.thm")) for claim in read(path)]
WANTED = {"==": assert_proved, "!=": assert_refuted, "??": assert_not_proved}


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_a_claim_is_met_as_it_is_marked(claim: Claim) -> None:
    WANTED[claim.mark](claim.text)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.thm")), ids=lambda path: path.stem)
def test_every_subject_has_true_claims_and_false_neighbours(path) -> None:
    marks = {claim.mark for claim in read(path)}
    assert "==" in marks
    assert marks & {"!=", "??"}


def test_two_claims_of_one_name_are_an_error(tmp_path) -> None:
    twice = tmp_path / "twice.thm"
    twice.write_text("== a\nshow 1 = 1\n\n== a\nshow 2 = 2\n")
    with pytest.raises(ValueError, match="two claims of one name"):
        read(twice)
