"""Hospital encounters that nobody prepared: several per patient, 50 columns, `?` for missing, ICD-9 codes.

    python tests/encounters.py ROWS FILE

All of it is made up.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv

AGES = [f"[{lo}-{lo + 10})" for lo in range(0, 100, 10)]
CATEGORIES = [
    "250",
    "401",
    "414",
    "427",
    "428",
    "434",
    "486",
    "491",
    "518",
    "577",
    "599",
    "682",
    "715",
    "780",
    "786",
    "996",
]
DRUGS = 23


def encounters(rows: int, seed: int = 0) -> pa.Table:
    """A table in which a patient's columns repeat, and readmission depends on age, stays and diagnoses."""
    draw = np.random.default_rng(seed)
    patients = max(1, int(0.7 * rows))
    of = np.concatenate([np.arange(patients), draw.integers(0, patients, rows - patients)])
    age = np.clip(draw.normal(6, 2, patients), 0, 9).astype(int)
    columns: dict[str, object] = {
        "encounter_id": draw.permutation(rows) + 10**6,
        "patient_nbr": draw.permutation(patients)[of] + 10**5,
        "race": _gaps(draw, draw.choice(["Caucasian", "AfricanAmerican", "Hispanic", "Asian"], patients)[of], 0.02),
        "gender": draw.choice(["Female", "Male"], patients)[of],
        "age": np.array(AGES)[age][of],
        "weight": _gaps(draw, draw.choice(["[50-75)", "[75-100)", "[100-125)"], rows), 0.97),
        "admission_type_code": draw.integers(1, 9, rows),
        "discharge_disposition_code": draw.integers(1, 26, rows),
        "admission_source_code": draw.integers(1, 18, rows),
        "time_in_hospital": 1 + draw.poisson(3, rows),
        "payer_code": _gaps(draw, draw.choice(["MC", "HM", "SP", "BC", "MD"], rows), 0.4),
        "medical_specialty": _gaps(draw, draw.choice(["Cardiology", "Surgery", "Internal", "Emergency"], rows), 0.5),
        "num_lab_procedures": draw.poisson(43, rows),
        "num_procedures": draw.integers(0, 7, rows),
        "num_medications": draw.poisson(16, rows),
        "number_outpatient": draw.poisson(0.4, rows),
        "number_emergency": draw.poisson(0.2, rows),
        "number_inpatient": draw.poisson(0.6, rows),
        "diag_1": _codes(draw, rows),
        "diag_2": _gaps(draw, _codes(draw, rows), 0.004),
        "diag_3": _gaps(draw, _codes(draw, rows), 0.014),
        "number_diagnoses": draw.integers(1, 10, rows),
        "max_glu_serum": draw.choice(["None", "Norm", ">200", ">300"], rows, p=[0.94, 0.03, 0.02, 0.01]),
        "A1Cresult": draw.choice(["None", "Norm", ">7", ">8"], rows, p=[0.83, 0.05, 0.04, 0.08]),
        **{
            f"drug_{place:02d}": draw.choice(["No", "Steady", "Up"], rows, p=[0.8, 0.15, 0.05])
            for place in range(DRUGS)
        },
        "change": draw.choice(["Ch", "No"], rows),
        "diabetesMed": draw.choice(["Yes", "No"], rows),
    }
    risk = 0.5 * np.asarray(columns["number_inpatient"]) + 0.15 * (age[of] - 5) + draw.normal(0, 1, rows)
    columns["readmitted"] = np.select([risk > 1.6, risk > 0.3], ["<30", ">30"], "NO")
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _gaps(draw: np.random.Generator, values: np.ndarray, share: float) -> np.ndarray:
    return np.where(draw.random(len(values)) < share, "?", values)


def _codes(draw: np.random.Generator, rows: int) -> np.ndarray:
    """Codes of different lengths: 8, 250, 250.83, V57, E909."""
    codes = [*CATEGORIES, "8", "38", "110", *(f"250.{rest}" for rest in range(1, 94, 4)), "V57", "V45", "E909", "E888"]
    more = [str(code) for code in range(140, 999, 7)]
    return draw.choice([*codes * 4, *more], rows)


if __name__ == "__main__":
    pa.csv.write_csv(encounters(int(sys.argv[1])), sys.argv[2])
