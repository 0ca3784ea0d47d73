"""Why an installation does nothing outside itself."""

MESSAGES = {
    "copy_is_quiet": (
        "This is a copy of another installation: it measures nothing and sends nothing until an admin makes it the "
        "original."
    ),
}
