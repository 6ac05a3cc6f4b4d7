#ifndef NEARGLASS_QUIET_H
#define NEARGLASS_QUIET_H

#include <stdarg.h>

// ng_quiet takes x264's messages, which nobody reads.
void ng_quiet(void *priv, int level, const char *format, va_list args);

#endif
