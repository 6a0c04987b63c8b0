# The transmitter and the receiver of a serial line.
// Paths are relative to the folder of the project.
+incdir+include
/* The top comes last:
   its parts are compiled first. */
rtl/uart_tx.v rtl/uart_rx.v
rtl/uart.v
-Wno-WIDTH
