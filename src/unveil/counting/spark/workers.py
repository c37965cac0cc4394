"""The process that forks Spark's Python workers, with loaded modules. Spark runs it instead of `pyspark.daemon`.

A worker collects garbage after every task. It looks at all that its modules made each time, which takes longer than a
small task itself, unless that is set aside once.
"""

import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import unveil.counting.kernels
import unveil.counting.spark.engine  # noqa: F401

if __name__ == "__main__":
    gc.freeze()
    manager()
