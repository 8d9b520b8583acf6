"""The OpenAPI document, fuzzed against a real front door: no answer but those that it promises.

TESTS_FUZZ_EXAMPLES says how many requests are made of each endpoint and of each kind: sound and
unsound ones. `make fuzz` makes many.
"""

import os
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from tests.door.api.served_store import OURS, ServedStore
from tests.door.running_door import Door
from trackrecord_door.api.endpoint_table import ENDPOINTS
from trackrecord_door.api.openapi import openapi_document

EXAMPLES = int(os.environ.get("TESTS_FUZZ_EXAMPLES", "2"))
# A seed that is set finds what is found again; `make fuzz` finds something new.
SEED = int(os.environ.get("TESTS_FUZZ_SEED", "1"))
PATIENCE_S = 300
MOST_OF_HEAD = 48 * 1024
OPERATIONS = sorted(
    {(each.method, each.path.replace(":path", "")) for each in ENDPOINTS} | {("POST", "/outcomes")}
)


@pytest.fixture(scope="module")
def fuzzed(fresh_store: ServedStore) -> Iterator[Door]:
    """A front door on a store that may be spoilt."""
    with Door(fresh_store.home, project=OURS) as running:
        yield running


@pytest.fixture(scope="module")
def schema():
    """The document, as the fuzzer reads it."""
    import schemathesis

    moments = st.one_of(
        st.integers(0, 4_000_000_000).map(str),
        st.datetimes().filter(lambda each: each.year >= 1970).map(lambda each: each.isoformat()),
    )
    schemathesis.openapi.format("moment", moments)
    return schemathesis.openapi.from_dict(openapi_document())


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_answers_are_as_the_document_says(schema, fuzzed, fresh_store, method, path):
    """Neither a sound request nor an unsound one ends in 5xx, or in an answer of another shape."""
    import schemathesis
    from schemathesis import GenerationMode

    operation = schema[path][method]
    left_out = [
        # A text that is an id, a cursor or a moment by its type need not be one.
        schemathesis.checks.CHECKS.get_one("positive_data_acceptance"),
        # Whoever is on the same machine needs no token.
        schemathesis.checks.CHECKS.get_one("ignored_auth"),
    ]
    known = {name: fresh_store.ids[OURS].get(name, "x") for name in _names_in(path)}

    def check(mode: GenerationMode, **more: object) -> None:
        @seed(SEED)
        @settings(
            max_examples=EXAMPLES,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(mode, **more))
        def run(case) -> None:
            if mode is GenerationMode.POSITIVE and "project" in (case.query or {}):
                case.query["project"] = OURS
            # The server refuses a longer head before the API sees it.
            assume(len(urlencode(case.query or {}, doseq=True, errors="replace")) < MOST_OF_HEAD)
            answer = case.call(base_url=f"{fuzzed.url}/api/v1", timeout=PATIENCE_S)
            case.validate_response(answer, excluded_checks=left_out)

        run()

    check(GenerationMode.POSITIVE, **({"path_parameters": known} if known else {}))
    check(GenerationMode.NEGATIVE)


def _names_in(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]
