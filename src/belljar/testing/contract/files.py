"""Files on their way in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from belljar.errors import UsageError
from belljar.limits import Limits
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.result import Result


class FileContract(ContractBase):
    """Inputs are there before the code is, outputs come back after it has ended."""

    def test_inputs_can_be_read(self, run: Callable[..., Result], tmp_path: Path) -> None:
        host = tmp_path / "host"
        host.write_bytes(b"from the host")
        result = run(
            "print(open('a.txt').read(), open('deep/er/b.bin', 'rb').read(), open('c').read())",
            files={"a.txt": "text ü", "deep/er/b.bin": b"\0\xff", "c": host},
        )
        assert result.stdout == "text ü b'\\x00\\xff' from the host\n"

    def test_large_inputs_arrive_whole(self, run: Callable[..., Result]) -> None:
        data = bytes(range(256)) * 40_000
        source = "import hashlib; print(hashlib.sha256(open('data', 'rb').read()).hexdigest())"
        import hashlib

        assert run(source, files={"data": data}).stdout.strip() == hashlib.sha256(data).hexdigest()

    def test_an_executable_stays_one(self, run: Callable[..., Result], tmp_path: Path) -> None:
        script = tmp_path / "tool"
        script.write_text("#!/bin/sh\necho tool\n")
        script.chmod(0o755)
        assert run("import subprocess; subprocess.run(['./tool'])", files={"tool": script}).stdout == "tool\n"

    def test_new_and_changed_files_come_back(self, run: Callable[..., Result]) -> None:
        source = (
            "import os\n"
            "os.makedirs('sub')\n"
            "open('sub/new', 'wb').write(b'\\x00new')\n"
            "open('changed', 'a').write('!')\n"
            "open('tool', 'w').close(); os.chmod('tool', 0o700)\n"
        )
        result = run(source, files={"changed": "old", "same": "same"})
        assert {name: file.read() for name, file in result.files.items()} == {
            "sub/new": b"\0new",
            "changed": b"old!",
            "tool": b"",
        }
        assert result.files["tool"].mode == 0o755
        assert result.files["changed"].mode == 0o644

    def test_files_are_collected_wherever_the_code_went(self, run: Callable[..., Result]) -> None:
        result = run("import os; os.makedirs('sub'); os.chdir('sub'); open('x', 'w').write('1'); print('there')")
        assert result.stdout == "there\n"
        assert list(result.files) == ["sub/x"]

    def test_files_survive_a_bad_end(self, run: Callable[..., Result]) -> None:
        result = run("open('x', 'w').write('kept')\n1/0")
        assert result.files["x"].text() == "kept"

    def test_only_regular_files_come_back(self, run: Callable[..., Result]) -> None:
        source = (
            "import os, socket\n"
            "os.symlink('/etc/passwd', 'link'); os.symlink('/', 'root'); os.mkfifo('fifo')\n"
            "socket.socket(socket.AF_UNIX).bind('socket')\n"
            "open('one', 'w').write('x'); os.link('one', 'two')\n"
            "os.mkdir('loop'); os.symlink('..', 'loop/up')\n"
            "open('plain', 'w').write('y')"
        )
        assert list(run(source).files) == ["plain"]

    def test_the_limits_on_files_hold(self, run: Callable[..., Result]) -> None:
        result = run("for i in range(20): open(f'{i:02}', 'w').close()", limits=Limits(files=5))
        assert len(result.files) <= 5
        assert "files" in result.limits_hit
        source = "for i in range(4): open(f'{i}', 'wb').write(b'x' * 400_000)"
        result = run(source, limits=Limits(disk=1_000_000))
        assert sum(file.size for file in result.files.values()) <= 1_000_000
        assert "disk" in result.limits_hit

    def test_a_sparse_file_is_not_read(self, run: Callable[..., Result]) -> None:
        source = "for name in 'ab': open(name, 'w').truncate(40 << 20)"
        result = run(source, limits=Limits(disk="50M"))
        assert list(result.files) == ["a"]
        assert result.limits_hit == ("disk",)

    def test_a_tree_that_is_hard_to_remove(self, run: Callable[..., Result]) -> None:
        source = (
            "import os\n"
            "for _ in range(300): os.mkdir('d' * 100); os.chdir('d' * 100)\n"
            "os.makedirs('locked/inner'); open('locked/inner/f', 'w').close()\n"
            "os.chmod('locked/inner', 0); os.chmod('locked', 0)"
        )
        assert run(source).ok

    @pytest.mark.parametrize("name", ["/abs", "../up", "a/../b", "", "a\0b", "a//b", "."])
    def test_names_that_lead_elsewhere_are_refused(self, run: Callable[..., Result], name: str) -> None:
        with pytest.raises(UsageError, match="files"):
            run("1", files={name: ""})

    def test_inputs_that_are_not_there_are_refused(self, run: Callable[..., Result], tmp_path: Path) -> None:
        for path in (tmp_path / "missing", tmp_path, Path("/dev/zero")):
            with pytest.raises(UsageError, match="files"):
                run("1", files={"x": path})
        with pytest.raises(UsageError, match=r"limits\.disk"):
            run("1", files={"x": b"x" * 2000}, limits=Limits(disk=1000))
