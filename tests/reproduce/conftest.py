"""The experiments are next to the library, at the top of the checkout, and are not installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
