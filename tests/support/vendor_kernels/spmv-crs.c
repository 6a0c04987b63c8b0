/* MachSuite spmv/crs: a sparse matrix in compressed rows times a vector. */

void spmv(double val[1666], int cols[1666], int rowDelimiters[495], double vec[494], double out[494]) {
  for (int i = 0; i < 494; i++) {
    double sum = 0.0;
    int tmp_begin = rowDelimiters[i];
    int tmp_end = rowDelimiters[i + 1];
    for (int j = tmp_begin; j < tmp_end; j++) {
      sum += val[j] * vec[cols[j]];
    }
    out[i] = sum;
  }
}
