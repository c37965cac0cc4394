"""The engine for rows that outgrow one machine: Spark reads and shuffles, the same code as everywhere counts."""
