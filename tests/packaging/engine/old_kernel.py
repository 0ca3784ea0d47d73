"""Run a program as on Linux 3.10: `python3 -m tests.packaging.engine.old_kernel PROGRAM [ARGUMENT]…` (x86_64).

A seccomp filter answers as that kernel would: ENOSYS to each system call that came later (numbers are given in order,
314 came with 3.14), ENOPROTOOPT to the socket options that came later. What it can't imitate: shorter structures.
"""

import ctypes
import os
import struct
import sys
from errno import ENOPROTOOPT, ENOSYS

FIRST_LATER_CALL = 314
SETSOCKOPT = 54
# Socket options by level: the first number that 3.10 doesn't know (include/uapi of that kernel).
FIRST_LATER_OPTION = {0: 24, 1: 46, 6: 25, 17: 102}

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_OFFSET, _LEVEL_OFFSET, _OPTION_OFFSET = 0, 24, 32
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2


def filter_program() -> bytes:
    """Assemble the filter (classic BPF, struct sock_filter each)."""
    steps = [
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_JUMP_AT_LEAST, 0, 1, FIRST_LATER_CALL),
        (_RETURN, 0, 0, _ERRNO | ENOSYS),
        (_JUMP_EQUAL, 1, 0, SETSOCKOPT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for level, first in FIRST_LATER_OPTION.items():
        steps += [
            (_LOAD, 0, 0, _LEVEL_OFFSET),
            (_JUMP_EQUAL, 0, 3, level),
            (_LOAD, 0, 0, _OPTION_OFFSET),
            (_JUMP_AT_LEAST, 0, 1, first),
            (_RETURN, 0, 0, _ERRNO | ENOPROTOOPT),
        ]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def become_old() -> None:
    """Put this process and all that it starts under the filter, for good."""
    program = filter_program()
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a count, padding, a pointer.
    description = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _MODE_FILTER, description, 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), f"prctl {call[0]} was refused")


if __name__ == "__main__":
    become_old()
    os.execv(sys.argv[1], sys.argv[1:])
