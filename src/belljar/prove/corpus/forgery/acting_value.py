"""Answer with objects that would act when somebody unpacks them, or that only look like plain values."""

TITLE = "Answer with acting objects"
MUST_NOT = "A value is plain JSON, and nothing of it acts on the host."
SEVERITY = "critical"
JUDGE = "plain_value"
EXPECT = ["failed", "ok"]
CALL = "main"

import pickle

from kit import token, told


class Acts(dict):
    def __reduce__(self):
        return (open, (f"{told['box']}/{token}", "w"))

    def items(self):
        return [("py/object", "os.system"), ("value", Text("x"))]


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "acts"


class Number(int):
    def __repr__(self):
        return "9" * 100


def main():
    print("TRIED")
    data = pickle.dumps(Acts()).decode("latin-1")
    return {
        "a": Acts(b=1),
        "t": Text("t"),
        "n": Number(3),
        "p": data,
        "y": "!!python/object/apply:os.system [id]",
        "__class__": "os",
        "f": True,
    }
