/* Shearsort on a ROWS x COLS mesh: rows in snake order, then columns, log2(ROWS)+1 phases. */
#ifndef ROWS
#define ROWS 8
#endif
#ifndef COLS
#define COLS 16
#endif

typedef short cell;

#define CSWAP(x, y) do { cell lo_ = (x) < (y) ? (x) : (y); cell hi_ = (x) < (y) ? (y) : (x); (x) = lo_; (y) = hi_; } while (0)

static void oet_row(cell *row, int descending)
{
   for (int step = 0; step < COLS; step++)
      for (int c = step & 1; c + 1 < COLS; c += 2)
      {
         if (descending) CSWAP(row[c + 1], row[c]);
         else            CSWAP(row[c], row[c + 1]);
      }
}

static void oet_columns(cell mesh[ROWS][COLS])
{
   for (int step = 0; step < ROWS; step++)
      for (int r = step & 1; r + 1 < ROWS; r += 2)
         for (int c = 0; c < COLS; c++)
            CSWAP(mesh[r][c], mesh[r + 1][c]);
}

void shearsort(cell mesh[ROWS][COLS])
{
   for (int span = 1; span < ROWS; span *= 2)
   {
      for (int r = 0; r < ROWS; r++)
         oet_row(mesh[r], r & 1);
      oet_columns(mesh);
   }
   for (int r = 0; r < ROWS; r++)
      oet_row(mesh[r], r & 1);
}
