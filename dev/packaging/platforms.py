"""The platforms that releases exist for, by the target of the Rust compiler."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """How package managers name a platform."""

    npm_os: str
    npm_cpu: str
    # Tags of the wheel; without any, maturin finds that of macOS or Windows. A static program suits every C library.
    wheel_tags: tuple[str, ...] = ()
    debian: bool = False

    @property
    def npm_package(self) -> str:
        return f"memories-md-{self.npm_os}-{self.npm_cpu}"

    @property
    def program(self) -> str:
        return "memories.exe" if self.npm_os == "win32" else "memories"

    @property
    def zip_archive(self) -> bool:
        return self.npm_os == "win32"


STATIC = ("manylinux2014", "musllinux_1_1")
PLATFORMS = {
    "x86_64-unknown-linux-musl": Platform("linux", "x64", STATIC, debian=True),
    "aarch64-unknown-linux-musl": Platform("linux", "arm64", STATIC, debian=True),
    "x86_64-apple-darwin": Platform("darwin", "x64"),
    "aarch64-apple-darwin": Platform("darwin", "arm64"),
    "x86_64-pc-windows-msvc": Platform("win32", "x64"),
}
