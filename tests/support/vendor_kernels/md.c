/* MachSuite md/knn: forces of 16 neighbours on each of 256 atoms. */

void md_kernel(double force_x[256], double force_y[256], double force_z[256], double position_x[256],
               double position_y[256], double position_z[256], int NL[4096]) {
  for (int i = 0; i < 256; i++) {
    double i_x = position_x[i];
    double i_y = position_y[i];
    double i_z = position_z[i];
    double fx = 0.0;
    double fy = 0.0;
    double fz = 0.0;
    for (int j = 0; j < 16; j++) {
      int jidx = NL[i * 16 + j];
      double delx = i_x - position_x[jidx];
      double dely = i_y - position_y[jidx];
      double delz = i_z - position_z[jidx];
      double r2inv = 1.0 / (delx * delx + dely * dely + delz * delz);
      double r6inv = r2inv * r2inv * r2inv;
      double potential = r6inv * (1.5 * r6inv - 2.0);
      double force = r2inv * potential;
      fx += delx * force;
      fy += dely * force;
      fz += delz * force;
    }
    force_x[i] = fx;
    force_y[i] = fy;
    force_z[i] = fz;
  }
}
