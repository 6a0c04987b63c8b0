/* Observer and feedback of a motor, three states. */
static const float A[3][3] = {{1.0f, 0.01f, 0.0f}, {0.0f, 0.95f, 0.08f}, {0.0f, -0.02f, 0.7f}};
static const float B[3] = {0.0f, 0.0f, 0.1f};
static const float K[3] = {4.2f, 1.1f, 0.3f};
static const float L[3] = {0.5f, 2.0f, 0.2f};
static float xhat[3];

#pragma simfoundry range angle=-1.0:1.0
#pragma simfoundry range setpoint=-1.0:1.0
void state_feedback(const float angle[24], float setpoint, float voltage[24])
{
    for (int t = 0; t < 24; t++) {
        float u = K[0] * (setpoint - xhat[0]) - K[1] * xhat[1] - K[2] * xhat[2];
        if (u > 12.0f)
            u = 12.0f;
        if (u < -12.0f)
            u = -12.0f;
        voltage[t] = u;
        float e = angle[t] - xhat[0], next[3];
        for (int i = 0; i < 3; i++) {
            float s = B[i] * u + L[i] * e;
            for (int j = 0; j < 3; j++)
                s += A[i][j] * xhat[j];
            next[i] = s;
        }
        for (int i = 0; i < 3; i++)
            xhat[i] = next[i];
    }
}
