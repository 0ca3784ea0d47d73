"""Cron as people type it: accepted with its meaning, or refused with the part at fault and what to write."""

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from benchweb.schedules.errors import TimingError
from benchweb.schedules.services import schedule_update
from benchweb.schedules.timing.cron import cron_check, cron_instants, leaves_months_out
from benchweb.schedules.timing.cron_text import cron_normalised
from benchweb.schedules.timing.rules import rule_from
from tests.factories import make_schedule

START = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("@MONTHLY", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("＠daily", "0 0 * * *"),
        ("0 2 * * SAT-SUN", "0 2 * * SAT,SUN"),
        ("0 2 * * fri-mon", "0 2 * * FRI,SAT,SUN,MON"),
        ("0 2 * * FRI-1", "0 2 * * FRI,SAT,SUN,MON"),
        ("0 2 * * 6-0", "0 2 * * 6,0"),
        ("0 2 * * 7-2", "0 2 * * 0-2"),
        ("0 2 * * 6-7", "0 2 * * 6-7"),
        ("0 2 * * 7", "0 2 * * 7"),
        ("0 2 * * Monday,thurs", "0 2 * * MON,THU"),
        ("0 2 * January *", "0 2 * JAN *"),
        ("0 2 1 NOV-FEB *", "0 2 1 NOV,DEC,JAN,FEB *"),
        ("0 2 1 11-2 *", "0 2 1 11-12,1-2 *"),
        ("0 2 28-3 * *", "0 2 28-31,1-3 * *"),
        ("0 22-4 * * *", "0 22-23,0-4 * * *"),
        ("0 22-4/2 * * *", "0 22,0,2,4 * * *"),
        ("50-10/5 * * * *", "50,55,0,5,10 * * * *"),
        ("50-10 * * * * *", "50-59,0-10 * * * * *"),
        ("0 2 ? * MON", "0 2 * * MON"),
        ("0 0 2 ? * MON-FRI", "0 0 2 * * MON-FRI"),
        ("0 0 2 ? * MON *", "0 0 2 * * MON"),
        ("30 0 2 * * *", "30 0 2 * * *"),
        ("0/15 * * * *", "0/15 * * * *"),
        ("*/60 * * * *", "*/60 * * * *"),
        ("0 2 * * 1/2", "0 2 * * 1-6/2"),
        ("0 2 L * *", "0 2 L * *"),
        ("0 2 LW * *", "0 2 LW * *"),
        ("0 2 1,l * *", "0 2 1,L * *"),
        ("0 2 * * FRI#2", "0 2 * * FRI#2"),
        ("0 2 * * friL", "0 2 * * 5L"),
        ("0 2 * * 5#L", "0 2 * * 5L"),
        ("  0  2\t* * *  ", "0 2 * * *"),
        ("\u200b0\u00a02\u3000* * *", "0 2 * * *"),
        ("０ ２ ＊ ＊ ＊", "0 2 * * *"),
        ("0 2 1，15 * *", "0 2 1,15 * *"),
        ("0 2 1、15 * *", "0 2 1,15 * *"),
        ("0 2 1, 15 * *", "0 2 1,15 * *"),
        ("0 2 * * MON - FRI", "0 2 * * MON-FRI"),
        ("0 2 * * MON–FRI", "0 2 * * MON-FRI"),
        ("“0 2 * * *”", "0 2 * * *"),
        ("TZ=Asia/Shanghai 0 2 * * *", "0 2 * * *"),
        ('CRON_TZ="Asia/Shanghai" @daily', "0 0 * * *"),
        ("0002 02 * * *", "2 2 * * *"),
        ("0 2-2/3 * * *", "0 2 * * *"),
        ("5-5/15 * * * *", "5 * * * *"),
        ("0 2 1-1/7 JAN-JAN/3 MON-MON/2", "0 2 1 JAN MON"),
        ("0 2 * * * TZ=Asia/Shanghai", "0 2 * * *"),
    ],
)
def test_each_spelling_means_what_its_writer_meant(typed: str, means: str) -> None:
    assert cron_normalised(typed, "Asia/Shanghai") == means
    assert cron_normalised(means, "Asia/Shanghai") == means
    cron_check(means)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("@reboot", "POST /api/v1/schedules/ID/run"),
        ("@every 5m", "'@every 5m' is an interval: set the schedule to an interval, such as PT5M"),
        ("@nightly", "'@nightly' is not known: write @hourly, @daily"),
        ("nightly", "'nightly' is no cron expression: write five fields"),
        ("0 2 * *", "'0 2 * *' has 4 fields: a cron expression has five fields, minute hour day-of-month"),
        ("0 2 * * * root /usr/bin/iperf3", "has 7 fields: write five fields"),
        ("0 2 * * * 2027", "'2027' in the sixth field: a cron expression has no year here"),
        ("0 0 2 ? * MON 2027-2029", "'2027-2029' in the seventh field"),
        ("0 2 * * ? *", "Without the year at the end it is '0 2 * * ?'"),
        ("cron(0 2 * * ? *)", "Leave out 'cron(' and ')'"),
        ("rate(5 minutes)", "rate(5 minutes) is an interval"),
        ("0 0 2 ? * 2-6", "'2' in the day of the week: where ? is written, as in Quartz, days count from SUN = 1"),
        ("TZ=Europe/Berlin 0 2 * * *", "write '0 2 * * *' here, and Europe/Berlin as the time zone"),
        ("0 2 * * * CRON_TZ=Europe/Rome", "write '0 2 * * *' here, and Europe/Rome as the time zone"),
        ("TZ=right/UTC 0 2 * * *", "write UTC."),
        ("TZ=Asia/Shanghai", "The cron expression is empty"),
        ("0 2 * * MON FRI", "'FRI' is one field too many: six fields begin with seconds. Write '0 2 * * MON' without"),
        ("60 2 * * *", "'60' in the minute: write 0 to 59"),
        ("0 24 * * *", "'24' in the hour: write 0 to 23"),
        ("0 2 0 * *", "'0' in the day of the month: write 1 to 31"),
        ("0 2 * 13 *", "'13' in the month: write JAN to DEC"),
        ("0 2 * * 8", "'8' in the day of the week: write SUN to SAT"),
        ("0 2 * * SOMEDAY", "'SOMEDAY' in the day of the week"),
        ("0 0 2 * * 星期一", "'星期一' in the day of the week"),
        ("61 0 2 * * *", "'61' in the seconds: write 0 to 59"),
        ("0 -1 * * *", "'-1' in the hour"),
        ("1,,5 * * * *", "There is an empty part beside a comma in the minute"),
        ("1-5-7 * * * *", "'1-5-7' in the minute"),
        ("*/70 * * * *", "'*/70' in the minute: a step is at most 60"),
        ("0 */36 * * *", "'*/36' in the hour: a step is at most 24"),
        ("*/0 * * * *", "'*/0' in the minute: after / comes a whole number from 1"),
        ("/15 * * * *", "'/15' in the minute: a step needs what it is taken of"),
        ("*/5/2 * * * *", "'*/5/2' in the minute"),
        ("H 2 * * *", "'H' in the minute: H is Jenkins' own"),
        ("H(0-29)/10 * * * *", "'H(0-29)/10' in the minute: H is Jenkins' own"),
        ("0~30 2 * * *", "'0~30' in the minute: a random value is not possible"),
        ("? 2 * * *", "'?' in the minute: ? stands for any day only"),
        ("0 2 15W * *", "'15W' in the day of the month: the nearest weekday can't be asked for"),
        ("0 2 L-3 * *", "'L-3' in the day of the month: days before the last can't be asked for"),
        ("0 2 * * L", "'L' in the day of the week: say which day: FRIL is the last Friday"),
        ("0 2 * * FRI#6", "'FRI#6' in the day of the week: after # comes 1 to 5"),
        ("0 2 * * MON-FRI#1", "'MON-FRI#1' in the day of the week"),
        ("9" * 150 + " 2 * * *", "in the minute: write 0 to 59"),
        ("0 0 31 2 *", "'31' in the day of the month never comes in the months chosen"),
        ("0 0 30-31 FEB *", "'30-31' in the day of the month never comes"),
        ("0 0 31 4,6 *", "'31' in the day of the month never comes"),
    ],
)
def test_what_is_not_accepted_is_answered_with_its_part_and_what_to_write(typed: str, told: str) -> None:
    with pytest.raises(TimingError) as caught:
        rule_from(cron=typed, starts_at=START)
    assert caught.value.field == "cron"
    assert told in caught.value.message
    assert caught.value.message.endswith(".")


