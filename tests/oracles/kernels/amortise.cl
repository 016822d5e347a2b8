/* What a loan costs in all: interest month by month in double precision, with the payment that clears it. */

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// kernelcast: global=loans local=16 loans=64 months=120 principal=loans yearly_rate=loans paid=loans payment=loans fill.principal=uniform:1000:500000 fill.yearly_rate=uniform:0.01:0.09 name=s1
// kernelcast: global=loans local=10 loans=250 months=36 principal=loans yearly_rate=loans paid=loans payment=loans fill.principal=uniform:1000:500000 fill.yearly_rate=uniform:0.01:0.09 name=s2
// kernelcast: global=loans local=32 loans=32 months=360 principal=loans yearly_rate=loans paid=loans payment=loans fill.principal=uniform:1000:500000 fill.yearly_rate=uniform:0.01:0.09 name=s3
// kernelcast: global=loans local=32 loans=16384 months=240 principal=loans yearly_rate=loans paid=loans payment=loans fill.principal=uniform:1000:500000 fill.yearly_rate=uniform:0.01:0.09 name=measure
__kernel void amortise(__global const double *principal,
                       __global const double *yearly_rate,
                       __global double *paid,
                       __global double *payment,
                       const int months)
{
    const size_t loan = get_global_id(0);
    const double monthly = yearly_rate[loan] / 12.0;
    const double growth = pown(1.0 + monthly, months);
    const double rate = principal[loan] * monthly * growth / (growth - 1.0);

    double owed = principal[loan], interest_sum = 0.0;
    for (int month = 0; month < months; month++) {
        const double interest = owed * monthly;
        interest_sum += interest;
        owed = owed + interest - rate;
    }
    paid[loan] = interest_sum;
    payment[loan] = rate;
}
