// Forests from above and from afar. `canopy` holds, as parts of each cell's area: the crowns of conifers, those of
// all others, all crowns times their trees' size, and those of the sick.
#include "map.glsl"
#include "crowns.glsl"
#include "leaves.glsl"

uniform sampler2D canopy;
uniform vec4 forest;  // height of a full-grown tree, m; pixels of a metre at one metre; pixels where trees merge; winter

// Where fewer crowns are drawn than the simulation has, the rest is an understory: its area, for an area of conifers
// and of others that are drawn.
uniform vec2 understory;
uniform vec4 conifer_leaves;  // in the mean of all crowns: see crowns_of
uniform vec4 other_leaves;

struct Canopy {
    float area;   // of crowns over an area of 1; they overlap
    float below;  // of the crowns of the understory
    float broad;  // part of it that others than conifers have
    float size;   // of the trees, 1 full-grown
    vec3 leaves;  // their colour
};

Canopy canopy_of(vec4 crowns) {
    float area = crowns.x + crowns.y;
    float part = 1.0 / max(area, 1e-4);
    float broad = crowns.y * part;
    vec3 leaves = mix(crowns_of(conifer_leaves, forest.w), crowns_of(other_leaves, forest.w), broad);
    return Canopy(area, dot(crowns.xy, understory), broad, crowns.z * part, mix(leaves, mix(SICK_NEEDLES, SICK, broad), crowns.w * part));
}

Canopy canopy_at(vec2 uv) {
    return canopy_of(texture(canopy, uv));
}

// The area that crowns hide from an eye that looks down at the ground at an angle of this sine, beside their own.
float seen_aslant(Canopy crowns, float sine) {
    float slope = max(sine, 0.0) / sqrt(max(1.0 - sine * sine, 1e-6));
    return slanted_crowns(slope, crowns.broad);
}

// How much of the trees at a place is drawn as a colour of the ground, as they are too small there: see tree_sprites.vert.
float merged_trees(Canopy crowns, float distance) {
    float pixels = crowns.size * forest.x * forest.y / max(distance, 1e-6);
    return 1.0 - clamp((pixels / forest.z - 1.1) / 0.75, 0.0, 1.0);
}

// What crowns that are not seen one by one send to the eye, on average over their round shapes: where all of the sun
// and where all of the sky is seen.
void canopy_light(Canopy crowns, vec3 to_eye, out vec3 from_sun, out vec3 from_sky) {
    float toward = dot(to_eye, frame.sun.xyz);
    float against = max(-toward, 0.0);
    // A high sun lights the tops, which are the least shaded.
    float reflected = (0.32 + 0.34 * toward + 0.10 * toward * toward) * (0.78 + 0.75 * frame.sun.y);
    vec3 through = 0.75 * THROUGH_LEAVES * (0.08 + 0.18 * against * against);
    from_sun = crowns.leaves * frame.sun_light.rgb * (reflected + through);
    from_sky = 0.84 * crowns.leaves * sky_light(vec3(0.0, 0.7, 0.0));
}
