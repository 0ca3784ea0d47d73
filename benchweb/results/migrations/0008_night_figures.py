"""What an environment's nights gave over all their runs, made at once: a look that read half of it would tell half."""

import django.db.models.deletion
from django.db import migrations, models

# What kinds draw over what they sweep, besides what nights were kept of before.
_DIRECTORY = """
    insert into results_environmentnights
        (environment_id, kind, metric, identity_digest, identity, stale_from, nights, medians, pairs, most_pairs)
    select distinct on (pair.environment_id, series.kind, series.metric, series.identity_digest)
           pair.environment_id, series.kind, series.metric, series.identity_digest, series.identity, date '1990-01-01',
           '{}'::date[], '{}'::float8[], '{}'::int[], 0
    from results_series series join hosts_pair pair on pair.id = series.pair_id
    where series.metric in ('source_cpu_ratio', 'loss_ratio', 'transactions_per_second', 'requests_per_second')
          and series.kind in ('tcp_stream', 'udp_stream', 'tcp_rr', 'tcp_crr', 'udp_rr', 'http_load')
          and (series.metric <> 'loss_ratio' or series.kind = 'udp_stream')
          and exists (select from results_runfigure figure where figure.series_id = series.id)
    on conflict (environment_id, kind, metric, identity_digest) do nothing
"""
_FIGURES = """
    insert into results_nightfigure (of_id, night, at, runs, pairs, n, median, low, high)
    select nights.id, ((figure.at at time zone 'UTC') + interval '12 hours')::date as its_night, min(figure.at),
           count(*), count(distinct figure.series_id), sum(figure.n),
           percentile_cont(0.5) within group (order by figure.median), min(figure.low), max(figure.high)
    from results_environmentnights nights
    join hosts_pair pair on pair.environment_id = nights.environment_id
    join results_series series on series.pair_id = pair.id and series.kind = nights.kind
         and series.metric = nights.metric and series.identity_digest = nights.identity_digest
    join results_runfigure figure on figure.series_id = series.id
    group by nights.id, its_night
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0007_night_extremes")]

    operations = [
        migrations.CreateModel(
            name="NightFigure",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "of_id", "night", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("night", models.DateField()),
                ("at", models.DateTimeField()),
                ("runs", models.PositiveIntegerField()),
                ("pairs", models.PositiveIntegerField()),
                ("n", models.PositiveIntegerField()),
                ("median", models.FloatField()),
                ("low", models.FloatField()),
                ("high", models.FloatField()),
                (
                    "of",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="figures",
                        to="results.environmentnights",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_DIRECTORY, migrations.RunSQL.noop),
        migrations.RunSQL(_FIGURES, migrations.RunSQL.noop),
    ]
