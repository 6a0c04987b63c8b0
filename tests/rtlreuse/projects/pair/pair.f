rtl/adder.v
rtl/counter.v
rtl/shifter.v
