"""Draw random values: two runs that are forked from one process must not draw the same."""

TITLE = "Predict random values"
MUST_NOT = "Two runs do not draw the same random values."
SEVERITY = "high"
JUDGE = "values_differ"
RUNS = "twice"

import os
import random
import secrets
import ssl
import tempfile
import uuid

from kit import say

say(f"VALUE random={random.random()}")
say(f"VALUE urandom={os.urandom(8).hex()}")
say(f"VALUE secrets={secrets.token_hex(8)}")
say(f"VALUE uuid={uuid.uuid4()}")
say(f"VALUE tempfile={next(tempfile._get_candidate_names())}")
say(f"VALUE ssl={ssl.RAND_bytes(8).hex()}")
say(f"VALUE auxv={open('/proc/self/auxv', 'rb').read() and os.urandom(4).hex()}")
