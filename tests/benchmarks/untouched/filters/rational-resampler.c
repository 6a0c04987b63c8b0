/* Sampling rate conversion by UP/DOWN with a polyphase FIR.
   proto[] is the prototype low pass (Q14), UP*PHASE_TAPS long.  */

#ifndef UP
# define UP 3
#endif
#ifndef DOWN
# define DOWN 4
#endif
#ifndef PHASE_TAPS
# define PHASE_TAPS 8
#endif
#ifndef FRAME
# define FRAME 80
#endif

typedef short          sample;
typedef short          coefficient;
typedef long long      accumulator;

static sample
round_q14 (accumulator a)
{
  a = (a + (1 << 13)) >> 14;
  if (a >  32767) return  32767;
  if (a < -32768) return -32768;
  return (sample) a;
}

unsigned
resample_frame (const sample *x, const coefficient *proto,
                sample *y, unsigned *phase_out)
{
  unsigned phase = 0;          /* which branch of the filter   */
  unsigned newest = 0;         /* index of the newest x in use */
  unsigned made = 0;

  while (newest < FRAME)
    {
      const coefficient *h = proto + phase;
      const sample *p = x + newest;
      unsigned usable = newest + 1 < PHASE_TAPS ? newest + 1 : PHASE_TAPS;
      accumulator acc = 0;

      /* samples before the frame count as silence */
      for (; usable; --usable)
        {
          acc += (accumulator) *h * *p;
          h += UP;
          if (usable > 1)
            --p;
        }

      y[made++] = round_q14 (UP * acc);

      phase += DOWN;
      while (phase >= UP)
        {
          phase -= UP;
          ++newest;
        }
    }

  *phase_out = phase;
  return made;
}
