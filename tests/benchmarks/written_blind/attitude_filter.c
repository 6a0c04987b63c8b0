#include <math.h>
/* Complementary filter of gyroscope and accelerometer, raw counts in. */
#pragma simfoundry range gyro=-2000:2000 ay=-8000:8000 az=6000:12000
void attitude_filter(const short gyro[16], const short ay[16], const short az[16], float roll[16])
{
    float angle = 0.0f;
    for (int i = 0; i < 16; i++) {
        float rate = gyro[i] * (1.0f / 16.4f);
        float tilt = atan2f((float)ay[i], (float)az[i]) * 57.29578f;
        angle = 0.98f * (angle + rate * 0.005f) + 0.02f * tilt;
        roll[i] = angle;
    }
}
