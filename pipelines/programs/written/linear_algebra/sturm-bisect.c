/* Selected eigenvalues of a symmetric tridiagonal matrix by Sturm counts and bisection */
#ifndef TN
#define TN 40
#endif
#ifndef FROM
#define FROM 5
#endif
#ifndef TO
#define TO 12
#endif

static double dAbs(double fX) { return fX < 0 ? -fX : fX; }

/* number of eigenvalues below fX */
static int nSturm(const double *pfD, const double *pfE, double fX, double fTiny)
{
    int nNeg = 0;
    double fQ = 1.0;
    for (int i = 0; i < TN; i++)
    {
        double fE2 = i ? pfE[i - 1] * pfE[i - 1] : 0.0;
        fQ = pfD[i] - fX - fE2 / fQ;
        if (dAbs(fQ) < fTiny)
            fQ = -fTiny;
        if (fQ < 0.0)
            nNeg++;
    }
    return nNeg;
}

/* eigenvalues number FROM..TO (ascending, zero based, TO excluded); returns Sturm evaluations */
int nTridiagEigen(const double *pfD, const double *pfE, double *pfOut, double fRelTol)
{
    double fLo = pfD[0], fHi = pfD[0];
    int nEval = 0;

    for (int i = 0; i < TN; i++)                       /* Gershgorin */
    {
        double fR = (i ? dAbs(pfE[i - 1]) : 0.0) + (i < TN - 1 ? dAbs(pfE[i]) : 0.0);
        if (pfD[i] - fR < fLo) fLo = pfD[i] - fR;
        if (pfD[i] + fR > fHi) fHi = pfD[i] + fR;
    }
    double fSpan = fHi - fLo;
    double fTiny = 1e-30 + 1e-18 * fSpan;

    double fLeft[TO - FROM], fRight[TO - FROM];
    for (int k = 0; k < TO - FROM; k++)
    {
        fLeft[k] = fLo - 1e-9;
        fRight[k] = fHi + 1e-9;
    }
    for (int k = 0; k < TO - FROM; k++)
    {
        while (fRight[k] - fLeft[k] > fRelTol * (1e-3 + fSpan))
        {
            double fMid = 0.5 * (fLeft[k] + fRight[k]);
            int nC = nSturm(pfD, pfE, fMid, fTiny);
            nEval++;
            if (nC > FROM + k)
                fRight[k] = fMid;
            else
                fLeft[k] = fMid;
            for (int j = k + 1; j < TO - FROM; j++)    /* the count helps the others too */
            {
                if (nC > FROM + j) { if (fMid < fRight[j]) fRight[j] = fMid; }
                else if (fMid > fLeft[j]) fLeft[j] = fMid;
            }
        }
        pfOut[k] = 0.5 * (fLeft[k] + fRight[k]);
    }
    return nEval;
}
