"""One file per kind of channel: a message out, the receiver's answer in."""
