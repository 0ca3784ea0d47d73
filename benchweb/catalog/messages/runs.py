"""Why runs and trials wait, fail or end, and what happened to them."""

MESSAGES = {
    # Why a run or trial ended as it did.
    "run_cancelled": "the run was cancelled",
    "cancelled_before_start": "cancelled before it started",
    "rerun_gave_way": "gave way to a re-run that was needed more",
    "cancelled_halfway": "cancelled with {done} of {total} trials finished",
    "trials_failed": "{failed} of {total} trials failed",
    "trials_cancelled": "{stopped} of {total} trials cancelled",
    "trials_not_started": "{unstarted} of {total} trials not started",
    "host_unreachable": "host {host} has given no valid answer since {since}",
    "not_started_in_time": "not started by {start_before}: {waiting_for}",
    "queued_behind_others": "others were before it in the queues of host {source} and host {sink}",
    "could_not_be_ended": "{reason}; could not be ended: {name}: {error}",
    "workers_broke_off_on_trial": "{count} workers broke off on this trial: {last}",
    "workers_broke_off_on_run": "{count} workers broke off on this run: {last}",
    "worker_gone": "the last one was gone without a word",
    "reservation_lost": "The run took longer than planned, and its hosts are reserved for another run now.",
    "kind_gone": "The test kind {kind} is in this version's catalog no more.",
    "confidence_not_reached": "The confidence asked for was NOT reached: {words}",
    "confidence_not_reached_in_part": (
        "The confidence asked for was NOT reached for {count} of {total} combinations: {words}"
    ),
    "confidence": "a {level_percent:g} % interval of the mean at most {width_percent:g} % wide",
    "trial_in_state": "the trial is {state}",
    # What a run waits for.
    "queued": "{position} in the queue of {resource}",
    "waiting_for_run": "waiting for {resource}: run {run} until {until}",
    "waiting_for_late_run": "waiting for {resource}: run {run}, which takes longer than planned",
    "together_over": "the runs that it started together with are over",
    "between_rounds": "waits for its next round, while the campaign's other pairs have theirs",
    "trying_again": "trying again at {again_at} UTC after {tried}: {reason}",
    "attempt": "the {attempt} of {total} attempts",
    "worker_broke_off": "a worker broke off: {name}: {error}",
    # What happened to a run.
    "event_cancellation_requested": "Cancellation asked for.",
    "event_not_begun": "Not begun, {waiting_for}",
    "event_repeated": "Repeated once more: {which} still too wide.",
    "one_interval": "one combination's interval is",
    "intervals": "{trials} combinations' intervals are",
    "event_run_ended": "Run {state}.",
    "event_run_ended_because": "Run {state}: {reason}",
    "event_trial_ended": "Trial {index} ({kind}) {state}: {reason}",
    "event_worker_took_run": "A worker took the run.",
    "event_worker_took_over": "The run's worker is gone; another worker goes on with it.",
    "event_worker_broke_off": "A worker broke off: {error}",
    "event_not_summarised": "The run's results can't be summed up and are missing from the history: {why}",
}
