"""The body of a small report: fields that an agent gave, written as JSON."""

from typing import Any

from trackrecord.wire.outcome import encode_body


def written(fields: dict[str, Any], *, what: str, refusal: type[Exception]) -> bytes:
    """Return fields as JSON.

    Args:
        fields: by name.
        what: what messages call the report.
        refusal: what is raised if a value cannot be written.
    """
    try:
        return encode_body(fields)
    except Exception as error:  # noqa: BLE001 - lone surrogates, or whatever text may be
        message = f"the {what} cannot be written as JSON ({type(error).__name__})"
        raise refusal(message) from None
