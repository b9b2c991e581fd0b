"""Bait on the host, for the time of a proof: what an attack may try to reach, and what would show that it did.

Nothing but the walls stands before it: files are readable for everybody, sockets answer everybody. Every secret is
random, so a result that has one in it has it from here.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self

from belljar.linux.mounts import mountinfo

if TYPE_CHECKING:
    from types import TracebackType

MARK = "JARPROOF"
VARIABLE = "JAR_PROVE_SECRET"
_VICTIM = "import sys; sys.stdin.read()"
_IPC_CREAT, _IPC_RMID = 0o1000, 0


class Canary:
    """All the bait of one proof. Use it in a `with` block: it is gone afterwards."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.told: dict[str, Any] = {"mark_backwards": MARK[::-1], "caller": os.getpid()}
        self._contacts: list[bytes] = []
        self._lock = Lock()
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            # Not "belljar-...": such directories are swept by every keeper that starts.
            self.directory = tempfile.mkdtemp(prefix="jar-prove-")
            opened.callback(shutil.rmtree, self.directory, ignore_errors=True)
            os.chmod(self.directory, 0o755)
            self._files(opened)
            self._variable(opened)
            self._sockets(opened)
            self._victim(opened)
            self._shared_memory(opened)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def touched_by(self, token: str) -> list[str]:
        """Which bait the attack with this token has reached."""
        with self._lock:
            found = ["a socket of the host got its message"] if any(token.encode() in c for c in self._contacts) else []
        return found + [f"{name} is in a directory of the host" for name in os.listdir(self._box) if token in name]

    def damage(self) -> list[str]:
        """What is not as it was, whoever did it."""
        found = []
        with open(self._secret_file, encoding="ascii") as file:
            if file.read() != self.secrets["file"] or os.stat(self._secret_file).st_nlink != 1:
                found.append("the secret file was changed")
        if self._process.poll() is not None:
            found.append("the victim process was ended")
        with self._lock:
            found += [f"a socket of the host was contacted: {data[:80]!r}" for data in self._contacts]
        return found + [f"{name} was left in a directory of the host" for name in os.listdir(self._box)]

    def leaked(self, text: str) -> list[str]:
        """The secrets that occur in a text."""
        return [name for name, secret in self.secrets.items() if secret in text]

    def _secret(self, name: str) -> str:
        self.secrets[name] = f"{MARK}-{secrets.token_hex(12)}"
        return self.secrets[name]

    def _files(self, opened: ExitStack) -> None:
        self._secret_file = os.path.join(self.directory, "secret.txt")
        self._box = os.path.join(self.directory, "box")
        os.mkdir(self._box)
        os.chmod(self._box, 0o777)
        self._write(self._secret_file, "file")
        shared = f"/dev/shm/jar-prove-{secrets.token_hex(6)}"
        self.told |= {"file": self._secret_file, "box": self._box, "directory": self.directory, "shm": shared}
        # A subvolume, or the directory of a container: what is below it is named with it in every list of mounts.
        self.told["roots"] = sorted({point.root for point in mountinfo()} - {"/"}, key=len, reverse=True)
        if os.path.isdir("/dev/shm"):
            self._write(shared, "shm")
            opened.callback(os.unlink, shared)

    def _write(self, path: str, name: str) -> None:
        with open(path, "w", encoding="ascii") as file:
            file.write(self._secret(name))
        os.chmod(path, 0o644)

    def _variable(self, opened: ExitStack) -> None:
        os.environ[VARIABLE] = self._secret("variable")
        opened.callback(os.environ.pop, VARIABLE, None)

    def _sockets(self, opened: ExitStack) -> None:
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        path, abstract = os.path.join(self.directory, "socket"), f"jar-prove-{secrets.token_hex(6)}"
        named, nameless = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        named.bind(path)
        os.chmod(path, 0o777)
        nameless.bind(f"\0{abstract}")
        self._secret("socket")
        listeners = [tcp, udp, named, nameless]
        for listener in listeners:
            opened.callback(listener.close)
            if listener.type == socket.SOCK_STREAM:
                listener.listen()
        self.told |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "socket": path, "abstract": abstract}
        wake, wakes = socket.socketpair()
        thread = Thread(target=self._listen, args=(listeners, wake), daemon=True, name="canary")
        thread.start()
        opened.callback(wake.close)
        opened.callback(thread.join, 5)
        opened.callback(wakes.close)

    def _listen(self, listeners: list[socket.socket], wake: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            for listener in (*listeners, wake):
                selector.register(listener, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is wake:
                        return
                    with suppress(OSError):
                        data = self._answer(key.fileobj)  # type: ignore[arg-type]
                        with self._lock:
                            self._contacts.append(data)

    def _answer(self, listener: socket.socket) -> bytes:
        secret = self.secrets["socket"].encode()
        if listener.type == socket.SOCK_DGRAM:
            data, sender = listener.recvfrom(256)
            listener.sendto(secret, sender)
            return data
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(0.5)
            with suppress(OSError):
                data = connection.recv(256)
                connection.sendall(secret)
                return data
        return b"(no word)"

    def _victim(self, opened: ExitStack) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _VICTIM, self._secret("argument")],
            stdin=subprocess.PIPE,
            env={"VICTIM_SECRET": self._secret("environment of another process")},
        )
        opened.callback(self._process.wait)
        opened.callback(self._process.kill)
        assert self._process.stdin is not None
        opened.callback(self._process.stdin.close)
        self.told["victim"] = self._process.pid

    def _shared_memory(self, opened: ExitStack) -> None:
        """A System V segment that everybody may read."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        key = secrets.randbelow(1 << 30) + 1
        segment = libc.shmget(key, 4096, _IPC_CREAT | 0o666)
        self.told["sysv"] = key
        if segment == -1:
            return
        opened.callback(libc.shmctl, segment, _IPC_RMID, None)
        address = libc.shmat(segment, None, 0)
        secret = self._secret("sysv").encode()
        ctypes.memmove(address, secret, len(secret))
        libc.shmdt(ctypes.c_void_p(address))
