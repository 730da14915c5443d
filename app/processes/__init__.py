"""The processes, in the order in which a cycle runs them."""

from app.processes.droplets import DropletErosion
from app.processes.process import Process

PROCESSES: tuple[type[Process], ...] = (DropletErosion,)
