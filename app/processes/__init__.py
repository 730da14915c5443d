"""The processes, in the order in which a cycle runs them."""

from app.processes.cascade import Cascade
from app.processes.droplets import DropletErosion
from app.processes.moisture import Moisture
from app.processes.plants import Plants
from app.processes.pools import Pools
from app.processes.process import Process
from app.processes.snowballs import SnowballErosion
from app.processes.weathering import Weathering
from app.processes.wind import WindErosion
from app.processes.wind_field import WindField

PROCESSES: tuple[type[Process], ...] = (
    Pools,
    Moisture,
    DropletErosion,
    SnowballErosion,
    WindField,
    WindErosion,
    Weathering,
    Cascade,
    Plants,
)
