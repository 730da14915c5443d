// Faces of massive rock: planes that touch the ground and lie along joints, so that a hill of it is angular. Which of those
// around is the face at a place, is told by how near the plane lies to the ground there and by how far away it touches it
// (Cohen-Steiner and others 2004: Variational shape approximation).
#include "hash.glsl"

const vec2 BEYOND = vec2(1.0);  // squares of the lattice before the map
const float AROUND = 0.32;      // of a square, by which places are apart whose heights tell of the slope of a plane
const float JOINT_WAYS = 6.0;   // in a circle
const float TO_JOINTS = 0.80, TO_DIPS = 0.75;  // how far planes are turned there
const float DIPS_APART = 0.40;  // radians
const float UNEVEN_WAYS = 0.35; // of those between, by which single ones differ
const float OFF_GROUND = 2.0;   // how much that counts beside distance
const float CREASE = 0.022;     // over which planes pass into each other

// Where the plane of a square touches the ground, in squares.
vec2 place_of_plane(vec2 square, float wide) {
    return square + 0.12 + 0.76 * hash4(square + 3.0 * wide + 11.0).xy;
}

// A slope that is turned towards the nearest of some ways and dips. `own` are two numbers from 0 to 1.
vec2 along_joints(vec2 slope, vec2 own) {
    const float TURN = 6.28318531;
    float steep = atan(length(slope)), way = atan(slope.y, slope.x + 1e-6) * JOINT_WAYS / TURN + 0.3;
    way -= TO_JOINTS * (way - floor(way + 0.5)) - UNEVEN_WAYS * (own.x - 0.5);
    float dip = steep / DIPS_APART;
    dip -= TO_DIPS * (dip - floor(dip + 0.5)) - 0.5 * UNEVEN_WAYS * (own.y - 0.5);
    float angle = (way - 0.3) * TURN / JOINT_WAYS;
    return tan(clamp(dip * DIPS_APART, 0.0, 1.35)) * vec2(cos(angle), sin(angle));
}

struct Plane {
    float height;  // metres
    vec2 slope;
    float own;     // from 0 to 1
    float edge;    // how far it is from the next plane, from 0 at a crease
};

// The face at a place in cells, of ground that lies at `height` in metres there. `ragged` are two noises around 0 that bend
// creases.
Plane plane_at(sampler2D planes, vec2 cell, float height, float wide, vec2 ragged) {
    vec2 at = cell / wide + ragged, square = floor(at);
    float size = wide * frame.map.z / frame.map.w, nearest = 1e9, second = 1e9;
    Plane all = Plane(0.0, vec2(0.0), 0.0, 0.0);
    float weights = 0.0;
    for (int i = 0; i < 9; ++i) {
        vec2 there = square + vec2(i % 3, i / 3) - 1.0;
        vec4 told = texelFetch(planes, clamp(ivec2(there + BEYOND), ivec2(0), textureSize(planes, 0) - 1), 0);
        vec2 away = at - place_of_plane(there, wide), turned = mat2(0.86, 0.51, -0.51, 0.86) * away;
        float lies = told.x + dot(told.yz, cell - (at - away) * wide) * frame.map.z;
        float off = (lies - height) / (size * length(vec2(1.0, length(told.yz) * frame.map.w))), apart = max(abs(turned.x), abs(turned.y));
        float cost = apart * apart + OFF_GROUND * abs(off);
        float weight = exp(-max(cost - nearest, -60.0 * CREASE) / CREASE);
        if (cost < nearest) {
            float less = nearest > 1e8 ? 0.0 : exp((cost - nearest) / CREASE);
            all.height *= less;
            all.slope *= less;
            all.own *= less;
            weights *= less;
            second = nearest;
            nearest = cost;
            weight = 1.0;
        } else second = min(second, cost);
        all.height += weight * lies;
        all.slope += weight * told.yz;
        all.own += weight * told.w;
        weights += weight;
    }
    return Plane(all.height / weights, all.slope / weights, all.own / weights, second - nearest);
}
