"""The numbers that decide what is a difference, a change or noise; docs/explanation/regressions.md has them."""

# Of intervals, and of what is shown without chance: a share.
CONFIDENCE = 0.95
# Of 100 comparisons of equal things so large a share at most is called different; a p-value.
LARGEST_P_OF_DIFFERENCE = 0.05
# Of what is told in one family of comparisons, such as a night's, so large a share at most is chance.
FALSE_DISCOVERY_RATE = 0.05
# Of equal segments of a series so large a share at most differs in its ranks as much: a series is looked at each night.
LARGEST_P_OF_CHANGE = 0.001
# A change of levels is so many of its standard errors; the fewer values, the less is known of their noise: of n values
# a share more of this by n.
LEAST_ERRORS_OF_CHANGE = 6.5
MORE_ERRORS_OF_FEW = 6
# However sure, a smaller change is found nowhere: a share of the level.
LEAST_CHANGE_RATIO = 0.005
# Beyond so many times the noise one run stands out, and by more than this share of the level, however quiet it was.
NOISE_TIMES = 4.0
LEAST_SUSPECT_RATIO = 0.03
# So many of a series' last runs are looked at together: two months of nights.
WINDOW_RUNS = 60
# Of fewer runs nobody can tell a series' noise: it is learning.
LEAST_RUNS = 12
# Of fewer nights before a night nobody can tell theirs.
LEAST_NIGHTS_BEFORE = 5
# Two values have no spread to speak of: resampling them gives their own three means and nothing else.
LEAST_VALUES_OF_INTERVAL = 3
# Whether something explains a fall is read from so many runs before and since, and from no fewer before.
RUNS_BEFORE_SHIFT = 7
RUNS_AFTER_SHIFT = 3
LEAST_RUNS_OF_SHIFT = 3
# A slow change is looked for in so many nights, of which so many are known; each of its levels is that of two weeks at
# least. A smaller one is told nowhere: a share of the level.
SLOW_NIGHTS = 90
LEAST_NIGHTS_OF_SLOW = 42
LEAST_NIGHTS_OF_LEVEL = 14
LEAST_SLOW_RATIO = 0.01
# However few series are looked at, a slow change is no more likely chance than this, each morning anew: a p-value.
LARGEST_P_OF_SLOW = 0.001
# What is measured beside a series explains it where it accounts for such a share of what lies between runs at least:
# of the runs of a window, and of fewer by as much more. Of fewer than these nobody can tell.
LEAST_EXPLAINED_SHARE = 0.15
LEAST_RUNS_OF_COVARIATE = 20
# What accounts for such a share of a change moved with it.
MOVED_WITH_SHARE = 0.5
# What moved with it is a level where it is so many times as large as the spread of all that it moved the values by.
LEAST_SPREADS_OF_MOVE = 3.5
