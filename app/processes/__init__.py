"""The processes. Importing the file of a process registers it; it declares its own place in the cycle."""

from app.processes import (
    braiding as braiding,
)
from app.processes import (
    cascade as cascade,
)
from app.processes import (
    coast as coast,
)
from app.processes import (
    distributaries as distributaries,
)
from app.processes import (
    droplets as droplets,
)
from app.processes import (
    falls as falls,
)
from app.processes import (
    floods as floods,
)
from app.processes import (
    geology as geology,
)
from app.processes import (
    ice as ice,
)
from app.processes import (
    isostasy as isostasy,
)
from app.processes import (
    meandering as meandering,
)
from app.processes import (
    moisture as moisture,
)
from app.processes import (
    orographic_rain as orographic_rain,
)
from app.processes import (
    plants as plants,
)
from app.processes import (
    pools as pools,
)
from app.processes import (
    snow as snow,
)
from app.processes import (
    snowballs as snowballs,
)
from app.processes import (
    stratigraphy as stratigraphy,
)
from app.processes import (
    weathering as weathering,
)
from app.processes import (
    wind as wind,
)
from app.processes import (
    wind_field as wind_field,
)
from app.processes.process import PROCESSES as PROCESSES
