"""The words a user can choose from, each list written once.

They live outside the packages that act on them, so that `--help` can list them without importing those packages.
"""

from typing import Literal, get_args

EngineName = Literal["auto", "memory", "stream", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

Place = Literal["auto", "driver", "cluster"]
PLACES: tuple[Place, ...] = get_args(Place)
"""Where Spark searches: in the driver's memory or on the cluster."""

Format = Literal["parquet", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)

Unseen = Literal["refuse", "suppress"]
"""What happens to a value that has no block."""

FileIntervals = Literal["text", "bounds", "midpoint"]
Intervals = Literal[FileIntervals, "interval"]
INTERVALS: tuple[Intervals, ...] = get_args(Intervals)
"""How intervals are shown; `interval` is a type of pandas, which no file can hold."""
