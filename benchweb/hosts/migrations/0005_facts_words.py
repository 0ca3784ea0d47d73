"""What facts say as lines of text, for the search: `kernel 6.1.0`, `interface eth0, driver ena, mtu 1500`."""

import django.db.models.expressions
from django.db import migrations, models

# Immutable, as a generated column must be: concat_ws() is not, || is.
CREATE = r"""
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


class Migration(migrations.Migration):
    dependencies = [("hosts", "0004_synthetic")]

    operations = [
        migrations.RunSQL(CREATE, "DROP FUNCTION hosts_facts_words(jsonb)"),
        migrations.AddField(
            model_name="facts",
            name="words",
            field=models.GeneratedField(
                db_persist=True,
                expression=django.db.models.expressions.Func(
                    django.db.models.expressions.F("document"), function="hosts_facts_words"
                ),
                output_field=models.TextField(),
            ),
        ),
    ]
