"""A wide table: 717 codes in 18 chapters, twenty columns that are released as they are, and a title."""

from pathlib import Path

CODES = [f"{chr(65 + place // 40)}{place % 40:02d}" for place in range(717)]
AS_IS = [f"lab {place}" for place in range(20)]
ROWS = 1500
TITLE = "Readmissions <2023>"

SPEC = """\
[table]
source = "wards.csv"
class  = "back"
title  = "Readmissions <2023>"
owner  = "City Hospital"
date   = 2024-05-31
others = "release"

[attributes.code]
kind     = "category"
taxonomy = "code.tree"

[attributes.age]
kind  = "number"
range = [0, 100]
whole = true

[attributes.dose]
kind  = "number"
range = [0, 50]

[[require]]
kind             = "k-anonymity"
quasi-identifier = ["code", "age", "dose"]
k                = 5

[publish]
recoding = "global"
"""


def wide_project(folder: Path) -> Path:
    """Writes the table and its spec; gives the spec."""
    lines = ["any"]
    for chapter in sorted({code[0] for code in CODES}):
        lines += [f"  Chapter {chapter}", *(f"    {code}" for code in CODES if code[0] == chapter)]
    (folder / "code.tree").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [",".join(["code", "age", "dose", *AS_IS, "back"])]
    for place in range(ROWS):
        code, age = CODES[place * 331 % 717], place * 37 % 100
        labs = [str(place * (lab + 3) % (31 + lab)) for lab in range(20)]
        rows.append(",".join([code, str(age), f"{place % 49 + 0.25}", *labs, "ny"[(ord(code[0]) + age) % 7 > 2]]))
    (folder / "wards.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    spec = folder / "wards.toml"
    spec.write_text(SPEC, encoding="utf-8")
    return spec
