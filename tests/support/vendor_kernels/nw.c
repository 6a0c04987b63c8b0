/* MachSuite nw: the score table of Needleman and Wunsch. The walk back, which is data-dependent, is left out. */

void needwun(char SEQA[128], char SEQB[128], char alignedA[256], char alignedB[256], int M[16641],
             char ptr[16641]) {
  for (int a_idx = 0; a_idx < 129; a_idx++) {
    M[a_idx] = a_idx * -1;
  }
  for (int b_idx = 0; b_idx < 129; b_idx++) {
    M[b_idx * 129] = b_idx * -1;
  }
  for (int b_idx = 1; b_idx < 129; b_idx++) {
    for (int a_idx = 1; a_idx < 129; a_idx++) {
      int score = SEQA[a_idx - 1] == SEQB[b_idx - 1] ? 1 : -1;
      int up_left = M[(b_idx - 1) * 129 + a_idx - 1] + score;
      int up = M[(b_idx - 1) * 129 + a_idx] - 1;
      int left = M[b_idx * 129 + a_idx - 1] - 1;
      int side = up > left ? up : left;
      int most = up_left > side ? up_left : side;
      M[b_idx * 129 + a_idx] = most;
      ptr[b_idx * 129 + a_idx] = most == left ? 60 : (most == up ? 94 : 92);
    }
  }
}
