/* Books entries by kind: some kinds do what the next does and something before, so their cases fall through. */

enum kind { DEPOSIT, TRANSFER, FEE, INTEREST, CLOSE };

// kernelcast: global=accounts local=16 accounts=64 entries=20 kinds=accounts*entries amounts=accounts*entries balance=accounts fee=1.5 fill.kinds=const:1 fill.amounts=uniform:1:100 name=s1
// kernelcast: global=accounts local=8 accounts=40 entries=33 kinds=accounts*entries amounts=accounts*entries balance=accounts fee=2.5 fill.kinds=const:0 fill.amounts=uniform:1:100 name=s2
// kernelcast: global=accounts local=32 accounts=96 entries=16 kinds=accounts*entries amounts=accounts*entries balance=accounts fee=1 fill.kinds=randint:0:5 fill.amounts=uniform:1:100 name=s3
// kernelcast: global=accounts local=32 accounts=16384 entries=24 kinds=accounts*entries amounts=accounts*entries balance=accounts fee=1.5 fill.kinds=randint:0:5 fill.amounts=uniform:1:100 name=measure
__kernel void ledger_switch(__global const uchar *kinds,
                            __global const float *amounts,
                            __global float *balance,
                            const int entries,
                            const float fee)
{
    const size_t account = get_global_id(0);
    float sum = 0.0f, charged = 0.0f;
    for (int e = 0; e < entries; ++e) {
        const size_t at = e * get_global_size(0) + account;
        const float amount = amounts[at];
        switch (kinds[at]) {
        case TRANSFER:
            charged += fee * 0.5f;
            /* fall through */
        case FEE:
            sum -= amount;
            break;
        case INTEREST:
            sum += sum * amount * 1e-4f;
            break;
        case CLOSE:
            sum = 0.0f;
            break;
        case DEPOSIT:
        default:
            sum += amount;
        }
    }
    balance[account] = sum - charged;
}
