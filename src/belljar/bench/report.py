"""What was measured, for people, for programs, and as a picture."""

from __future__ import annotations

import datetime
import os
import platform
from dataclasses import dataclass, field
from html import escape
from math import log10
from typing import TYPE_CHECKING, Any

from belljar.bench.contestants import CONTESTANTS
from belljar.bench.workloads import LATENCY
from belljar.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from belljar.bench.measure import Rate, Times

_BESIDE = "bare"
_LEFT, _BAR, _ROW = 250, 420, 22  # of the picture, in pixels


@dataclass
class Report:
    """All of one bench. What could not take part is in `absent`, with the reason."""

    level: str = ""
    times: dict[str, list[Times]] = field(default_factory=dict)
    """By workload."""
    rates: list[Rate] = field(default_factory=list)
    memory: dict[str, int | None] = field(default_factory=dict)
    """Bytes of one parked cell, by what was preloaded."""
    absent: dict[str, str] = field(default_factory=dict)


def to_dict(report: Report) -> dict[str, Any]:
    """The JSON form."""
    return {
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "belljar": __version__,
        "level": report.level,
        "host": host(),
        "times": {
            name: [
                {"contestant": times.contestant, **_figures(times), "rounds": len(times.milliseconds)}
                | {"beside_bare": _beside(times, all_of_it)}
                for times in all_of_it
            ]
            for name, all_of_it in report.times.items()
        },
        "rates": [
            {"contestant": rate.contestant, "workers": rate.workers, "runs_per_second": round(rate.runs_per_second, 1)}
            | {"busy_ms": round(rate.busy, 2), **_figures(rate.times)}
            for rate in report.rates
        ],
        "memory": report.memory,
        "absent": report.absent,
    }


def host() -> dict[str, str | int]:
    """The machine, without its name."""
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processor": model,
        "processors": os.cpu_count() or 1,
        "python": platform.python_version(),
    }


def lines(report: Report) -> Iterator[str]:
    """The tables as text. Read the ratios: milliseconds belong to one machine."""
    for name, all_of_it in report.times.items():
        yield f"{LATENCY[name].title} (ms)"
        yield _row(("", "p50", "p90", "p99", "beside bare"))
        for times in all_of_it:
            ratio = _beside(times, all_of_it)
            figures = [f"{value:.2f}" for value in _figures(times).values()]
            yield _row((CONTESTANTS[times.contestant].title, *figures, "" if ratio is None else f"{ratio:.3f}"))
        yield ""
    if report.rates:
        yield "hello, as many as possible"
        yield _row(("", "workers", "runs/s", "busy ms", "p99/p50"))
        for rate in report.rates:
            spread = rate.times.percentile(0.99) / rate.times.percentile(0.5)
            title = CONTESTANTS[rate.contestant].title
            yield _row((title, str(rate.workers), f"{rate.runs_per_second:.0f}", f"{rate.busy:.2f}", f"{spread:.1f}"))
        yield ""
    for preloaded, size in report.memory.items():
        shown = "this user may not see it" if size is None else f"{size / 2**20:.1f} MiB"
        yield f"a parked cell ({preloaded or 'nothing preloaded'}): {shown}"
    for name, reason in report.absent.items():
        yield f"without {name}: {reason}"


def picture(report: Report) -> str:
    """The times of each workload as bars on a logarithmic scale, as an SVG."""
    parts, y = [], 10
    for name, all_of_it in report.times.items():
        y += _ROW
        parts.append(f'<text x="10" y="{y}" class="title">{escape(LATENCY[name].title)}: p50</text>')
        least = min(times.percentile(0.5) for times in all_of_it) / 2
        most = max(times.percentile(0.5) for times in all_of_it)
        for times in all_of_it:
            y += _ROW
            middle = times.percentile(0.5)
            width = _BAR * log10(middle / least) / log10(most / least)
            kind = "ours" if times.contestant.startswith("belljar") else "theirs"
            label = escape(CONTESTANTS[times.contestant].title)
            parts.append(f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end">{label}</text>')
            parts.append(f'<rect x="{_LEFT}" y="{y - 12}" width="{width:.0f}" height="15" class="{kind}"/>')
            parts.append(f'<text x="{_LEFT + width + 6:.0f}" y="{y}">{middle:.2f} ms</text>')
        y += _ROW // 2
    style = (
        "text{font:13px sans-serif;fill:#333}.title{font-weight:bold}.ours{fill:#2a7f62}.theirs{fill:#b8b8b8}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
    )
    size = f'width="{_LEFT + _BAR + 110}" height="{y + 16}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{style}</style>", *parts, "</svg>"]
    return "".join(f"{line}\n" for line in lines)


def _figures(times: Times) -> dict[str, float]:
    return {f"p{share}": round(times.percentile(share / 100), 3) for share in (50, 90, 99)}


def _beside(times: Times, others: list[Times]) -> float | None:
    """The ratio to the bare interpreter of the same turns."""
    bare = next((other for other in others if other.contestant == _BESIDE), None)
    return None if bare is None else round(times.percentile(0.5) / bare.percentile(0.5), 4)


def _row(cells: tuple[str, ...]) -> str:
    first, *rest = cells
    return f"  {first:<40}" + "".join(f"{cell:>12}" for cell in rest)
