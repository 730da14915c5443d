// Where the swell of the coarse grid passes into waves that run straight to the coast.

const float STRAIGHT_TEXELS = 2.0;  // of the grid: nearer to the coast waves face it
const float TURNED_TEXELS = 7.0;    // where they begin to turn

// From 1 where waves run straight to the coast to 0 where only the swell tells, by the distance to it in cells.
float straightness(float away, float swell_cells) {
    return 1.0 - smoothstep(STRAIGHT_TEXELS * swell_cells, TURNED_TEXELS * swell_cells, away);
}
