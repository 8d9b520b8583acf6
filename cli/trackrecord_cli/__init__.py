"""The command line: every command of docs/commands.md, for people and for scripts."""
