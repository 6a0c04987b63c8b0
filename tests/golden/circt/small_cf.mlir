func.func @small(%s_limit: i32, %m_a: memref<15xi32>, %m_marks: memref<3xi8>) -> i32 {
  %v1 = arith.constant 0 : i32
  %v2 = arith.constant 0 : i32
  %v3 = arith.constant 3 : i32
  %v4 = arith.cmpi slt, %v2, %v3 : i32
  cf.br ^head1(%v4, %v2, %v1 : i1, i32, i32)
^head1(%v5: i1, %v6: i32, %v7: i32):
  cf.cond_br %v5, ^body2, ^after3
^body2:
  %v8 = arith.constant 1 : i32
  %v9 = arith.constant 2 : i32
  %v10 = arith.shli %v6, %v9 : i32
  %v11 = arith.addi %v6, %v10 : i32
  %v12 = arith.addi %v11, %v8 : i32
  %v13 = arith.index_cast %v12 : i32 to index
  %v14 = memref.load %m_a[%v13] : memref<15xi32>
  %v15 = arith.cmpi slt, %v14, %s_limit : i32
  cf.cond_br %v15, ^then4, ^else5
^then4:
  %v16 = arith.trunci %v7 : i32 to i8
  %v17 = arith.index_cast %v6 : i32 to index
  memref.store %v16, %m_marks[%v17] : memref<3xi8>
  cf.br ^join6(%v7 : i32)
^else5:
  %v18 = arith.constant 2 : i32
  %v19 = arith.constant 2 : i32
  %v20 = arith.shli %v6, %v19 : i32
  %v21 = arith.addi %v6, %v20 : i32
  %v22 = arith.addi %v21, %v18 : i32
  %v23 = arith.index_cast %v22 : i32 to index
  %v24 = memref.load %m_a[%v23] : memref<15xi32>
  %v25 = arith.constant 3 : i32
  %v26 = arith.divui %v24, %v25 : i32
  %v27 = arith.subi %v7, %v26 : i32
  cf.br ^join6(%v27 : i32)
^join6(%v28: i32):
  %v29 = arith.constant 1 : i32
  %v30 = arith.addi %v6, %v29 : i32
  %v31 = arith.constant 3 : i32
  %v32 = arith.cmpi slt, %v30, %v31 : i32
  cf.br ^head1(%v32, %v30, %v28 : i1, i32, i32)
^after3:
  return %v7 : i32
}
