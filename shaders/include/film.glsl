// What lies on the ground as a film: a part of the light from below that it lets through, and light that it adds.

struct Film {
    vec3 added;
    vec3 kept;
};
