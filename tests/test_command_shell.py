"""The berth command's words: its help, what shells complete, its exit statuses."""

import re
import shutil
import subprocess

import pytest
from command import COMMAND, ROOT, berth

COMMANDS = ["run", "inspect", "check", "completion"]


def options(command: str) -> set[str]:
    """The long options that a command's help lists."""
    listed = berth(command, "--help").stdout.partition("\nOptions:\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", listed, re.MULTILINE))


def shell(name: str, script: str, *arguments: str, cwd=None) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [name, "-c", script, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def bash(*words: str, cwd=None) -> set[str]:
    """What bash offers for the last of these words."""
    script = (
        'source <("$0" completion bash); complete -p berth >/dev/null || exit 3\n'
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _berth; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return set(shell("bash", script, str(COMMAND), *words, cwd=cwd).split())


@pytest.fixture
def folder(tmp_path):
    for name in ("a.npy", "b.npz", "m.pt2", "m.pte", "m.so", "notes.txt", "w.blob"):
        (tmp_path / name).touch()
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_help_fits_a_terminal_and_names_every_status():
    for arguments in ([], *([command] for command in COMMANDS)):
        done = berth(*arguments, "--help")
        assert done.returncode == 0 and done.stderr == ""
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert "Exit status" in done.stdout or arguments == ["completion"]
    statuses = re.findall(r"^  (\d+) ", berth("--help").stdout, re.MULTILINE)
    codes = re.findall(r"^  k\w+ = (\d+),", (ROOT / "include/berth/error.h").read_text(), re.M)
    assert statuses == ["0", "1", "2", *(str(10 + int(code)) for code in codes)]


def test_what_is_not_understood_has_a_status_of_its_own():
    for arguments, says in (
        ([], "'berth --help'"),
        (["frob"], "frob"),
        (["run"], "FILE is required; 'berth run --help' says more"),
        (["run", "m.so", "--frob"], "--frob"),
        (["run", "m.so", "--repeat", "0"], "--repeat"),
        (["run", "m.so", "--repeat", "often"], "--repeat"),
        (["run", "m.so", "--placement", "disk"], "--placement"),
        (["inspect", "a.so", "b.so"], "b.so"),
        (["completion", "tcsh"], "tcsh"),
    ):
        done = berth(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == "" and done.stderr.count("\n") == 1
        assert done.stderr.startswith("berth: ") and says in done.stderr


def test_bash_completes_commands_and_every_option():
    assert bash("berth", "") == set(COMMANDS)
    assert bash("berth", "in") == {"inspect"}
    assert "--expect" in options("run")
    for command in COMMANDS:
        assert bash("berth", command, "--") == options(command)


def test_bash_completes_words_and_files(folder):
    words = {"automatic", "file", "memory"}
    assert bash("berth", "run", "--placement", "") == words
    assert bash("berth", "run", "--placement", "=", "") == words
    assert bash("berth", "run", "--placement", "=") == words
    assert bash("berth", "completion", "z") == {"zsh"}
    models = {"m.pt2", "m.pte", "m.so", "sub"}
    arrays = {"a.npy", "b.npz", "sub"}
    for words, offered in (
        (("run", ""), models),
        (("check", "m.so", ""), models),
        (("run", "m.pte", "--input", ""), arrays),
        (("run", "m.pte", "--input", "a.npy", ""), arrays),
        (("run", "m.pte", "--output", ""), {"b.npz", "sub"}),
        (("run", "--output", "made", ""), models),
        (("run", "--json", ""), models),
        (("run", "m.pte", "--temp-dir", ""), {"sub"}),
        (("run", "m.pte", "--data", "w"), {"w.blob"}),
        (("run", "m.pte", "--repeat", ""), set()),
    ):
        assert bash("berth", *words, cwd=folder) == offered, words


def test_fish_completes_the_same(folder):
    def fish(line: str) -> set[str]:
        script = f'"{COMMAND}" completion fish | source; complete -C "{line}"'
        found = shell("fish", script, cwd=folder).splitlines()
        return {line.split("\t")[0] for line in found}

    assert fish("berth ") == set(COMMANDS)
    assert fish("berth run --pl") == {"--placement"}
    assert fish("berth run --placement ") == {"automatic", "file", "memory"}
    assert fish("berth run ") == {"m.pt2", "m.pte", "m.so", "sub/"}
    assert fish("berth run m.pte --input ") == {"a.npy", "b.npz", "sub/"}
    assert fish("berth completion ") == {"bash", "zsh", "fish"}


def test_zsh_takes_the_script():
    script = (
        'autoload -Uz compinit && compinit -u -D && source <("$0" completion zsh)\n'
        "print -r -- $_comps[berth]"
    )
    assert shell("zsh", script, str(COMMAND)).strip() == "_berth"
    text = berth("completion", "zsh").stdout
    for command in COMMANDS:
        for option in options(command):
            assert f"'{option}[" in text
