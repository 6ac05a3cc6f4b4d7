#ifndef NEARGLASS_CONVERT_H
#define NEARGLASS_CONVERT_H

#include <stddef.h>
#include <stdint.h>

// A picture to convert. Rectangles are even; x1 and y1 may lie one past an odd
// width or height, where the last column or row is repeated.
typedef struct {
  const uint8_t *src;
  ptrdiff_t src_stride;
  int width, height;
  uint8_t *y;
  ptrdiff_t y_stride;
  uint8_t *uv;
  ptrdiff_t uv_stride;
} ng_planes;

// ng_convert_simd says whether vector code of our own runs on this CPU.
int ng_convert_simd(void);
void ng_convert(ng_planes p, int x0, int y0, int x1, int y1, int simd);

#endif
