"""Why messages are held, muted or given up, and what receivers answered."""

MESSAGES = {
    "delivery_muted": "Muted by the maintenance window {window}, until {until}.",
    "delivery_channel_disabled": "The channel is disabled: {reason}",
    "delivery_of_copy": "It was waiting when this copy was made: the original sends it.",
    "delivery_in_digest": "For the digest of {at}.",
    "delivery_waits_for_joined": "Until {until}, for what else joins its alert.",
    "delivery_quiet_hours": "Quiet hours, until {until}.",
    "channel_disabled_by_hand": "somebody disabled it",
    "channel_archived": "it was archived",
    "channel_gone": "the receiver answered 410: it wants no more messages",
    "channel_kind_unknown": "This version of benchweb knows no channels of the kind {kind}.",
    "channel_secret_unreadable": (
        "The channel's secret can't be read: the secret key has changed. Enter the secret again."
    ),
    "receiver_refused_address": (
        "{host} is a private or special address, to which no notification is sent. An operator can allow its network "
        "by BENCHWEB_NOTIFY_PRIVATE_NETWORKS."
    ),
    "receiver_too_slow": "no whole answer within {seconds:g} s",
    "receiver_unreachable": "the receiver can't be reached: {error}",
    "receiver_host_unreachable": "{host} can't be reached: {error}",
    "receiver_host_without_address": "{host} has no address",
    "receiver_certificate": "the certificate of {host} can't be trusted: {error}",
    "receiver_answered": "the receiver answered {status}",
    "receiver_redirects": "the receiver answered {status}, a redirect, which is not followed",
    "sending_failed": "sending failed on this side ({name}): see the log of the worker",
    "mail_without_server": "No mail server is set: an admin names it on the page Site settings.",
    "mail_not_spoken": "{host} does not answer as a mail server",
    "mail_password_unreadable": (
        "The password of the mail server can't be read: the secret key has changed. Enter the password again."
    ),
    "mail_refused": "the mail server refused every recipient",
    "mail_refused_some": "the mail server refused {refused} of {count} recipients: {answers}",
    "mail_answered": "the mail server answered {status}",
    "mail_failed": "the mail server: {error}",
    "messenger_unreadable": "Apprise can't read the address any more: enter it again.",
    "messenger_refused": "the service did not take it",
}
