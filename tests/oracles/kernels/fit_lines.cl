/* Least-squares lines through many small point sets, stored as structures; degenerate sets get a flat line. */

typedef struct {
    double slope, offset;
    int points;
} line_t;

// kernelcast: global=sets local=16 sets=64 points=20 x=sets*points y=sets*points lines=sets name=s1
// kernelcast: global=sets local=5 sets=135 points=7 x=sets*points y=sets*points lines=sets name=s2
// kernelcast: global=sets local=32 sets=32 points=100 x=sets*points y=sets*points lines=sets name=s3
// kernelcast: global=sets local=64 sets=32768 points=16 x=sets*points y=sets*points lines=sets name=measure
__kernel void fit_lines(__global const float *x, __global const float *y, __global line_t *lines, const int points)
{
    const int set = get_global_id(0);
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = set * points; k < (set + 1) * points; ++k) {
        const double px = x[k], py = y[k];
        sx += px;
        sy += py;
        sxx += px * px;
        sxy += px * py;
    }
    const double below = points * sxx - sx * sx;
    line_t line;
    line.slope = below > 1e-12 ? (points * sxy - sx * sy) / below : 0.0;
    line.offset = (sy - line.slope * sx) / points;
    line.points = points;
    lines[set] = line;
}
