#ifndef NEARGLASS_SCALE_H
#define NEARGLASS_SCALE_H

#include <stddef.h>
#include <stdint.h>

// One axis of a smaller picture, as struct taps in scale.go: four weights a
// pixel, of which only the first `most` are ever set.
typedef struct {
  const int32_t *first;
  const int16_t *weight;
  int most;
} ng_taps;

// A picture to scale, BGRA to BGRA. sums has room for a row of the source and
// four pixels more.
typedef struct {
  const uint8_t *src;
  ptrdiff_t src_stride;
  int width;
  uint8_t *dst;
  ptrdiff_t dst_stride;
  ng_taps across, down;
  int16_t *sums;
} ng_scaling;

// ng_scale makes the pixels from x0, y0 up to x1, y1 of the smaller picture.
void ng_scale(ng_scaling s, int x0, int y0, int x1, int y1);

#endif
