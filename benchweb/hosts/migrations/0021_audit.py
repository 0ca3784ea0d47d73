from django.db import migrations

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_audit"),
        ("hosts", "0020_one_host"),
    ]

    operations = [
        audited("hosts_environment"),
        audited("hosts_host", ignored=("machine_id",)),
        audited(
            "hosts_endpoint",
            ignored=(
                "status",
                "status_reason",
                "status_reason_data",
                "checked_at",
                "engine_version",
                "catalog_version",
                "data_port",
                "answered_address",
                "clock_offset_seconds",
                "round_trip_seconds",
                "seen_fingerprint",
                "unreachable_since",
                "probe_due_at",
                "same_machine",
            ),
            hidden=("token_encrypted",),
        ),
        audited(
            "hosts_pair",
            ignored=("path_status", "path_reason", "path_reason_data", "path_found", "path_checked_at", "path_due_at"),
        ),
    ]
