"""Studies that use the numeric kernels as a user would.

A study imports of our own packages `numeric` only, and writes a record and a picture. `study` says
what a study is, `runner` how its results come about, here or on a `cluster`, `journal` how each is
kept at once, `record` what is written at the end, `catalogue` which studies there are.
"""
