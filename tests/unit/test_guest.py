"""What runs inside the cell beside user code: values, failures, compiling, calling, and the guest's socket."""

import ast
import contextlib
import json
import math
import os
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.needs import need

from belljar.guest import call, failure, runner, values
from belljar.guest.channel import LONGEST_CLAIM, MOST_CONTAINERS, Channel, TooLongError

floats = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)

# Values.


@settings(deadline=None)
@given(json_values)
def test_json_comes_out_as_it_is(value: object) -> None:
    assert values.to_json(value) == value
    assert repr(values.to_json(value)) == repr(value)  # 1, 1.0 and True are equal, and not the same


class _Int(int):
    pass


class _Float(float):
    pass


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, (2,)), [1, [2]]),
        ({1: "a", 1.5: "b", None: "d"}, {"1": "a", "1.5": "b", "null": "d"}),
        ({False: 1}, {"false": 1}),
        (_Int(3), 3),
        (_Float(0.5), 0.5),
        (-0.0, -0.0),
        (10**400, 10**400),
        ("\ud800", "\ud800"),
    ],
)
def test_what_json_can_say(value: object, plain: object) -> None:
    found = values.to_json(value)
    assert (found, repr(found)) == (plain, repr(plain))
    json.dumps(found)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (object(), TypeError, "type object is not JSON"),
        ({1, 2}, TypeError, "type set"),
        (b"x", TypeError, "type bytes"),
        (1j, TypeError, "type complex"),
        ([1, [object()]], TypeError, "type object"),
        (math.nan, ValueError, "JSON"),
        (math.inf, ValueError, "JSON"),
        ({math.nan: 1}, ValueError, "JSON"),
        ({(1,): 1}, TypeError, "keys must be"),
        ({b"x": 1}, TypeError, "not bytes"),
        pytest.param(10**5000, ValueError, "digits", id="a huge int"),
    ],
)
def test_what_json_cannot_say(value: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        values.to_json(value)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_depth_is_bounded() -> None:
    assert json.dumps(values.to_json(nested(179))) == "[" * 180 + "]" * 180
    with pytest.raises(ValueError, match="deeper than 180"):
        values.to_json(nested(180))
    around: list[Any] = []
    around.append(around)
    with pytest.raises(ValueError, match="deeper"):
        values.to_json(around)


class _Rich:
    def _repr_html_(self) -> str:
        return "<b>"

    def _repr_png_(self) -> bytes:
        return b"\x89PNG"

    def _repr_json_(self) -> dict[str, int]:
        return {"a": 1}

    def _repr_latex_(self) -> None:
        return None

    def _repr_svg_(self) -> str:
        raise ZeroDivisionError

    def __repr__(self) -> str:
        return "rich"


class _Bundle:
    def _repr_mimebundle_(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/html": "<i>", "text/plain": "plain", "bad/object": object()}, {"meta": 1}

    def _repr_html_(self) -> str:
        raise AssertionError("the bundle has it")


class _NoRepr:
    def __repr__(self) -> str:
        raise KeyError("x")


class _Anything:
    def __getattr__(self, name: str) -> Any:
        return lambda: object()

    def __repr__(self) -> str:
        return "anything"


@pytest.mark.parametrize(
    ("value", "bundle"),
    [
        (3, {"text/plain": "3"}),
        ("é", {"text/plain": "'é'"}),
        (
            _Rich(),
            {"text/html": "<b>", "image/png": "iVBORw==", "application/json": {"a": 1}, "text/plain": "rich"},
        ),
        (_Bundle(), {"text/html": "<i>", "text/plain": "plain"}),
        (_NoRepr(), {"text/plain": "<_NoRepr whose repr() raised KeyError>"}),
        (_Anything(), {"text/plain": "anything"}),
        (_Rich, {"text/plain": repr(_Rich)}),
    ],
)
def test_display(value: object, bundle: dict[str, Any]) -> None:
    assert values.display(value) == {"data": bundle}


def test_no_display_of_none() -> None:
    assert values.display(None) is None


def test_a_long_display_is_cut_or_left_out() -> None:
    class Long:
        def _repr_html_(self) -> str:
            return "x" * (5 << 20)

        def __repr__(self) -> str:
            return "y" * (5 << 20)

    found = values.display(Long())
    assert found is not None
    assert set(found["data"]) == {"text/plain"}
    assert len(found["data"]["text/plain"]) == (4 << 20) + 4


# Failures.


class _Odd(Exception):  # noqa: N818
    def __init__(self, **odd: Callable[[], object]) -> None:
        super().__init__("fine")
        self.odd = odd

    def __str__(self) -> str:
        return str(self.odd.get("str", lambda: "odd")())

    def __repr__(self) -> str:
        return str(self.odd.get("repr", lambda: "_Odd()")())

    @property
    def name(self) -> object:
        return self.odd.get("name", lambda: "n")()


def raising(error: type[BaseException]) -> Callable[[], object]:
    def raises() -> object:
        raise error

    return raises


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001
        return caught


def test_an_ordinary_failure() -> None:
    with pytest.raises(KeyError) as caught:
        dict[str, int]()["missing"]
    found = failure.describe(caught.value)
    assert (found["type"], found["message"], found["args"], found["name"]) == (
        "KeyError",
        "'missing'",
        ["missing"],
        None,
    )
    assert found["traceback"].startswith("Traceback (most recent call last):\n")
    assert found["traceback"].endswith("KeyError: 'missing'\n")
    (frame,) = found["frames"]
    assert (frame["file"], frame["function"], frame["text"]) == (
        __file__,
        "test_an_ordinary_failure",
        'dict[str, int]()["missing"]',
    )
    json.dumps(found)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (NameError("x", name="x"), "x"),
        (AttributeError("y", name="y"), "y"),
        (ImportError("z", name="z"), "z"),
        (OSError(), None),
    ],
)
def test_the_name_that_was_missed(error: BaseException, name: str | None) -> None:
    assert failure.describe(error)["name"] == name


