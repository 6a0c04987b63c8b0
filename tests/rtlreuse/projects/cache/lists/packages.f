../rtl/cache_pkg.sv
