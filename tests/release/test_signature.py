"""Signatures and audits: what the owner signs, what a reader can check, and every way in which it is refused."""

import json
import stat
from pathlib import Path

import pytest

import unveil
from commands import Run
from project import Project
from unveil.release.signature import make_key, signature
from unveil.verifier.files.signature import check_signature

MADE_BY_MINISIGN = (
    "untrusted comment: minisign public key 697D2C88925FCAAE\n"
    "RWSuyl+SiCx9aRgK4+/Y+a56T+nS454N9hZgNhKt0+II5GdwlyW4fuKc\n",
    "untrusted comment: signature from minisign secret key\n"
    "RUSuyl+SiCx9aeY+EEfZTHwF4ZBgwNaavY/L4mPJEaJK1DYlzaeB1ayu6HCHt0+9bq/dh0wKdFNtTxVjto3zLzTvl7/0cQ0PeQs=\n"
    "trusted comment: a comment\n"
    "FizM78gGBXRqdwDE1Ysw/Ydbz5JXNr7loCH0Bu7/tQmJLZB+oVMjyiHFi2hHcJPkNgtXSgMjzX0B8PCpPr+HAA==\n",
)
"""A public key, and its signature of `{"any": "manifest"}`, made by minisign 0.11."""


@pytest.fixture
def signed(project: Project) -> Project:
    """A release that its owner signed."""
    unveil.publish(project.spec).write(project.release)
    make_key(project.folder / "owner")
    manifest = project.release / "manifest.json"
    text = signature(manifest.read_bytes(), project.folder / "owner", "the owner's")
    (project.release / "manifest.json.minisig").write_text(text, encoding="utf-8")
    return project


def claims(project: Project, key: str = "owner.pub") -> list[str]:
    return [finding.claim for finding in unveil.verify(project.release, key=project.folder / key)]


def test_a_signed_release_holds_and_says_by_whose_key(signed: Project) -> None:
    findings = unveil.verify(signed.release, key=signed.folder / "owner.pub")
    assert findings == []
    assert any("owner.pub" in note for note in findings.notes)
    assert any("--key" in note for note in unveil.verify(signed.release).notes)


def test_nobody_else_can_read_the_private_key(signed: Project) -> None:
    assert stat.S_IMODE((signed.folder / "owner").stat().st_mode) == 0o600


def test_a_manifest_that_was_changed_after_it_was_signed(signed: Project) -> None:
    path = signed.release / "manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["unveil_version"] = "9.9.9"
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    assert unveil.verify(signed.release) == []
    assert claims(signed) == ["signature"]


def test_data_that_was_changed_with_its_hash(signed: Project) -> None:
    other = unveil.publish(signed.spec, steps=0)
    folder = signed.folder / "other"
    other.write(folder)
    for name in ("manifest.json", "data.parquet"):
        (signed.release / name).write_bytes((folder / name).read_bytes())
    assert unveil.verify(signed.release) == []
    assert claims(signed) == ["signature"]


def test_a_release_that_is_not_signed(signed: Project) -> None:
    (signed.release / "manifest.json.minisig").unlink()
    assert claims(signed) == ["signature"]


def test_a_release_that_somebody_else_signed(signed: Project) -> None:
    make_key(signed.folder / "stranger")
    [finding] = unveil.verify(signed.release, key=signed.folder / "stranger.pub")
    assert "is signed with the key" in finding.message


@pytest.mark.parametrize("line", range(1, 4))
def test_a_damaged_signature(line: int, signed: Project) -> None:
    path = signed.release / "manifest.json.minisig"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[line] = lines[line].replace(lines[line][-4], "A" if lines[line][-4] != "A" else "B")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert claims(signed) == ["signature"]


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff\n\n\n", b"a\n" * 4, b"x" * 20_000])
def test_what_is_not_a_signature(content: bytes, signed: Project) -> None:
    (signed.release / "manifest.json.minisig").write_bytes(content)
    assert claims(signed) == ["signature"]


