"""What a program finds: a real main module, a clean environment, a place of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belljar.outcome import Outcome
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from belljar.result import Result


class ProgramContract(ContractBase):
    """Python code runs as the interpreter itself would run it."""

    def test_it_is_the_main_module(self, run: Callable[..., Result]) -> None:
        result = run("import sys\nif __name__ == '__main__': print(sys.modules['__main__'].x)\n", files={})
        assert result.error is not None
        assert "has no attribute 'x'" in result.error.message
        result = run("import os, sys; x = 1; print(sys.modules['__main__'].x, os.path.basename(__file__), sys.argv)")
        assert result.stdout == "1 main.py ['main.py']\n"

    def test_its_file_is_there_and_has_its_source(self, run: Callable[..., Result]) -> None:
        source = "import inspect\ndef f(): return 1\nprint(inspect.getsource(f), end='')\nprint(open(__file__).read())"
        assert run(source).stdout == f"def f(): return 1\n{source}\n"

    def test_arguments_and_filename(self, run: Callable[..., Result]) -> None:
        result = run("import sys; print(sys.argv); 1/0", args=["a", "b c", "ü"], filename="tool.py")
        assert result.stdout == "['tool.py', 'a', 'b c', 'ü']\n"
        assert 'File "tool.py", line 1' in result.stderr

    def test_classes_of_the_code_pickle(self, run: Callable[..., Result]) -> None:
        result = run("import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)")
        assert result.stdout == "True\n"

    def test_functions_of_the_code_work_in_a_pool(self, run: Callable[..., Result]) -> None:
        for method in ("fork", "spawn"):
            source = (
                "import multiprocessing\n"
                "def square(x): return x * x\n"
                "if __name__ == '__main__':\n"
                f"  with multiprocessing.get_context({method!r}).Pool(2) as pool: print(pool.map(square, [1, 2, 3]))"
            )
            result = run(source)
            assert result.stdout == "[1, 4, 9]\n", result.stderr

    def test_the_value_of_the_last_expression(self, run: Callable[..., Result]) -> None:
        result = run("x = 20\nx * 2 + 2")
        assert (result.has_value, result.value) == (True, 42)
        assert result.displays[0].data == {"text/plain": "42"}
        for source, value in [
            ("[1, 2.5, 'ü', None, True, {'a': []}]", [1, 2.5, "ü", None, True, {"a": []}]),
            ("(1, 2)", [1, 2]),
            ("'text'", "text"),
        ]:
            assert run(source).value == value

    def test_no_value_where_there_is_none(self, run: Callable[..., Result]) -> None:
        for source in ("x = 1", "None", "def f(): return 1", "print('x')", "float('nan')", "object()", ""):
            result = run(source)
            assert (result.outcome, result.has_value) == (Outcome.OK, False), source

    def test_rich_displays(self, run: Callable[..., Result]) -> None:
        source = (
            "class Chart:\n"
            "  def __repr__(self): return 'chart'\n"
            "  def _repr_html_(self): return '<b>chart</b>'\n"
            "  def _repr_png_(self): return b'png'\n"
            "Chart()"
        )
        data = run(source).displays[0].data
        assert data == {"text/plain": "chart", "text/html": "<b>chart</b>", "image/png": "cG5n"}

    def test_future_imports_reach_the_last_expression(self, run: Callable[..., Result]) -> None:
        source = "from __future__ import annotations\ndef f(x: undefined): pass\n(lambda: f.__annotations__)()"
        assert run(source).value == {"x": "undefined"}

    def test_a_helper_module_can_be_written_and_imported(self, run: Callable[..., Result]) -> None:
        result = run("open('helper.py', 'w').write('X = 7')\nimport helper\nprint(helper.X)")
        assert result.stdout == "7\n"
        assert "helper.py" in result.files
        assert "main.py" not in result.files

    def test_the_environment_is_made_from_nothing(
        self, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BELLJAR_TEST_SECRET", "hunter2")
        result = run("import os; print(dict(os.environ))", env={"MINE": "yes ü"})
        assert "'MINE': 'yes ü'" in result.stdout
        assert "hunter2" not in result.stdout
        shell = run("import subprocess; print(subprocess.run(['env'], capture_output=True, text=True).stdout)")
        assert "hunter2" not in shell.stdout
        assert "HOME=" in shell.stdout

    def test_runs_share_nothing(self, run: Callable[..., Result]) -> None:
        assert run("import sys; sys.leak = 1; open('left', 'w').close(); x = 1").ok
        result = run("import os, sys; print(hasattr(sys, 'leak'), os.listdir(), 'x' in globals())")
        assert result.stdout == "False [] False\n"

    def test_random_numbers_differ_between_runs(self, run: Callable[..., Result]) -> None:
        source = (
            "import random, uuid, tempfile, os; print(random.random(), uuid.uuid4(), tempfile.mktemp(), os.urandom(4))"
        )
        first, second = run(source).stdout.split(), run(source).stdout.split()
        assert not set(first) & set(second)

    def test_no_descriptor_of_ours_is_inherited(self, run: Callable[..., Result]) -> None:
        source = "import subprocess\nsubprocess.run(['ls', '/proc/self/fd'], close_fds=False)"
        assert run(source).stdout.split() == ["0", "1", "2", "3"]  # 3 is that of ls itself
