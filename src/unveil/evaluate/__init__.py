"""What a classifier keeps."""

from unveil.evaluate.accuracy import accuracy

__all__ = ["accuracy"]
