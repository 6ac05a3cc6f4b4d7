//go:build cgo

// The same sums as scale.go, to the bit. Rows are summed in loops that the
// compiler's vectorizer takes; a pixel's columns fit pmaddwd, which every x86
// of 64 bits has.
#include "scale.h"

#include <string.h>

#define TAPS 4
#define SHIFT 14
#define ROUND (1 << (SHIFT - 1))

// sum_rows sums the rows that row y of the smaller picture covers, between two
// bytes of a row. Nearly always they are two.
static void sum_rows(const ng_scaling *s, int y, int from, int end) {
  const int16_t *w = s->down.weight + TAPS * y;
  const uint8_t *restrict row = s->src + s->down.first[y] * s->src_stride;
  const uint8_t *restrict next = w[1] ? row + s->src_stride : row;
  int16_t *restrict sums = s->sums;
  int16_t w0 = w[0], w1 = w[1], w2 = w[2];
  for (int i = from; i < end; i++) sums[i] = (int16_t)(w0 * row[i] + w1 * next[i]);
  if (!w2) return;
  const uint8_t *restrict last = row + 2 * s->src_stride;
  for (int i = from; i < end; i++) sums[i] = (int16_t)(sums[i] + w2 * last[i]);
}

static inline void pixel(const ng_scaling *s, uint8_t *out, int x) {
  const int16_t *w = s->across.weight + TAPS * x, *p = s->sums + 4 * s->across.first[x];
  for (int c = 0; c < 4; c++) {
    int32_t sum = ROUND;
    for (int k = 0; k < s->across.most; k++) sum += w[k] * p[4 * k + c];
    out[c] = (uint8_t)(sum >> SHIFT);
  }
}

#if defined(__x86_64__)
#include <emmintrin.h>

// pixel_sse2 gives the four colors of a pixel as 32-bit numbers.
static inline __m128i pixel_sse2(const ng_scaling *s, int x, int more) {
  const int16_t *p = s->sums + 4 * s->across.first[x];
  int32_t w[2];
  memcpy(w, s->across.weight + TAPS * x, sizeof w);
  __m128i a = _mm_loadl_epi64((const __m128i *)p), b = _mm_loadl_epi64((const __m128i *)(p + 4));
  __m128i sum = _mm_madd_epi16(_mm_unpacklo_epi16(a, b), _mm_set1_epi32(w[0]));
  if (more) {
    __m128i c = _mm_loadl_epi64((const __m128i *)(p + 8));
    __m128i zero = _mm_setzero_si128();
    sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_unpacklo_epi16(c, zero), _mm_set1_epi32(w[1])));
  }
  return _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(ROUND)), SHIFT);
}

static inline int four_at_once(const ng_scaling *s, uint8_t *out, int x, int end, int more) {
  for (; x + 4 <= end; x += 4) {
    __m128i a = _mm_packs_epi32(pixel_sse2(s, x, more), pixel_sse2(s, x + 1, more));
    __m128i b = _mm_packs_epi32(pixel_sse2(s, x + 2, more), pixel_sse2(s, x + 3, more));
    _mm_storeu_si128((__m128i *)(out + 4 * x), _mm_packus_epi16(a, b));
  }
  return x;
}
#else
static inline int four_at_once(const ng_scaling *s, uint8_t *out, int x, int end, int more) {
  (void)s;
  (void)out;
  (void)end;
  (void)more;
  return x;
}
#endif

void ng_scale(ng_scaling s, int x0, int y0, int x1, int y1) {
  int first = s.across.first[x0], end = s.across.first[x1 - 1] + s.across.most;
  if (end > s.width) end = s.width;
  for (int y = y0; y < y1; y++) {
    uint8_t *out = s.dst + y * s.dst_stride;
    sum_rows(&s, y, 4 * first, 4 * end);
    int x = s.across.most > 2 ? four_at_once(&s, out, x0, x1, 1) : four_at_once(&s, out, x0, x1, 0);
    for (; x < x1; x++) pixel(&s, out + 4 * x, x);
  }
}
