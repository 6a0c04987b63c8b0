/* Lennard-Jones forces between each atom and its nearest neighbours, in double; close pairs are left out. */
#ifndef ATOMS
#define ATOMS 16
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 4
#endif
#define LJ1 1.5
#define LJ2 2.0
#define CLOSEST 0.01

struct vector {
    double x;
    double y;
    double z;
};

void md_knn(double position[ATOMS][3], int neighbour[ATOMS][NEIGHBOURS], double force[ATOMS][3])
{
    for (int i = 0; i < ATOMS; i++) {
        struct vector total = {0.0, 0.0, 0.0};

        for (int k = 0; k < NEIGHBOURS; k++) {
            int j = neighbour[i][k];
            struct vector d;
            double square, inverse_square, inverse_sixth, magnitude;

            d.x = position[i][0] - position[j][0];
            d.y = position[i][1] - position[j][1];
            d.z = position[i][2] - position[j][2];
            square = d.x * d.x + d.y * d.y + d.z * d.z;
            if (square < CLOSEST) {
                continue;
            }
            inverse_square = 1.0 / square;
            inverse_sixth = inverse_square * inverse_square * inverse_square;
            magnitude = inverse_square * inverse_sixth * (LJ1 * inverse_sixth - LJ2);
            total.x += d.x * magnitude;
            total.y += d.y * magnitude;
            total.z += d.z * magnitude;
        }
        force[i][0] = total.x;
        force[i][1] = total.y;
        force[i][2] = total.z;
    }
}
