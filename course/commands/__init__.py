"""The subcommands of ``course``: one module each, found by its name, holding a click command ``command``."""
