#include <assert.h>
#include <stddef.h>

struct matrix {
    float *data;
    int rows;
    int cols;
};

static float get(const struct matrix *m, int r, int c)
{
    assert(r >= 0 && r < m->rows);
    assert(c >= 0 && c < m->cols);
    return m->data[r * m->cols + c];
}

static void set(struct matrix *m, int r, int c, float v)
{
    m->data[r * m->cols + c] = v;
}

int matrix_multiply(const struct matrix *a, const struct matrix *b, struct matrix *out)
{
    if (a->cols != b->rows)
        return -1;
    if (out->rows != a->rows || out->cols != b->cols)
        return -2;
    for (int i = 0; i < a->rows; i++)
        for (int j = 0; j < b->cols; j++) {
            float sum = 0.0f;
            for (int k = 0; k < a->cols; k++)
                sum += get(a, i, k) * get(b, k, j);
            set(out, i, j, sum);
        }
    return 0;
}
