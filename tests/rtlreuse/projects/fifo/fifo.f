+incdir+rtl
-y rtl
rtl/fifo.v
