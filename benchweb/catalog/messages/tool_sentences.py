"""What parsers of other tools' outputs remark: in English, as those speak, and each found again by its pattern."""

MESSAGES = {
    "tool_report_table": "Read from a report's table, not from the tool's own output.",
    "tool_datagram_size_unknown": "The size of datagrams isn't printed: it isn't known.",
    "tool_default_of_iperf3": "The size of a write isn't printed: iperf3's default of 128 KiB is taken.",
    "tool_unknown_sender": "Sender of {amount}: this end doesn't know it; left out.",
    "tool_unknown_receiver": "Receiver of {amount}: this end doesn't know it; left out.",
    "tool_unknown_total": "The total of {amount}: this end doesn't know it; left out.",
    "tool_sar_no_heads": "The columns' heads are missing: taken as those of `sar -n DEV`.",
    "tool_sar_no_average": "The table has no Average line: the mean of its rows is taken.",
    "tool_sar_other_average": "Average {average} of {metric} isn't the mean of its rows ({mean}).",
    "tool_no_banner": "No banner: read as {test} by the row's shape.",
    "tool_confidence": "Confidence asked for: ±{width} % at {level} %.",
    "tool_no_sample": "{series}: no sample.",
    "tool_samples_missing": "{series}: {missing} of {all} samples are missing.",
    "tool_no_received_line": "The line of what was received is missing.",
    "tool_no_time_of_day": "{text} is no time of day.",
    "tool_littles_law": (
        "Little's law: {rate} IOPS × {latency} µs = {in_flight} in flight, but the depth is {depth}: "
        "these figures don't belong together."
    ),
    # Why a reading is none, or incomplete.
    "tool_no_summary": "The test has no summary: it was cut off.",
    "tool_no_document_summary": "The document has no summary: the test was cut off.",
    "tool_wrk_cut_off": "The output ends before Requests/sec: the test was cut off.",
    "tool_banner_alone": "The banner stands without a table: the test was cut off.",
    "tool_no_series": "The file has no series with a sample.",
    "tool_row_cut_off": "The row has fewer columns than netperf prints: it was cut off.",
    "tool_ping_cut_off": "The output has no statistics: the ping was cut off.",
    "tool_fio_error": "fio ended the job with error {error}.",
    "tool_mbw_cut_off": "mbw's AVG line is missing: the output was cut off.",
    "tool_stream_invalid": "STREAM's results didn't validate.",
    # Why a line or a file can't be read.
    "tool_line_of_no_test": "No test begins here that this line belongs to.",
    "tool_line_too_long": "The line has over {most} characters: no tool's has.",
    "tool_most_results": "Only {most} results of one text are read.",
    "tool_text_too_long": "The text has {count} characters; at most {most} are read at once.",
    "tool_file_too_large": "The file has {count} bytes; at most {most} are read at once. Split it.",
    "tool_unpacked_too_large": "Unpacked, the file is over {most} bytes: more than is read at once.",
    "tool_no_text": "The file is no text: it holds zero bytes. Only text, JSON and gzip of these are read.",
    "tool_gzip_damaged": "The gzip file is damaged: {error}.",
    "tool_gzip_cut_off": "The gzip file ends too early: it was cut off.",
    "tool_takes_too_long": "The text takes too long to read. Split it, and leave out what is no tool's output.",
    "tool_files_take_too_long": "The files before this one took too long to read; it was left out. Send fewer at once.",
}
