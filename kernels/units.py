"""Units of parameters, in the words in which they are declared; a number without one is a part, a factor or a count.

Lengths are in metres or cells, times in the articles' unit t or in cycles.
"""

from typing import Annotated

Metres = Annotated[float, "m"]
SquareMetres = Annotated[float, "m²"]
Widths = Annotated[float, "widths"]
Depths = Annotated[float, "depths"]
Cells = Annotated[float, "cells"]
Height = Annotated[float, "h"]  # the articles' unit of height
Degrees = Annotated[float, "°"]
Times = Annotated[float, "times"]
Steps = Annotated[int, "steps"]

Time = Annotated[float, "t"]
PerTime = Annotated[float, "1/t"]
Speed = Annotated[float, "cells/t"]
Acceleration = Annotated[float, "cells/t²"]
Seconds = Annotated[float, "s"]
CubicMetresPerSecond = Annotated[float, "m³/s"]
PerSecond = Annotated[float, "1/s"]
Roughness = Annotated[float, "s/m^(1/3)"]
PerCycle = Annotated[float, "1/cycle"]
MetresPerCycle = Annotated[float, "m/cycle"]
PerYear = Annotated[float, "1/year"]
PerKilometre = Annotated[float, "1/km"]
Years = Annotated[float, "years"]

Celsius = Annotated[float, "°C"]
CelsiusPerMetre = Annotated[float, "°C/m"]
MetresPerYear = Annotated[float, "m/year"]
SquareMetresPerYear = Annotated[float, "m²/year"]
