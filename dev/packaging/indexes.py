"""The Homebrew formula and the winget manifests: they name the archives of all platforms by address and checksum."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

# Of the manifests of winget; the fields used here exist since 1.0.
WINGET_VERSION = "1.10.0"
WINGET_ID = "Memories.Memories"
# What this makes.
MADE = {"SHA256SUMS", "memories.rb"}
BREW_PLATFORMS = {
    ("macos", "arm"): "aarch64-apple-darwin",
    ("macos", "intel"): "x86_64-apple-darwin",
    ("linux", "arm"): "aarch64-unknown-linux-musl",
    ("linux", "intel"): "x86_64-unknown-linux-musl",
}
WINDOWS = "x86_64-pc-windows-msvc"


def write(out: Path, manifest: dict[str, object], url: str) -> None:
    """Writes `SHA256SUMS` of the files in `out`, and from it `memories.rb` and the folder `winget`."""
    version = str(manifest["version"])
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name not in MADE)
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (out / "SHA256SUMS").write_text("".join(f"{checksum}  {name}\n" for name, checksum in checksums.items()))
    (out / "memories.rb").write_text(formula(manifest, version, url, checksums))
    folder = out / "winget"
    folder.mkdir(exist_ok=True)
    for name, text in winget(manifest, version, url, checksums).items():
        (folder / name).write_text(text)


def found(version: str, target: str, ending: str, checksums: dict[str, str]) -> tuple[str, str]:
    """The name and the checksum of the archive for `target`."""
    name = f"memories-v{version}-{target}.{ending}"
    if name not in checksums:
        raise SystemExit(
            f"dev/packaging/build: there is no `{name}`\nhint: put the packages of all platforms there"
        )
    return name, checksums[name]


def formula(manifest: dict[str, object], version: str, url: str, checksums: dict[str, str]) -> str:
    """A formula that installs a built program with its manual pages and completions."""
    systems = []
    for system in ["macos", "linux"]:
        lines = [f"  on_{system} do"]
        for cpu in ["arm", "intel"]:
            name, checksum = found(version, BREW_PLATFORMS[system, cpu], "tar.gz", checksums)
            lines += [f"    on_{cpu} do", f'      url "{url}/{name}"', f'      sha256 "{checksum}"', "    end"]
        systems.append("\n".join([*lines, "  end"]))
    platforms = "\n\n".join(systems)
    return f'''class Memories < Formula
  desc "Memory for agents that a person can read: one Markdown file"
  homepage "{homepage(url)}"
  version "{version}"
  license "{manifest["license"]}"

{platforms}

  def install
    bin.install "memories"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/memories.bash" => "memories"
    fish_completion.install "completions/memories.fish"
    zsh_completion.install "completions/_memories"
    doc.install "README.md", "CHANGELOG.md", "NOTICES.md", "THIRD-PARTY.txt", "schema"
  end

  test do
    system bin/"memories", "add", "world", "The test passes."
    assert_match "The test passes.", shell_output("#{{bin}}/memories recall world")
  end
end
'''


def homepage(url: str) -> str:
    """The repository that a release belongs to: its address ends before `/releases/`."""
    return re.split(r"/releases/", url, maxsplit=1)[0]


def winget(manifest: dict[str, object], version: str, url: str, checksums: dict[str, str]) -> dict[str, str]:
    """The three manifests of a version: which there are, what it is, and how it is installed."""
    name, checksum = found(version, WINDOWS, "zip", checksums)
    inside = f"{name.removesuffix('.zip')}\\memories.exe"
    common = {"PackageIdentifier": WINGET_ID, "PackageVersion": version}
    installer = {
        "Architecture": "x64",
        "InstallerType": "zip",
        "NestedInstallerType": "portable",
        "NestedInstallerFiles": [{"RelativeFilePath": inside, "PortableCommandAlias": "memories"}],
        "InstallerUrl": f"{url}/{name}",
        "InstallerSha256": checksum.upper(),
    }
    about = {
        "PackageLocale": "en-US",
        "Publisher": "the authors of memories",
        "PackageName": "memories",
        "PackageUrl": homepage(url),
        "License": manifest["license"],
        "ShortDescription": manifest["description"],
        "Moniker": "memories",
    }
    return {
        f"{WINGET_ID}.yaml": yaml("version", common | {"DefaultLocale": "en-US"}),
        f"{WINGET_ID}.installer.yaml": yaml("installer", common | {"Installers": [installer]}),
        f"{WINGET_ID}.locale.en-US.yaml": yaml("defaultLocale", common | about),
    }


def yaml(kind: str, fields: Mapping[str, object]) -> str:
    """A manifest; values are written as JSON, which is YAML."""
    whole = {**fields, "ManifestType": kind, "ManifestVersion": WINGET_VERSION}
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in whole.items())
