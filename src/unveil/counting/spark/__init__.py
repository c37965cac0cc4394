"""The engine for rows that outgrow one machine: Spark reads and shuffles, and the code of the other engines counts."""
