"""From a derivation's expression to a kernel that a person would have written.

`elementary`, `rows`, `matrices` and `elimination` are the rule book, which `rules` applies;
`singular` refuses what may be singular; `lower` and `products` print; `kernel` writes a function,
`module` lays out a file, and `memory` compiles one for a notebook.
"""
