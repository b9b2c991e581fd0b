"""Connect to the sockets of daemons that would act for us: containers, the system manager, the message bus."""

TITLE = "Reach docker.sock and its like"
MUST_NOT = "No socket of a daemon of the host can be connected to."
SEVERITY = "critical"
LAYER = "filesystem"

import socket

from kit import attempt, end


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(path)


for path in (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/systemd/private",
    "/run/systemd/notify",
    "/run/dbus/system_bus_socket",
    "/run/udev/control",
    "/run/snapd.socket",
    "/run/user/0/bus",
    "/tmp/.X11-unix/X0",
    "/dev/log",
):
    attempt(f"connect to {path}", connect, path)
end("not there")
