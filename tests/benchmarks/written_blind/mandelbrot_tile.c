#define W 10
#define H 6
#define LIMIT 40
/* Iterations until escape for a small tile. */
#pragma simfoundry range x0=-2.0:0.2
#pragma simfoundry range y0=-1.0:0.4
void mandelbrot_tile(float x0, float y0, unsigned char iterations[H][W])
{
    for (int row = 0; row < H; row++) {
        for (int col = 0; col < W; col++) {
            float cr = x0 + 0.08f * col, ci = y0 + 0.1f * row;
            float zr = 0, zi = 0, rr = 0, ii = 0;
            int n = 0;
            while (rr + ii <= 4.0f && n < LIMIT) {
                zi = 2.0f * zr * zi + ci;
                zr = rr - ii + cr;
                rr = zr * zr;
                ii = zi * zi;
                n++;
            }
            iterations[row][col] = (unsigned char)n;
        }
    }
}
