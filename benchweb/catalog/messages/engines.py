"""Why an engine can't be used, as the dashboard finds it."""

MESSAGES = {
    "engine": "The engine of {name} ({address})",
    "engine_unreachable": (
        "{engine} can't be reached ({error}). Is benchweb-engine serve running there, and does a firewall let the port "
        "through?"
    ),
    "engine_unaskable": (
        "{engine} can't be asked ({error}): its control address or its token can't be used. Enter them again on the "
        "host's page."
    ),
    "engine_unusable": (
        "{engine} could not be used. Is benchweb-engine serve running there with the pinned certificate, and does a "
        "firewall let the port through? The worker's log says more, to an administrator."
    ),
    "engine_busy": "{engine} is busy: {sessions} sessions run there, and no more are allowed at once.",
    "engine_refused": "{engine} refused: {message}",
    "engine_refused_token": "{engine} refused the token: enter the token of its token file on the host's page.",
    "engine_without_token": (
        "{engine} can't be asked without its token: enter the token of its token file on the host's page."
    ),
    "engine_knows_other_token": (
        "{engine} doesn't know this token, so it was not sent: enter the token of the engine's token file on the "
        "host's page."
    ),
    "engine_unproven": (
        "{engine} can't prove that it knows the token, so it was not sent. Update the engine, or enter the fingerprint "
        "that it prints when it starts, together with the token, on the host's page."
    ),
    "engine_not_pinned": (
        "{engine} has no pinned certificate: nothing is sent to it. Check it on the page of its host."
    ),
    "endpoint_not_pinned": "{endpoint} is not pinned. {reason}",
    "engine_other_certificate": (
        "{engine} shows another certificate than the pinned one. If the engine was set up anew, check its fingerprint "
        "there and pin it on the host's page; if not, somebody is in between."
    ),
    "engine_certificate_unknown": "{engine} shows a certificate that is not an engine's.",
    "engine_speaks_no_tls": "{engine} doesn't speak TLS as an engine does. Is that the engine's port?",
    "engine_tls_failed": "{engine} doesn't speak TLS as an engine does ({error}).",
    "engine_too_old_to_rotate": (
        "{engine} can't replace its token or certificate from here: update it. Nothing was changed."
    ),
    "engine_garbage": "{engine} doesn't answer as an engine does: {what}. Is that the engine's port?",
    "engine_broke_off": "{engine} broke off its answer ({error}).",
    "engine_silent": "{engine} fell silent in the middle of a trial ({error}).",
    "engine_without_result": "{engine} ended its events without a result.",
    "engine_event_too_large": (
        "{engine} sent a result or event of more than {most} MiB, the most that is taken in. Choose a longer report "
        "interval or fewer flows; newer engines keep results of long tests small."
    ),
    "engine_endless": "{engine} came to no end within {seconds:.0f} s, longer than the test takes.",
    "engine_not_prepared": "{engine} could not prepare the test: {reason}",
    "engine_facts_unreadable": "{engine} tells facts that can't be read at {fault}.",
    "engine_too_old_for_path": (
        "{engine} is too old for this check: update it. Whether TCP and UDP pass is not known."
    ),
    "engine_data_port_changed": (
        "{engine} has data port {data_port}, and had {known} when it was checked. If it was started with another "
        "--data-port, check it on the page of its host."
    ),
    "engine_other_data_port": (
        "{engine} announces data port {announced} instead of {data_port}, so nothing is sent there. If it was started "
        "with another --data-port, check it on the page of its host."
    ),
    "engine_other_data_address": (
        "{engine} announces the data address {announced} instead of {address}, so nothing is sent there. Enter the "
        "address as the endpoint's data address if it is right."
    ),
    "engine_says": "{engine} says: {reason}",
    "engine_answers": "{engine} answers.",
    "engine_gave_no_reason": "the engine gave no reason",
    "tried_in_turn": "{reason}; tried in turn: {paths}",
    "other_end": "{reason}; the other end: {state}",
    "source_restarted": "the source's engine, {engine}, was restarted while the test ran; run it again",
    "source_restarted_at": "the source's engine, {engine}, was restarted at {at} UTC while the test ran; run it again",
    "sink_restarted": "the sink's engine, {engine}, was restarted while the test ran; run it again",
    "sink_restarted_at": "the sink's engine, {engine}, was restarted at {at} UTC while the test ran; run it again",
    # What an answer has that is no engine's.
    "answer_too_large": "its answer has more than {most} MiB, the most that is read",
    "answer_without_reason": "it answered with HTTP status {status} and no reason",
    "answer_not_kept": "it sent JSON that can't be kept: {error}",
    "answer_no_json": "it sent no JSON but {data}",
    "answer_too_late": "its answer was not complete within {seconds:g} s",
    "answer_facts_no_object": "its facts are not a JSON object",
    "answer_session_without_state": "its answer to a new session has no state",
    "answer_session_no_object": "its answer about a session is no object",
    "answer_proofs_unreadable": "its proofs can't be read",
    "answer_fingerprint_unreadable": "its answer has no fingerprint of a new certificate",
    "answer_event_without_id": "an event has no id",
    "answer_event_unknown": "an event is of unknown type {type}",
    "answer_about_unreadable": "its description of itself can't be read ({error})",
    "answer_canary_unreadable": "what its host measured alone can't be read ({error})",
    "answer_load_unreadable": "what it tells of its host can't be read ({error})",
    "answer_path_unreadable": "what it says of a path check can't be read ({error})",
    "answer_path_look_unreadable": "what it found of a path can't be read ({error})",
    # Addresses.
    "host_without_address": "{host} has no address.",
    "address_unresolved": "The address {host} of {endpoint} can't be resolved: {error}.",
    "control_address_unusable": "The control address of {endpoint} can't be used: {error}",
    "data_address_unusable": "The data address of {endpoint} can't be used: {error}",
    "data_address_loopback": (
        "The data address {host} of {endpoint} means {address} now, every machine's own address: test traffic from "
        "another host never arrives there. Give the address of the interface that carries it."
    ),
    "data_address_of_other_engine": (
        "The data address {host} of {endpoint} means {address} now, the address of another engine, {other}: give the "
        "address of this host's own interface."
    ),
    "no_common_family": (
        "{source_endpoint} sends from {source} and {sink_endpoint} has {sink}: give both a data address of the same "
        "family, IPv4 or IPv6, on the pages of their hosts."
    ),
}
