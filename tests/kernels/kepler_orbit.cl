/* Where a planet stands: solves Kepler's equation  M = E - e sin E  for E in double precision. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// kernelcast: global=count local=64 count=65536 mean_anomaly=count position=count eccentricity=0.2056 tolerance=1e-12 fill.mean_anomaly=uniform:0:6.28
__kernel void kepler_orbit(__global const double *restrict mean_anomaly,
                           __global double2 *restrict position,
                           const double eccentricity,
                           const double tolerance)
{
    const size_t i = get_global_id(0);
    const double mean = mean_anomaly[i];
    double anomaly = mean;
    for (int step = 0; step < 30; ++step) {
        double cosine;
        const double sine = sincos(anomaly, &cosine);
        const double change = (anomaly - eccentricity * sine - mean) / (1.0 - eccentricity * cosine);
        anomaly -= change;
        if (fabs(change) < tolerance)
            break;
    }
    position[i] = (double2)(cos(anomaly) - eccentricity,
                            sqrt(1.0 - eccentricity * eccentricity) * sin(anomaly));
}
