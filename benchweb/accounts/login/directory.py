"""What may go wrong with a directory of users, without the library that asks it."""


class DirectoryUnavailable(Exception):
    """The directory can't be asked: the password may be right or wrong."""
