"""What commands print: screens, tables, drawings, and a status that is watched."""
