// Controller of a serial flash memory, with a model of the memory.
+define+FAST_READ
+incdir+hdl
hdl/spi_shift.v
hdl/flash_ctrl.v
-v model/flash_chip.v
hdl/flash.v
