#include <math.h>
#ifndef MIX
#define MIX 8
#endif
#ifndef FEA
#define FEA 13
#endif
#ifndef OBS
#define OBS 24
#endif

static float logadd(float a, float b)
{
   float d;
   if (a < b) { float t = a; a = b; b = t; }
   d = b - a;
   return d < -15.0f ? a : a + log1pf(expf(d));
}

/* E-step of a diagonal GMM; sufficient statistics n, f, s are accumulated.
   Returns the mean log likelihood. prec holds 1/var. */
float gmm_estep(float obs[OBS][FEA], float mean[MIX][FEA], float prec[MIX][FEA],
                float logw[MIX], float n[MIX], float f[MIX][FEA], float s[MIX][FEA])
{
   float gconst[MIX], ll[MIX], total = 0;
   int i, m, d;

   for (m = 0; m < MIX; m++) {
      gconst[m] = logw[m] - 0.5f * FEA * 1.8378770664f;
      for (d = 0; d < FEA; d++) gconst[m] += 0.5f * logf(prec[m][d]);
      n[m] = 0;
      for (d = 0; d < FEA; d++) f[m][d] = s[m][d] = 0;
   }
   for (i = 0; i < OBS; i++) {
      float sum = -1e30f;
      for (m = 0; m < MIX; m++) {
         float q = 0;
         for (d = 0; d < FEA; d++) {
            float z = obs[i][d] - mean[m][d];
            q += z * z * prec[m][d];
         }
         ll[m] = gconst[m] - 0.5f * q;
         sum = logadd(sum, ll[m]);
      }
      total += sum;
      for (m = 0; m < MIX; m++) {
         float g = expf(ll[m] - sum);
         if (g < 1e-5f) continue;      /* not worth the work */
         n[m] += g;
         for (d = 0; d < FEA; d++) {
            float x = g * obs[i][d];
            f[m][d] += x;
            s[m][d] += x * obs[i][d];
         }
      }
   }
   return total / OBS;
}
