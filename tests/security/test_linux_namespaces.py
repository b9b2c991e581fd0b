"""Namespaces, mounts, identity and capabilities, for real, each in a process of its own."""

from pathlib import Path

import pytest
from tests.needs import need
from tests.security.child import python

KINDS = "USER | Namespace.MOUNT | Namespace.PID | Namespace.NET | Namespace.IPC | Namespace.UTS | Namespace.CGROUP"
who = pytest.mark.parametrize("ordinary", [False, True], ids=["as-is", "ordinary"])


@who
def test_fork_into_is_a_fork_for_python(ordinary: bool) -> None:
    need("userns")
    python(
        f"""
        import random, signal, subprocess, threading
        random.seed(1)
        hooks = []
        os.register_at_fork(before=lambda: hooks.append("before"),
                            after_in_parent=lambda: hooks.append("parent"),
                            after_in_child=lambda: hooks.append("child"))
        here, expected = os.getpid(), random.Random(1).random()
        r, w = os.pipe()
        pid = namespaces.fork_into(Namespace.{KINDS})
        if pid == 0:
            try:
                assert hooks == ["before", "child"], hooks
                assert os.getpid() == 1
                assert random.random() != expected, "random was not seeded again"
                assert threading.main_thread() is threading.current_thread()
                assert threading.get_native_id() == 1
                done = []
                thread = threading.Thread(target=lambda: done.append(threading.get_native_id()))
                thread.start(); thread.join()
                assert done and done[0] != 1
                got = []
                signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
                signal.raise_signal(signal.SIGUSR1)
                os.kill(os.getpid(), signal.SIGUSR1)
                assert got == [1, 1]
                child = os.fork()
                if child == 0:
                    os._exit(7)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
                assert subprocess.run(["sh", "-c", "echo 42"], capture_output=True).stdout == b"42\\n"
                os.write(w, b"good")
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        assert pid > 0 and pid != here and os.getpid() == here
        assert hooks == ["before", "parent"], hooks
        wait(pid)
        assert os.read(r, 9) == b"good"
        """,
        ordinary=ordinary,
    )


def test_fork_into_gives_libc_its_thread_id() -> None:
    need("userns")
    python(
        """
        import ctypes
        class Attr(ctypes.Structure):
            _fields_ = [("kind", ctypes.c_int)]
        libc = ctypes.CDLL(None)
        pid = namespaces.fork_into(Namespace.USER | Namespace.PID)
        if pid == 0:
            # An error checking mutex keeps its owner's thread id, at offset 8 in glibc.
            attr, mutex = (ctypes.c_char * 64)(), (ctypes.c_char * 64)()
            libc.pthread_mutexattr_init(attr)
            libc.pthread_mutexattr_settype(attr, 2)
            libc.pthread_mutex_init(mutex, attr)
            libc.pthread_mutex_lock(mutex)
            os._exit(0 if int.from_bytes(mutex.raw[8:12], "little") == 1 else 1)
        wait(pid)
        """
    )


def test_fork_into_that_fails_leaves_python_working() -> None:
    need("userns")
    python(
        """
        import threading
        try:
            namespaces.fork_into(Namespace.MOUNT | 0x200)  # CLONE_FS and a mount namespace exclude each other
        except OSError as error:
            assert (error.errno, error.filename) == (22, "clone"), error
        else:
            raise AssertionError("it must fail")
        import json  # the import lock is free again
        threading.Thread(target=json.dumps, args=[1]).start()
        """
    )


@who
def test_maps_name_identity(ordinary: bool) -> None:
    need("userns")
    python(
        """
        import socket
        uid, gid = os.getuid(), os.getgid()
        host = socket.gethostname()
        pid = namespaces.fork_into(Namespace.USER | Namespace.UTS | Namespace.NET)
        if pid:
            wait(pid)
            assert socket.gethostname() == host
            raise SystemExit
        namespaces.write_maps("self", [(1000, uid, 1)], [(1000, gid, 1)], deny_setgroups=True)
        assert (os.getuid(), os.getgid()) == (1000, 1000)
        namespaces.set_hostname("belljar")
        namespaces.set_domainname("")
        assert socket.gethostname() == "belljar"
        a, b = socket.socket(), socket.socket()
        a.bind(("", 0)); a.listen()
        try:
            b.connect(("127.0.0.1", a.getsockname()[1]))
        except OSError:
            pass
        else:
            raise AssertionError("lo is up already")
        namespaces.loopback_up()
        socket.socket().connect(("127.0.0.1", a.getsockname()[1]))
        namespaces.join_new_session_keyring()
        assert identity.become(1000, 1000) is False  # setgroups is denied, and it says so
        try:
            identity.become(0, 0)
        except OSError as error:
            os._exit(0 if error.errno in (1, 22) else 2)  # 22: not an id of this namespace
        os._exit(1)
        """,
        ordinary=ordinary,
    )


def test_setns_goes_back() -> None:
    need("root")
    python(
        """
        before = os.readlink("/proc/self/ns/uts")
        fd = os.open("/proc/self/ns/uts", os.O_RDONLY)
        namespaces.unshare(Namespace.UTS)
        assert os.readlink("/proc/self/ns/uts") != before
        namespaces.setns(fd, Namespace.UTS)
        assert os.readlink("/proc/self/ns/uts") == before
        """
    )


