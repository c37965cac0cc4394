"""The release folder and its manifest, versioned."""

from unveil.release.folder import FORMATS, check_absent, read_manifest, write_data, write_whole
from unveil.release.manifest import Manifest, Rows
from unveil.release.release import Release, open_release

__all__ = [
    "FORMATS",
    "Manifest",
    "Release",
    "Rows",
    "check_absent",
    "open_release",
    "read_manifest",
    "write_data",
    "write_whole",
]
