"""What became of a schedule's slots."""

MESSAGES = {
    "slot_closes_too_soon": "Its time closes at {closes}, and a run takes up to {takes}.",
    "slot_past_deadline": "It had to begin within {deadline}.",
    "slot_hosts_silent": "No pair can run: {silent}.",
    "end_silent": "{end} has given no valid answer since {unreachable_since} UTC",
    "slot_left_out": "Left out: {reasons}.",
    "part_archived": "its {kind} {archived} is archived",
    "slot_without_pairs": "No pair is left to run on.",
    "slot_plan_archived": "Plan {plan} is archived: restore it, or choose another.",
    "slot_too_many_runs": (
        "It would be {count:,} runs, and {agreed:,} were agreed to: save the schedule again with that number."
    ),
    "slot_too_many_runs_unconfirmed": (
        "It would be {count:,} runs, and nobody agreed to so many: save the schedule again with that number."
    ),
    "slot_not_launched": "Could not be launched: {why}",
    "slot_rule_broken": "No later slot can be told: save the schedule again.",
    "slot_found_late": "Found {lateness} after its time.",
    "slot_made_up_later": "Found {lateness} after its time; a later slot makes up for it.",
    "slot_missed": "Found {lateness} after its time; the schedule skips what it misses.",
    "slot_runs_ended": "Of {total:,} runs {ends}.",
    "slot_run_reason": "Run {run}: {reason}",
    "slot_not_counted": "Its runs ended, but could not be counted: {name}: {error}",
    "slot_skipped": "Skipped: campaign {before} had not ended.",
    "slot_skipped_behind_slot": "Skipped: another slot was waiting already.",
    "slot_skipped_behind_both": "Skipped: campaign {before} had not ended, and another slot was waiting already.",
    "slot_waits_for_campaign": "Waits until campaign {before} has ended.",
    "slot_waits_for_slot": "Waits for the slot before it.",
    "slot_paused": "The schedule was paused before its turn came.",
    "slot_archived": "The schedule was archived before its turn came.",
    "slot_cancelled": "Cancelled before its turn came.",
    "schedule_paused": "the schedule was paused before it started",
    "schedule_archived": "the schedule was archived before it started",
}
