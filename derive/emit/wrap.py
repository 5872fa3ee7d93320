"""Breaks a long line of source at its brackets, as a formatter would."""

from __future__ import annotations

_PAIRS = {"(": ")", "[": "]"}


def wrapped(line: str, width: int) -> list[str]:
    """The line, or several lines of at most `width` columns where brackets or sums allow it."""
    if len(line) <= width or line.lstrip().startswith("#"):
        return [line]
    lines = _at_brackets(line, width)
    if any(len(part) > width for part in lines):
        return _at_terms(line, width) or lines
    return lines


def _at_terms(line: str, width: int) -> list[str]:
    """One line for each term of the sum that the line is, assigns or returns; none if it isn't."""
    indent = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    head = next(
        (h for h in ("return ", f"{text.partition(' = ')[0]} = ") if text.startswith(h)), ""
    )
    terms = _terms(text[len(head) :])
    if len(terms) < 2:
        return []
    if not head:  # an argument of a call: it stands in brackets already
        return [part for term in terms for part in wrapped(indent + term, width)]
    inner = [part for term in terms for part in wrapped(f"{indent}    {term}", width)]
    return [f"{indent}{head}(", *inner, f"{indent})"]


def _terms(text: str) -> list[str]:
    """The terms of a sum, each but the first with its sign before it."""
    depth, start, found = 0, 0, []
    for place, letter in enumerate(text):
        depth += (letter in _PAIRS) - (letter in _PAIRS.values())
        if depth == 0 and text[place : place + 3] in (" + ", " - "):
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def _at_brackets(line: str, width: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    if text.startswith("return ") and _commas(text[7:]):
        text = f"return ({text[7:]})"
    opening = _last_group(text)
    if opening is None:
        return [line]
    closing = _closing(text, opening)
    head, inside, tail = text[: opening + 1], text[opening + 1 : closing], text[closing:]
    if len(indent) + 4 + len(inside) <= width and not head.startswith("return ("):
        return [indent + head, f"{indent}    {inside}", indent + tail]
    parts = _commas(inside)
    if not parts:
        return [indent + head, *wrapped(f"{indent}    {inside}", width), indent + tail]
    pieces = [
        inside[a:b].strip()
        for a, b in zip([0, *[c + 1 for c in parts]], [*parts, len(inside)], strict=True)
    ]
    return [
        indent + head,
        *(part for piece in pieces for part in wrapped(f"{indent}    {piece},", width)),
        indent + tail,
    ]


def _last_group(text: str) -> int | None:
    """Where the last long bracket at the top level opens."""
    best, place = None, 0
    while place < len(text):
        if text[place] in _PAIRS:
            end = _closing(text, place)
            if end - place > 20:
                best = place
            place = end
        place += 1
    return best


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in _PAIRS) - (text[place] in _PAIRS.values())
        if depth == 0:
            return place
    raise ValueError(f"unbalanced brackets in {text!r}")


def _commas(text: str) -> list[int]:
    """Places of the commas outside all brackets."""
    depth, found = 0, []
    for place, letter in enumerate(text):
        depth += (letter in _PAIRS) - (letter in _PAIRS.values())
        if letter == "," and depth == 0:
            found.append(place)
    return found