def test_our_frames_are_hidden() -> None:
    with pytest.raises(TypeError) as caught:
        values.to_json(object())
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # this test called it, as the runner would: it is of the guest
    found = failure.describe(error)
    assert found["frames"] == []
    assert found["message"] == "Object of type object is not JSON serializable"


def test_frames_of_the_user_below_ours_are_shown() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        call._bound(lambda: 1 / 0, "f", {})()
    found = failure.describe(caught.value)
    assert [frame["function"] for frame in found["frames"]][-1] == "<lambda>"


@pytest.mark.parametrize(
    "error",
    [
        _Odd(),
        _Odd(str=raising(ZeroDivisionError)),
        _Odd(repr=raising(ZeroDivisionError)),
        _Odd(str=raising(RecursionError), repr=raising(MemoryError)),
        Exception(_Odd(str=raising(ValueError))),
        Exception(_NoRepr()),
        pytest.param(_Odd(name=raising(ZeroDivisionError))),
        pytest.param(_Odd(str=raising(SystemExit))),
        Exception("\ud800"),
        Exception(*range(300)),
        KeyboardInterrupt(),
        SystemExit(3),
        ExceptionGroup("group", [ValueError(1), _Odd(str=raising(KeyError))]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_hostile_failure_is_described(error: BaseException) -> None:
    found = failure.describe(raised(error))
    assert found["type"] == type(error).__qualname__
    assert found["frames"]
    json.dumps(found)


def test_a_failure_is_bounded() -> None:
    def deep(levels: int) -> None:
        if levels:
            deep(levels - 1)
        raise ValueError("x" * 300_000)

    with pytest.raises(ValueError, match="x") as caught:
        deep(500)
    found = failure.describe(caught.value)
    assert len(found["frames"]) == 200
    assert len(found["message"]) == len(found["args"][0]) == len(found["traceback"]) == 100_000


def test_a_failure_always_fits_a_claim() -> None:
    assert len(json.dumps(failure.describe(Exception(*["x" * 100_000] * 200)))) < LONGEST_CLAIM


# Compiling.

_NAMES = st.sampled_from(["a", "b", "c"])
_EXPRESSIONS = st.recursive(
    st.integers(0, 9).map(str) | _NAMES | st.just("f(1)") | st.just("[x for x in range(3)]"),
    lambda inner: (
        st.builds("({} + {})".format, inner, inner)
        | st.builds("(lambda q: {})(2)".format, inner)
        | st.builds("{}\n".format, inner).map(lambda text: f"({text})")
        | st.builds("({0} if {1} else {0})".format, inner, inner)
    ),
    max_leaves=4,
)
_STATEMENTS = st.one_of(
    _EXPRESSIONS,
    st.builds("{} = {}".format, _NAMES, _EXPRESSIONS),
    st.builds("{}; {}".format, _EXPRESSIONS, _EXPRESSIONS),
    st.builds("def g(z: undefined = 1): return {}".format, _EXPRESSIONS),
    st.builds("if {}:\n  a = {}\nelse:\n  {}".format, _EXPRESSIONS, _EXPRESSIONS, _EXPRESSIONS),
    st.just("# a comment"),
    st.just("g()"),
    st.just(""),
    st.just("1/0"),
)
_PROGRAMS = st.lists(_STATEMENTS, max_size=4).map("\n".join)


def executed(execute: Callable[[dict[str, Any]], object]) -> tuple[dict[str, str], str]:
    """The names that a program leaves as text, and how it ended."""
    names: dict[str, Any] = {"a": 1, "b": 2, "c": 3, "f": lambda x: x}
    try:
        execute(names)
        end = "ok"
    except Exception as error:  # noqa: BLE001
        frame = traceback.extract_tb(error.__traceback__)[-1]
        end = f"{error!r} in line {frame.lineno}"
    left = {name: "function" if callable(value) else repr(value) for name, value in names.items()}
    return {name: text for name, text in left.items() if not name.startswith("__")}, end


@settings(deadline=None)
@given(st.sampled_from(["", "from __future__ import annotations\n"]), _PROGRAMS)
def test_split_programs_do_what_whole_ones_do(future: str, program: str) -> None:
    """Or neither compiles: evaluating an annotation that names nothing is an error of both, too."""
    source = future + program
    body, last = runner.compile_source(source, "p.py")

    def split(names: dict[str, Any]) -> None:
        exec(body, names)
        if last is not None:
            eval(last, names)

    assert executed(split) == executed(lambda names: exec(compile(source, "p.py", "exec", dont_inherit=True), names))
    tree = ast.parse(source)
    ends_in_one = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    assert (last is not None) is ends_in_one


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        (b"# -*- coding: latin-1 -*-\n'\xe9'", "é"),
        ("\ufeff3".encode(), 3),
        ("x = 5\nx", 5),
        ("x = 5; x", 5),
        ("(\n1,\n2\n)", (1, 2)),
        ("from __future__ import annotations\n(lambda: 1)()", 1),
        ("if 1:\n  2", None),
        ("x = 1", None),
        ("", None),
        ("# only a comment", None),
        ("def f(): 1", None),
        ("[y := 3, y]", [3, 3]),
    ],
)
def test_the_value_of_the_last_expression(source: str | bytes, value: object) -> None:
    names: dict[str, Any] = {}
    body, last = runner.compile_source(source, "p.py")
    exec(body, names)
    assert (None if last is None else eval(last, names)) == value


def test_no_future_of_ours_is_inherited() -> None:
    names: dict[str, Any] = {}
    body, last = runner.compile_source("def f(x: 1 + 1): pass\nf.__annotations__", "p.py")
    exec(body, names)
    assert last is not None
    assert eval(last, names) == {"x": 2}


def test_a_docstring_alone_is_one() -> None:
    names: dict[str, Any] = {}
    body, _ = runner.compile_source("'''words'''", "p.py")
    exec(body, names)
    assert names.get("__doc__") == "words"


@pytest.mark.parametrize(
    "source",
    [
        "def",
        "return 1",
        "await x",
        b"\xff",
        "\0",
        "(" * 1000,
        "-" * 200_000 + "1",
        "x = " + "[" * 500,
        "break",
        "1 = 2",
    ],
    ids=range(10),
)
def test_what_does_not_compile(source: str | bytes) -> None:
    with pytest.raises(runner.Unparsable):
        runner.compile_source(source, "p.py")


# Calling.


class _Silent:
    """A channel that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[tuple[str, Any]] = []

    def claim(self, kind: str, content: Any) -> None:
        json.dumps(content, allow_nan=False)
        self.said.append((kind, content))


@contextlib.contextmanager
def _main_kept() -> Iterator[None]:
    """The runner makes its program the main module: put everything back."""
    import signal

    modules, argv, path = dict(sys.modules), list(sys.argv), list(sys.path)
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.modules.clear()
        sys.modules.update(modules)
        sys.argv[:], sys.path[:] = argv, path


def called(source: str, function: str = "main", init: dict[str, Any] | None = None, **kwargs: Any) -> tuple[int, Any]:
    channel = _Silent()
    header = {
        "filename": "main.py",
        "args": [],
        "call": {"function": function, "kwargs": kwargs, "init": init},
    }
    with _main_kept():
        code = call.call(header, source.encode(), "/nowhere/main.py", channel)  # type: ignore[arg-type]
    assert [kind for kind, _ in channel.said] in (["started", "answer"], ["rejected"])
    return code, channel.said[-1][1]


_TOOL = "class T:\n  def __init__(self, {}): self.got = [{}]\n  def run(self, x=0): return [*self.got, x]\n"


@pytest.mark.parametrize(
    ("source", "function", "init", "kwargs", "value"),
    [
        ("def main(): return 1", "main", None, {}, 1),
        ("def main(a, *, b=2): return [a, b]", "main", None, {"a": 1}, [1, 2]),
        ("def main(**kw): return kw", "main", None, {"x": (1, 2)}, {"x": [1, 2]}),
        ("async def main(a): return a", "main", None, {"a": 3}, 3),
        ("main = dict", "main", None, {"a": 3}, {"a": 3}),
        ("main = lambda: None", "main", None, {}, None),
        (_TOOL.format("config", "config"), "T.run", None, {"x": 1}, [{}, 1]),
        (_TOOL.format("", ""), "T.run", None, {}, [0]),
        (_TOOL.format("a, b=2", "a, b"), "T.run", {"a": 1}, {}, [1, 2, 0]),
        ("class T:\n  @staticmethod\n  def run(): return 5", "T.run", None, {}, 5),
        ("class T:\n  @classmethod\n  def run(cls): return cls.__name__", "T.run", None, {}, "T"),
        ("class A:\n  def run(self): return 1\nt = A()", "t.run", None, {}, 1),
        ("def main(): return __name__", "main", None, {}, "main"),
    ],
)
def test_a_call(source: str, function: str, init: dict[str, Any] | None, kwargs: dict[str, Any], value: object) -> None:
    assert called(source, function, init, **kwargs) == (0, {"value": value})


@pytest.mark.parametrize(
    ("source", "function", "kwargs", "error", "text"),
    [
        ("def other(): pass", "main", {}, "NameError", "no 'main'; it defines other"),
        ("x = 1", "main", {}, "NameError", "nothing to call"),
        ("main = 1", "main", {}, "TypeError", "not callable: it is of type int"),
        ("def main(a): pass", "main", {"b": 1}, "TypeError", "main(a) cannot be called with ['b']"),
        ("class T:\n  def go(self): pass", "T.run", {}, "AttributeError", "no method 'run'; its methods are go"),
        (_TOOL.format("a, b", "a"), "T.run", {}, "TypeError", "its constructor is T(a, b)"),
        (
            "def main(): return object()",
            "main",
            {},
            "TypeError",
            "the result of main is not JSON: Object of type object",
        ),
        ("def main(): return float('nan')", "main", {}, "ValueError", "the result of main is not JSON"),
        ("def main(): 1/0", "main", {}, "ZeroDivisionError", "division by zero"),
        ("1/0\ndef main(): pass", "main", {}, "ZeroDivisionError", "division by zero"),
        ("class T:\n  def __init__(self): 1/0\n  def run(self): pass", "T.run", {}, "ZeroDivisionError", "zero"),
    ],
)
def test_a_call_that_fails(
    source: str, function: str, kwargs: dict[str, Any], error: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answer = called(source, function, **kwargs)
    assert code == 1
    assert answer["error"]["type"] == error
    assert text in answer["error"]["message"]
    assert error in capsys.readouterr().err
    assert all(frame["file"] == "main.py" for frame in answer["error"]["frames"])


def test_a_call_whose_source_does_not_compile(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = called("def")
    assert (code, answer["error"]["type"], answer["error"]["frames"]) == (1, "SyntaxError", [])
    assert "SyntaxError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "exit_code"), [("0", 0), ("None", 0), ("3", 3), ("256 + 7", 7), ("-1", 255), ("'x'", 1)]
)
def test_a_call_that_exits(code: str, exit_code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(f"import sys\ndef main(): sys.exit({code})")[0] == exit_code
    assert capsys.readouterr().err == ("x\n" if code == "'x'" else "")


# The guest's socket.


@contextlib.contextmanager
def pair() -> Iterator[tuple[socket.socket, Channel]]:
    host, guest = socket.socketpair()
    channel = Channel(guest.detach())
    with host, channel._socket:
        yield host, channel


def program(header: dict[str, Any], rest: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack(">I", len(text)) + text + rest


def heard(host: socket.socket) -> dict[str, Any]:
    (length,) = struct.unpack(">I", host.recv(4, socket.MSG_WAITALL))
    found: dict[str, Any] = json.loads(host.recv(length, socket.MSG_WAITALL))
    return found


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_a_program_comes_in_pieces_of_any_size(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("belljar.guest.channel._BLOCK", block)
    with pair() as (host, channel):
        host.sendall(program({"n": "x", "a": 1}, b"source" + b"f" * 100))
        assert channel.receive() == ({"n": "x", "a": 1}, None)
        assert channel.read(6) == b"source"
        assert channel.read(0) == b""
        assert channel.read(100) == b"f" * 100


def test_stdin_comes_beside_the_first_byte() -> None:
    with pair() as (host, channel), open(os.devnull, "rb") as null:
        socket.send_fds(host, [program({"n": "x"})], [null.fileno()])
        _, stdin = channel.receive()
        assert stdin is not None
        assert not os.get_inheritable(stdin)
        assert os.path.samestat(os.fstat(stdin), os.fstat(null.fileno()))
        os.close(stdin)


@pytest.mark.parametrize("sent", [b"", b"\0", program({"n": "x"})[:9]])
def test_a_host_that_leaves(sent: bytes) -> None:
    with pair() as (host, channel):
        host.sendall(sent)
        host.close()
        with pytest.raises(EOFError):
            channel.receive()


def test_claims_carry_the_nonce() -> None:
    with pair() as (host, channel):
        host.sendall(program({"n": "secret"}))
        channel.receive()
        channel.claim("started", True)
        channel.claim("answer", {"value": ["é", "\ud800"]})
        assert heard(host) == {"n": "secret", "started": True}
        assert heard(host) == {"n": "secret", "answer": {"value": ["é", "\ud800"]}}


def test_a_forked_child_claims_nothing() -> None:
    need("linux")
    with pair() as (host, channel):
        pid = os.fork()
        if pid == 0:
            channel.claim("answer", "child")
            os._exit(0)
        os.waitpid(pid, 0)
        channel.claim("answer", "parent")
        assert heard(host)["answer"] == "parent"
        host.setblocking(False)
        with pytest.raises(BlockingIOError):
            host.recv(1)


def test_a_claim_that_is_too_long_is_not_sent() -> None:
    with pair() as (host, channel):
        with pytest.raises(TooLongError):
            channel.claim("answer", "x" * LONGEST_CLAIM)
        with pytest.raises(TooLongError, match="lists and objects"):
            channel.claim("answer", [[]] * (MOST_CONTAINERS + 1))
        channel.claim("answer", 1)
        assert heard(host)["answer"] == 1


def test_a_host_that_listens_no_more_is_no_error() -> None:
    with pair() as (host, channel):
        host.close()
        channel.claim("answer", 1)
    with pair() as (_, channel):
        channel._socket.close()
        channel.claim("answer", 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, object()])
def test_what_is_not_json_is_not_sent(bad: object) -> None:
    with pair() as (host, channel):
        with pytest.raises((TypeError, ValueError)):
            channel.claim("answer", bad)
        host.setblocking(False)
        with pytest.raises(BlockingIOError):
            host.recv(1)


def test_an_answer_that_is_too_long_goes_without_its_value() -> None:
    with pair() as (host, channel):
        error = {"type": "E"}
        runner.tell({"value": "x" * LONGEST_CLAIM, "displays": [], "error": error}, channel)
        assert heard(host)["answer"] == {"error": error}
        runner.tell({"value": "x" * LONGEST_CLAIM, "displays": []}, channel)
        assert heard(host)["answer"] == {}
