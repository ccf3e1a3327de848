"""``course`` and ``python -m course``."""

import sys


def main():
    """Run the command line. Nothing is imported before, so that Ctrl-C never ends in a traceback."""
    try:
        from course.commands import course

        course(prog_name="course")
    except KeyboardInterrupt:
        print("Error: Stopped before anything was done; run the same command again.", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