def test_identity_of_root() -> None:
    need("root")
    python(
        """
        os.setgroups([4, 5])
        assert identity.become(40001, 40002) is True
        assert os.getresuid() == (40001,) * 3 and os.getresgid() == (40002,) * 3 and os.getgroups() == []
        try:
            identity.become(40001, 40002)  # setgroups is refused, and nothing denies it here: it must say so
        except PermissionError as error:
            assert error.filename == "setgroups"
        else:
            raise AssertionError("it must fail")
        """
    )


def test_capabilities() -> None:
    need("root")
    python(
        """
        before = capabilities.held()
        status = dict(line.split(":\\t") for line in open("/proc/self/status") if line.startswith("Cap"))
        assert before == tuple(int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"))
        capabilities.keep_only(capabilities.Capability.SETPCAP)
        assert capabilities.held()[:3] == (1 << 8, 1 << 8, 0)
        prctl.securebits_lock()
        assert prctl.securebits() == 0b11101111, bin(prctl.securebits())
        capabilities.drop_bounding_set()
        capabilities.clear()
        assert capabilities.held() == (0, 0, 0, 0, 0)
        try:
            capabilities.drop_bounding_set()
        except PermissionError:
            pass
        else:
            raise AssertionError("it must fail")
        """
    )


def test_dumpable() -> None:
    need("linux")
    python("assert prctl.get_dumpable(); prctl.set_dumpable(False); assert not prctl.get_dumpable()")


@who
def test_mounts(ordinary: bool) -> None:
    need("userns")
    python(
        """
        from belljar.linux.mounts import MountAttr, MountFlag, OpenTree, UmountFlag
        uid, gid = os.getuid(), os.getgid()
        namespaces.unshare(Namespace.USER)
        namespaces.write_maps("self", [(0, uid, 1)], [(0, gid, 1)], deny_setgroups=True)
        namespaces.unshare(Namespace.MOUNT)
        mounts.make_private()
        assert not any("shared" in word for point in mounts.mountinfo() for word in point.propagation)
        mounts.mount("tmpfs", "/mnt", "tmpfs", MountFlag.NOSUID | MountFlag.NODEV, "size=1m,mode=755")
        os.mkdir("/mnt/bound"); os.mkdir("/mnt/old"); os.mkdir("/mnt/a b"); open("/mnt/bound/file", "w").close()
        tmpfs = mounts.new_tmpfs(1 << 20, 10, 0o700, MountAttr.NOSUID | MountAttr.NODEV)
        mounts.move_mount(tmpfs, "/mnt/a b")
        here = next(point for point in mounts.mountinfo() if point.target == "/mnt/a b")
        assert {"nosuid", "nodev"} <= set(here.options) and {"size=1024k", "mode=700"} <= set(here.super_options), here
        try:
            for i in range(11): open(f"/mnt/a b/{i}", "w").close()
        except OSError as error:
            assert error.errno == 28
        else:
            raise AssertionError("more inodes than it may have")
        mounts.bind("/mnt/bound", "/mnt/old")
        mounts.remount_bind("/mnt/old", MountFlag.RDONLY | MountFlag.NOSUID | MountFlag.NODEV)
        def refused(path):
            try:
                open(path, "w")
            except OSError as error:
                return error.errno == 30
        assert refused("/mnt/old/file") and not refused("/mnt/bound/file")
        mounts.umount("/mnt/old", UmountFlag.DETACH)
        assert not os.path.exists("/mnt/old/file")
        tree = mounts.open_tree("/mnt/bound", OpenTree.CLONE)
        mounts.mount_setattr(tree, add=MountAttr.RDONLY | MountAttr.NOSYMFOLLOW, recursive=True)
        target = os.open("/mnt/old", os.O_PATH | os.O_DIRECTORY)
        mounts.move_mount(tree, target)
        assert refused("/mnt/old/file")
        copy = mounts.open_tree(tree, OpenTree.CLONE)
        assert os.open("file", os.O_RDONLY, dir_fd=copy) > 0
        os.chdir("/mnt")
        mounts.pivot_root(".", ".")
        mounts.umount(".", UmountFlag.DETACH)
        os.chdir("/")
        assert sorted(os.listdir("/")) == ["a b", "bound", "old"]
        try:
            mounts.umount("/nowhere")
        except FileNotFoundError as error:
            assert error.filename == "umount2"
        """,
        ordinary=ordinary,
    )


def test_idmapped_mount(folder: Path) -> None:
    need("root", "userns")
    (folder / "file").touch()
    python(
        f"""
        import errno
        from belljar.linux import idmap
        from belljar.linux.mounts import MountAttr, OpenTree
        assert os.stat({str(folder / "file")!r}).st_uid == 0
        fd = idmap.userns_fd([(0, 1000, 1)], [(0, 1000, 1)])
        tree = mounts.open_tree({str(folder)!r}, OpenTree.CLONE)
        try:
            mounts.mount_setattr(tree, add=MountAttr.IDMAP, userns_fd=fd)
        except OSError as error:
            assert error.errno == errno.EINVAL, error  # this file system cannot, on this kernel
            raise SystemExit
        assert os.stat("file", dir_fd=tree).st_uid == 1000
        try:
            os.wait()
        except ChildProcessError:
            raise SystemExit
        raise AssertionError("a child is left")
        """
    )
