"""Every table of the store: importing this module fills the metadata.

Without the indexes over a part of a table's rows, which only migrations need to know.
"""

from ..advice import tables as _advice  # noqa: F401 - for the metadata
from ..competences import tables as _competences  # noqa: F401 - as above
from ..criteria import tables as _criteria  # noqa: F401 - as above
from ..database import access_tokens as _access_tokens  # noqa: F401 - as above
from ..database import leases as _leases  # noqa: F401 - as above
from ..database import moves as _moves  # noqa: F401 - as above
from ..database.metadata import metadata
from ..memories import tables as _memories  # noqa: F401 - as above
from ..outcomes import forgotten as _forgotten  # noqa: F401 - as above
from ..outcomes import tables as _outcomes  # noqa: F401 - as above
from ..patterns import tables as _patterns  # noqa: F401 - as above

__all__ = ["metadata"]
