"""All locks on: what the kernel says of the process, what is refused, and what must still work."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.needs import need
from tests.security.child import python

INT80 = r"""
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
static long old(long number, long first) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first) : "memory", "r8", "r9", "r10", "r11");
  return result;
}
static long x32(long number, long first) {
  long result = syscall(0x40000000L | number, first);
  return result == -1 ? -errno : result;
}
int main(void) {
  printf("%ld %ld %ld %ld %ld", old(20, 0), old(310, 0x10000000), x32(39, 0), x32(272, 0x10000000),
         (long)syscall(39) == getpid() ? 0L : -1L);
  return 0;
}
"""
CLONE3 = r"""
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
static long tried(long result) { return result == -1 ? errno : result == 0 ? (_exit(0), 0) : 0; }
int main(void) {
  unsigned long long args[11] = {0x10000000ULL, 0, 0, 0, 17};
  long a = tried(syscall(SYS_clone3, args, sizeof args));
  long b = tried(syscall(SYS_clone, 0x10000000L | 17, 0, 0, 0, 0));
  long c = tried(syscall(SYS_clone, 0xdeadbeef00000000L | 0x20000000L | 17, 0, 0, 0, 0));
  long d = tried(syscall(SYS_clone, 17L, 0, 0, 0, 0));
  long e = syscall(SYS_socket, 0xdeadbeef00000002L, 3L, 1L) == -1 ? errno : 0;
  long f = syscall(SYS_ioctl, 0L, 0x100005412L, "x") == -1 ? errno : 0;
  printf("%ld %ld %ld %ld %ld %ld", a, b, c, d, e, f);
  return 0;
}
"""


def test_everything_at_once() -> None:
    need("root", "userns", "seccomp")
    python(
        """
        import errno
        r, w = os.pipe()
        go, told = os.pipe()
        pid = namespaces.fork_into(Namespace.USER | Namespace.MOUNT | Namespace.PID | Namespace.NET | Namespace.IPC
                                   | Namespace.UTS | Namespace.CGROUP)
        if pid:
            namespaces.write_maps(pid, [(0, 900000, 1), (1000, 900001, 1)], [(0, 900000, 1), (1000, 900001, 1)])
            os.write(told, b"x")
            wait(pid)
            raise SystemExit
        os.read(go, 1)
        os.setresgid(0, 0, 0); os.setresuid(0, 0, 0)
        mounts.make_private()
        mounts.mount("proc", "/proc", "proc")
        prctl.securebits_lock()
        capabilities.drop_bounding_set()
        assert identity.become(1000, 1000) is True
        capabilities.clear()
        seal()
        assert capabilities.held() == (0, 0, 0, 0, 0)
        status = dict(line.rstrip("\\n").split(":\\t") for line in open("/proc/self/status") if ":\\t" in line)
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0, name
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" and status["Seccomp_filters"] == "1"
        assert seccomp.mode() == (2, 1) and prctl.has_no_new_privs()
        assert status["Uid"].split() == ["1000"] * 4 and status["Groups"].strip() == ""
        for kind in (Namespace.USER, Namespace.MOUNT, Namespace.NET):
            try:
                namespaces.unshare(kind)
            except OSError as error:
                assert error.errno == errno.EPERM
            else:
                os._exit(3)
        """
    )


@pytest.mark.parametrize("ordinary", [False, True], ids=["as-is", "ordinary"])
def test_refused(ordinary: bool, folder: Path) -> None:
    """As root too, where only the filter can be what refuses."""
    need("seccomp")
    python(
        """
        import errno, fcntl, socket
        seal()
        def answer(call, *args, **more):
            try:
                call(*args, **more)
            except OSError as error:
                return errno.errorcode[error.errno]
            return "ok"
        def fork_into(flags):
            if namespaces.fork_into(flags) == 0:
                os._exit(0)
            os.wait()
        open("file", "w").close()
        expected = {
            "EPERM": [
                (namespaces.unshare, Namespace.USER), (namespaces.unshare, Namespace.NET), (namespaces.unshare, 0),
                (namespaces.setns, 0, 0), (fork_into, Namespace.USER), (fork_into, Namespace.PID),
                (mounts.mount, "a", "/mnt", "tmpfs"), (mounts.umount, "/mnt"), (mounts.pivot_root, ".", "."),
                (namespaces.join_new_session_keyring,), (namespaces.set_hostname, "x"),
                (prctl.prctl, 35, 1, 0), (os.chroot, "/"),
                (os.chmod, "file", 0o4755), (os.chmod, "file", 0o2755), (os.mknod, "null", 0o020666, os.makedev(1, 3)),
                (socket.socket, socket.AF_INET, socket.SOCK_RAW, 1), (socket.socket, socket.AF_INET, 10, 3),
                (socket.socket, socket.AF_INET6, socket.SOCK_RAW, 58), (fcntl.ioctl, 0, 0x5412, b"x"),
            ],
            "EAFNOSUPPORT": [(socket.socket, family, 1, 0) for family in (3, 17, 31, 38, 40, 44)],
            "EPROTONOSUPPORT": [(socket.socket, 16, 3, 9), (socket.socket, 16, 3, 15)],
            "ENOSYS": [(mounts.open_tree, "/"), (mounts.new_tmpfs, 1, 1)],
            "ok": [
                (fork_into, 0), (os.chmod, "file", 0o1755), (os.mkfifo, "fifo"), (os.mknod, "plain"),
                (socket.socket, 1, 1), (socket.socket, 2, 1), (socket.socket, 2, 2), (socket.socket, 10, 1),
                (socket.socket, 16, 3, 0), (socket.if_nameindex,), (os.memfd_create, "x"), (prctl.name, "x"),
            ],
        }
        for wanted, calls in expected.items():
            for call, *args in calls:
                assert answer(call, *args) == wanted, (call, args, answer(call, *args), wanted)
        """,
        ordinary=ordinary,
        cwd=str(folder),
    )


@pytest.fixture
def gcc() -> str:
    if (found := shutil.which("gcc")) is None:
        pytest.skip("needs gcc")
    return found


def built(gcc: str, source: str, folder: Path) -> Path:
    (folder / "probe.c").write_text(source)
    subprocess.run([gcc, "-o", folder / "probe", folder / "probe.c"], check=True, cwd=folder)
    return folder / "probe"


def sealed(program: Path, seal: str = "seal()") -> list[int]:
    out = python(f"{seal}\nos.execv({str(program)!r}, [{str(program)!r}])")
    return [int(word) for word in out.split()]


def test_32_bit_and_x32_numbers_get_an_errno(gcc: str, folder: Path) -> None:
    need("seccomp")
    if sys.maxsize < 2**32 or "x86_64" not in python("print(os.uname().machine)"):
        pytest.skip("needs x86_64")
    program = built(gcc, INT80, folder)
    assert sealed(program) == [-38, -38, -38, -38, 0]
    bare = sealed(program, "pass")
    assert bare[0] > 0, "int 0x80 does nothing on this kernel: the test above proves nothing"


def test_clone_and_upper_halves_of_arguments(gcc: str, folder: Path) -> None:
    need("seccomp")
    assert sealed(built(gcc, CLONE3, folder)) == [38, 1, 1, 0, 1, 1]


WORKS = {
    "subprocess": """
        import subprocess
        assert subprocess.run(["echo", "42"], capture_output=True, check=True).stdout == b"42\\n"
        assert subprocess.run(["cat"], input=b"42", preexec_fn=os.setsid, capture_output=True).stdout == b"42"
        assert subprocess.run("echo $((6*7))", shell=True, capture_output=True, check=True).stdout == b"42\\n"
    """,
    "threading": """
        import concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(lambda x: x * x, range(100))) == 328350
    """,
    "multiprocessing": """
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
        queue = multiprocessing.Queue(); queue.put(1); assert queue.get() == 1
    """,
    "asyncio": """
        import asyncio
        async def main():
            process = await asyncio.create_subprocess_exec("echo", "42", stdout=-1)
            assert await process.stdout.read() == b"42\\n"
            await process.wait()
            server = await asyncio.start_server(lambda r, w: (w.write(b"hi"), w.close()), "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            assert await reader.read() == b"hi"
        asyncio.run(main())
    """,
    "ssl": """
        import ssl
        assert ssl.RAND_bytes(8) and ssl.create_default_context()
    """,
    "files": """
        import mmap, shutil, sqlite3, tempfile
        with tempfile.TemporaryDirectory() as folder:
            base = sqlite3.connect(folder + "/base")
            base.execute("create table t (a)"); base.commit(); base.close()
            shutil.copytree(folder, folder + "/copy"); shutil.copy2(folder + "/base", folder + "/other")
        mmap.mmap(-1, 4096).close()
    """,
}


@pytest.mark.parametrize("ordinary", [False, True], ids=["as-is", "ordinary"])
@pytest.mark.parametrize("what", WORKS)
def test_python_works(what: str, ordinary: bool, folder: Path) -> None:
    need("seccomp")
    python("seal()\n" + textwrap.dedent(WORKS[what]), ordinary=ordinary, cwd=str(folder))


COMMANDS = {
    "node": 'node -e \'require("fs").readFile("/etc/hostname", () => console.log(6*7))\'',
    "gcc": "printf 'int main(void) { return 42; }' >a.c && gcc -o a a.c && { ./a || echo $?; }",
    "git": "git init -q x && cd x && echo a >a && git add a"
    " && git -c user.name=a -c user.email=a commit -qm a && git log --format=format:42",
    "tar": "mkdir d && echo 42 >d/a && tar cf d.tar d && rm -r d && tar xf d.tar && cat d/a",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_other_programs_work(name: str, folder: Path) -> None:
    need("seccomp")
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    out = python(
        f"seal()\nos.execv('/bin/sh', ['sh', '-ec', {COMMANDS[name]!r}])", ordinary=True, cwd=str(folder), timeout=110
    )
    assert out.split() == ["42"]


def test_other_threads_get_the_filter_too() -> None:
    need("seccomp")
    python(
        """
        import errno, threading
        go, got = threading.Event(), []
        def later():
            go.wait()
            try:
                namespaces.unshare(Namespace.UTS)
            except OSError as error:
                got.append(error.errno)
        thread = threading.Thread(target=later)
        thread.start()
        seal()
        go.set()
        thread.join()
        assert got == [errno.EPERM], got
        """
    )
