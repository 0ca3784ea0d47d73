"""What a receiver said to a message."""

from dataclasses import dataclass

# Of a receiver's answer so much is read, and so much is kept in the log.
MOST_READ_BYTES = 4_096
MOST_STORED = 500


@dataclass(frozen=True)
class Answer:
    """The receiver's own words; `error` is empty when the message was taken, `is_gone` when it wants no more."""

    status: int | None = None
    text: str = ""
    error: str = ""
    is_gone: bool = False


def stored_text(answer: bytes | str) -> str:
    """Return the beginning of an answer as text that can be stored."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)[
        :MOST_STORED
    ]
