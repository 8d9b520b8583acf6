"""`python -m trackrecord_cli`: the command line where no script is installed."""

from .entry import main

main()
