"""What makes the documentation lies beside the library, at the top of the checkout, and is not installed."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "pages"), str(ROOT / "scripts")]
