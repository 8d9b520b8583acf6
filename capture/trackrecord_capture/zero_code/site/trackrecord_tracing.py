"""Turn on the tracing of agent frameworks when a program imports them, and send the spans.

Runs in the program's own process and environment: the standard library alone until a framework is
imported, then the program's own OpenTelemetry. Nothing here may break the program: what cannot be
traced is said in one line on standard error, and the program goes on.
"""

import atexit
import contextlib
import importlib
import importlib.util
import os
import sys
import threading

_SDK = ("opentelemetry.sdk", "opentelemetry-sdk")
_ENCODER = (
    "opentelemetry.exporter.otlp.proto.common.trace_encoder",
    "opentelemetry-exporter-otlp-proto-http",
)
# The module to watch for: what the framework is called, its instrumentors (the first one that is
# installed is used), and what to install if none is. Those without instrumentors trace by
# themselves once there is a tracer provider; CrewAI's events are listened to.
_FRAMEWORKS = {
    "pydantic_ai": ("pydantic-ai", (), ""),
    "agents": (
        "openai-agents",
        (
            "openinference.instrumentation.openai_agents:OpenAIAgentsInstrumentor",
            "opentelemetry.instrumentation.openai_agents:OpenAIAgentsInstrumentor",
        ),
        "openinference-instrumentation-openai-agents",
    ),
    "langchain_core": (
        "langchain",
        (
            "openinference.instrumentation.langchain:LangChainInstrumentor",
            "opentelemetry.instrumentation.langchain:LangchainInstrumentor",
        ),
        "openinference-instrumentation-langchain",
    ),
    "smolagents": (
        "smolagents",
        ("openinference.instrumentation.smolagents:SmolagentsInstrumentor",),
        "openinference-instrumentation-smolagents",
    ),
    "crewai": ("crewai", (), ""),
    "llama_index.core": (
        "llama-index",
        (
            "openinference.instrumentation.llama_index:LlamaIndexInstrumentor",
            "opentelemetry.instrumentation.llamaindex:LlamaIndexInstrumentor",
        ),
        "openinference-instrumentation-llama-index",
    ),
    "agno": (
        "agno",
        (
            "openinference.instrumentation.agno:AgnoInstrumentor",
            "opentelemetry.instrumentation.agno:AgnoInstrumentor",
        ),
        "openinference-instrumentation-agno",
    ),
    "autogen_agentchat": (
        "autogen-agentchat",
        ("openinference.instrumentation.autogen_agentchat:AutogenAgentChatInstrumentor",),
        "openinference-instrumentation-autogen-agentchat",
    ),
    "dspy": (
        "dspy",
        ("openinference.instrumentation.dspy:DSPyInstrumentor",),
        "openinference-instrumentation-dspy",
    ),
    "haystack": (
        "haystack-ai",
        (
            "openinference.instrumentation.haystack:HaystackInstrumentor",
            "opentelemetry.instrumentation.haystack:HaystackInstrumentor",
        ),
        "openinference-instrumentation-haystack",
    ),
    "strands": ("strands-agents", (), ""),
    "google.adk": ("google-adk", (), ""),
    "agent_framework": ("agent-framework", (), ""),
}
# Options that an instrumentor needs to leave the program's own tracing alone.
_OPTIONS = {"OpenAIAgentsInstrumentor": {"exclusive_processor": False}}


class _Watch:
    """The state of the program so far."""

    def __init__(self, site):
        self.site = site
        self.endpoint = os.environ.get("TRACKRECORD_RUN_ENDPOINT", "")
        self.token = os.environ.get("TRACKRECORD_RUN_TOKEN", "")
        self.project = os.environ.get("TRACKRECORD_RUN_PROJECT", "")
        self.folder = os.environ.get("TRACKRECORD_RUN_FOLDER", "")
        self.is_program = os.environ.get("TRACKRECORD_RUN_PID") == str(os.getpid())
        self.pid = os.getpid()
        self.seen = set()
        self.provider = None


def watch(site):
    """Wait for the import of a framework; `site` is the folder that PYTHONPATH has for this."""
    state = _Watch(site)
    if state.endpoint:
        sys.meta_path.insert(0, _Finder(state))
        if state.is_program:
            atexit.register(_say_nothing_was_seen, state)


