"""One module per verb, each with a function of its name."""
