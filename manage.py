#!/usr/bin/env python3
"""Set up, start, test and manage benchweb; the standard library is enough until .venv exists."""

import os
import sys

PROJECT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(PROJECT, ".venv")
# What a command needs to have been set up; any other command needs Python's packages only.
STEPS = {
    "up": ("python", "frontend", "engine", "static"),
    "test": ("python", "ldap", "frontend", "engine", "fixture"),
}
# What takes longest: `up` builds it beside pages that are there already.
LATER = {"up": ("engine", "static")}
# They start the embedded database where `up` isn't running.
WITH_DATABASE = ("backup", "restore", "make_original", "make_copy")


def main():
    """Set up what is missing, go on in .venv, and run the command."""
    if sys.version_info < (3, 11):
        sys.exit(
            "benchweb needs Python 3.11 or newer, and this is %d.%d: install it "
            "(Debian: sudo apt install python3.11) and run manage.py with that one." % sys.version_info[:2]
        )
    words = sys.argv[1:]
    command = words[0] if words else "help"
    # Set by the first of the processes that one command is made of: set-up is looked at once.
    if sys.prefix == VENV and os.environ.get("BENCHWEB_SET_UP") == "1":
        sys.exit(run(command, words))
    from benchweb.ops.setup import bootstrap

    bootstrap.run(command, words[1:], STEPS.get(command, ("python",)), later=LATER.get(command, ()))
    os.environ["BENCHWEB_SET_UP"] = "1"
    python = os.path.join(VENV, "bin", "python")
    os.execv(python, [python, os.path.join(PROJECT, "manage.py"), *words])


def run(command, words):
    """Run a command with the packages of .venv."""
    if command == "up":
        from benchweb.ops.running import up

        return up.run(words[1:])
    if command == "test":
        from benchweb.ops.setup import testing

        return testing.run(words[1:])
    if command in WITH_DATABASE:
        return run_with_database(command, words)
    return run_by_django(words)


def run_with_database(command, words):
    """Run a command that has to work while `up` is stopped too."""
    from benchweb.ops.running.offline import embedded_database
    from benchweb.ops.running.processes import SetupError

    try:
        with embedded_database(make=command == "restore", alone=command == "restore"):
            return run_by_django(words)
    except SetupError as error:
        sys.exit(f"{command}: {error}")


def run_by_django(words):
    """Run one of Django's commands or of ours."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchweb.settings")
    from django.core.management import execute_from_command_line

    return execute_from_command_line([sys.argv[0], *words])


if __name__ == "__main__":
    main()
