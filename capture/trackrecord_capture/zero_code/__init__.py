"""Tracing that is turned on from outside, for programs that do not trace: `trackrecord run`.

The folder `site` stands first on the PYTHONPATH of the program, so that its interpreter loads
`sitecustomize` from there. It runs in the program's own environment, whatever is installed in it,
and therefore imports nothing of trackrecord.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

_EXPORTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_")
_SIGNALS: Final = ("TRACES", "LOGS", "METRICS")
_SITE: Final = Path(__file__).parent / "site"
# Frameworks that trace by themselves hide what tools are given and return until they are told.
_CONTENT: Final = {
    "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "true",
    "ENABLE_SENSITIVE_DATA": "true",
    "ENABLE_INSTRUMENTATION": "true",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
}


def environment_of_run(
    environment: Mapping[str, str],
    *,
    endpoint: str,
    token: str,
    project: str,
    folder: str,
    pid: int,
) -> dict[str, str]:
    """Return the environment of a traced program; existing variables stay.

    Args:
        environment: the environment that the program would have.
        endpoint: the base URL of the front door.
        token: the token to report with; "" if none is needed.
        project: the project of its runs; "" for that of its folder.
        folder: the folder that it is started in.
        pid: the process that will be the program.
    """
    paths = [str(_SITE), *filter(None, [environment.get("PYTHONPATH")])]
    ours = {
        "PYTHONPATH": _separator().join(paths),
        "TRACKRECORD_RUN_ENDPOINT": endpoint,
        "TRACKRECORD_RUN_TOKEN": token,
        "TRACKRECORD_RUN_PROJECT": project,
        "TRACKRECORD_RUN_FOLDER": folder,
        "TRACKRECORD_RUN_PID": str(pid),
    }
    others = {
        **_CONTENT,
        # For programs in other languages; a Python program has an exporter of its own.
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    }
    if not any(name.startswith(_EXPORTS) for name in environment):
        # Programs that export elsewhere, too, shall not tell others of this.
        others["OTEL_RESOURCE_ATTRIBUTES"] = _resource(environment, project, folder)
        environment = {k: v for k, v in environment.items() if k != "OTEL_RESOURCE_ATTRIBUTES"}
        # By signal: where one goes elsewhere, our token stays here.
        others |= {
            f"OTEL_EXPORTER_OTLP_{signal}_HEADERS": f"authorization=Bearer {token}"
            for signal in _SIGNALS
            if token and f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT" not in environment
        }
    return {**others, **environment, **ours}


def _resource(environment: Mapping[str, str], project: str, folder: str) -> str:
    told = [environment.get("OTEL_RESOURCE_ATTRIBUTES", "")]
    told += [f"trackrecord.folder={quote(folder, safe='')}"] if folder else []
    told += [f"trackrecord.project={quote(project, safe='')}"] if project else []
    return ",".join(filter(None, told))


def _separator() -> str:
    return ";" if sys.platform == "win32" else ":"
