/* The processor's time-stamp counter, which an emulated processor shows its
 * guest unchanged. */
#ifndef COUNTER_H
#define COUNTER_H

/* Its rate in kHz, good to about 1e-5, in some 5 ms; 0: there is none. */
long long counter_khz(void);

#endif
