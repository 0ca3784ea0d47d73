"""The numbers that decide what is an alert, beside those of statistics. docs/explanation/regressions.md has them."""

from datetime import timedelta

# A smaller change is told to nobody, unless somebody says so of a plan or metric: a share of the level.
ALERT_FLOOR_RATIO = 0.02
# No floor is higher: a change of half a series' level is never noise.
LARGEST_FLOOR_RATIO = 0.5
# A ratio, such as a loss, that differs by less in its unit is never worth an alert: 0 to 0.1 % loss.
LEAST_DIFFERENCE_OF_RATIOS = 0.001
# What may be chosen in place of NOISE_TIMES. Nearer than that chance alone makes suspects each night; further off
# nothing is one.
LEAST_NOISE_TIMES = 3.0
MOST_NOISE_TIMES = 20.0
# A change of so large a share of the level is critical, and so is a host's.
CRITICAL_RATIO = 0.2
# Of the tests of a suspect, or of a control, and of each one's series, so large a share must be bad again.
BAD_AGAIN_SHARE = 0.5
# A pair shows the same fault as another where it fell by so large a share of that one's fall: a link at 60 % is not
# borne out by a pair that lost 3 %.
ALIKE_SHARE = 0.25
# So many pairs of one host that are bad in one slot confirm each other: nothing has to be measured again.
LEAST_PAIRS_OF_HOST = 3
# Of the pairs that a slot measured of a host, or of one end of it, so large a share must be bad for it to be the cause.
BAD_OF_HOST_SHARE = 0.5
# A test of whose trials so large a share bears that its hosts were disturbed is no figure of the network, unless more
# than so large a share of the runs before were disturbed alike.
DISTURBED_SHARE = 0.5
USUAL_DISTURBED_SHARE = 0.2
# Where a change begins is known to so many runs: nearer ones are the same.
NEAR_RUNS = 3
# What happened goes together with a fall up to this p, among all that happened in that time: a higher one is chance.
LARGEST_P_OF_CAUSE = 0.02
# A host is busy in an hour in which it carries so many times what it does at that hour of the day on so large a share
# of the days, and no less than so large a share of its link.
BUSY_TIMES = 3.0
USUAL_DAYS_SHARE = 0.75
LEAST_USUAL_DAYS = 5
BUSY_LINK_SHARE = 0.05
# So many runs in a row must be as before; of what one run alone showed, and nobody acknowledged, one is enough.
RECOVERED_RUNS = 3
# A limit that is broken again so soon after it was kept, in runs or in time, is the same alert: it comes and goes, and
# ends after so many runs, and so long after the last that broke it.
FLAPPING_RUNS = 3
FLAPPING_TIME = timedelta(hours=1)
# A schedule of whose latest slots so many were skipped asks for more than its hosts can run.
LATEST_SLOTS = 6
SKIPPED_SLOTS = 3
# A snoozed change is worse when it has grown by this factor, and by no less than this share of the level: its noise.
WORSE_FACTOR = 1.25
WORSE_RATIO = 0.01
# A slow change that was told is told again once it has grown by this factor, and by no less than WORSE_RATIO.
SLOW_GROWTH_FACTOR = 1.5
# A run is compared with its environment's or pair's runs of so long before.
VERDICT_LOOK_BACK = timedelta(days=60)
# Shorter silence of an endpoint is a reboot.
UNREACHABLE_AFTER = timedelta(minutes=15)
# A time that nobody has made a slot of, and a slot none of whose runs has begun, are late after so long.
UNCLAIMED_AFTER = timedelta(minutes=10)
UNBEGUN_AFTER = timedelta(hours=1)
# Slow changes are looked for from this hour on, by the clocks of the schedules: before the digests of the morning.
SLOW_LOOK_HOUR = 6
# Of one cause begin within so many nights: where a slow change begins is known to no less.
NEAR_NIGHTS_OF_SLOW = 14
