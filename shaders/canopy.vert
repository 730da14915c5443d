// The crowns of trees spread over the map: a square of two texels for each tree.
#include "map.glsl"
#include "crowns.glsl"

uniform vec4 crown_area;  // by shape: of the crown of a tree of height 1
uniform float height;     // of a full-grown tree, cells

in vec2 cell;    // where it stands, column and row
in vec3 growth;  // shape, size, health

flat out vec2 place;
flat out vec4 crowns;

void main() {
    float tall = height * growth.y;
    float area = crown_area[int(growth.x + 0.5)] * tall * tall;
    float sick = sick_part(growth.z);
    place = clamp(cell, vec2(0.5), frame.map.xy - 0.5);
    crowns = area * vec4(growth.x > 0.5 ? vec2(0.0, 1.0) : vec2(1.0, 0.0), growth.y, sick);
    gl_Position = vec4(place / frame.map.xy * 2.0 - 1.0, 0.0, 1.0);
    gl_PointSize = 2.0;
}
