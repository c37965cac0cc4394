"""One function per verb."""
