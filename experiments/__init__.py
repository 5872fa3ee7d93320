"""Studies that use the numeric kernels as a user would.

A study imports of our own packages `numeric` only, and writes a record and a picture.
"""