def times(typed: str, count: int, zone: str = "UTC") -> list[str]:
    cron = cron_normalised(typed, zone)
    found = islice(cron_instants(cron, ZoneInfo(zone), START), count)
    return [f"{at.astimezone(ZoneInfo(zone)):%a %m-%d %H:%M:%S}" for at in found]


def test_ranges_that_go_round_fire_on_both_sides() -> None:
    # 1 January 2027 is a Friday.
    assert [each[:9] for each in times("0 2 * * FRI-MON", 5)] == [
        *("Fri 01-01", "Sat 01-02", "Sun 01-03", "Mon 01-04"),
        "Fri 01-08",
    ]
    assert [each[:9] for each in times("0 2 * * 7", 2)] == ["Sun 01-03", "Sun 01-10"]
    assert [each[10:12] for each in times("0 22-1 * * *", 5)] == ["00", "01", "22", "23", "00"]
    assert [each[4:9] for each in times("0 0 30-2 * *", 5)] == ["01-01", "01-02", "01-30", "01-31", "02-01"]
    assert times("30 0 2 * * *", 1) == ["Fri 01-01 02:00:30"]


def test_a_range_over_midnight_counts_hours_on_the_nights_of_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    cron = cron_normalised("0 22-4 * * *", "Europe/Berlin")
    spring = list(islice(cron_instants(cron, berlin, datetime(2027, 3, 27, 21, tzinfo=UTC)), 7))
    # 02:00 is skipped, and 03:00 is when the gap ends: one slot.
    assert [f"{at.astimezone(berlin):%H:%M}" for at in spring] == [
        *("22:00", "23:00", "00:00"),
        *("01:00", "03:00", "04:00"),
        "22:00",
    ]
    autumn = list(islice(cron_instants(cron, berlin, datetime(2027, 10, 30, 20, tzinfo=UTC)), 7))
    assert [f"{at.astimezone(berlin):%H:%M}" for at in autumn] == [f"{hour % 24:02}:00" for hour in range(22, 29)]


