"""Queries on learnt data, with typed answers.

The command line stands on these, and HTTP, MCP, metrics or a page would stand beside it. An answer
becomes a JSON object by `to_document`. Rankings and contexts as agents read them come from
`prompt.reading` and `prompt.answers`, artifacts from `artifacts.client`.
"""
