"""What a release is worth and what the raw table would give away.

Its modules are imported one by one: who counts groups needs no classifiers.
"""
