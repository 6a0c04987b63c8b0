// Encryption with AES-128, one round per cycle.
+incdir+include
-y rtl
rtl/aes.v
