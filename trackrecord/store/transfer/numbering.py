"""New numbers for rows that had others: those of an export are of the store that it came from."""

from array import array
from bisect import bisect_left
from collections.abc import Sequence

from sqlalchemy import Table


class Numbering:
    """The new numbers of one table's rows.

    Sixteen bytes a row: millions of outcomes fit into memory.

    Args:
        table: the table.
    """

    def __init__(self, table: Table) -> None:
        self._name = table.name
        self._old = array("q")
        self._new = array("q")

    def announce(self, number: int) -> None:
        """Note the number of the next row.

        Raises:
            ValueError: it is not larger than the one before it.
        """
        if self._old and number <= self._old[-1]:
            message = f"the ids of {self._name} must rise, and {number} comes after {self._old[-1]}"
            raise ValueError(message)
        self._old.append(number)

    def settle(self, numbers: Sequence[int]) -> None:
        """Give rows that were announced, and have no new number yet, their new ones."""
        self._new.extend(numbers)

    def of(self, number: int) -> int:
        """Return the new number of a row.

        Raises:
            ValueError: no row with this number came before.
        """
        place = bisect_left(self._old, number)
        if place == len(self._new) or self._old[place] != number:
            message = f"there is no row {number} of {self._name} in the lines before"
            raise ValueError(message)
        return self._new[place]
