"""What ends a command of ``course``."""

import click


class Trouble(click.ClickException):
    """One sentence that says what is wrong and what to do; exit status 2."""

    exit_code = 2
