func.func @small(%s_limit: i32) -> i32 {
  %m_a = memref.alloc() : memref<15xi32>
  %m_marks = memref.alloc() : memref<3xi8>
  %v1 = arith.constant 0 : i32
  %v2 = arith.constant 0 : i32
  %v3 = arith.constant 3 : i32
  %v4 = arith.cmpi slt, %v2, %v3 : i32
  %v11:3 = scf.while (%v5 = %v4, %v6 = %v2, %v7 = %v1) : (i1, i32, i32) -> (i1, i32, i32) {
    %v12 = arith.constant false
    %v13 = arith.cmpi ne, %v5, %v12 : i1
    scf.condition(%v13) %v5, %v6, %v7 : i1, i32, i32
  } do {
  ^bb0(%v8: i1, %v9: i32, %v10: i32):
    %v14 = arith.constant 1 : i32
    %v15 = arith.constant 2 : i32
    %v16 = arith.shli %v9, %v15 : i32
    %v17 = arith.addi %v9, %v16 : i32
    %v18 = arith.addi %v17, %v14 : i32
    %v19 = arith.index_cast %v18 : i32 to index
    %v20 = memref.load %m_a[%v19] : memref<15xi32>
    %v21 = arith.cmpi slt, %v20, %s_limit : i32
    %v26:2 = scf.while (%v22 = %v21, %v23 = %v10) : (i1, i32) -> (i1, i32) {
      %v27 = arith.constant false
      %v28 = arith.cmpi ne, %v22, %v27 : i1
      scf.condition(%v28) %v22, %v23 : i1, i32
    } do {
    ^bb0(%v24: i1, %v25: i32):
      %v29 = arith.trunci %v25 : i32 to i8
      %v30 = arith.index_cast %v9 : i32 to index
      memref.store %v29, %m_marks[%v30] : memref<3xi8>
      %v31 = arith.constant false
      scf.yield %v31, %v25 : i1, i32
    }
    %v32 = arith.constant true
    %v33 = arith.xori %v21, %v32 : i1
    %v38:2 = scf.while (%v34 = %v33, %v35 = %v26#1) : (i1, i32) -> (i1, i32) {
      %v39 = arith.constant false
      %v40 = arith.cmpi ne, %v34, %v39 : i1
      scf.condition(%v40) %v34, %v35 : i1, i32
    } do {
    ^bb0(%v36: i1, %v37: i32):
      %v41 = arith.constant 2 : i32
      %v42 = arith.constant 2 : i32
      %v43 = arith.shli %v9, %v42 : i32
      %v44 = arith.addi %v9, %v43 : i32
      %v45 = arith.addi %v44, %v41 : i32
      %v46 = arith.index_cast %v45 : i32 to index
      %v47 = memref.load %m_a[%v46] : memref<15xi32>
      %v48 = arith.constant 3 : i32
      %v49 = arith.divsi %v47, %v48 : i32
      %v50 = arith.subi %v37, %v49 : i32
      %v51 = arith.constant false
      scf.yield %v51, %v50 : i1, i32
    }
    %v52 = arith.constant 1 : i32
    %v53 = arith.addi %v9, %v52 : i32
    %v54 = arith.constant 3 : i32
    %v55 = arith.cmpi slt, %v53, %v54 : i32
    scf.yield %v55, %v53, %v38#1 : i1, i32, i32
  }
  return %v11#2 : i32
}