def test_months_that_lack_a_day_are_told_of() -> None:
    assert all(map(leaves_months_out, ("0 2 31 * *", "0 2 29,30 * *", "0 2 28-31 * *", "0 2 1,31 * *")))
    assert not any(
        map(leaves_months_out, ("0 2 * * *", "0 2 28 * *", "0 2 L * *", "0 2 1-31 * *", "0 2 */2 * *", "0 2 31 1,3 *"))
    )


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("localtime", "names no place: write the zone itself"),
        ("posixrules", "names no place"),
        ("Factory", "names no place"),
        ("right/Europe/Berlin", "write Europe/Berlin."),
        ("posix/Asia/Shanghai", "write Asia/Shanghai."),
        ("europe/berlin", "write Europe/Berlin."),
        ("America/new york", "write America/New_York."),
        ("Asia/Beijing", "write Asia/Shanghai."),
        ("UTC+8", "write Etc/GMT-8."),
        ("GMT-05:00", "write Etc/GMT+5."),
        ("./UTC", "no time zone of the IANA database"),
        ("Europe/../Europe/Berlin", "no time zone of the IANA database"),
        ("tzdata.zi", "no time zone of the IANA database"),
        ("zone.tab", "no time zone of the IANA database"),
        ("leapseconds", "no time zone of the IANA database"),
    ],
)
def test_a_zone_that_is_not_the_same_on_every_machine_is_refused_with_what_to_write(zone: str, told: str) -> None:
    with pytest.raises(TimingError) as caught:
        rule_from(cron="0 2 * * *", timezone=zone, starts_at=START)
    assert caught.value.field == "timezone"
    assert told in caught.value.message


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Argentina/Buenos_Aires", "Etc/GMT-8", "PRC"])
def test_names_of_the_database_are_taken(zone: str) -> None:
    assert rule_from(cron="0 2 * * *", timezone=zone, starts_at=START).timezone == zone


@pytest.mark.django_db
def test_a_schedule_keeps_the_normalised_expression() -> None:
    schedule = make_schedule(cron=" 0  22-4 * * fri-mon ")
    schedule.refresh_from_db()
    assert schedule.cron == "0 22-23,0-4 * * FRI,SAT,SUN,MON"


@pytest.mark.django_db
def test_a_schedule_saved_by_an_older_version_is_read_and_renamed_until_its_times_are_changed() -> None:
    schedule = make_schedule()
    type(schedule).objects.update(cron="*/70 * * * *")
    assert schedule_update(schedule=schedule, name="renamed").cron == "*/70 * * * *"
    with pytest.raises(TimingError, match="a step is at most 60"):
        schedule_update(schedule=schedule, timezone="Asia/Shanghai")
