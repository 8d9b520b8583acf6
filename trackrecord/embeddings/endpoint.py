"""The settings of the embedding endpoint."""

from dataclasses import dataclass, field

from trackrecord.learning.numbers.checks import Inner, require, require_positive, require_ratio


@dataclass(frozen=True)
class EmbeddingEndpoint:
    """An embedding endpoint with OpenAI's API.

    Attributes:
        url: base URL of an OpenAI-compatible embeddings API, for example
            `https://api.openai.com/v1`. If unset, tasks are matched by shared words.
        model: name of the embedding model.
        api_key: bearer token for the API, if it needs one; the token is never shown.
        timeout_s: maximum time for one request.
        batch_size: number of texts in one request.
        dimensions: number of dimensions of a vector; replies with another number are an error. If
            unset, the number that stored vectors have.
        retry_after_s: how long to wait before an unreachable API is tried again.
        prompt_timeout_s: how long `rankings()` and `context()` wait for the embedding of a task.
            One that comes later is kept for the next prompt.
        least_similarity: cosine below which a competence record has nothing to do with a task;
            models differ.
    """

    url: str | None = None
    model: str = "text-embedding-3-small"
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 5.0
    batch_size: Inner[int] = 64
    dimensions: int | None = None
    retry_after_s: Inner[float] = 30.0
    prompt_timeout_s: Inner[float] = 0.3
    least_similarity: float = 0.35

    def __post_init__(self) -> None:
        if self.url is not None:
            require(
                self.url.startswith(("http://", "https://")),
                "url must begin with http:// or https://",
            )
        require(bool(self.model.strip()), "model must not be blank")
        # The number that pgvector can store.
        require(
            self.dimensions is None or 1 <= self.dimensions <= 16_000,
            "dimensions must lie in 1..16000",
        )
        require_positive("timeout_s", self.timeout_s)
        require_ratio("least_similarity", self.least_similarity)
