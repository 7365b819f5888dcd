"""What is installed beside the command: man pages and completions."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from command import ROOT

BUILD = pathlib.Path(os.environ.get("BERTH_BUILD", ROOT / "build/release"))
COMMANDS = ["", "run", "inspect", "check", "completion"]


@pytest.fixture(scope="session")
def prefix(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True
    )
    return folder


def help_of(prefix: pathlib.Path, command: str) -> str:
    words = [prefix / "bin/berth", *command.split(), "--help"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_man_page_says_what_the_help_says(prefix, command):
    if shutil.which("help2man") is None or shutil.which("groff") is None:
        pytest.skip("help2man or groff is not installed")
    name = "-".join(["berth", *command.split()])
    page = prefix / f"share/man/man1/{name}.1"
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", "-P-cbou", page],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    expected = help_of(prefix, command)
    lines = done.stdout.splitlines()
    # The words are the help's, however they are broken into lines and justified.
    shown = " ".join(re.sub(r"-\n +", "-", done.stdout).split())
    assert lines[0].startswith(f"{name.upper()}(1)")
    assert f"{name} - " in shown and f"berth {command}".strip() + " [OPTION]..." in shown
    assert " ".join(expected.split("\n\n")[1].split()) in shown
    options = re.findall(r"^  (-.*?)(?:  |$)", expected, re.MULTILINE)
    assert options
    for option in options:
        assert any(line.split()[: len(option.split())] == option.split() for line in lines), option


def test_there_is_a_page_for_each_command(prefix):
    listed = help_of(prefix, "").partition("\nCommands:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^  (\w+)", listed, re.MULTILINE) == COMMANDS[1:]


def test_completions_are_where_the_shells_look(prefix):
    for shell, path in (
        ("bash", "bash-completion/completions/berth"),
        ("zsh", "zsh/site-functions/_berth"),
        ("fish", "fish/vendor_completions.d/berth.fish"),
    ):
        command = [prefix / "bin/berth", "completion", shell]
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert (prefix / "share" / path).read_text() == made
