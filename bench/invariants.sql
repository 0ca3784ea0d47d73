-- What must hold when all is quiet, whatever happened before: asked of the tables alone, by none of benchweb's code.
-- One row a broken rule: its name, how often it is broken, and the first identifiers that break it. No row: all hold.
-- `python3 -m bench.invariants` asks it of a running benchweb; the night and the faults ask it at their ends.
with final (state) as (
    values ('finished'), ('failed'), ('cancelled'), ('missed'), ('nonstart'), ('skipped')
),
exclusive_kind (kind) as (
    values ('tcp_stream'), ('udp_stream'), ('tcp_rr'), ('tcp_crr'), ('udp_rr'), ('http_load')
),
-- What each run really did to each resource: from its first trial's begin to its last one's end, in rounds of each.
measured as (
    select
        t.run_id,
        case when c.arrangement = 'rounds' then t.repetition else 0 end as round,
        min(t.started_at) as begun_at,
        max(t.finished_at) as ended_at,
        bool_or(e.kind is not null or coalesce(t.params -> 'load', 'null') <> 'null') as is_exclusive
    from runs_trial t
    join runs_run of_run on of_run.id = t.run_id
    join runs_campaign c on c.id = of_run.campaign_id
    left join exclusive_kind e on e.kind = t.kind
    where t.started_at is not null and t.finished_at is not null
    group by 1, 2
),
occupied as (
    select m.*, r.campaign_id, place.resource
    from measured m
    join runs_run r on r.id = m.run_id
    join hosts_pair p on p.id = r.pair_id
    join hosts_endpoint source on source.id = p.source_id
    join hosts_endpoint sink on sink.id = p.sink_id
    join hosts_host source_host on source_host.id = source.host_id
    join hosts_host sink_host on sink_host.id = sink.host_id
    cross join lateral (
        select 'host ' || source_host.id as resource
        union select 'host ' || sink_host.id
        union select 'uplink ' || source_host.uplink
            where source_host.uplink <> sink_host.uplink and source_host.uplink <> ''
        union select 'uplink ' || sink_host.uplink
            where source_host.uplink <> sink_host.uplink and sink_host.uplink <> ''
    ) as place
),
in_order as (
    select
        occupied.*,
        max(ended_at) over earlier as any_until,
        max(ended_at) filter (where is_exclusive) over earlier as exclusive_until
    from occupied
    window earlier as (
        partition by resource order by begun_at, run_id, round rows between unbounded preceding and 1 preceding
    )
),
broken (rule, id) as (
    select 'stuck: a run is not final', id from runs_run where state not in (select state from final)
    union all
    select 'stuck: a trial is not final', id from runs_trial where state not in (select state from final)
    union all
    select 'stuck: a slot is not final', id from schedules_slot where state not in (select state from final)
    union all
    select 'stuck: a final run has a lease', id from runs_run
    where state in (select state from final) and (lease_owner <> '' or lease_until is not null)
    union all
    select 'stuck: a final run waits for a resource, or occupies it still', r.id
    from runs_run r join runs_reservation v on v.run_id = r.id
    where r.state in (select state from final)
        and (v.during is null or upper(v.during) > r.finished_at + interval '1 second')
    union all
    select 'lost: a campaign has no runs', c.id from runs_campaign c
    where not exists (select from runs_run r where r.campaign_id = c.id)
    union all
    select 'lost: a run has no trials', r.id from runs_run r
    where not exists (select from runs_trial t where t.run_id = r.id)
    union all
    select 'lost: a finished run has a trial that is not', t.id from runs_trial t join runs_run r on r.id = t.run_id
    where r.state = 'finished' and t.state <> 'finished'
    union all
    select 'lost: a finished trial has no result', t.id from runs_trial t
    where t.state = 'finished' and not exists (select from results_result s where s.trial_id = t.id)
    union all
    select 'lost: a whole result has not one point per metric', t.id
    from runs_trial t join results_result s on s.trial_id = t.id
    where t.state = 'finished'
        and (select count(*) from results_point p where p.trial_id = t.id)
            <> (select count(*) from jsonb_object_keys(s.metrics))
    union all
    select 'lost: a slot ended without a campaign and without a reason', id from schedules_slot
    where campaign_id is null and reason = ''
    union all
    select 'no reason: a run ended badly without one', id from runs_run
    where state in (select state from final) and state <> 'finished' and reason = ''
    union all
    select 'no reason: a trial ended badly without one', id from runs_trial
    where state in (select state from final) and state <> 'finished' and reason = ''
    union all
    select 'wrong: a run failed though all of its trials finished', r.id from runs_run r
    where r.state in ('failed', 'nonstart', 'missed')
        and not exists (select from runs_trial t where t.run_id = r.id and t.state <> 'finished')
    union all
    select 'wrong: a trial that never began has a result', t.id
    from runs_trial t join results_result s on s.trial_id = t.id where t.started_at is null
    union all
    select 'wrong: a trial that did not finish has points', t.id from runs_trial t
    where t.state <> 'finished' and exists (select from results_point p where p.trial_id = t.id)
    union all
    select 'doubled: a pair twice in a campaign', min(id) from runs_run group by campaign_id, pair_id having count(*) > 1
    union all
    select 'doubled: a trial has two results', trial_id from results_result group by trial_id having count(*) > 1
    union all
    select 'doubled: a point twice in a series', min(id) from results_point group by trial_id, series_id
    having count(*) > 1
    union all
    select 'doubled: a time of a schedule is two slots', min(id) from schedules_slot group by schedule_id, at
    having count(*) > 1
    union all
    select 'doubled: a campaign of two slots', min(id) from schedules_slot where campaign_id is not null
    group by campaign_id having count(*) > 1
    union all
    select 'overlap: reservations, one of them exclusive', a.id
    from runs_reservation a join runs_reservation b
        on a.resource_id = b.resource_id and a.id < b.id and a.during && b.during
    where a.exclusive = 1 or b.exclusive = 1
    union all
    select 'overlap: what really ran, one of them exclusive', run_id from in_order
    where begun_at < case when is_exclusive then any_until else exclusive_until end
    union all
    select 'time: a run ended before it began', id from runs_run where finished_at < started_at
    union all
    select 'time: a trial ended before it began', id from runs_trial where finished_at < started_at
)
select rule, count(*) as times, (array_agg(id order by id))[1:5] as first_ids from broken group by rule order by rule
