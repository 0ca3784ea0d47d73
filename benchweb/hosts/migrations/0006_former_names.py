"""Keep what hosts, uplinks and endpoints were called, whoever renames them and by whatever statement."""

import django.db.models.deletion
from django.db import migrations, models

# AFTER UPDATE OF: the probes of every minute, which write no names, never wake them.
CREATE = """
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
DROP = """
DROP TRIGGER hosts_former_endpoints ON hosts_endpoint;
DROP TRIGGER hosts_former_names ON hosts_host;
DROP FUNCTION hosts_keep_former_endpoints();
DROP FUNCTION hosts_keep_former_names();
"""


class Migration(migrations.Migration):
    dependencies = [("hosts", "0005_facts_words")]

    operations = [
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
            options={"ordering": ["id"]},
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
