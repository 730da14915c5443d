"""What tests of kernels start from: kernels have no parameters of their own, and take none that are not told."""

from __future__ import annotations

import math
from typing import Any

from kernels.cascade import CascadeParameters
from kernels.depressions import SEA
from kernels.droplets import DropletParameters
from kernels.island import IslandParameters
from kernels.moisture import MoistureParameters
from kernels.plants import PlantParameters
from kernels.pools import PoolParameters
from kernels.snowballs import SnowballParameters
from kernels.weathering import WeatheringParameters
from kernels.wind import WindParameters
from kernels.wind_field import WindFieldParameters


def cascade_parameters(**changed: Any) -> CascadeParameters:
    usual = CascadeParameters(
        settling=0.01, creep=0.0, passes=1, wrap=False, steepness=1.0,
        wet_strength=0.0, soaked_weakness=0.0, root_strength=0.0, parcels=0,
        wind_speed=1.4, pace=1.0, supply=1.0,
    )  # fmt: skip
    return usual._replace(**changed)


def droplet_parameters(**changed: Any) -> DropletParameters:
    usual = DropletParameters(
        count=1000, time_step=1.2, density=1.0, friction=0.05, deposition_rate=0.1, evaporation=0.001,
        minimum_volume=0.01, rock_erodibility=0.5, longest_path=1000, water=1.0, stream_friction=0.0,
        stream_evaporation=0.0, stream_stop=0.0, momentum=0.0, rain_by_altitude=0.0, root_hold=0.0, root_deposition=1.0,
        soaking=0.0, attrition=0.0, river_transport=0.0,
    )  # fmt: skip
    return usual._replace(**changed)


def moisture_parameters(**changed: Any) -> MoistureParameters:
    usual = MoistureParameters(
        rain=0.004, rain_by_altitude=0.0, infiltration=0.02, soil_depth=1.0, weathered=0.2, field_capacity=0.3,
        percolation=0.2, evaporation=0.002, transpiration=1.0, temperature=15.0, lapse_rate=0.0065,
        aquifer_depth=20.0, conductivity=20.0, capillary_rise=1.0, smallest_spring=0.1, walls=False,
        sea_level=-math.inf,
    )  # fmt: skip
    return usual._replace(**changed)


def plant_parameters(**changed: Any) -> PlantParameters:
    usual = PlantParameters(
        rate=1.0, grass_growth=0.02, grass_spread=0.02, grass_decline=0.02, grass_arrival=1e-4, grass_shade=0.6,
        grass_roots=0.4, seeds=1.0, tree_arrival=4e-5, densest_canopy=0.8, random_death=1e-4, stream_limit=0.6,
        flow_limit=2.0, steepest=1.2, flood_depth=0.2, burial=0.1, undercut=0.1, ground_wetness=0.4,
        reach_of_water=4, cell=1.0,
    )  # fmt: skip
    return usual._replace(**changed)


def pool_parameters(**changed: Any) -> PoolParameters:
    usual = PoolParameters(
        edges=SEA, sea_level=0.0, evaporation=0.0, seepage=0.0, most_spilled=math.inf,
    )  # fmt: skip
    return usual._replace(**changed)


def snowball_parameters(**changed: Any) -> SnowballParameters:
    usual = SnowballParameters(
        count=1000, erosion_rate=0.04, deposition_rate=0.03, speed=0.15, friction=0.7, radius=0.8,
        iterations=80, iteration_scale=0.04, scale=10.0, memory=2.0, root_hold=0.0,
    )  # fmt: skip
    return usual._replace(**changed)


def weathering_parameters(**changed: Any) -> WeatheringParameters:
    usual = WeatheringParameters(
        breaking=0.05, frost=0.0, frost_wetness=0.0, cover=0.5, temperature=15.0,
        lapse_rate=0.0065,
    )  # fmt: skip
    return usual._replace(**changed)


def wind_parameters(**changed: Any) -> WindParameters:
    usual = WindParameters(
        count=250, wind_direction=270.0, wind_speed=math.sqrt(2.0), gusts=0.0, gust_speed=0.0, time_step=0.25,
        gravity=0.01, drag=0.1, friction=1.0, suspension=1e-4, deposition=1e-4, abrasion=1e-4, dust=0.0,
        inflow=0.0, shear=0.0, speed_up=0.0, upwind_length=20.0, shelter_angle=90.0, lee_deposition=0.0,
        scale=80.0, wrap=False, longest_path=20_000, uplift=0.0, lag=0.0, lift=0.0,
        lift_height=4.0, memory=0.0, wet_cohesion=4.0, plant_drag=0.6,
        plant_cover=0.95, plant_trapping=0.5, wind_field_direction=270.0,
    )  # fmt: skip
    return usual._replace(**changed)


def wind_field_parameters(**changed: Any) -> WindFieldParameters:
    usual = WindFieldParameters(
        wind_direction=270.0, speed_up=1.0, upwind=0.3, shelter=0.7, shelter_angle=15.0, tree_shelter=0.6,
        tree_length=8.0, highest=2.5, wrap=False,
    )  # fmt: skip
    return usual._replace(**changed)


def island_parameters(wavelength: float, **changed: Any) -> IslandParameters:
    usual = IslandParameters(
        wavelength=wavelength, octaves=6, lacunarity=1.7, gain=0.5, power=4.5, cone_power=1.6, coast=0.155,
        cliffs=True, cliff_low=0.125, cliff_high=0.375, cliff_wavelength=20.0, cliff_power=3.0, craters=True,
        crater_threshold=0.85, crater_unevenness=0.2, crater_wavelength=50.0, crater_slope=0.6,
        ocean_depth=0.25, floor_reach=1.7,
    )  # fmt: skip
    return usual._replace(**changed)
