"""Looks for news in logs that were read before: `find_news LOGS`."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from trackrecord_capture.history.reading import has_news
from trackrecord_capture.history.state import CaptureState, LogPlace
from trackrecord_capture.sources.register import known_sources


def main() -> None:
    """Print the processor time of seeing that nothing is new, and of walking the folder."""
    source = known_sources()["claude-code"]
    with tempfile.TemporaryDirectory() as home, CaptureState(Path(home)) as state:
        folder = Path(home) / "projects" / "shop"
        folder.mkdir(parents=True)
        for number in range(int(sys.argv[1])):
            (folder / f"{number}.jsonl").write_text("{}\n")
        for log in source.logs([folder.parent]):
            state.keep_place(source.name, log, LogPlace(log.version, 0))
        began = time.process_time()
        news = [has_news(source, log, state) for log in source.logs([folder.parent])]
        looking_s = time.process_time() - began
        if len(news) != int(sys.argv[1]) or any(news):
            message = "not all logs were known"
            raise RuntimeError(message)
        began = time.process_time()
        sum(each.stat().st_size for each in os.scandir(folder))
        walking_s = time.process_time() - began
    print(json.dumps({"looking_s": looking_s, "walking_s": walking_s}))


if __name__ == "__main__":
    main()
