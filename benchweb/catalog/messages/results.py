"""Why an engine's result was not taken in."""

MESSAGES = {
    "result_refused": "The result was refused: {error}",
    "result_not_stored": "The result can't be stored: {error}",
    "result_no_object": "The engine's result is not a JSON object.",
    "result_other_kind": "The engine answered with kind {answered}, asked was {kind_name}.",
    "result_unreadable": "The engine's result can't be read at {fault}.",
    "result_without_metrics": "The result has no metrics.",
    "result_facts_no_object": "The result's facts of the {side} are not a JSON object.",
    "result_facts_unreadable": "The result's facts of the {side} can't be read at {fault}.",
    "result_not_kept": "The engine's result can't be kept: {error}.",
    "result_metric_not_finite": "The result's metric {key} is {value}, which is no finite number.",
    "result_metric_too_large": "The result's metric {key} is larger than anything that can be measured.",
    "result_histogram_unreadable": "The result's histogram can't be decoded from base64.",
    # Of what was imported.
    "import_tool_said": "{tool} says: {said}",
    "import_time_unknown": ("When it was measured isn't known: it stands at the time of its import, {at}."),
    "import_nothing": (
        "Nothing in this text can be imported: no result of a test that benchweb knows. It begins with “{line}”; "
        "read are {tools}."
    ),
    "import_nothing_because": "Nothing in this text can be imported: {why}",
    # Why repetitions are missing.
    "not_measured": "not measured",
    "repetitions_in_state": "{count} of {total} {state}",
    "side_source": "source",
    "side_sink": "sink",
}
