"""The command `inbounds`: what its exit codes mean, and how it says that something is wrong."""

from __future__ import annotations

import os
import signal
import sys
from textwrap import wrap
from typing import Any, NoReturn, TextIO

from inbounds.cli.shell.exit_codes import BAD_INPUT, BUDGET_REFUSED, DONE, FAILED, INTERRUPTED, NOT_PRIVATE
from inbounds.display.text import WIDTH


def main(arguments: list[str] | None = None) -> int:
    """Run a command, and return its exit code; what goes wrong is one line on standard error, without data."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:  # completion ends like that
        return end.code if isinstance(end.code, int) else DONE if end.code is None else FAILED
    except Exception as problem:  # noqa: BLE001  a traceback would show data
        return _report_failure(problem)


def _report_failure(problem: Exception) -> int:
    """Say what failed that is nobody's bad input."""
    if isinstance(problem, OSError):
        return _report_file(problem)
    if isinstance(problem, ImportError):
        return _complain(problem, FAILED)
    if isinstance(problem, MemoryError):
        return _complain("there is not enough memory; free some, or split the work into parts", FAILED)
    if isinstance(problem, RuntimeError) and "interrupted" in str(problem).lower():  # so DuckDB tells of Ctrl-C
        return INTERRUPTED
    kind = type(problem).__name__
    return _complain(f"failed unexpectedly ({kind}); please report this together with the command you typed", FAILED)


def run() -> NoReturn:
    """Run the command that was typed."""
    for name in ENDINGS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _end)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # an ε must not be the end on a terminal that has none
    try:
        code = main()
        _ignore_endings()
    except KeyboardInterrupt:  # in the moment between the end of the work and here
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)
    sys.exit(code)


ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals after which files are cleaned up; not every system has all of them."""


def _end(*_: object) -> NoReturn:
    """Interrupt, once: another signal must not interrupt the cleaning up."""
    _ignore_endings()
    raise KeyboardInterrupt


def _ignore_endings() -> None:
    for name in ENDINGS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)


def _run(arguments: list[str] | None) -> int:
    """Run a command; typer is imported here, so that a message can name the extra to install if it is missing."""
    try:
        import typer  # noqa: PLC0415
    except ImportError:
        raise ImportError("the command line needs typer, which is not installed: pip install 'inbounds[cli]'") from None
    from inbounds.cli.app import app  # noqa: PLC0415
    from inbounds.cli.shell.arguments import describe_usage  # noqa: PLC0415
    from inbounds.errors import InboundsError  # noqa: PLC0415

    try:
        return int(app(arguments, standalone_mode=False, prog_name="inbounds") or DONE)
    except InboundsError as problem:
        return _complain(problem, _choose_code(problem))
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as problem:
        return _complain(describe_usage(problem), BAD_INPUT)


def _choose_code(problem: Exception) -> int:
    """Return the exit code that goes with an error."""
    from inbounds import errors  # noqa: PLC0415

    if isinstance(problem, errors.BudgetExceeded | errors.QuestionTooExpensive):
        return BUDGET_REFUSED
    if isinstance(problem, errors.NotPrivate):
        return NOT_PRIVATE
    if isinstance(problem, errors.ServerRefused):
        return FAILED if problem.status >= 500 or problem.code in UNSURE else BAD_INPUT
    about_question = errors.EngineFailed, errors.AnswerFailed
    failed = (*about_question, errors.LedgerUnavailable, errors.LedgerBroken, errors.ServerUnreachable)
    return FAILED if isinstance(problem, failed) else BAD_INPUT


UNSURE = ("request-running", "too-many", "too-many-statements", "unknown")
"""What a server refuses though the command is right."""


def _complain(problem: object, code: int) -> int:
    """Say what is wrong, and return the exit code that goes with it."""
    if sys.stderr is None:  # it was closed before we began
        return code
    lines = f"inbounds: {problem}".splitlines()
    if sys.stderr.isatty():  # a program finds it in one line, a person reads whole words
        lines = [part for line in lines for part in _wrap(line)]
    try:
        sys.stderr.write("\n".join(lines) + "\n")
    except OSError:
        _flush(sys.stderr)
    return code


def _wrap(line: str) -> list[str]:
    """Return a line in lines that fit; one that is set in, as SQL with a mark under it is, stays as it is."""
    if line.startswith("  "):
        return [line]
    return wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _report_file(problem: OSError) -> int:
    """Say which file failed; a closed pipe is no failure."""
    if isinstance(problem, BrokenPipeError):
        return DONE
    name = problem.filename
    what = "a file" if name is None else name if name == "standard output" else f"the file {name!r}"
    why = problem.strerror or type(problem).__name__
    return _complain(
        f"{what} cannot be read or written: {why}; check the path, the permissions and the free disk space", FAILED
    )


def _flush(stream: TextIO | Any) -> None:
    """Write what is left, and be quiet if nobody reads it any more."""
    if stream is None:  # it was closed before we began
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
