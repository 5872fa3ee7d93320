"""Breaks a long line of source at its brackets, as a formatter would."""

from __future__ import annotations

_PAIRS = {"(": ")", "[": "]"}


def wrapped(line: str, width: int) -> list[str]:
    """The line, or several lines of at most `width` columns where its brackets allow it."""
    if len(line) <= width or line.lstrip().startswith("#"):
        return [line]
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
