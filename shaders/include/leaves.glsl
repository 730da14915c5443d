// The colours of leaves, and light on them.
#include "sky.glsl"

const vec3 TWIGS = vec3(0.125, 0.092, 0.066);  // in winter
const vec3 SICK = vec3(0.150, 0.098, 0.048);
const vec3 SICK_NEEDLES = vec3(0.105, 0.076, 0.050);
const vec3 LITTER = vec3(0.104, 0.090, 0.053);  // what lies under trees
const vec3 ON_BOUGHS = vec3(0.600, 0.630, 0.680);  // snow
const vec3 FROM_GROUND = vec3(0.22, 0.19, 0.12);
const vec3 THROUGH_LEAVES = vec3(1.08, 1.18, 0.54);
const float PASSED_ON = 1.20;  // light of the sky on a crown, which its leaves pass on, beside that on a surface
const float FROM_ABOVE = 0.5;   // of it, for leaves that face aside: it comes between the boughs

// The colour of crowns. `foliage` is that of their leaves, and the part of them that sheds these; `bare` is how much of
// them has been shed.
vec3 crowns_of(vec4 foliage, float bare) {
    return mix(foliage.rgb, TWIGS, bare * foliage.a);
}

// Leaves turned to `normal` send this to the eye. `sun` is how much sunlight comes to them, `open` how open to the sky
// they are, `thick` from 0 for grass, which is lit as the ground is, to 1 for a crown.
vec3 light_on_leaves(vec3 albedo, vec3 normal, vec3 to_eye, float sun, float open, float thick) {
    float facing = dot(normal, frame.sun.xyz), around = 0.25 * thick;
    // A crown is no wall: light comes a little around it, and against the sun through it.
    float reflected = clamp((facing + around) / (1.0 + around), 0.0, 1.0);
    float against = max(-dot(to_eye, frame.sun.xyz), 0.0);
    vec3 through = thick * THROUGH_LEAVES * (0.17 + 0.50 * against * against) * clamp(0.75 - 0.5 * facing, 0.0, 1.0);
    vec3 from_ground = FROM_GROUND * thick * frame.sun.y * frame.sun_light.rgb;  // which is lit beside them
    vec3 from_sky = mix(vec3(1.0), vec3(PASSED_ON), thick) * sky_light(mix(normal, vec3(0.0, 1.0, 0.0), FROM_ABOVE * thick));
    return albedo * (frame.sun_light.rgb * sun * (reflected + through) + (from_sky + from_ground) * open);
}
