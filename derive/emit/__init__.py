"""From a derivation's expression to a kernel that a person would have written.

`forms` and `structure` are the rule book, `lower` prints, `module` lays out a file.
"""
