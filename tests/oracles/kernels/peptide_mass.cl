/* Mass over charge of peptides in single letters; anything that is no amino acid ends the sequence. */

__constant float residues[26] = {
    71.03711f, 0.0f, 103.00919f, 115.02694f, 129.04259f, 147.06841f, 57.02146f, 137.05891f, 113.08406f, 0.0f,
    128.09496f, 113.08406f, 131.04049f, 114.04293f, 0.0f, 97.05276f, 128.05858f, 156.10111f, 87.03203f, 101.04768f,
    0.0f, 99.06841f, 186.07931f, 0.0f, 163.06333f, 0.0f,
};

// kernelcast: global=peptides local=16 peptides=64 room=24 letters=peptides*room mass=peptides charge=2 fill.letters=const:75 name=s1
// kernelcast: global=peptides local=25 peptides=50 room=40 letters=peptides*room mass=peptides charge=1 fill.letters=const:71 name=s2
// kernelcast: global=peptides local=32 peptides=128 room=20 letters=peptides*room mass=peptides charge=3 fill.letters=randint:65:91 name=s3
// kernelcast: global=peptides local=64 peptides=65536 room=24 letters=peptides*room mass=peptides charge=2 fill.letters=const:75 name=measure
__kernel void peptide_mass(__global const char *letters, __global float *mass, const int room, const int charge)
{
    const size_t peptide = get_global_id(0);
    float sum = 18.01056f;
    for (int k = 0; k < room; ++k) {
        const char letter = letters[peptide * room + k];
        if (letter < 'A' || letter > 'Z')
            break;
        const float residue = residues[letter - 'A'];
        if (residue == 0.0f)
            continue;
        sum += residue;
    }
    mass[peptide] = (sum + charge * 1.00728f) / charge;
}
