"""Who is told of alerts: channels with their logs, rules, maintenance windows."""
