"""Fetch the real agents and frameworks by the names of their packages: `make clients` runs this.

Nothing is installed on the machine: each agent's package is unpacked into a folder, and each set of
frameworks has an environment of its own there. Which registry they come from is npm's and pip's
configuration alone.
"""

import argparse
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

_MACHINES: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_HERE: Final = f"{sys.platform}-{_MACHINES.get(platform.machine().lower(), platform.machine())}"

# The versions that the stories were written for. Each package holds its platform's program itself.
PACKAGES: Final = {
    "claude-code": f"@anthropic-ai/claude-code-{_HERE}@2.1.332",
    "codex": f"@openai/codex@0.171.0-{_HERE}",
    "opencode": f"opencode-{_HERE}@1.18.34",
}
# Agents that come with what they need from npm.
PROGRAMS: Final = {
    "cline": "cline@3.0.65",
    "copilot": "@github/copilot@1.0.102",
    "gemini-cli": "@google/gemini-cli@0.61.0",
    # It needs a newer Node.js than many machines have.
    "pi": ("@earendil-works/pi-coding-agent@1.6.0", f"node-{_HERE}@22.23.5"),
    "qwen-code": "@qwen-code/qwen-code@0.24.4",
}
# What opencode installs by itself, slowly, when a home first has a plugin.
OPENCODE_PLUGIN: Final = "@opencode-ai/plugin@1.18.33"
# What traces a program of a framework: by one instrumentation, or by two at once.
_EXPORTING: Final = ("opentelemetry-distro", "opentelemetry-exporter-otlp-proto-http")
_OPENINFERENCE: Final = (
    "langchain", "langgraph", "openai-agents", "openinference-instrumentation-langchain",
    "openinference-instrumentation-openai-agents", "openinference-instrumentation-openai",
)  # fmt: skip
FRAMEWORKS: Final = {
    "pydantic-ai": (*_EXPORTING, "pydantic-ai-slim"),
    "smolagents": (*_EXPORTING, "smolagents", "openinference-instrumentation-smolagents"),
    "crewai": (*_EXPORTING, "crewai", "openinference-instrumentation-crewai"),
    "one": (*_EXPORTING, *_OPENINFERENCE),
    "two": (
        *_EXPORTING,
        *_OPENINFERENCE,
        "opentelemetry-instrumentation-langchain",
        "opentelemetry-instrumentation-openai-agents-v2",
    ),
}
AI_SDK: Final = (
    "ai@7.0.173",
    "@ai-sdk/otel",
    "@opentelemetry/sdk-node",
    "@opentelemetry/exporter-trace-otlp-proto",
    "zod",
)


def main() -> None:
    """Fetch what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where everything goes")
    folder = parser.parse_args().folder.resolve()  # npm runs inside it
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("npm") is None:
        sys.exit("make clients needs npm on the PATH: the agents are packages of npm")
    for name, package in PACKAGES.items():
        _fetch(package, folder / name)
    _install_from_npm(OPENCODE_PLUGIN, folder / "opencode" / "config")
    for name, package in PROGRAMS.items():
        _install_from_npm(package, folder / name)
    _install_from_npm(AI_SDK, folder / "ai-sdk")
    for name, packages in FRAMEWORKS.items():
        _install(packages, folder / "frameworks" / name)


def _fetch(package: str, target: Path) -> None:
    """Download and unpack a package of npm, unless this very version is there."""
    stamp = target / "fetched"
    if stamp.is_file() and stamp.read_text() == package:
        return
    print(f"fetching {package} ...")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        packed = ["npm", "pack", "--silent", "--pack-destination", folder, package]
        if subprocess.run(packed, cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode:
            sys.exit(f"make clients: npm cannot fetch {package}; its reason is above")
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as opened:
            opened.extractall(target, filter="data")
    stamp.write_text(package)


def _install(packages: tuple[str, ...], target: Path) -> None:
    """Make a virtual environment with packages, unless it is there."""
    stamp = target / "installed"
    if stamp.is_file() and stamp.read_text().split() == list(packages):
        return
    print(f"installing {' '.join(packages)} ...")
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", target], check=True)
    pip = [target / "bin" / "python", "-m", "pip", "install", "--quiet"]
    if subprocess.run([*pip, "--disable-pip-version-check", *packages], check=False).returncode:
        sys.exit(f"make clients: pip cannot install {packages[0]}; its reason is above")
    stamp.write_text("\n".join(packages))


def _install_from_npm(packages: str | tuple[str, ...], target: Path) -> None:
    """Install packages of npm with what they need into a folder, unless they are there."""
    named = (packages,) if isinstance(packages, str) else packages
    stamp = target / "installed"
    if stamp.is_file() and stamp.read_text().split() == list(named):
        return
    print(f"installing {' '.join(named)} ...")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", *named]
    if subprocess.run(command, cwd=target, check=False).returncode:
        shutil.rmtree(target)
        sys.exit(f"make clients: npm cannot install {named[0]}; its reason is above")
    stamp.write_text("\n".join(named))


if __name__ == "__main__":
    main()
