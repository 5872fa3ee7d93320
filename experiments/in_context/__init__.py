"""Attention as in-context empirical Bayes: the figures of the second text, and what follows them.

Errors are squared distances summed over the coordinates, in expectation (EB-1). `prompts` draws
tokens, `population` gives the errors that infinitely many tokens would have.
"""
