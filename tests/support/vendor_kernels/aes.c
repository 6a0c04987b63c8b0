/* MachSuite aes: the loops of an encryption with 256 bits of key that directives can name. The other steps of a
   round, which are loops in other functions, are left out. */

void aes256_encrypt_ecb(unsigned char enckey[32], unsigned char deckey[32], unsigned char k[32],
                        unsigned char buf[16]) {
  for (int i = 0; i < 32; i++) {
    enckey[i] = k[i];
    deckey[i] = k[i];
  }
  for (int round = 1; round < 14; round++) {
    for (int i = 0; i < 16; i += 4) {
      unsigned char a = buf[i];
      unsigned char b = buf[i + 1];
      unsigned char c = buf[i + 2];
      unsigned char d = buf[i + 3];
      unsigned char e = a ^ b ^ c ^ d;
      buf[i] = a ^ e ^ (((a ^ b) << 1) ^ ((((a ^ b) >> 7) & 1) * 27));
      buf[i + 1] = b ^ e ^ (((b ^ c) << 1) ^ ((((b ^ c) >> 7) & 1) * 27));
      buf[i + 2] = c ^ e ^ (((c ^ d) << 1) ^ ((((c ^ d) >> 7) & 1) * 27));
      buf[i + 3] = d ^ e ^ (((d ^ a) << 1) ^ ((((d ^ a) >> 7) & 1) * 27));
    }
  }
}
