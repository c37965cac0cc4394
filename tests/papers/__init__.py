"""The worked examples and the data sets of the papers, through the whole library."""
