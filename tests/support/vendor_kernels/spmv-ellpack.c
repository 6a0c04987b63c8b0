/* MachSuite spmv/ellpack: a sparse matrix with 10 entries a row times a vector. */

void ellpack(double nzval[4940], int cols[4940], double vec[494], double out[494]) {
  for (int i = 0; i < 494; i++) {
    double sum = out[i];
    for (int j = 0; j < 10; j++) {
      sum += nzval[j + i * 10] * vec[cols[j + i * 10]];
    }
    out[i] = sum;
  }
}
