"""Memory that is asked for before it is used.

Where a kernel goes from cell to cell of a line that crosses the map, each is far from the one before, and the processor
does not guess the next one. What is asked for some cells ahead has come when it is read.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

AHEAD = 16  # cells

_BYTES = ir.IntType(8).as_pointer()
_FLAG = ir.IntType(32)
_READ, _NEAREST, _DATA = (_FLAG(number) for number in (0, 3, 1))


@intrinsic
def prefetch(typing_context: Any, values: Any, index: Any) -> Any:
    """Ask for values[index]. The index may lie outside."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _FLAG, _FLAG, _FLAG])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [place, _READ, _NEAREST, _DATA])
        return context.get_dummy_value()

    return types.none(values, types.int64), generate