def _say(message):
    with contextlib.suppress(Exception):
        sys.stderr.write(f"trackrecord: {message}\n")


def _say_nothing_was_seen(state):
    if not state.seen and os.getpid() == state.pid:
        known = ", ".join(sorted(name for name, _, _ in _FRAMEWORKS.values()))
        _say(f"nothing was recorded: the program used none of {known}")


class _Finder:
    """Finds a framework as all other finders would, and acts when it has been imported."""

    def __init__(self, state):
        self._state = state
        self._finding = threading.local()

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002 - Python's signature
        if name not in _FRAMEWORKS or getattr(self._finding, "now", False):
            return None
        self._finding.now = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
        finally:
            self._finding.now = False
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, name, self._state)
        return spec


class _Loader:
    """Loads a framework by its own loader, and turns on its tracing afterwards."""

    def __init__(self, loader, name, state):
        self._loader = loader
        self._name = name
        self._state = state

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            _imported(self._name, module, self._state)
        except Exception as error:  # noqa: BLE001 - the program must go on
            _say(f"nothing of {_FRAMEWORKS[self._name][0]} is recorded: {_one_line(error)}")


def _one_line(error):
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _imported(name, module, state):
    if name in state.seen or (name == "agents" and not hasattr(module, "Runner")):
        return
    state.seen.add(name)
    _leave_children_alone(state)
    title, instrumentors, package = _FRAMEWORKS[name]
    missing = [pip for path, pip in (_SDK, _ENCODER) if not _has(path)]
    found = next((path for path in instrumentors if _has(path.partition(":")[0])), None)
    if instrumentors and found is None:
        missing.append(package)
    if missing:
        _say(
            f"nothing of {title} is recorded; install what it takes: "
            f"{sys.executable} -m pip install {' '.join(missing)}"
        )
        return
    if state.provider is None:
        state.provider = _make_provider(state)
    if name == "pydantic_ai":
        module.Agent.instrument_all(module.InstrumentationSettings(tracer_provider=state.provider))
    elif name == "crewai":
        _load("trackrecord_crewai", state).listen(state.provider)
    elif found is not None:
        _instrument(found, state.provider)


def _leave_children_alone(state):
    """Remove our folder from the environment: child processes of the agent are not the agent."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = [path for path in paths if path and path != state.site]
    if kept:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    else:
        os.environ.pop("PYTHONPATH", None)
    for name in [name for name in os.environ if name.startswith("TRACKRECORD_RUN_")]:
        del os.environ[name]


def _has(path):
    try:
        return importlib.util.find_spec(path) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _instrument(path, provider):
    module_name, _, class_name = path.partition(":")
    instrumentor = getattr(importlib.import_module(module_name), class_name)()
    if _is_at_it(instrumentor, provider):
        return
    instrumentor.instrument(tracer_provider=provider, **_OPTIONS.get(class_name, {}))
    # An instrumentor that does not fit the framework's version only logs that, if at all.
    if getattr(instrumentor, "is_instrumented_by_opentelemetry", True) is False:
        message = f"{module_name} does not fit the installed version of the framework"
        raise RuntimeError(message)
    again = instrumentor.instrument

    def instrument(**options):
        """Replace the program's own call: its tracer provider gets our span processor, too."""
        theirs = options.get("tracer_provider")
        if theirs is None:
            return
        provider.adopt(theirs)
        return

    del again
    # Instrumentors are singletons, so that this is the one that the program will ask for.
    instrumentor.instrument = instrument


def _is_at_it(instrumentor, provider):
    """Return whether the program is instrumenting by itself: that may import the framework."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "instrument" and frame.f_locals.get("self") is instrumentor:
            provider.adopt((frame.f_locals.get("kwargs") or {}).get("tracer_provider"))
            return True
        frame = frame.f_back
    return False


def _make_provider(state):
    """Return the tracer provider for the frameworks, which takes OpenTelemetry to be made."""
    return _load("trackrecord_spans", state).make_provider(state)


def _load(name, state):
    """Load a module of our folder, which is not on the program's path any more."""
    spec = importlib.util.spec_from_file_location(
        f"_{name}", os.path.join(state.site, f"{name}.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
