"""A scrape, sample by sample."""

import re
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


@dataclass(frozen=True)
class Scrape:
    """A scrape in the text format.

    Attributes:
        text: as it came.
        samples: all samples.
        kinds: the kind of each family, by its name.
    """

    text: str
    samples: list[Sample]
    kinds: dict[str, str]

    def value(self, name: str, **labels: str) -> float:
        """The one sample with these labels, whatever others it has."""
        (found,) = [
            each.value
            for each in self.samples
            if each.name == name and labels.items() <= each.labels.items()
        ]
        return found

    def labels(self, name: str) -> set[str]:
        """The labels that samples of a name have."""
        return {label for each in self.samples if each.name == name for label in each.labels}

    def values_of(self, label: str) -> set[str]:
        """The values that a label has anywhere."""
        return {each.labels[label] for each in self.samples if label in each.labels}

    @property
    def names(self) -> set[str]:
        """The names of all samples."""
        return {each.name for each in self.samples}


def read_scrape(text: str) -> Scrape:
    """Parse the text format as Prometheus does."""
    families = list(text_string_to_metric_families(text))
    return Scrape(
        text,
        [sample for family in families for sample in family.samples],
        dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)),
    )
