// Only small and cheap conditions are converted outside the given loops.
// run: convert
float f(int x, int y, float g, int A[4]) { BODY return g + x + y; }

// case: a sum is converted
// expect: conditions = 0
if (x) y = x + 1;

// case: nested ones is converted
// expect: conditions = 0
if (x) { if (y) y = -y; else x = 3; }

// case: a product stays
// expect: conditions >= 1
if (x) y = x * 3;

// case: a float sum stays
// expect: conditions >= 1
if (x) g = g + 1.0f;

// case: a float comparison stays
// expect: conditions >= 1
if (x) y = g > 1.0f;

// case: a conversion stays
// expect: conditions >= 1
// draws: 0
if (x) y = (int)g;

// case: a float constant is converted
// expect: conditions = 0
if (x) g = 1.0f;

// case: a store stays
// expect: conditions >= 1
if (x) A[0] = 1;

// case: many assignments stays
// expect: conditions >= 1
if (x) { y = 1; x = 2; y = x + y; x = y; }
