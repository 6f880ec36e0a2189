"""`python -m inbounds.cli`."""

from inbounds.cli.main import run

if __name__ == "__main__":
    run()
