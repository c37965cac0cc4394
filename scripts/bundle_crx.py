"""Write the bundled CRX table from the tab file that a published package carries.

    curl -O https://files.pythonhosted.org/packages/43/61/29c81c53504fb4c774eaec5218ca39f5d2625a61f0f6a52c61097be17f1c/Orange-2.7.8.tar.gz
    python scripts/bundle_crx.py Orange-2.7.8.tar.gz

`pip download` would try to build the package, which is for Python 2. The package may be a source archive or an unpacked
folder. Where the data comes from and what is changed on the way is described in ``src/unveil/data/LICENSE-DATA.md``.
"""

import argparse
import hashlib
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).resolve().parents[1] / "src" / "unveil" / "data"

MEMBER = "Orange/datasets/crx.tab"
SHA256 = "872b4622498d8700a8213b973af50cc7c907b02a1707af1a12bb1682d182ec88"
HEADER_LINES = 3
FRACTIONS, WHOLE = ("A2", "A3", "A8"), ("A11", "A14", "A15")
NAMES = [*(f"A{number}" for number in range(1, 16)), "class"]
TYPES = dict.fromkeys(FRACTIONS, pa.float64()) | dict.fromkeys(WHOLE, pa.int32())


def read_member(package: Path, ending: str) -> bytes:
    """Return the bytes of the one file whose path ends so, in a wheel, an archive or a folder."""
    if package.is_dir():
        [path] = (p for p in package.rglob(Path(ending).name) if p.as_posix().endswith(f"/{ending}"))
        return path.read_bytes()
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as archive:
            [entry] = (n for n in archive.namelist() if n.endswith(ending))
            return archive.read(entry)
    with tarfile.open(package) as archive:
        [entry] = (n for n in archive.getnames() if n.endswith(f"/{ending}"))
        stream = archive.extractfile(entry)
        if stream is None:
            raise SystemExit(f"{package}: {entry} is not a regular file")
        return stream.read()


def read_checked(package: Path, ending: str, sha256: str) -> str:
    """Return a raw file's text, or stop when its bytes are not the known ones."""
    raw = read_member(package, ending)
    found = hashlib.sha256(raw).hexdigest()
    if found != sha256:
        raise SystemExit(f"{ending} in {package}: sha256 is {found}, expected {sha256}")
    return raw.decode("ascii")


def to_table(records: list[list[str]], names: list[str], types: dict[str, pa.DataType]) -> pa.Table:
    """Return the records as a table with numbers as numbers; a missing number is null."""
    columns = dict(zip(names, map(list, zip(*records, strict=True)), strict=True))
    return pa.table(
        {
            name: pa.array([None if text == "?" else text for text in column]).cast(types[name])
            if name in types
            else pa.array(column)
            for name, column in columns.items()
        }
    )


def write(table: pa.Table, name: str) -> None:
    """Write a bundled table and say how large it is."""
    target = DATA / name
    pq.write_table(table, target, compression="zstd", compression_level=22, store_schema=False)
    print(f"{target.name}: {table.num_rows:,} rows, {target.stat().st_size:,} bytes")


def package_named(what: str) -> Path:
    """Return the package named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path, help=f"{what}: wheel, archive or folder")
    package: Path = parser.parse_args().package
    return package


def main() -> None:
    """Read the package named on the command line and write the table."""
    lines = read_checked(package_named("Orange 2.7.8"), MEMBER, SHA256).splitlines()[HEADER_LINES:]
    write(to_table([line.split("\t") for line in lines if line], NAMES, TYPES), "crx.parquet")


if __name__ == "__main__":
    main()
