// The crowns of trees spread over the map: a square of two texels for each tree.
#include "map.glsl"

uniform vec4 crown;    // by kind: half the width of a conifer's crown and a broadleaf's; where they begin
uniform float height;  // of a full-grown tree, cells

in vec2 cell;    // where it stands, column and row
in vec3 growth;  // kind, size, health

flat out vec2 place;
flat out vec4 crowns;

void main() {
    float radius = height * growth.y * (growth.x > 0.5 ? crown.y : crown.x);
    float area = 3.14159265 * radius * radius;
    float sick = 1.0 - smoothstep(0.05, 0.75, growth.z);
    place = clamp(cell, vec2(0.5), frame.map.xy - 0.5);
    crowns = area * vec4(growth.x > 0.5 ? vec2(0.0, 1.0) : vec2(1.0, 0.0), growth.y, sick);
    gl_Position = vec4(place / frame.map.xy * 2.0 - 1.0, 0.0, 1.0);
    gl_PointSize = 2.0;
}
