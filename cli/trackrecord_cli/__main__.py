"""`python -m trackrecord_cli`: the command line where no script is installed."""

from .main import main

main()