def test_a_link_is_not_a_signature(signed: Project) -> None:
    path = signed.release / "manifest.json.minisig"
    path.rename(signed.folder / "elsewhere")
    path.symlink_to(signed.folder / "elsewhere")
    assert claims(signed) == ["signature"]


def test_signatures_of_minisign_are_read(tmp_path: Path) -> None:
    key, text = MADE_BY_MINISIGN
    (tmp_path / "manifest.json").write_text('{"any": "manifest"}', encoding="utf-8")
    (tmp_path / "manifest.json.minisig").write_text(text, encoding="utf-8")
    (tmp_path / "key.pub").write_text(key, encoding="utf-8")
    assert list(check_signature(tmp_path, tmp_path / "key.pub")) == []
    (tmp_path / "manifest.json").write_text('{"any": "Manifest"}', encoding="utf-8")
    assert [finding.claim for finding in check_signature(tmp_path, tmp_path / "key.pub")] == ["signature"]


def test_a_key_behind_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_PASSPHRASE", "open sesame")
    make_key(tmp_path / "owner")
    assert signature(b"x", tmp_path / "owner", "about").startswith("untrusted comment: ")
    monkeypatch.setenv("UNVEIL_PASSPHRASE", "open barley")
    with pytest.raises(unveil.UnveilError, match="UNVEIL_PASSPHRASE does not open it"):
        signature(b"x", tmp_path / "owner", "about")
    monkeypatch.delenv("UNVEIL_PASSPHRASE")
    with pytest.raises(unveil.UnveilError, match="is encrypted; set UNVEIL_PASSPHRASE"):
        signature(b"x", tmp_path / "owner", "about")


def test_an_audit_files_everything_and_signs_it(project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.release)
    assert run("key", project.folder / "owner").code == 0
    outcome = run("audit", project.release, "--raw", project.spec, "--sign", project.folder / "owner")
    assert outcome.code == 0, outcome
    page = (project.folder / "release-audit.html").read_text(encoding="utf-8")
    manifest = unveil.open_release(project.release).manifest
    for words in (manifest.guarantee, "Any job", "every claim holds", "singling out", "unveil verify DIR --key FILE"):
        assert words in page
    assert manifest.files["data.parquet"].sha256 in page
    assert "<script" not in page
    assert (project.folder / "release-audit.html.minisig").exists()
    assert run("verify", project.release, "--key", project.folder / "owner.pub").code == 0


def test_an_audit_of_a_broken_release_is_not_written(project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.release)
    with (project.release / "data.parquet").open("ab") as file:
        file.write(b"x")
    outcome = run("audit", project.release, "--raw", project.spec)
    assert outcome.code == 1
    assert not (project.folder / "release-audit.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sign", "people.csv"), "this is not a private key"),
        (("--sign", "absent"), "the private key cannot be read"),
        (("--to", "release/audit.html"), "cannot be written into the release"),
        (("--to", "people.csv"), "ends in neither .html nor .htm"),
        (("--raw", "absent.toml"), "there is no such file"),
    ],
)
def test_what_an_audit_refuses(words: tuple[str, str], message: str, project: Project, run: Run) -> None:
    unveil.publish(project.spec).write(project.release)
    option, name = words
    given = {"--raw": project.spec, option: project.folder / name}
    outcome = run("audit", project.release, *(word for pair in given.items() for word in pair))
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert not (project.folder / "release-audit.html").exists()
    assert {path.name for path in project.release.iterdir()} == {"data.parquet", "manifest.json"}


def test_a_file_that_is_not_a_public_key(signed: Project, run: Run) -> None:
    outcome = run("verify", signed.release, "--key", signed.folder / "owner")
    assert outcome.code == 2
    assert "this is not a public key" in outcome.err
    assert run("key", signed.folder / "owner").code == 2
