#pragma simfoundry range t=-1.0:1.0
double poly_horner_double(const double c[8], const double t[16], double y[16])
{
    double sum = 0.0;
    for (int i = 0; i < 16; i++) {
        double p = c[7];
        for (int k = 6; k >= 0; k--)
            p = p * t[i] + c[k];
        y[i] = p;
        sum += p;
    }
    return sum;
}
