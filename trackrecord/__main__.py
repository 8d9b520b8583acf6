"""`python -m trackrecord`: the command line where no script is installed."""

from runpy import run_module

if __name__ == "__main__":
    run_module("trackrecord_cli", run_name="__main__", alter_sys=True)
