//go:build cgo

// BGRA to NV12, BT.709 in the limited range, with 15 bits of fraction: the
// same sums as convert.go, to the bit. The scalar rows are shaped for the
// compiler's vectorizer; AVX2 has rows of its own, because a pair of pixels
// fits pmaddwd exactly.
#include "convert.h"

#include <string.h>

// As in convert.go, which says where they come from.
#define YB 2032
#define YG 20127
#define YR 5983
#define UB 14392
#define UG -11094
#define UR -3298
#define VB -1320
#define VG -13072
#define VR 14392
#define Y_BIAS ((16 << 15) + (1 << 14))
#define C_BIAS ((128 << 17) + (1 << 16))

typedef struct {
  const uint8_t *s0, *s1;
  uint8_t *y0, *y1, *uv;
} rows;

static inline uint8_t luma(const uint8_t *p) {
  return (uint8_t)((YB * p[0] + YG * p[1] + YR * p[2] + Y_BIAS) >> 15);
}

// pairs converts columns x (even) up to end, given as whole pairs of pixels.
static inline void pairs(rows r, int x, int end) {
  for (; x < end; x += 2) {
    const uint8_t *a = r.s0 + 4 * x, *b = r.s1 + 4 * x;
    r.y0[x] = luma(a);
    r.y0[x + 1] = luma(a + 4);
    r.y1[x] = luma(b);
    r.y1[x + 1] = luma(b + 4);
    int bl = a[0] + a[4] + b[0] + b[4];
    int gr = a[1] + a[5] + b[1] + b[5];
    int rd = a[2] + a[6] + b[2] + b[6];
    r.uv[x] = (uint8_t)((UB * bl + UG * gr + UR * rd + C_BIAS) >> 17);
    r.uv[x + 1] = (uint8_t)((VB * bl + VG * gr + VR * rd + C_BIAS) >> 17);
  }
}

// last converts the single column x of an odd width, seen twice.
static inline void last(rows r, int x) {
  uint8_t twice0[8], twice1[8];
  memcpy(twice0, r.s0 + 4 * x, 4);
  memcpy(twice0 + 4, r.s0 + 4 * x, 4);
  memcpy(twice1, r.s1 + 4 * x, 4);
  memcpy(twice1 + 4, r.s1 + 4 * x, 4);
  rows one = {twice0, twice1, r.y0 + x, r.y1 + x, r.uv + x};
  pairs(one, 0, 2);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

// luma16 converts 16 pixels. hadd works within 128-bit halves, so the packs
// leave the four quarters interleaved; one permute puts them in order.
AVX2 static inline __m128i luma16(const uint8_t *p, __m256i coef, __m256i bias) {
  __m256i zero = _mm256_setzero_si256(), sum[2];
  for (int i = 0; i < 2; i++) {
    __m256i px = _mm256_loadu_si256((const __m256i *)(p + 32 * i));
    __m256i lo = _mm256_madd_epi16(_mm256_unpacklo_epi8(px, zero), coef);
    __m256i hi = _mm256_madd_epi16(_mm256_unpackhi_epi8(px, zero), coef);
    sum[i] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_hadd_epi32(lo, hi), bias), 15);
  }
  __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(sum[0], sum[1]), 0xd8);
  return _mm_packus_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}

// chroma16 converts 16 pixels of two rows into 8 pairs of U and V.
AVX2 static inline __m128i chroma16(const uint8_t *a, const uint8_t *b, __m256i cu, __m256i cv, __m256i bias) {
  __m256i zero = _mm256_setzero_si256(), out[2];
  for (int i = 0; i < 2; i++) {
    __m256i p = _mm256_loadu_si256((const __m256i *)(a + 32 * i));
    __m256i q = _mm256_loadu_si256((const __m256i *)(b + 32 * i));
    __m256i lo = _mm256_add_epi16(_mm256_unpacklo_epi8(p, zero), _mm256_unpacklo_epi8(q, zero));
    __m256i hi = _mm256_add_epi16(_mm256_unpackhi_epi8(p, zero), _mm256_unpackhi_epi8(q, zero));
    // One 64-bit quarter of s is one block of 2x2: its B, G, R, X sums.
    __m256i s = _mm256_add_epi16(_mm256_unpacklo_epi64(lo, hi), _mm256_unpackhi_epi64(lo, hi));
    __m256i u = _mm256_madd_epi16(s, cu), v = _mm256_madd_epi16(s, cv);
    __m256i uv = _mm256_hadd_epi32(u, v);               // u0 u1 v0 v1
    uv = _mm256_shuffle_epi32(uv, _MM_SHUFFLE(3, 1, 2, 0)); // u0 v0 u1 v1
    out[i] = _mm256_srai_epi32(_mm256_add_epi32(uv, bias), 17);
  }
  __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(out[0], out[1]), 0xd8);
  return _mm_packus_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}

AVX2 static int pairs_avx2(rows r, int x, int end) {
  const __m256i cy = _mm256_setr_epi16(YB, YG, YR, 0, YB, YG, YR, 0, YB, YG, YR, 0, YB, YG, YR, 0);
  const __m256i cu = _mm256_setr_epi16(UB, UG, UR, 0, UB, UG, UR, 0, UB, UG, UR, 0, UB, UG, UR, 0);
  const __m256i cv = _mm256_setr_epi16(VB, VG, VR, 0, VB, VG, VR, 0, VB, VG, VR, 0, VB, VG, VR, 0);
  const __m256i by = _mm256_set1_epi32(Y_BIAS), bc = _mm256_set1_epi32(C_BIAS);
  for (; x + 16 <= end; x += 16) {
    const uint8_t *a = r.s0 + 4 * x, *b = r.s1 + 4 * x;
    _mm_storeu_si128((__m128i *)(r.y0 + x), luma16(a, cy, by));
    _mm_storeu_si128((__m128i *)(r.y1 + x), luma16(b, cy, by));
    _mm_storeu_si128((__m128i *)(r.uv + x), chroma16(a, b, cu, cv, bc));
  }
  return x;
}

int ng_convert_simd(void) { return __builtin_cpu_supports("avx2") != 0; }
#else
static int pairs_avx2(rows r, int x, int end) {
  (void)r;
  (void)end;
  return x;
}

int ng_convert_simd(void) { return 0; }
#endif

void ng_convert(ng_planes p, int x0, int y0, int x1, int y1, int simd) {
  int end = x1 < p.width ? x1 : p.width & ~1;
  for (int y = y0; y < y1; y += 2) {
    const uint8_t *s0 = p.src + y * p.src_stride;
    uint8_t *d0 = p.y + y * p.y_stride;
    rows r = {s0, y + 1 < p.height ? s0 + p.src_stride : s0, d0, d0 + p.y_stride, p.uv + (y / 2) * p.uv_stride};
    int x = simd ? pairs_avx2(r, x0, end) : x0;
    pairs(r, x, end);
    if (end < x1) last(r, end);
  }
}
