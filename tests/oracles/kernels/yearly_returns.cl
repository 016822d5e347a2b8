/* Compound growth and worst drawdown of many price histories kept year by year. */

// kernelcast: global=assets local=16 assets=64 days=50 price=assets*days growth=assets drawdown=assets name=s1
// kernelcast: global=assets local=10 assets=30 days=252 price=assets*days growth=assets drawdown=assets name=s2
// kernelcast: global=assets local=128 assets=256 days=21 price=assets*days growth=assets drawdown=assets name=s3
// kernelcast: global=assets local=64 assets=8192 days=252 price=assets*days growth=assets drawdown=assets name=measure
__kernel void yearly_returns(__global const float *price,
                             __global float *growth,
                             __global float *drawdown,
                             const int days)
{
    const int asset = get_global_id(0), assets = get_global_size(0);
    const float first = price[asset];
    float peak = first, worst = 0.0f, last = first;
    for (int day = 1; day < days; ++day) {
        last = price[day * assets + asset];
        peak = fmax(peak, last);
        worst = fmin(worst, last / peak - 1.0f);
    }
    growth[asset] = exp(log(last / first) * 252.0f / days) - 1.0f;
    drawdown[asset] = worst;
}
