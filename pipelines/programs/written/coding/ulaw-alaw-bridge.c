#include <stdint.h>
#ifndef N_OCTETS
#define N_OCTETS 256
#endif

/* conference bridge: mixes u-law legs with per leg mute and gain, gives A-law,
 * with comfort level attenuation when the mix clips */
#ifndef LEGS
#define LEGS 3
#endif

static int u2lin(uint8_t u)
{
	u = (uint8_t)~u;
	int t = (((u & 15) << 3) + 132) << (u >> 4 & 7);
	return u & 128 ? 132 - t : t - 132;
}

static uint8_t lin2a(int x)
{
	uint8_t sign = 0x80, seg = 0;
	if (x < 0) { x = -x - 1; sign = 0; }
	x >>= 3;                         /* 13 bit */
	if (x > 4095) x = 4095;
	for (int t = x >> 5; t; t >>= 1) seg++;
	uint8_t man = (uint8_t)((seg < 2 ? x >> 1 : x >> seg) & 15);
	return (uint8_t)((sign | seg << 4 | man) ^ 0x55);
}

unsigned bridge_mix(uint8_t leg[LEGS][N_OCTETS], const uint8_t gain[LEGS], unsigned mute, uint8_t *alaw)
{
	unsigned clipped = 0;
	int duck = 256;                  /* Q8, recovers slowly */

	for (int i = 0; i < N_OCTETS; i++) {
		int sum = 0;
		for (int l = 0; l < LEGS; l++)
			if (!(mute >> l & 1))
				sum += u2lin(leg[l][i]) * gain[l] / 128;
		sum = sum * duck / 256;
		if (sum > 32767 || sum < -32768) {
			sum = sum < 0 ? -32768 : 32767;
			duck -= duck >> 3;
			clipped++;
		} else if (duck < 256)
			duck++;
		alaw[i] = lin2a(sum);
	}
	return clipped;
}

int main(void)
{
	static uint8_t leg[LEGS][N_OCTETS], out[N_OCTETS];
	uint8_t gain[LEGS];
	for (int l = 0; l < LEGS; l++) {
		gain[l] = 128;
		for (int i = 0; i < N_OCTETS; i++)
			leg[l][i] = (uint8_t)(37 * i + 11 * l);
	}
	return (int)(bridge_mix(leg, gain, 1, out) >> 16);
}
