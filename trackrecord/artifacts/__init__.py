"""Artifacts: oversized outputs, stored whole and replaced by a summary that names them.

`contents`, `kinds`, `json_shape`, `declarations`, `summaries` and `pages` are pure;
`store` is the disk; `client` is what an agent calls.
"""
