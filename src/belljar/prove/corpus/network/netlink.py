"""Change addresses, routes and links by netlink, and listen to the kernel's other netlink families."""

TITLE = "Change routes by netlink"
MUST_NOT = "Nothing of the network can be changed, and no other family of netlink be opened."
SEVERITY = "high"
LAYER = "network"

import os
import socket
import struct

from kit import attempt, broken, end, note

RTM_DELROUTE, RTM_DELLINK, NLM_F_REQUEST, NLM_F_ACK = 25, 17, 1, 4


def request(kind, body):
    """The kernel's answer to a request for something that does not exist: its errno."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.settimeout(1)
        link.send(struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
        return -struct.unpack_from("=i", link.recv(4096), 16)[0]


# A route to a documentation network in a table that nobody uses, and a link with an impossible number.
route = struct.pack("=BBBBBBBBI", socket.AF_INET, 32, 0, 0, 200, 3, 0, 1, 0) + struct.pack(
    "=HH4s", 8, 1, bytes([192, 0, 2, 9])
)
link = struct.pack("=BBHiII", 0, 0, 0, 0x7FFFFFF0, 0, 0)
for name, kind, body in (("route", RTM_DELROUTE, route), ("link", RTM_DELLINK, link)):
    try:
        code = request(kind, body)
    except OSError as error:
        note(error)
        continue
    if code not in (1, 13):
        broken(f"remove a {name}: {os.strerror(code)}, not a refusal")
for family in (2, 4, 6, 9, 11, 12, 15, 16, 18, 20):
    attempt(
        f"netlink family {family}",
        lambda family=family: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family).close(),
    )
end()
