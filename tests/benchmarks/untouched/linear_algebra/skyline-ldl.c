/* Springs between nodes on a line, each node also on a soft bed.
 * Assembles the stiffness matrix in skyline form (every column from its first
 * non-zero down to the diagonal), factors L D L', solves for the displacements
 * and returns the strain energy.
 */

#ifndef NODES
#define NODES 32
#endif
#ifndef SPRINGS
#define SPRINGS 80
#endif
#ifndef SPAN
#define SPAN 8		/* longest spring */
#endif

static double sky[NODES * (SPAN + 1)];
static int top[NODES];		/* first row in column j */
static int base[NODES];		/* so that K(i,j) is sky[base[j] + i] */

#define K(i, j) sky[base[j] + (i)]

static int imin(int a, int b) { return a < b ? a : b; }
static int imax(int a, int b) { return a > b ? a : b; }

static int lay_out(const unsigned char *node, const unsigned char *len)
{
	int j, e, used = 0;

	for (j = 0; j < NODES; j++)
		top[j] = j;
	for (e = 0; e < SPRINGS; e++) {
		j = imin(node[e] + len[e], NODES - 1);
		top[j] = imin(top[j], node[e]);
	}
	for (j = 0; j < NODES; j++) {
		base[j] = used - top[j];
		used += j - top[j] + 1;
	}
	for (e = 0; e < used; e++)
		sky[e] = 0.0;
	return used;
}

static void assemble(const unsigned char *node, const unsigned char *len,
		     const double *stiff, const double *bed)
{
	int e, i, j;

	for (j = 0; j < NODES; j++)
		K(j, j) = bed[j];
	for (e = 0; e < SPRINGS; e++) {
		i = node[e];
		j = imin(i + len[e], NODES - 1);
		if (i == j)
			continue;
		K(i, i) += stiff[e];
		K(j, j) += stiff[e];
		K(i, j) -= stiff[e];
	}
}

/* 0, or 1 + the column whose pivot is not positive */
static int factor(void)
{
	int i, j, k;

	for (j = 0; j < NODES; j++) {
		double d;

		/* reduce the column to D * L' */
		for (i = top[j] + 1; i < j; i++) {
			double sum = K(i, j);
			for (k = imax(top[i], top[j]); k < i; k++)
				sum -= K(k, i) * K(k, j);
			K(i, j) = sum;
		}
		d = K(j, j);
		for (k = top[j]; k < j; k++) {
			double l = K(k, j) / K(k, k);
			d -= l * K(k, j);
			K(k, j) = l;
		}
		if (d <= 1e-9)
			return j + 1;
		K(j, j) = d;
	}
	return 0;
}

double settle(const unsigned char *node, const unsigned char *len,
	      const double *stiff, const double *bed,
	      const double *load, double *disp, int *stored)
{
	double energy = 0.0;
	int j, k;

	*stored = lay_out(node, len);
	assemble(node, len, stiff, bed);
	if (factor() != 0)
		return -1.0;

	for (j = 0; j < NODES; j++) {
		double sum = load[j];
		for (k = top[j]; k < j; k++)
			sum -= K(k, j) * disp[k];
		disp[j] = sum;
	}
	for (j = 0; j < NODES; j++)
		disp[j] /= K(j, j);
	for (j = NODES - 1; j > 0; j--)
		for (k = top[j]; k < j; k++)
			disp[k] -= K(k, j) * disp[j];

	for (j = 0; j < NODES; j++)
		energy += 0.5 * load[j] * disp[j];
	return energy;
}
