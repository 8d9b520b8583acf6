"""Output of commands: screens, tables, drawings, and a status that is watched."""
