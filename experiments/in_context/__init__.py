"""Attention as in-context empirical Bayes: the figures of the second text, and what follows them.

Errors are squared distances summed over the coordinates, in expectation (EB-1). `prompts` draws
tokens, `estimates` has both stages over sizes and depths of a prompt, in distances from Bayes, and
`population` the errors that infinitely many tokens would have. `mixtures` is the law of the
figures that leave it open, `wells` finds and counts the wells of an energy.
"""
