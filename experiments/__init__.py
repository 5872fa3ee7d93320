"""Studies that use the numeric kernels as a user would.

A study imports of our own packages `numeric` only, and writes a record and a picture. `study` says
what a study is, `record` how its results are kept, `runner` how they come about, `catalogue` which
ones there are.
"""
