#pragma simfoundry range x=-100.0:100.0 y=-100.0:100.0
/* Slope and intercept of a line of least squares. */
void linear_regression(const float x[50], const float y[50], float line[2])
{
    float sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < 50; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    float d = 50.0f * sxx - sx * sx;
    line[0] = (50.0f * sxy - sx * sy) / d;
    line[1] = (sy - line[0] * sx) / 50.0f;
}
