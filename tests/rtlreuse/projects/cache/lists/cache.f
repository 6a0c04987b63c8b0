-f packages.f
../rtl/cache.sv
-y ../lib
+libext+.sv
+define+UNUSED=1+OTHER
