import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

import benchweb.hosts.fields
from benchweb.accounts.audit.triggers import audited

# What facts say as lines of text, for the search: `kernel 6.1.0`, `interface eth0, driver ena, mtu 1500`.
# Immutable, as a generated column must be: concat_ws() is not, || is.
FACTS_WORDS = r"""
CREATE FUNCTION hosts_facts_words(document jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(E'\nhostname ' || (document ->> 'hostname'), '')
        || coalesce(E'\nos ' || (document ->> 'operating_system'), '')
        || coalesce(E'\nkernel ' || (document ->> 'kernel'), '')
        || coalesce(E'\narchitecture ' || (document ->> 'architecture'), '')
        || coalesce(E'\nvirtualisation ' || (document ->> 'virtualisation'), '')
        || coalesce(E'\nboot ' || (document ->> 'boot_id'), '')
        || coalesce(E'\nclock ' || (document ->> 'clock_source'), '')
        || coalesce(E'\nengine ' || (document ->> 'engine_version'), '')
        || coalesce(E'\ncpu ' || (document -> 'cpu' ->> 'model'), '')
        || coalesce(E'\ngovernor ' || (document -> 'cpu' ->> 'governor'), '')
        || coalesce(E'\ncongestion ' || (document ->> 'congestion_control'), '')
        || coalesce((
            SELECT string_agg(E'\n' || key || ' ' || value, '' ORDER BY key)
            FROM jsonb_each_text(CASE jsonb_typeof(document -> 'sysctls') WHEN 'object' THEN document -> 'sysctls' END)
        ), '')
        || coalesce((
            SELECT string_agg(
                E'\ninterface ' || coalesce(card ->> 'name', '')
                || coalesce(', driver ' || (card ->> 'driver'), '')
                || coalesce(', mtu ' || (card ->> 'mtu'), '')
                || coalesce((
                    SELECT ', offloads ' || string_agg(key, ' ' ORDER BY key)
                    FROM jsonb_each_text(
                        CASE jsonb_typeof(card -> 'offloads') WHEN 'object' THEN card -> 'offloads' END
                    ) WHERE value = 'true'
                ), '')
                || coalesce((
                    SELECT ', address ' || string_agg(address, ' ')
                    FROM jsonb_array_elements_text(
                        CASE jsonb_typeof(card -> 'addresses') WHEN 'array' THEN card -> 'addresses' END
                    ) AS address
                ), ''),
                ''
            )
            FROM jsonb_array_elements(
                CASE jsonb_typeof(document -> 'interfaces') WHEN 'array' THEN document -> 'interfaces' END
            ) AS card
            WHERE jsonb_typeof(card) = 'object'
        ), '')
$$
"""
# Keep what hosts, uplinks and endpoints were called, whoever renames them and by whatever statement.
# AFTER UPDATE OF: the probes of every minute, which write no names, never wake them.
FORMER_NAMES = """
CREATE FUNCTION hosts_keep_former_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hosts_formername (host_id, what, text, until)
    SELECT OLD.id, was.what, was.text, statement_timestamp()
    FROM (VALUES ('host', OLD.name, NEW.name), ('uplink', OLD.uplink, NEW.uplink)) AS was(what, text, is_now)
    WHERE was.text <> was.is_now AND was.text <> '';
    RETURN NULL;
END
$$;
CREATE FUNCTION hosts_keep_former_endpoints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO hosts_formername (host_id, what, text, until)
    SELECT OLD.host_id, was.what, was.text, statement_timestamp()
    FROM (VALUES
        ('endpoint', OLD.name, NEW.name),
        ('address', OLD.control_address, NEW.control_address),
        ('address', OLD.data_address, NEW.data_address)
    ) AS was(what, text, is_now)
    WHERE was.text <> was.is_now AND was.text <> '';
    RETURN NULL;
END
$$;
CREATE TRIGGER hosts_former_names AFTER UPDATE OF name, uplink ON hosts_host
    FOR EACH ROW EXECUTE FUNCTION hosts_keep_former_names();
CREATE TRIGGER hosts_former_endpoints AFTER UPDATE OF name, control_address, data_address ON hosts_endpoint
    FOR EACH ROW EXECUTE FUNCTION hosts_keep_former_endpoints();
"""
DROP_FORMER_NAMES = """
DROP TRIGGER hosts_former_endpoints ON hosts_endpoint;
DROP TRIGGER hosts_former_names ON hosts_host;
DROP FUNCTION hosts_keep_former_endpoints();
DROP FUNCTION hosts_keep_former_names();
"""


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("hosts", "0001_initial"),
        ("hosts", "0002_availability"),
        ("hosts", "0003_probe_turns"),
        ("hosts", "0004_synthetic"),
        ("hosts", "0005_facts_words"),
        ("hosts", "0006_former_names"),
        ("hosts", "0007_never_asked"),
        ("hosts", "0008_data_port"),
        ("hosts", "0009_answered_address"),
        ("hosts", "0010_name_keys"),
        ("hosts", "0011_stored_names"),
        ("hosts", "0012_names_once"),
        ("hosts", "0013_machines"),
        ("hosts", "0014_known_doubles"),
        ("hosts", "0015_facts_by_trigram"),
        ("hosts", "0016_path_checks"),
        ("hosts", "0017_link_speed"),
        ("hosts", "0018_reasons_as_data"),
        ("hosts", "0019_enrolments"),
        ("hosts", "0020_one_host"),
        ("hosts", "0021_audit"),
        ("hosts", "0022_rotation"),
        ("hosts", "0023_labels"),
        ("hosts", "0024_tickets"),
        ("hosts", "0025_environments"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
    ]

    operations = [
        TrigramExtension(),
        migrations.RunSQL(FACTS_WORDS, "DROP FUNCTION hosts_facts_words(jsonb)"),
        migrations.CreateModel(
            name="Host",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), db_default=[], default=list, size=None
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("name_key", benchweb.hosts.fields.NameKeyField(editable=False, max_length=600)),
                ("description", models.TextField(blank=True)),
                ("uplink", models.CharField(blank=True, max_length=60)),
                (
                    "environment_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), db_default=[], default=list, size=None
                    ),
                ),
                ("is_synthetic", models.BooleanField(db_default=False, default=False, editable=False)),
                (
                    "machine",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="same_machine",
                        to="hosts.host",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("archived_at", None)), fields=("name_key",), name="host_name_once_in_use"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(blank=True, max_length=100)),
                (
                    "control_address",
                    models.CharField(help_text="HOST:PORT of the engine's control API", max_length=255),
                ),
                ("data_address", models.CharField(blank=True, help_text="address test traffic uses", max_length=255)),
                ("network_mode", models.CharField(default="host", max_length=40)),
                ("bind_device", models.CharField(blank=True, max_length=15)),
                ("link_bps", models.FloatField(blank=True, null=True)),
                ("token_encrypted", models.BinaryField(default=b"")),
                ("fingerprint", models.CharField(blank=True, max_length=71)),
                ("same_machine", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("unknown", "not checked yet"),
                            ("answered", "answers"),
                            ("unreachable", "unreachable"),
                            ("refused", "refused"),
                            ("never_asked", "never asked"),
                        ],
                        default="unknown",
                        max_length=20,
                    ),
                ),
                ("status_reason", models.TextField(blank=True)),
                ("status_reason_data", models.JSONField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                ("engine_version", models.CharField(blank=True, max_length=40)),
                ("catalog_version", models.IntegerField(null=True)),
                ("data_port", models.PositiveIntegerField(null=True)),
                ("answered_address", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("clock_offset_seconds", models.FloatField(null=True)),
                ("round_trip_seconds", models.FloatField(null=True)),
                ("seen_fingerprint", models.CharField(blank=True, max_length=71)),
                ("unreachable_since", models.DateTimeField(null=True)),
                ("probe_due_at", models.DateTimeField(null=True)),
                (
                    "rotation",
                    models.CharField(
                        blank=True,
                        choices=[("token", "token"), ("certificate", "certificate")],
                        db_default="",
                        default="",
                        max_length=20,
                    ),
                ),
                ("rotation_requested_at", models.DateTimeField(null=True)),
                ("rotation_ended_at", models.DateTimeField(null=True)),
                ("rotation_reason", models.TextField(blank=True, db_default="", default="")),
                ("rotation_reason_data", models.JSONField(null=True)),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="endpoints", to="hosts.host"
                    ),
                ),
            ],
            options={
                "ordering": ["host__name", "id"],
            },
        ),
        migrations.CreateModel(
            name="Enrolment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.CharField(max_length=32, unique=True)),
                ("issued_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("machine", models.CharField(blank=True, max_length=64)),
                ("host_name", models.CharField(blank=True, max_length=100)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("added_at", models.DateTimeField(null=True)),
                ("fault", models.TextField(blank=True, default="")),
                (
                    "endpoint",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="enrolments",
                        to="hosts.endpoint",
                    ),
                ),
                (
                    "issued_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.apitoken",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Environment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("name_key", benchweb.hosts.fields.NameKeyField(editable=False, max_length=600)),
                ("description", models.TextField(blank=True)),
                ("is_synthetic", models.BooleanField(db_default=False, default=False, editable=False)),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("archived_at", None)),
                        fields=("name_key",),
                        name="environment_name_once_in_use",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FormerName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("host", "host"),
                            ("uplink", "uplink"),
                            ("endpoint", "endpoint"),
                            ("address", "address"),
                        ],
                        max_length=10,
                    ),
                ),
                ("text", models.CharField(max_length=255)),
                ("until", models.DateTimeField()),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="former_names", to="hosts.host"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Pair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), db_default=[], default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "path_status",
                    models.CharField(
                        choices=[
                            ("pending", "not checked yet"),
                            ("passes", "TCP and UDP pass"),
                            ("narrow", "large packets vanish"),
                            ("blocked", "blocked"),
                            ("unchecked", "not checked"),
                        ],
                        db_default="pending",
                        default="pending",
                        max_length=20,
                    ),
                ),
                ("path_reason", models.TextField(blank=True, db_default="", default="")),
                ("path_reason_data", models.JSONField(null=True)),
                ("path_found", models.JSONField(null=True)),
                ("path_checked_at", models.DateTimeField(null=True)),
                ("path_due_at", models.DateTimeField(null=True)),
                (
                    "environment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="pairs", to="hosts.environment"
                    ),
                ),
                (
                    "sink",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="pairs_as_sink", to="hosts.endpoint"
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="pairs_as_source", to="hosts.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("archived_at", None)),
                        fields=("source", "sink", "environment"),
                        name="pair_once_in_environment",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProbeHour",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField()),
                ("probes", models.PositiveIntegerField(default=0)),
                ("answered", models.PositiveIntegerField(default=0)),
                ("round_trip_least_seconds", models.FloatField(null=True)),
                ("round_trip_most_seconds", models.FloatField(null=True)),
                ("round_trip_sum_seconds", models.FloatField(default=0)),
                ("utilised", models.PositiveIntegerField(default=0)),
                ("cpu_ratio_sum", models.FloatField(default=0)),
                ("cpu_ratio_most", models.FloatField(null=True)),
                ("metered", models.PositiveIntegerField(default=0)),
                ("received_bps_sum", models.FloatField(default=0)),
                ("received_bps_most", models.FloatField(null=True)),
                ("sent_bps_sum", models.FloatField(default=0)),
                ("sent_bps_most", models.FloatField(null=True)),
                ("link_bps", models.FloatField(null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="probe_hours", to="hosts.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ["endpoint_id", "hour"],
                "constraints": [models.UniqueConstraint(fields=("endpoint", "hour"), name="probe_hour_once")],
            },
        ),
        migrations.CreateModel(
            name="AvailabilitySpan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("answered", "answered"),
                            ("engine_down", "engine down"),
                            ("unreachable", "unreachable"),
                        ],
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("reason_data", models.JSONField(null=True)),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="availability", to="hosts.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ["endpoint_id", "since"],
                "constraints": [models.UniqueConstraint(fields=("endpoint", "since"), name="availability_span_once")],
            },
        ),
        migrations.CreateModel(
            name="Facts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("document", models.JSONField()),
                (
                    "words",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(models.F("document"), function="hosts_facts_words"),
                        output_field=models.TextField(),
                    ),
                ),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="facts", to="hosts.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ["-last_seen_at"],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper("words"), name="gin_trgm_ops"
                        ),
                        fastupdate=False,
                        name="facts_by_trigram",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("endpoint", "digest"), name="facts_once_per_endpoint")],
            },
        ),
        migrations.RunSQL(FORMER_NAMES, DROP_FORMER_NAMES),
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
        # What nobody used is removed by itself.
        audited("hosts_enrolment", events="INSERT OR UPDATE", ignored=("fault",), hidden=("number", "machine")),
    ]
