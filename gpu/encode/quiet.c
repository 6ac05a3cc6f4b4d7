//go:build cgo

#include "quiet.h"

void ng_quiet(void *priv, int level, const char *format, va_list args) {
  (void)priv;
  (void)level;
  (void)format;
  (void)args;
}
