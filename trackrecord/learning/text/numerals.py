"""Say how many there are of a thing."""


def counted(count: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, as "1 outcome" or "2 outcomes".

    Args:
        count: how many there are.
        noun: what they are, in the singular.
        several: the plural, where that is not the singular with an s.
    """
    return f"{count} {noun if count == 1 else several or f'{noun}s'}"
