// How fast water runs, by its Froude number (Chow 1959).

const float GRAVITY = 9.81;  // m/s²

// m/s, of water so many metres deep.
float speed_of(float froude_number, float depth) {
    return froude_number * sqrt(GRAVITY * depth);
}
