"""Watch a file that both runs can only read: one opens it, the other is told."""

TITLE = "Watch others use shared files"
MUST_NOT = "What another run does with a file of the system is not seen."
SEVERITY = "low"
KNOWN = "full"
LAYER = "syscalls"
RUNS = "together"

import os
import select
import time

from kit import broken, call, end, libc, told

path = b"/usr/share"
if told["turn"] == 1:
    for _ in range(30):
        os.listdir(path)
        time.sleep(0.02)
    end("it has opened it")
try:
    watch = call("inotify_init1", 0o4000)
    if libc.inotify_add_watch(watch, path, 0x20) < 0:
        end("refused")
except OSError as error:
    end(error)
if select.select([watch], [], [], 0.7)[0]:
    broken("sees when others open /usr/share")
end("nothing is seen")
