"""Clients of the tests' own servers, none of which speaks TLS."""

import ssl
from typing import Final

# For `verify`: to load the authorities that it trusts by default takes a client of httpx 20 ms.
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
