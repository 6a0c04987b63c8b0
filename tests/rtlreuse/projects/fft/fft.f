# Fast Fourier transform in place, one butterfly per cycle. The tables are below rom/.
src/fft_pkg.sv
src/twiddle_rom.sv
src/butterfly.sv
src/fft.sv
-GSTAGES=5
-Wno-WIDTHTRUNC
