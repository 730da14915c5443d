"""Zarr stores as models, against the same model as GeoTIFF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
import xarray
import zarr
from rasterio.transform import Affine

from app.model.errors import UserError
from app.sources.heightmap import read_heightmap
from app.sources.heightmap.reading import open_model

LAND = np.random.default_rng(2).integers(0, 4000, (60, 84)).astype("f4")
LAND[5:9, 7:30] = -9999.0
PLACES = {
    "metres": ("EPSG:32632", Affine(20.0, 0.0, 5e5, 0.0, -30.0, 5.1e6)),
    "degrees": ("EPSG:4326", Affine(0.02, 0.0, 7.0, 0.0, -0.025, 60.0)),
}


def write_tiff_and_zarr(folder: Path, place: str, version: int, *, from_south: bool, has_transform: bool) -> None:
    """The land as `land.tif` and `land.zarr`."""
    crs, to_model = PLACES[place]
    rows, columns = LAND.shape
    profile = {"driver": "GTiff", "width": columns, "height": rows, "count": 1, "dtype": "float32", "nodata": -9999}
    with rasterio.open(folder / "land.tif", "w", **profile, crs=crs, transform=to_model) as file:
        file.write(LAND, 1)
        text = file.crs.to_wkt()
    x, y = to_model.c + to_model.a * (np.arange(columns) + 0.5), to_model.f + to_model.e * (np.arange(rows) + 0.5)
    mapping = {"crs_wkt": text}
    if has_transform:
        mapping["GeoTransform"] = " ".join(map(repr, to_model.to_gdal()))
    heights = xarray.DataArray(LAND[None], dims=("band", "y", "x"), coords={"y": y, "x": x})
    if from_south:
        heights = heights[:, ::-1]
    heights.attrs["grid_mapping"] = "spatial_ref"
    store = xarray.Dataset({"elevation": heights, "spatial_ref": xarray.DataArray(0, attrs=mapping)})
    encoding = {"elevation": {"chunks": (1, 16, 32), "_FillValue": np.float32(-9999.0)}}
    store.to_zarr(folder / "land.zarr", zarr_format=version, encoding=encoding, consolidated=False)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("version", "from_south", "has_transform"), [(2, False, False), (3, True, False), (3, False, True)]
)
def test_a_store_is_the_same_model_as_a_geotiff(
    place: str, version: int, from_south: bool, has_transform: bool, tmp_path: Path
) -> None:
    write_tiff_and_zarr(tmp_path, place, version, from_south=from_south, has_transform=has_transform)
    expected, found = read_heightmap(tmp_path / "land.tif"), read_heightmap(tmp_path / "land.zarr")
    if has_transform:
        np.testing.assert_array_equal(found.elevation, expected.elevation)
    np.testing.assert_allclose(found.elevation, expected.elevation, atol=1e-5)  # coordinates are rounded
    assert found.cell_size == pytest.approx(expected.cell_size, rel=1e-9)
    assert found.missing is not None and found.missing.sum() > 0
    np.testing.assert_array_equal(found.missing, expected.missing)
    assert found.georeference is not None and expected.georeference is not None
    assert found.georeference.keys == expected.georeference.keys
    np.testing.assert_allclose(found.georeference.to_model, expected.georeference.to_model, rtol=1e-9, atol=1e-9)
    part, other = (read_heightmap(tmp_path / f"land.{kind}", part="40x24+21+11") for kind in ("tif", "zarr"))
    np.testing.assert_allclose(other.elevation, part.elevation, atol=1e-5)


@pytest.mark.parametrize("part", [np.s_[10:50, 20:70], np.s_[::-1]])
def test_a_part_lies_where_its_coordinates_say_not_where_the_transformation_of_the_whole_does(
    part: slice | tuple[slice, ...], tmp_path: Path
) -> None:
    write_tiff_and_zarr(tmp_path, "metres", 3, from_south=False, has_transform=True)
    whole = xarray.open_zarr(tmp_path / "land.zarr", chunks=None, mask_and_scale=False, consolidated=False).load()
    rows, columns = part if isinstance(part, tuple) else (part, slice(None))
    cut = whole.isel(y=rows, x=columns)
    cut["elevation"].encoding = {"_FillValue": np.float32(-9999.0)}
    cut["elevation"].attrs.pop("_FillValue", None)
    cut.to_zarr(tmp_path / "part.zarr", zarr_format=3, consolidated=False)
    found = open_model(tmp_path / "part.zarr")
    assert found is not None and found.place is not None
    assert tuple(found.place.to_model @ (0.0, 0.0, 1.0)) == pytest.approx(
        (float(cut["x"].min()) - 10.0, float(cut["y"].max()) + 15.0), abs=1e-6
    )
    heights, missing = found.part(found.whole)
    known = np.ones(heights.shape, np.bool_) if missing is None else ~missing
    np.testing.assert_array_equal(heights[known], cut["elevation"].sortby("y", ascending=False).to_numpy()[0][known])


def test_heights_are_scaled_and_without_coordinates_have_no_place(tmp_path: Path) -> None:
    array = zarr.create_array(str(tmp_path / "land"), shape=(9, 12), dtype="int16", chunks=(4, 12))
    array[:] = np.arange(108).reshape(9, 12)
    array.attrs.update(scale_factor=0.5, add_offset=100.0, units="feet")
    found = read_heightmap(tmp_path / "land", cell_size=10.0)
    np.testing.assert_allclose(found.elevation, (np.arange(108).reshape(9, 12) * 0.5 + 100.0) * 0.3048)
    assert found.georeference is None
    model = open_model(tmp_path / "land")
    assert model is not None and model.place is None


def test_stores_without_one_map_are_one_line(tmp_path: Path) -> None:
    group = zarr.open_group(str(tmp_path / "land"), mode="w")
    group.create_array("x", shape=(12,), dtype="f8")
    with pytest.raises(UserError, match="a Zarr store must have one map, of rows and columns of heights; it has none"):
        read_heightmap(tmp_path / "land")
    for name in ("dtm", "dsm"):
        group.create_array(name, shape=(9, 12), dtype="f4")
    with pytest.raises(UserError, match=r"it has 2 \(dsm, dtm\)"):
        read_heightmap(tmp_path / "land")
    (tmp_path / "land" / "zarr.json").write_text("{")
    with pytest.raises(UserError, match=r"as a Zarr store: .*it must be complete"):
        read_heightmap(tmp_path / "land")


def test_a_map_with_columns_before_rows_is_one_line(tmp_path: Path) -> None:
    turned = xarray.DataArray(LAND.T, dims=("x", "y"))
    xarray.Dataset({"elevation": turned}).to_zarr(tmp_path / "land", zarr_format=3, consolidated=False)
    with pytest.raises(UserError, match=r"columns before rows.*transpose\(..., 'y', 'x'\) of xarray"):
        read_heightmap(tmp_path / "land")


@pytest.mark.parametrize("version", [2, 3])
def test_packed_heights_have_gaps_where_the_file_has(version: int, tmp_path: Path) -> None:
    known = np.where(LAND == -9999.0, np.nan, LAND)
    heights = xarray.DataArray(known, dims=("y", "x"))
    packed = {"elevation": {"dtype": "i2", "scale_factor": 0.25, "add_offset": 500.0, "_FillValue": -32768}}
    store = xarray.Dataset({"elevation": heights})
    store.to_zarr(tmp_path / "land", zarr_format=version, encoding=packed, consolidated=False)  # type: ignore[call-overload]
    found = read_heightmap(tmp_path / "land")
    assert found.missing is not None
    np.testing.assert_array_equal(found.missing, np.isnan(known))
